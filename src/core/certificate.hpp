// Fenchel-Young terms: what each sample and each coefficient adds to the duality gap. None is negative.
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>

#include "loss.hpp"

namespace clearning {

// sup over lower <= b <= upper of v b - l1 |b| - ridge b^2 / 2: the conjugate of one column's penalty.
inline double penalty_conjugate(double v, double l1, double ridge, double lower, double upper) {
  const double excess = std::fabs(v) - l1;
  const double limit = v > 0.0 ? upper : -lower;
  if (excess <= 0.0 || limit == 0.0) return 0.0;
  if (ridge > 0.0 && excess <= ridge * limit) return 0.5 * excess * excess / ridge;
  if (std::isinf(limit)) return std::numeric_limits<double>::infinity();
  return limit * excess - 0.5 * ridge * limit * limit;
}

// Whether a dual correlation v can be too large for the conjugate to be finite.
inline bool is_constrained(double v, double ridge, double lower, double upper) {
  return ridge == 0.0 && std::isinf(v > 0.0 ? upper : lower);
}

// phi(z) + phi*(-s) + s z for any dual weight s in the conjugate's domain.
inline double fenchel_young(const Loss& loss, double z, double s) {
  switch (loss.kind) {
    case LossKind::coherence: {
      const double t = (loss.u - z) / loss.rho, p = s / loss.kappa;
      const double tail = std::log1p(std::exp(-std::fabs(t)));
      const double log_p = -(std::max(-t, 0.0) + tail), log_rest = -(std::max(t, 0.0) + tail);
      const double first = p > 0.0 ? p * (std::log(p) - log_p) : 0.0;
      const double second = p < 1.0 ? (1.0 - p) * (std::log1p(-p) - log_rest) : 0.0;
      return loss.kappa * loss.rho * (first + second);
    }
    case LossKind::huberized_hinge: {
      const double r = std::clamp(1.0 - z, 0.0, loss.delta), q = r / loss.delta;
      return q * (1.0 - z) - 0.5 * q * r + s * z - s + 0.5 * loss.delta * s * s;
    }
    case LossKind::squared_hinge: {
      const double r = std::max(1.0 - z, 0.0);
      return r * r + s * z - s + 0.25 * s * s;
    }
    default: return std::max(1.0 - z, 0.0) + s * z - s;
  }
}

}  // namespace clearning
