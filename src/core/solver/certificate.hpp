// The duality gap: Fenchel-Young terms of samples and coefficients at a feasible dual point. None is negative.
#pragma once
#include "solver/dual_projection.hpp"
#include "solver/kernel_gap.hpp"

namespace clearning {

template <class P>
class Certificate {
 public:
  Certificate(const P& problem, const Screening<P>& screening)
      : problem_(problem), screening_(screening), projection_(problem, screening), penalty_(problem, screening) {}

  // The feasible dual point that belongs to the iterate, up to scaling.
  const Vector& dual(const Stage<P>& at, const Iterate& x) {
    if (problem_.free.empty()) return x.e;
    if (projected_at_ != x.point) project(at, x, x.e);
    return projection_.dual();
  }

  // The gap of the working set's problem; of the whole one once no other column violates its threshold.
  // samples(scale, dual): the samples' share when the dual point is scaled. Once the columns' share alone exceeds
  // `enough` it is left out: no gap is that small.
  template <class Share>
  double gap(const Stage<P>& at, const Iterate& x, const Columns& set, double enough, Share&& samples) {
    const DualPoint here{x.e, x.b, x.form};
    if (problem_.free.empty()) return measure(at, x, set, here, {x.v}, enough, samples);
    return gap_at(at, x, set, here, samples);
  }

  // The same at another dual point, feasible for the samples and the intercept.
  template <class Share>
  double gap_at(const Stage<P>& at, const Iterate& x, const Columns& set, const DualPoint& dual, Share&& samples) {
    if (!problem_.free.empty() && !project(at, x, dual.theta)) return INFINITY;
    const Vector& theta = problem_.free.empty() ? dual.theta : projection_.dual();
    v_.resize(problem_.p);
    Vector products(set.size());
    problem_.design.dots(set, theta.data(), products.data());
    for (std::size_t c = 0; c < set.size(); ++c) v_[set[c]] = products[c];
    const double gap = measure(at, x, set, {theta, dual.b, dual.form}, {v_}, INFINITY, samples);
    return problem_.free.empty() ? gap : gap + projection_.leftover(at, x);
  }

  // The same at one whose correlations with the set are known, where no column has to be projected.
  template <class Share>
  double gap_at(const Stage<P>& at, const Iterate& x, const Columns& set, const DualPoint& dual, Correlated of,
                Share&& samples) {
    return measure(at, x, set, dual, of, INFINITY, samples);
  }

  // The samples' share where the loss that is minimised is the one that counts.
  static double samples_share(const Stage<P>& at, const Iterate& x, double scale, const Vector& dual) {
    const P& problem = at.problem;
    if (&dual != &x.e) {
      const double near = near_gap(at.loss, problem.samples, x.score.data(), x.a, dual.data(), scale);
      return near <= at.goal ? near : std::min(near, exact_share(at, x, scale, dual));
    }
    // Fenchel-Young terms are convex in the scale, zero at one and the loss itself at zero.
    const double chord = (1.0 - x.balance) * x.loss;
    if (scale == 1.0 && chord <= tuning::negligible_share * at.goal) return chord;
    return scaled_gap(at.loss, problem.samples, x.score.data(), x.a, scale * (x.heavy > 0.0 ? x.balance : 1.0),
                      scale * (x.heavy < 0.0 ? x.balance : 1.0));
  }

 private:
  bool project(const Stage<P>& at, const Iterate& x, const Vector& theta) {
    Columns loose;
    for (int j : problem_.free)
      if (is_projected(problem_, x, j)) loose.push_back(j);
    projected_at_ = &theta == &x.e ? x.point : -1;
    return projection_.project(at, theta, x.h, loose);
  }

  template <class Share>
  double measure(const Stage<P>& at, const Iterate& x, const Columns& set, const DualPoint& dual, Correlated of,
                 double enough, Share&& samples) {
    const double gap =
        penalty_.gap(at, x, set, dual, of, enough, [&](double scale) { return samples(scale, dual.theta); });
    if (std::isnan(gap)) return INFINITY;
    return std::max(gap, 0.0);
  }

  static double exact_share(const Stage<P>& at, const Iterate& x, double scale, const Vector& dual) {
    const Samples& samples = at.problem.samples;
    return std::visit(
        [&](const auto& phi) {
          double sum = 0.0;
          for (std::size_t i = 0; i < samples.n; ++i) {
            if (samples.weight[i] == 0.0) continue;
            const double s = -scale * dual[i] * samples.y[i] / samples.weight[i];
            sum += samples.weight[i] * phi.fenchel_young(samples.y[i] * (x.score[i] + x.a), s);
          }
          return sum;
        },
        at.loss);
  }

  const P& problem_;
  const Screening<P>& screening_;
  DualProjection<P> projection_;
  PenaltyGap<P> penalty_;
  Vector v_;  // correlations of the set at another dual point than e
  int projected_at_ = -1;
};

}  // namespace clearning
