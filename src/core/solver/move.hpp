// Where a step leads, before the line search has shortened it.
#pragma once
#include "linalg/types.hpp"

namespace clearning {

// From the iterate to `target`, column by column, and by `shift` of the intercept.
struct Move {
  Columns columns;
  Vector delta, target;
  double shift = 0.0;
  const Vector* curvature = nullptr;  // of the model that it minimises, in units of `unit`
  double unit = 1.0;

  bool empty() const { return columns.empty(); }
  void add(int column, double from, double to) {
    columns.push_back(column);
    delta.push_back(to - from);
    target.push_back(to);
  }
};

}  // namespace clearning
