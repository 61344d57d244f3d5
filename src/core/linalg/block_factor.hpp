// Cholesky factor of a principal block of a symmetric matrix, updated as the block gains and loses rows.
#pragma once
#include <algorithm>
#include <cmath>
#include <vector>

#include "linalg/blas.hpp"
#include "linalg/types.hpp"
#include "linalg/vector_loops.hpp"
#include "tuning.hpp"

namespace clearning {

class BlockFactor {
 public:
  void invalidate() { valid_ = false; }
  const Columns& order() const { return order_; }

  // Factorises (M + diag(ridge)) on the rows of `wanted`; false if the block is not positive definite. A factor serves
  // on while the ridge has hardly changed: who steps by it looks at what is left, and steps again.
  bool match(const Columns& wanted, const double* m, int stride, const Vector& ridge) {
    if (valid_ && update(wanted, m, stride, ridge)) return true;
    return build(wanted, m, stride, ridge);
  }

  // By vectors, not matrices: LAPACK's own solve packs the whole factor first, for one right-hand side.
  void solve(double* right) {
    int k = static_cast<int>(order_.size()), one = 1;
    char upper = 'U', transposed = 'T', plain = 'N';
    blas::dtrsv(&upper, &transposed, &plain, &k, r_.data(), &width_, right, &one);
    blas::dtrsv(&upper, &plain, &plain, &k, r_.data(), &width_, right, &one);
  }

 private:
  double* column(int c) { return r_.data() + static_cast<std::size_t>(c) * width_; }

  bool build(const Columns& wanted, const double* m, int stride, const Vector& ridge) {
    order_ = wanted;
    const int k = static_cast<int>(wanted.size());
    if (k > width_) {
      width_ = std::min(tuning::with_room(k), stride);
      r_ = Vector();  // nothing to keep beside the new one
      r_.resize(static_cast<std::size_t>(width_) * width_);
    }
    ridge_.resize(k);
    for (int c = 0; c < k; ++c) ridge_[c] = ridge[wanted[c]];
    // A jitter below the model's own error keeps nearly singular blocks factorisable.
    valid_ = false;
    for (double relative = tuning::first_jitter; !valid_ && relative < tuning::last_jitter; relative *= 100.0)
      valid_ = factorise(m, stride, relative);
    return valid_;
  }

  bool factorise(const double* m, int stride, double relative_jitter) {
    int k = static_cast<int>(order_.size()), info = 0;
    jitter_ = relative_jitter;
    for (int c = 0; c < k; ++c) {
      const double* in = m + static_cast<std::size_t>(order_[c]) * stride;
      double* out = column(c);
      for (int r = 0; r <= c; ++r) out[r] = in[order_[r]];
      // Relative to each column's own size: columns may be of very different scales.
      out[c] = (out[c] + ridge_[c]) * (1.0 + jitter_) + tuning::tiny;
    }
    char upper = 'U';
    blas::dpotrf(&upper, &k, r_.data(), &width_, &info);
    return info == 0;
  }

  // Few changes cost less than a new factor.
  bool update(const Columns& wanted, const double* m, int stride, const Vector& ridge) {
    for (std::size_t c = 0; c < order_.size(); ++c)
      if (std::fabs(ridge[order_[c]] - ridge_[c]) > tuning::ridge_of_factor * ridge_[c]) return false;
    Columns kept = order_, arriving;
    std::sort(kept.begin(), kept.end());
    std::set_difference(wanted.begin(), wanted.end(), kept.begin(), kept.end(), std::back_inserter(arriving));
    const auto leaving = kept.size() + arriving.size() - wanted.size();
    if ((leaving + arriving.size()) * tuning::exchanges_per_factor > wanted.size() + tuning::exchanges_per_factor)
      return false;
    for (int c = static_cast<int>(order_.size()) - 1; c >= 0 && leaving > 0; --c)
      if (!std::binary_search(wanted.begin(), wanted.end(), order_[c])) remove(c);
    for (int j : arriving)
      if (!append(j, m, stride, ridge[j])) return false;
    return true;
  }

  void remove(int at) {
    const int k = static_cast<int>(order_.size());
    order_.erase(order_.begin() + at);
    ridge_.erase(ridge_.begin() + at);
    cosines_.resize(k);
    sines_.resize(k);
    for (int c = at; c < k - 1; ++c) {
      double* out = column(c);
      std::copy_n(column(c + 1), c + 2, out);
      for (int r = at; r < c; ++r) {
        const double x = out[r], y = out[r + 1];
        out[r] = cosines_[r] * x + sines_[r] * y;
        out[r + 1] = cosines_[r] * y - sines_[r] * x;
      }
      const double length = std::hypot(out[c], out[c + 1]);
      cosines_[c] = out[c] / length;
      sines_[c] = out[c + 1] / length;
      out[c] = length;
    }
  }

  bool append(int j, const double* m, int stride, double ridge) {
    const int k = static_cast<int>(order_.size());
    if (k == width_) return false;
    const double* in = m + static_cast<std::size_t>(j) * stride;
    double* out = column(k);
    for (int r = 0; r < k; ++r) {
      double sum = in[order_[r]];
      sum -= loops().dot(column(r), out, r);
      out[r] = sum / column(r)[r];
    }
    const double diagonal = in[j] + ridge;
    const double pivot = diagonal * (1.0 + jitter_) - loops().dot(out, out, k);
    if (!(pivot > jitter_ * diagonal)) return false;
    out[k] = std::sqrt(pivot);
    order_.push_back(j);
    ridge_.push_back(ridge);
    return true;
  }

  Columns order_;
  Vector r_, ridge_, cosines_, sines_;
  int width_ = 0;
  double jitter_ = 0.0;
  bool valid_ = false;
};

}  // namespace clearning
