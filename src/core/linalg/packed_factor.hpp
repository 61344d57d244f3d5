// A Cholesky factor in single precision of which only one half is stored: a preconditioner.
#pragma once
#include <algorithm>
#include <vector>

#include "linalg/blas.hpp"
#include "tuning.hpp"

namespace clearning {

// Upper Cholesky factor in panels of columns, each as high as it reaches; nothing below the diagonal panels.
class PackedFactor {
 public:
  // entry(row, column) for row <= column; false if the matrix is not positive definite in single precision.
  template <class Entry>
  bool build(int size, Entry&& entry) {
    size_ = size;
    panels_.resize((size + width - 1) / width);
    for (std::size_t p = 0; p < panels_.size(); ++p) {
      const int first = static_cast<int>(p) * width, end = std::min(size, first + width);
      panels_[p].resize(static_cast<std::size_t>(end) * (end - first));
      for (int c = first; c < end; ++c) {
        float* out = panels_[p].data() + static_cast<std::size_t>(c - first) * end;
        for (int r = 0; r <= c; ++r) out[r] = static_cast<float>(entry(r, c));
      }
    }
    for (std::size_t p = 0; p < panels_.size(); ++p)
      if (!factorise(p)) return false;
    return true;
  }

  // x = A^-1 x
  void solve(float* x) {
    char upper = 'U', transposed = 'T', plain = 'N';
    int one = 1;
    float minus = -1.0F, unit = 1.0F;
    for (std::size_t p = 0; p < panels_.size(); ++p) {
      int first = begin(p), end = last(p), columns = end - first;
      float *panel = panels_[p].data(), *part = x + first;
      if (first > 0) blas::sgemv(&transposed, &first, &columns, &minus, panel, &end, x, &one, &unit, part, &one);
      blas::strsv(&upper, &transposed, &plain, &columns, panel + first, &end, part, &one);
    }
    for (std::size_t p = panels_.size(); p-- > 0;) {
      int first = begin(p), end = last(p), columns = end - first;
      float *panel = panels_[p].data(), *part = x + first;
      blas::strsv(&upper, &plain, &plain, &columns, panel + first, &end, part, &one);
      if (first > 0) blas::sgemv(&plain, &first, &columns, &minus, panel, &end, part, &one, &unit, x, &one);
    }
  }

 private:
  static constexpr int width = tuning::panel_width;
  int begin(std::size_t p) const { return static_cast<int>(p) * width; }
  int last(std::size_t p) const { return std::min(size_, begin(p) + width); }

  // The panels to the left are done: their share comes off, block by block downwards, then the diagonal's own.
  bool factorise(std::size_t p) {
    char upper = 'U', left = 'L', transposed = 'T', plain = 'N';
    float minus = -1.0F, unit = 1.0F;
    int first = begin(p), end = last(p), columns = end - first, info = 0;
    float* panel = panels_[p].data();
    for (std::size_t q = 0; q < p; ++q) {
      int above = begin(q), high = last(q), rows = high - above;
      float *other = panels_[q].data(), *block = panel + above;
      if (above > 0)
        blas::sgemm(&transposed, &plain, &rows, &columns, &above, &minus, other, &high, panel, &end, &unit, block,
                    &end);
      blas::strsm(&left, &upper, &transposed, &plain, &rows, &columns, &unit, other + above, &high, block, &end);
    }
    if (first > 0) blas::ssyrk(&upper, &transposed, &columns, &first, &minus, panel, &end, &unit, panel + first, &end);
    blas::spotrf(&upper, &columns, panel + first, &end, &info);
    return info == 0;
  }

  int size_ = 0;
  std::vector<std::vector<float>> panels_;
};

}  // namespace clearning
