// What rounding makes of an objective and of a dual value.
#pragma once
#include "solver/screening.hpp"

namespace clearning {

// Each product x b has its own relative error, and scores that were updated step by step have gathered such errors, of
// either sign. By Cauchy-Schwarz the weighted mean of |x_j| is at most `largest weight`^(1/2) ||x_j||.
template <class P>
double rounding_of_objective(const Stage<P>& at, const Iterate& x, const Columns& set, const Screening<P>& screening,
                             double objective) {
  const P& problem = at.problem;
  const Samples& samples = problem.samples;
  const double spread = std::sqrt(*std::max_element(samples.weight, samples.weight + samples.n));
  const double limit = std::visit([](const auto& phi) { return phi.weight_limit(); }, problem.loss);
  double size = std::fabs(x.a), pull = 0.0;
  for (int j : set) size += std::fabs(x.b[j]) * spread * screening.length(j);
  for (std::size_t i = 0; i < samples.n; ++i) {
    size += samples.weight[i] * std::fabs(samples.offset[i]);
    pull += std::fabs(x.e[i]);
  }
  // A loss without a bound on its slope has the slope that it has here.
  const double slope = std::isfinite(limit) ? limit : pull;
  const double cancelling = problem.penalty.quadratic.cancelling(x.b, pull, at.ridge_level());
  return tuning::unit_rounding * (objective + slope * size + cancelling) + slope * x.drift;
}

}  // namespace clearning
