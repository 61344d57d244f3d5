// The words that every room uses for numbers in rows.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace clearning {

using Index = std::int64_t;
using Columns = std::vector<int>;
using Vector = std::vector<double>;

inline Columns every_index(Index count) {
  Columns indices(count);
  std::iota(indices.begin(), indices.end(), 0);
  return indices;
}

inline double sum_of(const Vector& v) { return std::accumulate(v.begin(), v.end(), 0.0); }

}  // namespace clearning
