// The SVM with a ridge alone, on its dual: signed weights s, one a sample, with 0 <= y s <= w and, where there is an
// intercept, sum s = 0, that minimise s'Ks / (2 alpha) + offset's - sum |s|.
// The residual of sample i, r = offset + Ks / alpha - y, is that objective's derivative; scores are r + y.
#pragma once
#include <algorithm>
#include <cmath>

#include "linalg/types.hpp"
#include "linalg/vector_loops.hpp"
#include "problem/samples.hpp"
#include "solver/hinge_intercept.hpp"
#include "tuning.hpp"

namespace clearning {

struct DualState {
  Vector s, residual;
  double ridge = 1.0, intercept = 0.0, gap = INFINITY;

  void start(const Samples& samples) {
    s.assign(samples.n, 0.0);
    residual.resize(samples.n);
    for (std::size_t i = 0; i < samples.n; ++i) residual[i] = samples.offset[i] - samples.y[i];
  }
};

class BoxDual {
 public:
  BoxDual(const Samples& samples, bool intercept)
      : samples_(samples), n_(static_cast<Index>(samples.n)), has_intercept_(intercept) {}

 protected:
  double lowest(Index i) const { return samples_.y[i] > 0.0 ? 0.0 : -samples_.weight[i]; }
  double highest(Index i) const { return samples_.y[i] > 0.0 ? samples_.weight[i] : 0.0; }

  // The best intercept, and the gap there: primal less dual objective, at weights that sum to zero.
  void measure(DualState& at) const {
    at.intercept = 0.0;
    if (has_intercept_) at.intercept = hinge_intercept(samples_, [&](int i) { return at.residual[i] + samples_.y[i]; });
    at.gap = 0.0;
    for (Index i = 0; i < n_; ++i) {
      const double left = at.residual[i] + at.intercept;
      at.gap += samples_.weight[i] * std::max(0.0, -samples_.y[i] * left) + at.s[i] * left;
    }
  }

  Samples samples_;
  Index n_;
  bool has_intercept_;
};

}  // namespace clearning
