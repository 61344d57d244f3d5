// g'K^-1 g for the matrix K of a kernel between landmarks: what a pull g costs that no l1 penalty answers.
#pragma once
#include "linalg/blas.hpp"
#include "linalg/vector_loops.hpp"
#include "problem/quadratic.hpp"

namespace clearning {

// From a factor of K with a unit diagonal: what the jitter hides of the form is added again, for eigenvalues as small
// as the door for matrices between landmarks leaves.
template <class T>
class InverseForm {
 public:
  // Infinite where there is no factor, and where a landmark has no penalty.
  double operator()(const KernelForm<T>& kernel, Vector g) {
    if (by_.empty()) factorise(kernel);
    if (!has_factor_) return INFINITY;
    for (std::size_t j = 0; j < g.size(); ++j) g[j] *= by_[j];
    int p = static_cast<int>(g.size()), one = 1;
    char upper = 'U', transposed = 'T', plain = 'N';
    blas::dtrsv(&upper, &transposed, &plain, &p, factor_.data(), &p, g.data(), &one);
    const double form = loops().dot(g.data(), g.data(), g.size());
    blas::dtrsv(&upper, &plain, &plain, &p, factor_.data(), &p, g.data(), &one);
    // With x = (K + jitter)^-1 g it is x'(K + jitter)x + jitter x'x + jitter^2 x'K^-1 x.
    const double least = tuning::unit_rounding * p;
    return form + (jitter_ + jitter_ * jitter_ / least) * loops().dot(g.data(), g.data(), g.size());
  }

 private:
  void factorise(const KernelForm<T>& kernel) {
    const Index p = kernel.m;
    factor_.assign(kernel.column(0), kernel.column(0) + p * p);
    by_.resize(p);
    for (Index j = 0; j < p; ++j) {
      const double diagonal = factor_[j * p + j];
      if (!(diagonal > 0.0)) return;
      by_[j] = 1.0 / std::sqrt(diagonal);
    }
    for (Index j = 0; j < p; ++j)
      for (Index i = 0; i < p; ++i) factor_[j * p + i] *= by_[i] * by_[j];
    jitter_ = std::max(tuning::first_jitter, tuning::unit_rounding * static_cast<double>(p));
    for (Index j = 0; j < p; ++j) factor_[j * p + j] += jitter_;
    int size = static_cast<int>(p), info = 0;
    char upper = 'U';
    blas::dpotrf(&upper, &size, factor_.data(), &size, &info);
    has_factor_ = info == 0;
  }

  Vector factor_, by_;
  double jitter_ = 0.0;
  bool has_factor_ = false;
};

}  // namespace clearning
