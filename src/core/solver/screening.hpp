// Which columns come into the working set: those that a penalty's start needs, and those that violate their threshold.
#pragma once
#include <tuple>
#include <utility>

#include "solver/references.hpp"
#include "solver/stage.hpp"
#include "solver/working_set.hpp"

namespace clearning {

// A column without a penalty is orthogonal to the projected dual point, unless a bound holds it.
template <class P>
bool is_projected(const P& problem, const Iterate& x, Index j) {
  return problem.penalty.is_free(j) && is_constrained(-x.v[j], 0.0, problem.penalty.lower[j], problem.penalty.upper[j]);
}

template <class P>
class Screening {
 public:
  explicit Screening(const P& problem)
      : problem_(problem), lengths_(problem.p), norms_(problem.p),
        spread_(std::sqrt(*std::max_element(problem.samples.weight, problem.samples.weight + problem.n))) {
    for (Index i = 0; i < problem.n; ++i)
      mean_offset_ += problem.samples.weight[i] * std::fabs(problem.samples.offset[i]);
    const Vector ones(problem.n, 1.0);
    for (Index j = 0; j < problem.p; ++j) {
      double first, second;
      problem.design.moments(j, ones.data(), first, second);
      const double centred = problem.settings.intercept ? std::max(0.0, second - first * first / problem.n) : second;
      lengths_[j] = std::sqrt(second);
      norms_[j] = std::sqrt(centred) + tuning::rounding_of_norms * lengths_[j];
    }
  }

  double length(Index j) const { return lengths_[j]; }
  // At least the weighted mean of |x_j|, by Cauchy-Schwarz.
  double mean_size(Index j) const { return spread_ * lengths_[j]; }
  double mean_offset() const { return mean_offset_; }
  double norm(Index j) const { return norms_[j]; }  // about the mean where there is an intercept
  void remember(const Vector& dual, const Vector& correlations) { references_.remember(dual, correlations); }

  // The columns that a penalty starts with, by the sequential strong rule after a small change of the penalty.
  Columns start(const Stage<P>& at, double previous_alpha, const Iterate& x, const WorkingSet& set) const {
    Columns wanted = set.support(x.b);
    for (int j : candidates(at, x, x.form, (2.0 * at.alpha - previous_alpha) / at.alpha, 0.0))
      if (x.b[j] == 0.0) wanted.push_back(j);
    return wanted;
  }
  static bool is_near(double alpha, double previous_alpha) {
    return 2.0 * alpha - previous_alpha >= tuning::strong_rule_reach * alpha;
  }

  // After a large one, or from a start that was given: what carries a coefficient or no l1 penalty, and the worst
  // offenders.
  Columns cold_start(const Stage<P>& at, const Iterate& x) const {
    Columns wanted;
    std::vector<std::pair<double, int>> offenders;
    for (Index j = 0; j < problem_.p; ++j) {
      const double l1 = at.l1(j), size = std::fabs(at.gradient(x, j));
      if (x.b[j] != 0.0 || l1 == 0.0) wanted.push_back(static_cast<int>(j));
      else if (size > l1) offenders.emplace_back(-size / l1, static_cast<int>(j));
    }
    append_worst(offenders, at.first_columns + 2 * wanted.size(), wanted);
    return wanted;
  }

  using Ranked = std::vector<std::pair<double, int>>;  // the worst has the smallest number

  // Brings v up to date where a column outside the set could matter to this dual point, or to one that is `off` from
  // it; returns those above their threshold, or as near to it as rounding hides. Sets v outside the set.
  Ranked violators(const Stage<P>& at, const DualPoint& dual, Iterate& x, const WorkingSet& set, double off = 0.0) {
    const auto& quadratic = problem_.penalty.quadratic;
    const double size = std::sqrt(loops().dot(dual.theta.data(), dual.theta.data(), dual.theta.size()));
    const double pull = off + tuning::unit_rounding * size;
    Ranked found;
    for (int j : correlate_outside(at, dual, x, set, pull)) {
      const double gradient = x.v[j] + quadratic.gradient_at_zero(dual.form, j, at.ridge_level());
      const double noise = std::isfinite(lengths_[j]) ? pull * lengths_[j] : 0.0;
      double excess = 0.0;
      for (const double end : {gradient - noise, gradient + noise})
        excess = std::max(excess, optimality_violation(0.0, end, at.l1(j), at.lower(j), at.upper(j)));
      if (excess > 0.0) found.emplace_back(-excess / std::max(at.l1(j), tuning::tiny), j);
    }
    return found;
  }

