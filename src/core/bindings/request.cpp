#include "bindings/request.hpp"

#include "bindings/entries.hpp"
#include "bindings/interrupt.hpp"

namespace clearning {

Loss loss_of(const nb::dict& given) {
  const LossParameters parameters{.rho = positive(given, "rho"),
                                  .u = finite(given, "u"),
                                  .delta = positive(given, "delta"),
                                  .kappa = positive(given, "kappa")};
  return make_loss(value<std::string>(given, "kind", "the name of a loss"), parameters);
}

Settings settings_of(const nb::dict& given) {
  return {.tol = positive(given, "tol"),
          .max_iter = value<int>(given, "max_iter", "an integer below 2147483648"),
          .intercept = value<bool>(given, "fit_intercept", "True or False"),
          .check_interrupt = interrupt_check()};
}

Grid grid_of(const nb::dict& given) {
  Grid grid;
  grid.alphas = penalties(given);
  grid.count = value<int>(given, "n_alphas", "an integer");
  grid.min_ratio = positive(given, "alpha_min_ratio");
  if (grid.count < 1) refuse("n_alphas", "must be at least 1.");
  return grid;
}

Request::Request(const nb::dict& given, Index n, Index p)
    : loss(loss_of(value<nb::dict>(given, "loss", "a dictionary"))) {
  y_ = flat(given, "y", n);
  weight_ = flat(given, "weight", n);
  offset_ = flat(given, "offset", n);
  samples = {y_.data(), weight_.data(), offset_.data(), static_cast<std::size_t>(n)};
  l1_factor = vector_of(given, "l1_factor", p);
  l2_factor = vector_of(given, "l2_factor", p);
  lower = vector_of(given, "lower", p);
  upper = vector_of(given, "upper", p);
  l1_ratio = finite(given, "l1_ratio");
  settings = settings_of(given);
  grid = grid_of(given);
  if (entry(given, "coef_init").is_none()) return;
  start_b_ = flat(given, "coef_init", p);
  start = {start_b_.data(), finite(given, "intercept_init")};
}

}  // namespace clearning
