// The inner problem: a quadratic model plus the elastic net on a working set of columns.
// minimise over b:  g'(b - b0) + (b - b0)' M (b - b0) / 2 + sum l1 |b| + ridge b^2 / 2,  lower <= b <= upper
#pragma once
#include <algorithm>
#include <cmath>
#include <vector>

#include "design.hpp"

namespace clearning {

inline double soft_threshold(double z, double l1) { return z > l1 ? z - l1 : (z < -l1 ? z + l1 : 0.0); }

// The minimiser over one coordinate, given its gradient g (ridge included) and curvature m (ridge included).
inline double coordinate_minimiser(double b, double g, double m, double l1, double lower, double upper) {
  return std::clamp(soft_threshold(m * b - g, l1) / m, lower, upper);
}

// How far zero is from the subdifferential at b.
inline double optimality_violation(double b, double g, double l1, double lower, double upper) {
  if (b > 0.0) return b >= upper ? std::max(g + l1, 0.0) : std::fabs(g + l1);
  if (b < 0.0) return b <= lower ? std::max(l1 - g, 0.0) : std::fabs(g - l1);
  return std::max({0.0, upper > 0.0 ? -g - l1 : 0.0, lower < 0.0 ? g - l1 : 0.0});
}

// One entry per working-set column; b and g are updated in place.
struct InnerProblem {
  int count = 0;
  Vector b, g, l1, ridge, lower, upper, allowed;

  void resize(int k) {
    count = k;
    for (Vector* v : {&b, &g, &l1, &ridge, &lower, &upper, &allowed}) v->resize(k);
  }
  double violation(int j) const { return optimality_violation(b[j], g[j], l1[j], lower[j], upper[j]); }
  double worst() const {
    double worst = 0.0;
    for (int j = 0; j < count; ++j) worst = std::max(worst, violation(j) / allowed[j]);
    return worst;
  }
  bool interior(int j) const { return b[j] != 0.0 && b[j] > lower[j] && b[j] < upper[j]; }
};

// Coordinate descent on an explicit M, finished by Cholesky solves on the block of non-zero coefficients.
class GramDescent {
 public:
  // Forget the factor: M has changed.
  void invalidate() { factor_set_.clear(); }

  // Returns the number of sweeps. Stops when no violation exceeds `target` times what is allowed.
  int solve(InnerProblem& q, const double* m, int stride, double target) {
    constexpr int max_rounds = 200;
    int sweeps = 0;
    for (int round = 0; round < max_rounds; ++round) {
      const double worst = sweep(q, m, stride, false);
      ++sweeps;
      if (worst <= target) return sweeps;
      for (int inner = 0; inner < 3; ++inner) {
        ++sweeps;
        if (sweep(q, m, stride, true) <= target) break;
      }
      if (active_.size() > 1) block_step(q, m, stride);
    }
    return sweeps;
  }

 private:
  double sweep(InnerProblem& q, const double* m, int stride, bool only_active) {
    double worst = 0.0;
    if (!only_active) active_.clear();
    const int visits = only_active ? static_cast<int>(active_.size()) : q.count;
    for (int visit = 0; visit < visits; ++visit) {
      const int j = only_active ? active_[visit] : visit;
      const double* column = m + static_cast<std::size_t>(j) * stride;
      const double curvature = column[j] + q.ridge[j];
      if (!(curvature > 0.0)) continue;
      const double moved = coordinate_minimiser(q.b[j], q.g[j], curvature, q.l1[j], q.lower[j], q.upper[j]);
      const double delta = moved - q.b[j];
      if (delta != 0.0) {
        worst = std::max(worst, std::fabs(delta) * curvature / q.allowed[j]);
        q.b[j] = moved;
        kernels().axpy(delta, column, q.g.data(), q.count);
        q.g[j] += delta * q.ridge[j];
      }
      if (!only_active && q.b[j] != 0.0) active_.push_back(j);
    }
    return worst;
  }

