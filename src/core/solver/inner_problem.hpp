// The inner problem: a quadratic model plus the elastic net on a working set of columns.
// minimise over b:  g'(b - b0) + (b - b0)' M (b - b0) / 2 + sum l1 |b| + ridge b^2 / 2,  lower <= b <= upper
#pragma once
#include <algorithm>
#include <cmath>
#include <utility>

#include "solver/stage.hpp"
#include "solver/working_set.hpp"

namespace clearning {

// Violations, in units of what is allowed. Those that a ridge forgives add up by their squares, so that a few may be
// larger; of the others the worst counts.
class Excess {
 public:
  Excess(bool adds_up, int count) : adds_up_(adds_up), count_(std::max(count, 1)) {}
  void add(double violation) {
    worst_ = std::max(worst_, violation);
    squares_ += violation * violation;
  }
  double worst() const { return worst_; }
  double total() const { return adds_up_ ? tuning::unit_of_squares * std::sqrt(squares_ / count_) : worst_; }

 private:
  bool adds_up_;
  int count_;
  double worst_ = 0.0, squares_ = 0.0;
};

// One entry per working-set column; b and g are updated in place.
struct InnerProblem {
  int count = 0;
  Vector b, g, l1, ridge, lower, upper, allowed;
  bool adds_up = false;  // a ridge forgives every violation

  // Loads the working set at an iterate whose v is fresh. A violation that is at most `allowed` leaves the certificate
  // as it is: with a ridge its square counts, with l1 alone its share. `tighten` < 1 allows less; size(j) is
  // that of a column's entries.
  template <class P, class Size>
  void load(const Stage<P>& at, const Iterate& x, const WorkingSet& set, double tighten, Size&& size) {
    const auto& net = at.problem.penalty;
    const double level = at.ridge_level(), tol = at.problem.settings.tol;
    const double floor = tuning::least_allowed * tol * std::sqrt(at.goal);
    resize(set.size());
    adds_up = true;
    for (int c = 0; c < count; ++c) {
      const int j = set.columns()[c];
      b[c] = x.b[j];
      g[c] = at.gradient(x, j);
      l1[c] = at.l1(j);
      ridge[c] = net.quadratic.apart(j, level);
      lower[c] = net.lower[j];
      upper[c] = net.upper[j];
      const double by_ridge = net.quadratic.forgiven(j, level, l1[c], at.goal, count) * std::sqrt(tighten);
      const double otherwise = std::max({tol * l1[c], floor * std::min(1.0, size(j)), tuning::tiny}) * tighten;
      allowed[c] = tuning::share_of_allowed * std::max(by_ridge, otherwise);
      adds_up = adds_up && by_ridge >= otherwise;
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
  Excess excess() const {
    Excess excess(adds_up, count);
    for (int j = 0; j < count; ++j) excess.add(violation(j) / allowed[j]);
    return excess;
  }
  double worst() const { return excess().worst(); }
  // The objective's slope on the side of zero where a coefficient is.
  double slope(int j) const { return g[j] + (b[j] > 0.0 ? l1[j] : -l1[j]); }
  std::pair<double, double> sign_range(int j) const { return clearning::sign_range(b[j], l1[j], lower[j], upper[j]); }
  // Whether a second-order step may move this coefficient.
  bool interior(int j) const { return (b[j] != 0.0 || l1[j] == 0.0) && b[j] > lower[j] && b[j] < upper[j]; }
};

// The violations at the iterate itself, in units of what was allowed.
template <class P>
Excess excess_at(const Stage<P>& at, const Iterate& x, const WorkingSet& set, const InnerProblem& q) {
  Excess excess(q.adds_up, q.count);
  for (int c = 0; c < q.count; ++c) excess.add(at.violation(x, set.columns()[c]) / q.allowed[c]);
  return excess;
}

}  // namespace clearning
