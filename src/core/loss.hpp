// A margin loss, as plain data: what it is called and its parameters.
#pragma once
#include <cmath>

namespace clearning {

enum class LossKind { coherence, huberized_hinge, squared_hinge, hinge };

// coherence: kappa * rho * log(1 + exp((u - z) / rho)); the logistic loss is (rho, u, kappa) = (1, 0, 1).
struct Loss {
  LossKind kind = LossKind::coherence;
  double rho = 1.0, u = 1.0, delta = 2.0, kappa = 1.0;

  // The largest value the dual weight s = -phi'(z) may take.
  double weight_limit() const {
    switch (kind) {
      case LossKind::coherence: return kappa;
      case LossKind::squared_hinge: return INFINITY;
      default: return 1.0;
    }
  }
};

}  // namespace clearning