  bool factorise(const InnerProblem& q, const double* m, int stride) {
    set_.clear();
    for (int j = 0; j < q.count; ++j)
      if (q.interior(j)) set_.push_back(j);
    const int k = static_cast<int>(set_.size());
    ridge_.resize(k);
    for (int c = 0; c < k; ++c) ridge_[c] = q.ridge[set_[c]];
    if (set_ == factor_set_ && ridge_ == factor_ridge_) return true;
    factor_.resize(static_cast<std::size_t>(k) * k);
    double top = 0.0;
    for (int c = 0; c < k; ++c) {
      const double* column = m + static_cast<std::size_t>(set_[c]) * stride;
      double* out = factor_.data() + static_cast<std::size_t>(c) * k;
      for (int r = 0; r <= c; ++r) out[r] = column[set_[r]];
      out[c] += ridge_[c];
      top = std::max(top, out[c]);
    }
    // A jitter far below the model's own error keeps nearly singular blocks factorisable.
    for (int c = 0; c < k; ++c) factor_[static_cast<std::size_t>(c) * k + c] += 1e-13 * top;
    int order = k, info = 0;
    char upper = 'U';
    blas::dpotrf(&upper, &order, factor_.data(), &order, &info);
    if (info != 0) {
      factor_set_.clear();
      return false;
    }
    factor_set_ = set_;
    factor_ridge_ = ridge_;
    return true;
  }

  // Newton step on the non-zero block: all the way where no sign changes, else to zero or to the first change.
  void block_step(InnerProblem& q, const double* m, int stride) {
    if (!factorise(q, m, stride)) return;
    int k = static_cast<int>(set_.size()), one = 1, info = 0;
    if (k == 0) return;
    char upper = 'U';
    step_.resize(k);
    for (int c = 0; c < k; ++c) {
      const int j = set_[c];
      step_[c] = -(q.g[j] + (q.b[j] > 0.0 ? q.l1[j] : -q.l1[j]));
    }
    blas::dpotrs(&upper, &k, &one, factor_.data(), &k, step_.data(), &k, &info);
    double reach = 1.0;
    for (int c = 0; c < k; ++c) {
      const int j = set_[c];
      const double end = q.b[j] + step_[c];
      const double low = q.b[j] > 0.0 ? 0.0 : q.lower[j], high = q.b[j] > 0.0 ? q.upper[j] : 0.0;
      if (end < low) reach = std::min(reach, (low - q.b[j]) / step_[c]);
      if (end > high) reach = std::min(reach, (high - q.b[j]) / step_[c]);
    }
    if (reach < 1.0 && projected_step(q, m, stride)) return;
    for (int c = 0; c < k; ++c) step_[c] *= reach;
    apply(q, m, stride, reach < 1.0);
  }

  // The full step, cut off at zero and at the bounds, if the model's objective agrees.
  bool projected_step(InnerProblem& q, const double* m, int stride) {
    const int k = static_cast<int>(set_.size());
    saved_step_ = step_;
    saved_b_ = q.b;
    saved_g_ = q.g;
    double change = 0.0;
    for (int c = 0; c < k; ++c) {
      const int j = set_[c];
      const double low = q.b[j] > 0.0 ? 0.0 : q.lower[j], high = q.b[j] > 0.0 ? q.upper[j] : 0.0;
      step_[c] = std::clamp(q.b[j] + step_[c], low, high) - q.b[j];
      change += step_[c] * (q.g[j] + (q.b[j] > 0.0 ? q.l1[j] : -q.l1[j]));
    }
    apply(q, m, stride, true);
    for (int c = 0; c < k; ++c) change += 0.5 * step_[c] * (q.g[set_[c]] - saved_g_[set_[c]]);
    if (change < 0.0) return true;
    q.b = saved_b_;
    q.g = saved_g_;
    step_ = saved_step_;
    return false;
  }

