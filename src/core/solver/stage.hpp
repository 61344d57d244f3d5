// The problem at one penalty: the levels of its two parts, the smooth loss that is minimised there, and the gap to
// reach. That loss is the problem's own, or one that stands in for it.
#pragma once
#include "problem/problem.hpp"
#include "solver/iterate.hpp"

namespace clearning {

template <class P>
struct Stage {
  const P& problem;
  Loss loss;
  double alpha = 1.0;
  double claim = 0.0;     // the gap to prove
  double goal = 0.0;      // the gap to reach
  double evenness = 0.0;  // how far the classes' weights may differ, as a share of their sum
  int first_columns = 0;  // that a start far from any solution takes

  double l1_level() const { return alpha * problem.penalty.l1_ratio; }
  double ridge_level() const { return alpha * (1.0 - problem.penalty.l1_ratio); }
  double l1(Index j) const { return l1_level() * problem.penalty.l1_factor[j]; }
  double ridge(Index j) const { return problem.penalty.quadratic.ridge(j, ridge_level()); }
  double lower(Index j) const { return problem.penalty.lower[j]; }
  double upper(Index j) const { return problem.penalty.upper[j]; }

  // Of the smooth part: loss and quadratic penalty.
  double gradient(const Iterate& x, Index j) const {
    return x.v[j] + problem.penalty.quadratic.gradient(x.b, x.form, j, ridge_level());
  }
  double violation(const Iterate& x, Index j) const {
    return optimality_violation(x.b[j], gradient(x, j), l1(j), lower(j), upper(j));
  }
  // Of the columns given; all others are zero.
  double penalty(const Iterate& x, const Columns& columns) const {
    double sum = 0.0;
    for (int j : columns) {
      if (x.b[j] == 0.0) continue;
      sum += l1(j) * std::fabs(x.b[j]);
      sum += problem.penalty.quadratic.term(x.b, x.form, j, ridge_level());
    }
    return sum;
  }
};

}  // namespace clearning
