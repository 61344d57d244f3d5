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
  double slope = 0.0;
  for (std::size_t i = 0; i < samples.n; ++i) slope -= std::max(samples.y[i], 0.0) * samples.weight[i];
  for (std::size_t k = 0; k < samples.n; ++k) {
    // Past its turn a positive sample is content, a negative one no longer.
    slope += samples.weight[order[k]];
    if (slope < -tuning::rounding_of_sums) continue;
    std::size_t end = k;
    while (slope <= tuning::rounding_of_sums && end + 1 < samples.n) slope += samples.weight[order[++end]];
    return 0.5 * (turn(order[k]) + turn(order[end]));
  }
  return 0.0;
}

}  // namespace clearning
