// The inner problem: a quadratic model plus the elastic net on a working set of columns.
// minimise over b:  g'(b - b0) + (b - b0)' M (b - b0) / 2 + sum l1 |b| + ridge b^2 / 2,  lower <= b <= upper
#pragma once
#include <algorithm>
#include <cmath>
#include <utility>

#include "solver/stage.hpp"
#include "solver/working_set.hpp"

namespace clearning {

// One entry per working-set column; b and g are updated in place.
struct InnerProblem {
  int count = 0;
  Vector b, g, l1, ridge, lower, upper, allowed;

  // Loads the working set at an iterate whose v is fresh. A violation that is at most `allowed` leaves the certificate
  // as it is: with a ridge its square counts, with l1 alone its share. `tighten` < 1 allows less.
  template <class P>
  void load(const Stage<P>& at, const Iterate& x, const WorkingSet& set, double tighten) {
    const auto& net = at.problem.penalty;
    const double level = at.ridge_level(), tol = at.problem.settings.tol;
    const double floor = tuning::least_allowed * tol * std::sqrt(at.goal);
    resize(set.size());
    for (int c = 0; c < count; ++c) {
      const int j = set.columns()[c];
      b[c] = x.b[j];
      g[c] = at.gradient(x, j);
      l1[c] = at.l1(j);
      ridge[c] = net.quadratic.apart(j, level);
      lower[c] = net.lower[j];
      upper[c] = net.upper[j];
      const double by_ridge = net.quadratic.forgiven(j, level, l1[c], at.goal, count);
      const double by_l1 = tol * l1[c];
      allowed[c] =
          tuning::share_of_allowed * std::max({by_ridge * std::sqrt(tighten), by_l1 * tighten, floor * tighten});
    }
  }
  void resize(int k) {
    count = k;
    for (Vector* v : {&b, &g, &l1, &ridge, &lower, &upper, &allowed}) v->resize(k);
  }
  // The same problem in another unit.
  void divide(double unit) {
    for (Vector* v : {&g, &l1, &ridge, &allowed})
      for (double& value : *v) value /= unit;
  }
  // Takes a column of another problem over, at another gradient.
  void append(const InnerProblem& from, int c, double gradient) {
    ++count;
    b.push_back(from.b[c]);
    g.push_back(gradient);
    l1.push_back(from.l1[c]);
    ridge.push_back(from.ridge[c]);
    lower.push_back(from.lower[c]);
    upper.push_back(from.upper[c]);
    allowed.push_back(from.allowed[c]);
  }
  double violation(int j) const { return optimality_violation(b[j], g[j], l1[j], lower[j], upper[j]); }
  double worst() const {
    double worst = 0.0;
    for (int j = 0; j < count; ++j) worst = std::max(worst, violation(j) / allowed[j]);
    return worst;
  }
  // The objective's slope on the side of zero where a coefficient is.
  double slope(int j) const { return g[j] + (b[j] > 0.0 ? l1[j] : -l1[j]); }
  std::pair<double, double> sign_range(int j) const { return clearning::sign_range(b[j], l1[j], lower[j], upper[j]); }
  // Whether a second-order step may move this coefficient.
  bool interior(int j) const { return (b[j] != 0.0 || l1[j] == 0.0) && b[j] > lower[j] && b[j] < upper[j]; }
};

// The worst violation at the iterate itself, in units of what was allowed.
template <class P>
double worst_violation(const Stage<P>& at, const Iterate& x, const WorkingSet& set, const InnerProblem& q) {
  double worst = 0.0;
  for (int c = 0; c < q.count; ++c) worst = std::max(worst, at.violation(x, set.columns()[c]) / q.allowed[c]);
  return worst;
}

}  // namespace clearning
