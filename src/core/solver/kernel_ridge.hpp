// The Newton step of a kernel ridge problem. Without an l1 penalty the model's minimiser solves
// (ridge I + H K) beta = c - h shift, which Woodbury's identity turns into a system on the samples that carry
// curvature: ridge I + D K D, D = H^(1/2). It is solved by conjugate gradients behind a factor in single precision.
#pragma once
#include "linalg/conjugate_gradients.hpp"
#include "linalg/packed_factor.hpp"
#include "linalg/types.hpp"
#include "linalg/vector_loops.hpp"

namespace clearning {

// (ridge I + D K D) x = r
template <class Kernel>
class RidgeSystem {
 public:
  // False if no factor is found. What is added to the diagonal for it slows the iteration, but does not change x.
  bool build(const Kernel& kernel, const Columns& rows, const Vector& root, double ridge) {
    kernel_ = &kernel;
    rows_ = rows;
    root_ = root;
    ridge_ = ridge;
    double top = 0.0;
    for (std::size_t c = 0; c < rows_.size(); ++c)
      top = std::max(top, root_[c] * root_[c] * kernel.column(rows_[c])[rows_[c]]);
    // Scaled, as products of small weights would leave single precision's range.
    const double scale = 1.0 / (top + ridge);
    if (!(top + ridge > 0.0) || std::isinf(scale)) return false;
    const auto entry = [&](int r, int c) {
      const double product = root_[r] * root_[c] * kernel.column(rows_[c])[rows_[r]];
      return scale * (product + (r == c ? ridge : 0.0));
    };
    for (double jitter = 0.0; jitter < tuning::last_single_jitter;
         jitter = std::max(tuning::first_single_jitter, 10.0 * jitter))
      if (factor_.build(static_cast<int>(rows_.size()),
                        [&](int r, int c) { return entry(r, c) + (r == c ? jitter : 0.0); }))
        return true;
    return false;
  }

  Vector solve(const Vector& r) {
    const std::size_t k = r.size();
    Vector x(k, 0.0), rest(r), best_x(k, 0.0);
    double best = INFINITY;
    int idle = 0;
    const double whole = std::sqrt(loops().dot(r.data(), r.data(), k));
    const auto precondition = [&](Vector& out) {
      apply_factor(rest, out);
      return loops().dot(rest.data(), out.data(), k);
    };
    const auto apply = [&](const Vector& along, Vector& product) {
      multiply(along, product);
      return loops().dot(along.data(), product.data(), k);
    };
    const auto advance = [&](double size, const Vector& along, const Vector& product) {
      loops().axpy(size, along.data(), x.data(), k);
      loops().axpy(-size, product.data(), rest.data(), k);
      const double left = std::sqrt(loops().dot(rest.data(), rest.data(), k));
      idle = left < 0.5 * best ? 0 : idle + 1;
      if (left < best) {
        best = left;
        best_x = x;
      }
      return left > tuning::solved_system * whole && idle < tuning::idle_gradients;
    };
    conjugate_gradients(k, tuning::most_gradients, precondition, apply, advance);
    return best_x;
  }

 private:
  void apply_factor(const Vector& rest, Vector& out) {
    // Residuals fall below single precision's range long before they do not matter.
    double size = 0.0;
    for (double v : rest) size = std::max(size, std::fabs(v));
    if (size == 0.0) {
      out = rest;
      return;
    }
    single_.resize(rest.size());
    for (std::size_t c = 0; c < rest.size(); ++c) single_[c] = static_cast<float>(rest[c] / size);
    factor_.solve(single_.data());
    for (std::size_t c = 0; c < rest.size(); ++c) out[c] = size * single_[c];
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

template <class Kernel>
class KernelRidgeStep {
 public:
  // The model's minimiser: one coefficient a sample, and the intercept's shift. `form` = K beta at the start; e and h
  // are the model's derivatives there. False if the system has no factor.
  bool solve(const Kernel& kernel, const Vector& form, const Vector& e, const Vector& h, double ridge, bool intercept,
             Vector& beta, double& shift) {
    choose_rows(h);
    if (!system_.build(kernel, rows_, root_, ridge)) return false;
    const std::size_t n = h.size();
    Vector weight(n, 0.0);
    beta.resize(n);
    for (std::size_t i = 0; i < n; ++i) beta[i] = h[i] * form[i] - e[i];
    for (int i : rows_) weight[i] = h[i];
    take_off(kernel, beta);
    shift = 0.0;
    if (intercept) {
      take_off(kernel, weight);
      const double total = sum_of(weight);
      if (total > 0.0) shift = sum_of(beta) / total;
    }
    for (std::size_t i = 0; i < n; ++i) beta[i] = (beta[i] - shift * weight[i]) / ridge;
    return true;
  }

 private:
  void choose_rows(const Vector& h) {
    double top = 0.0;
    for (double hi : h) top = std::max(top, hi);
    rows_.clear();
    root_.clear();
    for (std::size_t i = 0; i < h.size(); ++i)
      if (h[i] > tuning::uncurved_row * top) {
        rows_.push_back(static_cast<int>(i));
        root_.push_back(std::sqrt(h[i]));
      }
  }

  // from -= D (ridge I + D K D)^-1 D K from
  void take_off(const Kernel& kernel, Vector& from) {
    Vector product(from.size()), right(rows_.size());
    kernel.all_dots(from.data(), product.data());
    for (std::size_t c = 0; c < rows_.size(); ++c) right[c] = root_[c] * product[rows_[c]];
    const Vector solution = system_.solve(right);
    for (std::size_t c = 0; c < rows_.size(); ++c) from[rows_[c]] -= root_[c] * solution[c];
  }

  RidgeSystem<Kernel> system_;
  Columns rows_;
  Vector root_;
};

}  // namespace clearning
