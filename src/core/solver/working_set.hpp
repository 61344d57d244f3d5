// The columns that a step may move. All others have coefficient zero.
#pragma once
#include <algorithm>

#include "linalg/types.hpp"

namespace clearning {

class WorkingSet {
 public:
  explicit WorkingSet(Index p) : place_(p, -1) {}

  const Columns& columns() const { return columns_; }  // in the order of their arrival
  int size() const { return static_cast<int>(columns_.size()); }
  bool holds(Index j) const { return place_[j] >= 0; }
  int place(Index j) const { return place_[j]; }

  void add(const Columns& columns) {
    for (int j : columns)
      if (place_[j] < 0) {
        place_[j] = size();
        columns_.push_back(j);
      }
  }

  void replace(const Columns& columns) {
    for (int j : columns_) place_[j] = -1;
    columns_.clear();
    add(columns);
  }

  // The columns that carry coefficients, sorted.
  Columns support(const Vector& b) const {
    Columns found;
    for (int j : columns_)
      if (b[j] != 0.0) found.push_back(j);
    std::sort(found.begin(), found.end());
    return found;
  }

 private:
  Columns columns_;
  std::vector<int> place_;
};

}  // namespace clearning
