// Where a linear iteration is going: the combination of its last iterates whose steps cancel best (Anderson's).
#pragma once
#include <vector>

#include "linalg/blas.hpp"
#include "linalg/types.hpp"
#include "linalg/vector_loops.hpp"
#include "tuning.hpp"

namespace clearning {

// Coefficients, and what depends on them linearly.
struct SweepState {
  Vector b, residual;
  double shift = 0.0;
};

class Extrapolation {
 public:
  void begin() { states_.clear(); }
  void remember(SweepState state) { states_.push_back(std::move(state)); }
  bool is_ready() const { return states_.size() > tuning::extrapolated_sweeps; }

  // The combination; false if the steps do not tell one.
  bool combine(SweepState& out) const {
    Vector share;
    if (!weigh(share)) return false;
    out.b.assign(states_[0].b.size(), 0.0);
    out.residual.assign(states_[0].residual.size(), 0.0);
    out.shift = 0.0;
    for (std::size_t k = 0; k < share.size(); ++k) {
      const SweepState& state = states_[k + 1];
      loops().axpy(share[k], state.b.data(), out.b.data(), out.b.size());
      loops().axpy(share[k], state.residual.data(), out.residual.data(), out.residual.size());
      out.shift += share[k] * state.shift;
    }
    return true;
  }

 private:
  // Shares that sum to one and make the combined step short.
  bool weigh(Vector& share) const {
    int k = static_cast<int>(states_.size()) - 1, one = 1, info = 0;
    char upper = 'U';
    std::vector<Vector> steps(k);
    for (int r = 0; r < k; ++r) {
      steps[r] = states_[r + 1].b;
      loops().axpy(-1.0, states_[r].b.data(), steps[r].data(), steps[r].size());
    }
    Vector products(static_cast<std::size_t>(k) * k);
    double trace = 0.0;
    for (int c = 0; c < k; ++c) {
      for (int r = 0; r <= c; ++r) products[c * k + r] = loops().dot(steps[r].data(), steps[c].data(), steps[c].size());
      trace += products[c * k + c];
    }
    for (int c = 0; c < k; ++c) products[c * k + c] += tuning::extrapolation_jitter * trace;
    share.assign(k, 1.0);
    blas::dpotrf(&upper, &k, products.data(), &k, &info);
    if (info != 0) return false;
    blas::dpotrs(&upper, &k, &one, products.data(), &k, share.data(), &k, &info);
    const double total = sum_of(share);
    for (double& s : share) s /= total;
    return std::isfinite(total) && total > 0.0;
  }

  std::vector<SweepState> states_;
};

}  // namespace clearning