  // Lets the worst of them in; returns how many came.
  static int admit(Ranked violators, WorkingSet& set) {
    Columns entering;
    append_worst(violators, std::max<std::size_t>(tuning::first_columns, set.size()), entering);
    set.add(entering);
    return static_cast<int>(entering.size());
  }

 private:
  static void append_worst(Ranked& ranked, std::size_t most, Columns& to) {
    const auto kept = std::min(ranked.size(), most);
    std::partial_sort(ranked.begin(), ranked.begin() + kept, ranked.end());
    for (std::size_t c = 0; c < kept; ++c) to.push_back(ranked[c].second);
  }

  // Columns whose gradient may reach a share of its threshold when it is known within radius * norm.
  Columns candidates(const Stage<P>& at, const Iterate& x, const Vector& form, double share, double radius) const {
    Vector room;
    const double* known = problem_.penalty.quadratic.gradients_at_zero(x.v, form, at.ridge_level(), room);
    Columns found(problem_.p);
    found.resize(loops().above(known, norms_.data(), radius, problem_.penalty.l1_factor.data(), share * at.l1_level(),
                               problem_.p, found.data()));
    return found;
  }

  // Exact correlations of the columns outside the set that could be above their threshold, and predicted ones of the
  // others; all exact where most of them could. `pull`: what is unknown of correlations, by a column's length.
  Columns correlate_outside(const Stage<P>& at, const DualPoint& point, Iterate& x, const WorkingSet& set,
                            double pull) {
    const Vector& dual = point.theta;
    Columns doubtful;
    if (references_.empty() || problem_.p <= 2 * static_cast<Index>(set.size())) {
      for (Index j = 0; j < problem_.p; ++j)
        if (!set.holds(j)) doubtful.push_back(static_cast<int>(j));
      correlate(problem_, doubtful, dual, x);
      return doubtful;
    }
    // No norm is below a share of its column's length.
    const double radius = predict_outside(dual, x, set) + pull / tuning::rounding_of_norms;
    for (int j : candidates(at, x, point.form, 1.0, radius))
      if (!set.holds(j)) doubtful.push_back(j);
    if (static_cast<double>(doubtful.size()) > tuning::doubtful_share * problem_.p) remember_all(dual, x, set);
    else correlate(problem_, doubtful, dual, x);
    return doubtful;
  }

  // Sets v outside the set, which is no longer exact there.
  double predict_outside(const Vector& dual, Iterate& x, const WorkingSet& set) {
    std::vector<std::pair<double, int>> exact;
    for (int j : set.columns()) exact.emplace_back(x.v[j], x.stamp[j]);
    const double radius = references_.predict(dual, x.v);
    std::fill(x.stamp.begin(), x.stamp.end(), -1);
    for (int c = 0; c < set.size(); ++c) std::tie(x.v[set.columns()[c]], x.stamp[set.columns()[c]]) = exact[c];
    return radius;
  }

  // The references are too old: this point becomes one.
  void remember_all(const Vector& dual, Iterate& x, const WorkingSet& set) {
    Vector products(problem_.p);
    problem_.design.all_dots(dual.data(), products.data());
    references_.remember(dual, products);
    for (Index j = 0; j < problem_.p; ++j)
      if (!set.holds(j)) {
        x.v[j] = products[j];
        x.stamp[j] = &dual == &x.e ? x.point : -1;
      }
  }

  const P& problem_;
  Vector lengths_, norms_;
  double spread_;             // the square root of the largest weight
  double mean_offset_ = 0.0;  // weighted mean of the offsets' sizes
  References references_;
};

}  // namespace clearning
