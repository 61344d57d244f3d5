// The elastic net with factors and bounds: alpha * (l1_ratio * sum l1_factor |b| + (1 - l1_ratio) * b'Qb / 2).
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "linalg/types.hpp"
#include "tuning.hpp"

namespace clearning {

template <class Quadratic>
struct ElasticNet {
  double l1_ratio = 0.5;
  Vector l1_factor, lower, upper;
  Quadratic quadratic;

  bool is_free(Index j) const { return l1_factor[j] == 0.0 && quadratic.ridge(j, 1.0) == 0.0; }
};

inline double soft_threshold(double z, double l1) { return z > l1 ? z - l1 : (z < -l1 ? z + l1 : 0.0); }

// The minimiser over one coordinate, given its gradient g (ridge included) and curvature m (ridge included).
inline double coordinate_minimiser(double b, double g, double m, double l1, double lower, double upper) {
  return std::clamp(soft_threshold(m * b - g, l1) / m, lower, upper);
}

// How far zero is from the subdifferential at b.
inline double optimality_violation(double b, double g, double l1, double lower, double upper) {
  if (b > 0.0) return b >= upper ? std::max(g + l1, 0.0) : std::fabs(g + l1);
  if (b < 0.0) return b <= lower ? std::max(l1 - g, 0.0) : std::fabs(g - l1);
  return std::max({0.0, upper > 0.0 ? -g - l1 : 0.0, lower < 0.0 ? g - l1 : 0.0});
}

// Where a coefficient may go without changing its sign, if that matters to its penalty.
inline std::pair<double, double> sign_range(double b, double l1, double lower, double upper) {
  if (l1 == 0.0) return {lower, upper};
  return b > 0.0 ? std::pair{0.0, upper} : std::pair{lower, 0.0};
}

// sup over lower <= b <= upper of v b - l1 |b| - ridge b^2 / 2: the conjugate of one column's penalty.
inline double penalty_conjugate(double v, double l1, double ridge, double lower, double upper) {
  const double excess = std::fabs(v) - l1;
  const double limit = v > 0.0 ? upper : -lower;
  if (excess <= 0.0 || limit == 0.0) return 0.0;
  // A ridge beyond the range of a double is at least the largest that is not.
  if (ridge > 0.0 && excess <= ridge * limit)
    return 0.5 * excess * (excess / std::min(ridge, std::numeric_limits<double>::max()));
  if (std::isinf(limit)) return std::numeric_limits<double>::infinity();
  return limit * excess - 0.5 * ridge * limit * limit;
}

// Whether a dual correlation v can be too large for the conjugate to be finite.
inline bool is_constrained(double v, double ridge, double lower, double upper) {
  return ridge == 0.0 && std::isinf(v > 0.0 ? upper : lower);
}

// A pull on a coefficient, known up to some noise. It may point to the other side than it seems to, where the bound is
// another; conjugates are convex, so that the worst is at an end.
struct NoisyPull {
  NoisyPull(double pull, double noise) : low(pull - noise), high(pull + noise) {}

  // Where rounding to the other side is counted elsewhere.
  NoisyPull one_sided() const {
    NoisyPull same = *this;
    (low + high > 0.0 ? same.low : same.high) = 0.0;
    return same;
  }

  // The largest multiple, one at most, that has a finite conjugate.
  double feasible_scale(double l1, double ridge, double lower, double upper) const {
    double scale = 1.0;
    for (const double end : {low, high})
      if (std::fabs(end) > l1 && is_constrained(end, ridge, lower, upper)) scale = std::min(scale, l1 / std::fabs(end));
    return scale;
  }

  // The largest conjugate at a multiple of it.
  double conjugate(double scale, double l1, double ridge, double lower, double upper) const {
    double worst = 0.0;
    for (const double end : {scale * low, scale * high})
      if (std::fabs(end) > l1 * (1.0 + tuning::scaling_rounding))
        worst = std::max(worst, penalty_conjugate(end, l1, ridge, lower, upper));
    return worst;
  }

  double low, high;
};

}  // namespace clearning
