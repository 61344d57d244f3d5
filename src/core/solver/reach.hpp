// How far coefficients without a penalty may go. What they make of the scores, other columns may take back, whose
// coefficients the penalty holds: no solution's penalty exceeds an objective that is known.
#pragma once
#include <cmath>

#include "linalg/types.hpp"
#include "tuning.hpp"

namespace clearning {

// The weighted length of scores that a column makes, about their mean where there is an intercept; from above.
template <class D>
double length_of_scores(const D& design, Index j, const double* weight, double total_of_intercept) {
  double first, second;
  design.moments(j, weight, first, second);
  const double centred = total_of_intercept > 0.0 ? std::max(0.0, second - first * first / total_of_intercept) : second;
  return std::sqrt(centred) + tuning::rounding_of_norms * std::sqrt(second);
}

// The longest scores of coefficients that are held, by a penalty or by bounds on both sides.
class HeldReach {
 public:
  // A block of columns whose norm times `length` is what they make of the scores at most.
  void add(double length, double l1_factor, double ridge_factor, double most) {
    if (length == 0.0) return;
    if (l1_factor == 0.0 && ridge_factor == 0.0) {
      bounded_ += length * most;
      return;
    }
    by_l1_ = std::max(by_l1_, length / l1_factor);
    by_ridge_ += length * (length / ridge_factor);
    by_bounds_ += length * most;
  }

  // Where the penalty is at most `budget`.
  double at(double budget, double l1_level, double ridge_level) const {
    if (by_l1_ == 0.0) return bounded_;
    const double some = std::max(budget, tuning::tiny);
    const double by_l1 = l1_level > 0.0 ? by_l1_ * (some / l1_level) : INFINITY;
    const double by_ridge =
        ridge_level > 0.0 && by_ridge_ > 0.0 ? std::sqrt(2.0 * by_ridge_ * (some / ridge_level)) : INFINITY;
    return bounded_ + std::min({by_l1, by_ridge, by_bounds_});
  }

 private:
  double by_l1_ = 0.0, by_ridge_ = 0.0, by_bounds_ = 0.0, bounded_ = 0.0;
};

}  // namespace clearning
