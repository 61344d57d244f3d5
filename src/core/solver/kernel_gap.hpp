// The gap of a kernel problem, from two dual points: one scaled until the l1 penalty's constraint holds, and one that
// leaves the l1 penalty out.
#pragma once
#include "solver/inverse_form.hpp"
#include "solver/penalty_gap.hpp"

namespace clearning {

template <class P, class T>
class PenaltyGap<P, KernelForm<T>> {
 public:
  PenaltyGap(const P& problem, const Screening<P>&) : problem_(problem) {}

  // At a dual point whose correlations with the set are given. samples(scale): the samples' share of the gap when the
  // dual weights are scaled.
  template <class Share>
  double gap(const Stage<P>& at, const Iterate& x, const Columns& set, const DualPoint& dual, Correlated of, double,
             Share&& samples) {
    const Vector& v = of.v;
    const double level = at.ridge_level();
    const double length = std::sqrt(static_cast<double>(problem_.n)) * problem_.penalty.quadratic.largest();
    const double noise = rounding_of_gradient(at, dual) + of.off * length;
    double scale = 1.0, cross = 0.0, size = 0.0, square = 0.0, absolute = 0.0, dual_square = 0.0;
    for (int j : set) {
      const double g = std::fabs(v[j] + level * dual.form[j]) + noise, l1 = at.l1(j);
      if (g > l1) scale = std::min(scale, l1 / g);
      cross += v[j] * x.b[j];
      size += std::fabs(x.b[j]);
      absolute += l1 * std::fabs(x.b[j]);
      square += level * x.b[j] * x.form[j];
      dual_square += level * dual.b[j] * dual.form[j];
    }
    const double scaled = samples(scale) + scale * (cross + of.off * length * size) +
                          0.5 * (square + scale * scale * dual_square) + absolute;
    if (static_cast<Index>(set.size()) < problem_.p || level == 0.0) return scaled;
    const double lost =
        noise * noise / (tuning::unit_rounding * std::max(problem_.penalty.quadratic.largest(), tuning::tiny));
    const double apart = distance(at, x, dual.theta, v);
    const double plain = absolute + (samples(1.0) + 0.5 * ((apart < 0.0 ? 0.0 : apart) + lost) / level);
    return std::min(scaled, plain);
  }

 private:
  // Of K (e + level b), by the largest entry of K.
  double rounding_of_gradient(const Stage<P>& at, const DualPoint& dual) const {
    double size = 0.0;
    for (double e : dual.theta) size += std::fabs(e);
    for (double b : dual.b) size += at.ridge_level() * std::fabs(b);
    return tuning::unit_rounding * size * problem_.penalty.quadratic.largest();
  }

  // g' K^-1 g with g = K q the gradient, which needs no inverse where the coefficients belong to the samples.
  double distance(const Stage<P>& at, const Iterate& x, const Vector& theta, const Vector& v) {
    if (problem_.penalty.quadratic.is_design) {
      double sum = 0.0;
      for (Index j = 0; j < problem_.p; ++j)
        sum += (theta[j] + at.ridge_level() * x.b[j]) * (v[j] + at.ridge_level() * x.form[j]);
      return sum;
    }
    Vector g(problem_.p);
    for (Index j = 0; j < problem_.p; ++j) g[j] = v[j] + at.ridge_level() * x.form[j];
    return inverse_form_(problem_.penalty.quadratic, std::move(g));
  }

  const P& problem_;
  InverseForm<T> inverse_form_;
};

}  // namespace clearning
