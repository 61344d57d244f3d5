// The linear system of a kernel ridge step, (ridge I + D K D) x = r on the samples that carry curvature, D = H^(1/2):
// conjugate gradients, preconditioned by a Cholesky factor in single precision of which only one half is stored.
#pragma once

#include "design.hpp"

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
  static constexpr int width = 256;
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
        blas::sgemm(&transposed, &plain, &rows, &columns, &above, &minus, other, &high, panel, &end, &unit, block, &end);
      blas::strsm(&left, &upper, &transposed, &plain, &rows, &columns, &unit, other + above, &high, block, &end);
    }
    if (first > 0) blas::ssyrk(&upper, &transposed, &columns, &first, &minus, panel, &end, &unit, panel + first, &end);
    blas::spotrf(&upper, &columns, panel + first, &end, &info);
    return info == 0;
  }

  int size_ = 0;
  std::vector<std::vector<float>> panels_;
};

template <class Kernel>
class RidgeSystem {
 public:
  // False if no factor is found. What is added to the diagonal for it slows the iteration, but does not change x.
  bool build(const Kernel& kernel, Columns rows, Vector root, double ridge) {
    kernel_ = &kernel;
    rows_ = std::move(rows);
    root_ = std::move(root);
    ridge_ = ridge;
    double top = 0.0;
    for (std::size_t c = 0; c < rows_.size(); ++c)
      top = std::max(top, root_[c] * root_[c] * kernel.column(rows_[c])[rows_[c]]);
    // Scaled, as products of small weights would leave single precision's range.
    const double scale = 1.0 / (top + ridge);
    if (!(top + ridge > 0.0) || std::isinf(scale)) return false;
    for (double jitter = 0.0; jitter < 1e-2; jitter = std::max(1e-6, 10.0 * jitter))
      if (factor_.build(static_cast<int>(rows_.size()), [&](int r, int c) {
            const double product = root_[r] * root_[c] * kernel.column(rows_[c])[rows_[r]];
            return scale * (product + (r == c ? ridge : 0.0)) + (r == c ? jitter : 0.0);
          }))
        return true;
    return false;
  }

  // x = (ridge I + D K D)^-1 r
  Vector solve(const Vector& r) {
    constexpr int most = 500;
    constexpr double enough = 1e-13;
    const std::size_t k = r.size();
    Vector x(k, 0.0), rest(r), along(k, 0.0), product(k), best_x(k, 0.0);
    double length = 0.0, best = INFINITY;
    const double whole = std::sqrt(kernels().dot(r.data(), r.data(), k));
    for (int iteration = 0, idle = 0; iteration < most && idle < 5; ++iteration) {
      const Vector preconditioned = precondition(rest);
      const double next = kernels().dot(rest.data(), preconditioned.data(), k);
      if (!(next > 0.0)) break;
      const double keep = iteration == 0 ? 0.0 : next / length;
      for (std::size_t c = 0; c < k; ++c) along[c] = keep * along[c] + preconditioned[c];
      length = next;
      multiply(along, product);
      const double bend = kernels().dot(along.data(), product.data(), k);
      if (!(bend > 0.0)) break;
      kernels().axpy(length / bend, along.data(), x.data(), k);
      kernels().axpy(-length / bend, product.data(), rest.data(), k);
      const double left = std::sqrt(kernels().dot(rest.data(), rest.data(), k));
      idle = left < 0.5 * best ? 0 : idle + 1;
      if (left < best) {
        best = left;
        best_x = x;
      }
      if (left <= enough * whole) break;
    }
    return best_x;
  }

 private:
  Vector precondition(const Vector& rest) {
    // Residuals fall below single precision's range long before they do not matter.
    double size = 0.0;
    for (double v : rest) size = std::max(size, std::fabs(v));
    if (size == 0.0) return rest;
    single_.resize(rest.size());
    for (std::size_t c = 0; c < rest.size(); ++c) single_[c] = static_cast<float>(rest[c] / size);
    factor_.solve(single_.data());
    Vector out(rest.size());
    for (std::size_t c = 0; c < rest.size(); ++c) out[c] = size * single_[c];
    return out;
  }

  void multiply(const Vector& x, Vector& out) const {
    const std::size_t k = x.size();
    Vector scaled(k), everywhere(kernel_->n, 0.0);
    for (std::size_t c = 0; c < k; ++c) scaled[c] = root_[c] * x[c];
    kernel_->combine(rows_, scaled.data(), everywhere.data());
    for (std::size_t c = 0; c < k; ++c) out[c] = ridge_ * x[c] + root_[c] * everywhere[rows_[c]];
  }

  const Kernel* kernel_ = nullptr;
  Columns rows_;
  Vector root_;
  double ridge_ = 0.0;
  PackedFactor factor_;
  std::vector<float> single_;
};

}  // namespace clearning
