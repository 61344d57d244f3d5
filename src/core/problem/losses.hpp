// Margin losses phi(z): one struct each, with everything that the solver asks of it.
//   at(z)              value phi, dual weight s = -phi', curvature phi''
//   majoriser(z)       a curvature that majorises phi from z, as far as is known
//   fenchel_young(z,s) phi(z) + phi*(-s) + s z, never negative, for s in [0, weight_limit()]
//   near_gap(z,s)      the same, or a bound on it that is tight near the loss's own weight and needs no logarithms
//   scaled_gap(z,c)    the same at c times the loss's own weight, or a bound on it that needs no logarithms
//   least_lift         the share of the majoriser that the curvature is never let below: none where it never vanishes
// To add one: a struct here, its place in Loss, and its twin in losses.py.
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>

#include "linalg/elementary.hpp"

namespace clearning {

struct LossParameters {
  double rho = 1.0, u = 1.0, delta = 2.0, kappa = 1.0;
};

struct LossPoint {
  double value, weight, curvature;
};

// kappa rho log(1 + exp((u - z) / rho)); the logistic loss is (rho, u, kappa) = (1, 0, 1).
struct Coherence {
  static constexpr std::string_view name = "coherence";
  static constexpr double least_lift = 0.0;
  double rho, u, kappa, inverse_rho;

  explicit Coherence(const LossParameters& p) : rho(p.rho), u(p.u), kappa(p.kappa), inverse_rho(1.0 / p.rho) {}

  CLEARNING_INLINE LossPoint at(double z) const {
    const double t = (u - z) * inverse_rho;
    const double small = exp_nonpositive(-std::fabs(t));
    const double inverse = 1.0 / (1.0 + small);
    const double s = t >= 0.0 ? inverse : small * inverse;
    const double softplus = (t > 0.0 ? t : 0.0) + log1p_unit(small);
    return {kappa * rho * softplus, kappa * s, kappa * inverse_rho * small * inverse * inverse};
  }
  double majoriser(double z) const {
    const double t = std::fabs(u - z) / rho;
    return kappa / rho * (t < 1e-4 ? 0.25 : std::tanh(0.5 * t) / (2.0 * t));
  }
  double fenchel_young(double z, double s) const {
    const double t = (u - z) / rho, p = s / kappa;
    const double tail = std::log1p(std::exp(-std::fabs(t)));
    const double log_p = -(std::max(-t, 0.0) + tail), log_rest = -(std::max(t, 0.0) + tail);
    const double first = p > 0.0 ? p * (std::log(p) - log_p) : 0.0;
    const double second = p < 1.0 ? (1.0 - p) * (std::log1p(-p) - log_rest) : 0.0;
    return kappa * rho * (first + second);
  }
  // kappa rho KL(p || q), q = sigma(t): log(1 + r) is at most r (6 + r) / (6 + 4 r), its Pade approximant, and the
  // linear terms cancel.
  CLEARNING_INLINE double near_gap(double z, double s) const {
    const double t = (u - z) * inverse_rho;
    const double small = exp_nonpositive(-std::fabs(t));
    const double large = 1.0 / (1.0 + small), little = small * large;
    const double q = t >= 0.0 ? large : little, rest = t >= 0.0 ? little : large;
    const double d = s / kappa - q, up = d / q, down = -d / rest;
    const double first = up * up * (3.0 + up) / (6.0 + 4.0 * up);
    const double second = down * down * (3.0 + down) / (6.0 + 4.0 * down);
    // Far from the weight the bound says nothing, and its powers overflow.
    constexpr double far = 1e100;
    if (up > far || down > far) return std::numeric_limits<double>::infinity();
    return kappa * rho * (q * first + rest * second);
  }
  // kappa rho KL(c s || s), s = sigma(t), bounded from above by its chi-square and, as it is convex in c, its chord.
  CLEARNING_INLINE double scaled_gap(double z, double c) const {
    const double t = (u - z) * inverse_rho;
    const double small = exp_nonpositive(-std::fabs(t));
    const double odds = t >= 0.0 ? 1.0 / small : small;
    const double softplus = (t > 0.0 ? t : 0.0) + log1p_unit(small);
    const double quadratic = (1.0 - c) * odds;
    return kappa * rho * (1.0 - c) * (quadratic < softplus ? quadratic : softplus);
  }
  double weight_limit() const { return kappa; }
};

// 0 for z > 1; (1 - z)^2 / (2 delta) down to 1 - delta; linear below.
struct HuberizedHinge {
  static constexpr std::string_view name = "huberized_hinge";
  static constexpr double least_lift = 1e-8;
  double delta, inverse;

