// The gap at a dual point that is scaled until the penalty's constraints hold, column by column.
#pragma once
#include "solver/screening.hpp"

namespace clearning {

template <class P, class Quadratic = typename P::Quadratic>
class PenaltyGap {
 public:
  PenaltyGap(const P& problem, const Screening<P>& screening) : problem_(problem), screening_(screening) {}

  // At a dual point whose correlations with the set are given. samples(scale): the samples' share when it is scaled,
  // which is left out once the columns' share alone exceeds `enough`.
  template <class Share>
  double gap(const Stage<P>& at, const Iterate& x, const Columns& set, const DualPoint& dual, Correlated of,
             double enough, Share&& samples) const {
    const Vector& theta = dual.theta;
    const double rounding = tuning::unit_rounding * std::sqrt(loops().dot(theta.data(), theta.data(), theta.size()));
    const double pull = rounding + of.off;
    const double scale = feasible_scale(at, x, set, of.v, pull);
    const double columns = columns_share(at, x, set, of.v, scale, pull) + scale * of.off * reach_of(x, set);
    return columns <= enough ? columns + samples(scale) : columns;
  }

 private:
  // The largest scale at which every column whose conjugate has a domain is inside it.
  // A correlation is known up to `pull` times the column's length.
  double feasible_scale(const Stage<P>& at, const Iterate& x, const Columns& set, const Vector& v, double pull) const {
    double scale = 1.0;
    for (int j : set)
      if (!is_projected(problem_, x, j))
        scale = std::min(scale, pulled(v, j, pull).feasible_scale(at.l1(j), at.ridge(j), at.lower(j), at.upper(j)));
    return scale;
  }

  // A column without a penalty that is not projected pulls at its bound; what rounding makes of that on the other side
  // counts as what a projection leaves.
  NoisyPull pulled(const Vector& v, int j, double pull) const {
    const NoisyPull range(-v[j], pull * screening_.length(j));
    return problem_.penalty.is_free(j) ? range.one_sided() : range;
  }

  // What the columns' shares change with their correlations, by the columns' lengths.
  double reach_of(const Iterate& x, const Columns& set) const {
    double sum = 0.0;
    for (int j : set)
      if (x.b[j] != 0.0 && !is_projected(problem_, x, j)) sum += std::fabs(x.b[j]) * screening_.length(j);
    return sum;
  }

  double columns_share(const Stage<P>& at, const Iterate& x, const Columns& set, const Vector& v, double scale,
                       double pull) const {
    double sum = 0.0;
    for (int j : set) {
      const double dual = -scale * v[j], b = x.b[j], l1 = at.l1(j), ridge = at.ridge(j);
      if (is_projected(problem_, x, j)) continue;  // the certificate counts what is left of it
      if (problem_.penalty.is_free(j)) sum += scale * pull * screening_.length(j) * std::fabs(b);
      sum += pulled(v, j, pull).conjugate(scale, l1, ridge, at.lower(j), at.upper(j));
      if (b != 0.0) sum += l1 * std::fabs(b) + 0.5 * ridge * b * b - dual * b;
    }
    return sum;
  }

  const P& problem_;
  const Screening<P>& screening_;
};

}  // namespace clearning
