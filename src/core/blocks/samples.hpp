// A block's rows beside their design.
#pragma once
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

// Some neighbouring rows of a panel, and a weight for each of them.
struct WeightedRows {
  int first, count;
  const double* weight;
};

}  // namespace clearning::blocks
