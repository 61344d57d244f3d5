// What rounding makes of an objective and of a dual value.
#pragma once
#include "solver/screening.hpp"

namespace clearning {

// The sum of |x_j b_j| over columns, as a weighted mean over samples: each product has its own relative error.
template <class P, class Value>
double size_of_products(const Columns& columns, const Screening<P>& screening, Value&& value) {
  double sum = 0.0;
  for (std::size_t c = 0; c < columns.size(); ++c) sum += std::fabs(value(c)) * screening.mean_size(columns[c]);
  return sum;
}

// What rounding may make of an objective that is computed from its coefficients, and what scores that were updated step
// by step, with errors of either sign, may add.
struct Rounding {
  double own = 0.0, gathered = 0.0;

  double total() const { return own + gathered; }
  bool comes_from_afar() const { return gathered > tuning::drift_from_afar * own; }
};

template <class P>
Rounding rounding_of_objective(const Stage<P>& at, const Iterate& x, const Columns& set, const Screening<P>& screening,
                               double objective) {
  const P& problem = at.problem;
  const double limit = std::visit([](const auto& phi) { return phi.weight_limit(); }, problem.loss);
  const double size = std::fabs(x.a) + screening.mean_offset() +
                      size_of_products(set, screening, [&](std::size_t c) { return x.b[set[c]]; });
  const double pull = loops().sizes(x.e.data(), x.e.size());
  // A loss without a bound on its slope has the slope that it has here, and what its curvature makes of the errors.
  const double bend = std::visit([](const auto& phi) { return phi.majoriser(0.0); }, problem.loss);
  const double slope = std::isfinite(limit) ? limit : pull + bend * (tuning::unit_rounding * size + x.drift);
  const double cancelling = problem.penalty.quadratic.cancelling(x.b, pull, at.ridge_level());
  return {tuning::unit_rounding * (objective + slope * size + cancelling), slope * x.drift};
}

}  // namespace clearning