  void apply(InnerProblem& q, const double* m, int stride, bool snap) {
    for (std::size_t c = 0; c < set_.size(); ++c) {
      const int j = set_[c];
      if (step_[c] == 0.0) continue;
      const double before = q.b[j];
      double after = before + step_[c];
      if (snap && (after > 0.0) != (before > 0.0)) after = 0.0;
      if (snap && std::fabs(after) < 1e-15 * std::fabs(before)) after = 0.0;
      after = std::clamp(after, q.lower[j], q.upper[j]);
      step_[c] = after - before;
      q.b[j] = after;
      kernels().axpy(step_[c], m + static_cast<std::size_t>(j) * stride, q.g.data(), q.count);
      q.g[j] += step_[c] * q.ridge[j];
    }
  }

  Columns active_, set_, factor_set_;
  Vector ridge_, factor_ridge_, factor_, step_, saved_step_, saved_b_, saved_g_;
};

// Coordinate descent that keeps the residual instead of M: for many columns and few samples or entries.
// The intercept is profiled out: after each change it takes its best value, at no cost.
class ResidualDescent {
 public:
  // `e` and `h` are the model's first and second derivatives in the score; e sums to zero with an intercept.
  template <class Design>
  int solve(InnerProblem& q, const Design& x, const Columns& columns, const Vector& e, const Vector& h,
            bool intercept, double target) {
    prepare(q, x, columns, e, h, intercept);
    constexpr int max_sweeps = 2000;
    int sweeps = 0;
    while (sweeps < max_sweeps) {
      ++sweeps;
      if (sweep(q, x, columns, h, false) <= target) break;
      while (sweeps < max_sweeps) {
        ++sweeps;
        if (sweep(q, x, columns, h, true) <= target) break;
      }
    }
    return sweeps;
  }

  double intercept_shift() const { return -shift_; }

 private:
  template <class Design>
  void prepare(const InnerProblem& q, const Design& x, const Columns& columns, const Vector& e, const Vector& h,
               bool intercept) {
    residual_.resize(e.size());
    double total = 0.0;
    for (std::size_t i = 0; i < e.size(); ++i) {
      residual_[i] = -e[i];
      total += h[i];
    }
    mean_.assign(q.count, 0.0);
    first_.assign(q.count, 0.0);
    curvature_.resize(q.count);
    shift_ = 0.0;
    for (int j = 0; j < q.count; ++j) {
      double first, second;
      x.moments(columns[j], h.data(), first, second);
      if (intercept && total > 0.0) {
        first_[j] = first;
        mean_[j] = first / total;
        const double centred = second - first * mean_[j];
        second = centred > 1e-13 * second ? centred : 0.0;
      }
      curvature_[j] = second;
    }
  }

  template <class Design>
  double sweep(InnerProblem& q, const Design& x, const Columns& columns, const Vector& h, bool only_active) {
    double worst = 0.0;
    if (!only_active) active_.clear();
    const int visits = only_active ? static_cast<int>(active_.size()) : q.count;
    for (int visit = 0; visit < visits; ++visit) {
      const int j = only_active ? active_[visit] : visit;
      const double curvature = curvature_[j] + q.ridge[j];
      if (!(curvature > 0.0)) continue;
      const double g = -(x.dot(columns[j], residual_.data()) + shift_ * first_[j]) + q.ridge[j] * q.b[j];
      const double moved = coordinate_minimiser(q.b[j], g, curvature, q.l1[j], q.lower[j], q.upper[j]);
      const double delta = moved - q.b[j];
      if (delta != 0.0) {
        worst = std::max(worst, std::fabs(delta) * curvature / q.allowed[j]);
        q.b[j] = moved;
        x.axpy_weighted(columns[j], -delta, h.data(), residual_.data());
        shift_ += delta * mean_[j];
      }
      if (!only_active && q.b[j] != 0.0) active_.push_back(j);
    }
    return worst;
  }

  Columns active_;
  Vector residual_, mean_, first_, curvature_;
  double shift_ = 0.0;
};

}  // namespace clearning
