// What is known of the samples beside their design.
#pragma once
#include <cstddef>

namespace clearning {

// Labels in {-1, +1}, weights that sum to one, and what is added to each score.
struct Samples {
  const double* y;
  const double* weight;
  const double* offset;
  std::size_t n;
};

}  // namespace clearning