  explicit HuberizedHinge(const LossParameters& p) : delta(p.delta), inverse(1.0 / p.delta) {}

  CLEARNING_INLINE LossPoint at(double z) const {
    const double r = 1.0 - z;
    const double inside = r > 0.0 ? (r < delta ? r : delta) : 0.0;
    const double s = inside * inverse;
    return {s * r - 0.5 * s * inside, s, (r > 0.0 && r < delta) ? inverse : 0.0};
  }
  double majoriser(double) const { return inverse; }
  CLEARNING_INLINE double fenchel_young(double z, double s) const {
    const double r = std::clamp(1.0 - z, 0.0, delta), q = r / delta;
    return q * (1.0 - z) - 0.5 * q * r + s * z - s + 0.5 * delta * s * s;
  }
  CLEARNING_INLINE double near_gap(double z, double s) const { return fenchel_young(z, s); }
  CLEARNING_INLINE double scaled_gap(double z, double c) const {
    const LossPoint p = at(z);
    const double s = c * p.weight;
    return p.value + s * z - s + 0.5 * delta * s * s;
  }
  double weight_limit() const { return 1.0; }
};

struct SquaredHinge {
  static constexpr std::string_view name = "squared_hinge";
  static constexpr double least_lift = 1e-8;

  explicit SquaredHinge(const LossParameters&) {}

  CLEARNING_INLINE LossPoint at(double z) const {
    const double r = z < 1.0 ? 1.0 - z : 0.0;
    return {r * r, 2.0 * r, z < 1.0 ? 2.0 : 0.0};
  }
  double majoriser(double) const { return 2.0; }
  CLEARNING_INLINE double fenchel_young(double z, double s) const {
    const double r = std::max(1.0 - z, 0.0);
    return r * r + s * z - s + 0.25 * s * s;
  }
  CLEARNING_INLINE double near_gap(double z, double s) const { return fenchel_young(z, s); }
  CLEARNING_INLINE double scaled_gap(double z, double c) const {
    const LossPoint p = at(z);
    const double s = c * p.weight;
    return p.value + s * z - s + 0.25 * s * s;
  }
  double weight_limit() const { return std::numeric_limits<double>::infinity(); }
};

// [1 - z]+. It has no curvature: it is solved on its dual, or as the limit of coherence functions that cool.
struct Hinge {
  static constexpr std::string_view name = "hinge";
  static constexpr double least_lift = 1e-8;

  explicit Hinge(const LossParameters&) {}

  CLEARNING_INLINE LossPoint at(double z) const { return {z < 1.0 ? 1.0 - z : 0.0, z < 1.0 ? 1.0 : 0.0, 0.0}; }
  double majoriser(double) const { return 0.0; }
  CLEARNING_INLINE double fenchel_young(double z, double s) const { return std::max(1.0 - z, 0.0) + s * z - s; }
  CLEARNING_INLINE double near_gap(double z, double s) const { return fenchel_young(z, s); }
  CLEARNING_INLINE double scaled_gap(double z, double c) const {
    const LossPoint p = at(z);
    return p.value - c * p.weight * (1.0 - z);
  }
  double weight_limit() const { return 1.0; }
  static Coherence warmed(double rho) { return Coherence({.rho = rho, .u = 1.0, .kappa = 1.0}); }
};

// How cold a loss is, in units of its margin, and the same loss at another temperature. Most have none.
template <class L>
double temperature_of(const L&) {
  return std::numeric_limits<double>::infinity();
}
inline double temperature_of(const Coherence& phi) {
  return phi.u > 0.0 ? phi.rho / phi.u : std::numeric_limits<double>::infinity();
}
template <class L>
L warmed(const L& phi, double) {
  return phi;
}
inline Coherence warmed(const Coherence& phi, double temperature) {
  return Coherence({.rho = temperature * phi.u, .u = phi.u, .kappa = phi.kappa});
}

using Loss = std::variant<Coherence, HuberizedHinge, SquaredHinge, Hinge>;

namespace detail {
template <class... Each>
Loss find_loss(std::string_view name, const LossParameters& p, const std::variant<Each...>*) {
  Loss found{Coherence(p)};
  const bool known = ((name == Each::name && (found = Each(p), true)) || ...);
  if (known) return found;
  std::string names;
  ((names += (names.empty() ? "" : ", ") + std::string(Each::name)), ...);
  throw std::invalid_argument("loss kind '" + std::string(name) + "' must be one of " + names + ".");
}
}  // namespace detail

// The one table of names: Loss itself. Throws at a name that is not there.
inline Loss make_loss(std::string_view name, const LossParameters& p) {
  return detail::find_loss(name, p, static_cast<const Loss*>(nullptr));
}

}  // namespace clearning
