// Gaussian elimination of columns with pivots chosen among all rows and all columns that are left. Rounding stays
// within each row: what sets columns apart is found in rows of any weight and of any size beside the others.
#pragma once
#include <cmath>

#include "linalg/types.hpp"
#include "tuning.hpp"

namespace clearning {

class Elimination {
 public:
  struct Column {
    Vector value;  // what is left of it
    Vector size;   // of what was added up to it, row by row: what rounding is a share of
  };

  // Rows that weigh more are pivots first; those without a weight are none.
  Elimination(const double* weight, Index n) : weight_(weight), n_(n) {}

  // A column whose entries were rounded beside a number of that size, or exact.
  void add(Vector column, double beside = 0.0) {
    Vector size(n_);
    for (Index i = 0; i < n_; ++i) size[i] = std::fabs(column[i]) + beside;
    add(std::move(column), std::move(size));
  }
  // One whose rounding is known.
  void add(Vector column, Vector size) {
    Column added{std::move(column), std::move(size)};
    for (const Pivot& pivot : pivots_) subtract(pivot, added);
    left_.push_back(std::move(added));
  }

  // Takes one more column off those that are left; false if rounding is all that they are.
  bool step() {
    Index row = -1;
    std::size_t best = 0;
    double most = 0.0;
    for (std::size_t c = 0; c < left_.size(); ++c)
      for (Index i = 0; i < n_; ++i) {
        const double value = std::fabs(left_[c].value[i]), heavy = weight_[i] * value * value;
        if (!(heavy > most) || !(value > tuning::same_column * left_[c].size[i])) continue;
        most = heavy;
        best = c;
        row = i;
      }
    if (row < 0) return false;
    pivots_.push_back({std::move(left_[best]), row});
    left_.erase(left_.begin() + static_cast<std::ptrdiff_t>(best));
    for (Column& column : left_) subtract(pivots_.back(), column);
    return true;
  }
  void eliminate() {
    while (step()) {
    }
    left_.clear();
  }

  const Column& last() const { return pivots_.back().column; }
  // Whether rounding is all that is left in rows that carry something.
  bool is_nothing_left(const Vector& carried) const {
    for (const Column& column : left_)
      for (Index i = 0; i < n_; ++i)
        if (carried[i] != 0.0 && !(std::fabs(column.value[i]) <= tuning::same_column * column.size[i])) return false;
    return true;
  }

 private:
  struct Pivot {
    Column column;
    Index row;
  };

  void subtract(const Pivot& pivot, Column& column) const {
    const double by = column.value[pivot.row] / pivot.column.value[pivot.row];
    for (Index i = 0; i < n_; ++i) {
      const double change = by * pivot.column.value[i];
      column.value[i] -= change;
      column.size[i] += std::fabs(change);
    }
    column.value[pivot.row] = 0.0;
  }

  const double* weight_;
  Index n_;
  std::vector<Pivot> pivots_;
  std::vector<Column> left_;
};

}  // namespace clearning
