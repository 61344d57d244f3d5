// A block's rows beside their design.
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>

#include "linalg/types.hpp"

namespace clearning::blocks {

// Numbers of classes, weights, offsets (a row's scores together), and the fold that each row belongs to.
struct BlockSamples {
  const double* label;
  const double* weight;
  const double* offset;
  const std::int32_t* fold;
  Index n;
};

// log of a probability, clipped as scikit-learn's log_loss does.
inline double clipped(double log_probability) {
  constexpr double least = std::numeric_limits<double>::epsilon();
  static const double low = std::log(least), high = std::log1p(-least);
  return std::clamp(log_probability, low, high);
}

}  // namespace clearning::blocks
