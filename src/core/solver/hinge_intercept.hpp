// The intercept at which the hinge's sum is least. Where that is an interval (all dual weights at their bounds), its
// middle: at an end of it every sample of a class may lie on the boundary.
#pragma once
#include <algorithm>

#include "linalg/types.hpp"
#include "problem/samples.hpp"
#include "tuning.hpp"

namespace clearning {

// In the scores without intercept: sample i turns at a = y - score, where its margin is one.
template <class Score>
double hinge_intercept(const Samples& samples, Score&& score) {
  Columns order = every_index(static_cast<Index>(samples.n));
  const auto turn = [&](int i) { return samples.y[i] - score(i); };
  std::sort(order.begin(), order.end(), [&](int i, int j) { return turn(i) < turn(j); });
  // Past its turn a positive sample is content, a negative one no longer. What pulls up and what pulls down are summed
  // apart, each from its small end, so that no weight is lost in a difference.
  Vector up(samples.n + 1, 0.0);
  for (std::size_t k = samples.n; k-- > 0;)
    up[k] = up[k + 1] + std::max(samples.y[order[k]], 0.0) * samples.weight[order[k]];
  double down = 0.0;
  std::size_t first = samples.n;
  for (std::size_t k = 0; k < samples.n; ++k) {
    down += std::max(-samples.y[order[k]], 0.0) * samples.weight[order[k]];
    const double rounding = tuning::rounding_of_sums * std::max(down, up[k + 1]);
    if (down < up[k + 1] - rounding) continue;
    first = std::min(first, k);
    if (down > up[k + 1] + rounding || k + 1 == samples.n) return 0.5 * (turn(order[first]) + turn(order[k]));
  }
  return 0.0;
}

}  // namespace clearning
