#include "bindings/request.hpp"

#include <nanobind/stl/string.h>

#include <string>

#include "bindings/interrupt.hpp"

namespace clearning {

namespace {

[[noreturn]] void refuse(const std::string& name, const std::string& why) {
  throw nb::value_error((name + " " + why).c_str());
}

nb::object entry(const nb::dict& given, const char* name) {
  if (!given.contains(name)) refuse(name, "is missing from the request.");
  return given[name];
}

template <class T>
T value(const nb::dict& given, const char* name, const char* kind) {
  T out{};
  if (!nb::try_cast<T>(entry(given, name), out)) refuse(name, std::string("must be ") + kind + ".");
  return out;
}

double number(const nb::dict& given, const char* name) { return value<double>(given, name, "a number"); }

double finite(const nb::dict& given, const char* name) {
  const double out = number(given, name);
  if (!std::isfinite(out)) refuse(name, "must be finite.");
  return out;
}

double positive(const nb::dict& given, const char* name) {
  const double out = finite(given, name);
  if (!(out > 0.0)) refuse(name, "must be positive.");
  return out;
}

Vector vector_of(const nb::dict& given, const char* name, Index length) {
  const auto array = flat(given, name, length);
  return {array.data(), array.data() + array.size()};
}

Vector penalties(const nb::dict& given) {
  if (entry(given, "alphas").is_none()) return {};
  const auto array = flat(given, "alphas", -1);
  Vector out(array.data(), array.data() + array.size());
  if (out.empty()) refuse("alphas", "must hold at least one penalty.");
  for (std::size_t k = 0; k < out.size(); ++k)
    if (!std::isfinite(out[k]) || !(out[k] > 0.0) || (k > 0 && out[k] > out[k - 1]))
      refuse("alphas", "must be positive, finite and descending.");
  return out;
}

}  // namespace

Flat<double> flat(const nb::dict& given, const char* name, Index length) {
  Flat<double> array;
  // Without a conversion: what is looked at must be the caller's own memory, which outlives the solve.
  if (!nb::try_cast<Flat<double>>(entry(given, name), array, false))
    refuse(name, "must be a contiguous one-dimensional array of float64.");
  if (length >= 0 && static_cast<Index>(array.size()) != length)
    refuse(name, "has " + std::to_string(array.size()) + " entries; " + std::to_string(length) + " are needed.");
  return array;
}

Loss loss_of(const nb::dict& given) {
  const LossParameters parameters{.rho = positive(given, "rho"),
                                  .u = finite(given, "u"),
                                  .delta = positive(given, "delta"),
                                  .kappa = positive(given, "kappa")};
  return make_loss(value<std::string>(given, "kind", "the name of a loss"), parameters);
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
  settings.tol = positive(given, "tol");
  settings.max_iter = value<int>(given, "max_iter", "an integer below 2147483648");
  settings.intercept = value<bool>(given, "fit_intercept", "True or False");
  settings.check_interrupt = interrupt_check();
  grid.alphas = penalties(given);
  grid.count = value<int>(given, "n_alphas", "an integer");
  grid.min_ratio = positive(given, "alpha_min_ratio");
  if (grid.count < 1) refuse("n_alphas", "must be at least 1.");
  if (entry(given, "coef_init").is_none()) return;
  start_b_ = flat(given, "coef_init", p);
  start = {start_b_.data(), finite(given, "intercept_init")};
}

}  // namespace clearning
