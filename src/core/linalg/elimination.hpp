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
    Vector entry(n_);
    for (Index i = 0; i < n_; ++i) entry[i] = std::fabs(column[i]) + beside;
    Left added{std::move(column), std::move(entry), Vector(n_, 0.0), Vector(n_, 0.0), Vector(n_, 0.0), {}};
    for (std::size_t k = 0; k < pivots_.size(); ++k) subtract(k, added);
    left_.push_back(std::move(added));
  }

  // Takes one more column off those that are left; false if rounding is all that they are.
  bool step() {
    const Place place = heaviest();
    if (place.row < 0) return false;
    Left found = std::move(left_[place.column]);
    left_.erase(left_.begin() + static_cast<std::ptrdiff_t>(place.column));
    Vector own(n_), square(n_), total(n_);
    for (Index i = 0; i < n_; ++i) {
      total[i] = own[i] = found.entry[i] + found.added[i];
      square[i] = found.entry[i] * found.entry[i] + found.square[i];
    }
    for (std::size_t k = 0; k < pivots_.size(); ++k) {
      const double share = std::fabs(found.share[k]);
      for (Index i = 0; i < n_; ++i) total[i] += share * pivots_[k].own[i];
    }
    pivots_.push_back({{std::move(found.value), std::move(total)},
                       std::move(own),
                       std::move(square),
                       std::move(found.share),
                       place.row});
    for (Left& column : left_) subtract(pivots_.size() - 1, column);
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
    for (const Left& column : left_)
      for (Index i = 0; i < n_; ++i)
        if (carried[i] != 0.0 && !is_rounding(column, i)) return false;
    return true;
  }

 private:
  struct Pivot {
    Column column;
    Vector own;     // what was added up to it alone
    Vector square;  // the sum of that by squares
    Vector share;   // of the pivots before in it
    Index row;
  };
  struct Left {
    Vector value;
    Vector entry;   // what it began with
    Vector added;   // what was added up to it since
    Vector square;  // the sum of that by squares: roundings of many steps come to no more, but for a small factor
    Vector others;  // no less than what the pivots' own rounding is a share of
    Vector share;   // of each of them in it

    double least(Index i) const {
      return tuning::same_column * entry[i] + tuning::rounding_of_pivots * std::sqrt(square[i]);
    }
    double most(Index i) const { return least(i) + tuning::rounding_of_pivots * others[i]; }
  };
  struct Place {
    std::size_t column;
    Index row;
    double weight;
  };

  // What may be rounding is looked at where nothing else weighs as much.
  Place heaviest() const {
    Place place{0, -1, 0.0};
    std::vector<Place> doubtful;
    for (std::size_t c = 0; c < left_.size(); ++c) {
      const Left& left = left_[c];
      for (Index i = 0; i < n_; ++i) {
        const double value = std::fabs(left.value[i]), heavy = weight_[i] * value * value;
        if (!(heavy > place.weight) || !(value > left.least(i))) continue;
        if (value > left.most(i)) place = {c, i, heavy};
        else doubtful.push_back({c, i, heavy});
      }
    }
    for (const Place& at : doubtful)
      if (at.weight > place.weight && !is_rounding(left_[at.column], at.row)) place = at;
    return place;
  }
  // The pivots' own rounding counts as often as they are in the column: where steps cancel out it does not grow.
  bool is_rounding(const Left& left, Index i) const {
    const double value = std::fabs(left.value[i]), least = left.least(i);
    if (value <= least) return true;
    if (!(value <= left.most(i))) return false;
    double others = 0.0;
    for (std::size_t k = 0; k < left.share.size(); ++k) others += left.share[k] * left.share[k] * pivots_[k].square[i];
    return value <= least + tuning::rounding_of_pivots * std::sqrt(others);
  }

  void subtract(std::size_t k, Left& left) const {
    const Pivot& pivot = pivots_[k];
    // What is rounding there must not become more of it in other rows.
    const double by = is_rounding(left, pivot.row) ? 0.0 : left.value[pivot.row] / pivot.column.value[pivot.row];
    left.value[pivot.row] = 0.0;
    left.share.push_back(-by);
    if (by == 0.0) return;
    for (Index i = 0; i < n_; ++i) {
      const double change = i == pivot.row ? 0.0 : by * pivot.column.value[i];
      left.value[i] -= change;
      left.added[i] += std::fabs(change);
      left.square[i] += change * change;
      left.others[i] += std::fabs(by) * pivot.column.size[i];
    }
    for (std::size_t before = 0; before < k; ++before) left.share[before] -= by * pivot.share[before];
  }

  const double* weight_;
  Index n_;
  std::vector<Pivot> pivots_;
  std::vector<Left> left_;
};

}  // namespace clearning
