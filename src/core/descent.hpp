// The inner problem: a quadratic model plus the elastic net on a working set of columns.
// minimise over b:  g'(b - b0) + (b - b0)' M (b - b0) / 2 + sum l1 |b| + ridge b^2 / 2,  lower <= b <= upper
#pragma once
#include <algorithm>
#include <cmath>
#include <vector>

#include "factor.hpp"

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
  // Whether a second-order step may move this coefficient.
  bool interior(int j) const { return (b[j] != 0.0 || l1[j] == 0.0) && b[j] > lower[j] && b[j] < upper[j]; }
};

// Where a coefficient may go without changing its sign, if that matters to its penalty.
inline std::pair<double, double> sign_range(const InnerProblem& q, int j) {
  if (q.l1[j] == 0.0) return {q.lower[j], q.upper[j]};
  return q.b[j] > 0.0 ? std::pair{0.0, q.upper[j]} : std::pair{q.lower[j], 0.0};
}

// Coordinate descent on an explicit M, finished by Cholesky solves on the block of non-zero coefficients.
class GramDescent {
 public:
  // Forget the factor: M has changed.
  void invalidate() { factor_.invalidate(); }

  // Returns the number of rounds. Stops when no violation exceeds `target` times what is allowed.
  // Plain descent as long as it is quick; where it crawls, an active-set method: second-order steps on the
  // non-zero block until no sign changes, then the worst of the zero coefficients enter.
  int solve(InnerProblem& q, const double* m, int stride, double target) {
    constexpr int max_rounds = 300;
    double before = INFINITY;
    int round = 0;
    bool crawls = false;
    for (; round < max_rounds; ++round) {
      const double worst = crawls ? enter(q, m, stride) : sweep(q, m, stride, round % 4 != 0);
      if (worst <= target && (crawls || round % 4 == 0)) break;
      if (!crawls && worst > 0.3 * before) crawls = true;
      before = worst;
      if (!crawls) continue;
      const int most = 20 + 2 * static_cast<int>(active_.size());
      for (int steps = 0; steps < most && block_step(q, m, stride) && q.worst() > target; ++steps) {}
    }
    return round;
  }

 private:
  double sweep(InnerProblem& q, const double* m, int stride, bool only_active) {
    double worst = 0.0;
    if (!only_active) active_.clear();
    const int visits = only_active ? static_cast<int>(active_.size()) : q.count;
    for (int visit = 0; visit < visits; ++visit) {
      const int j = only_active ? active_[visit] : visit;
      worst = std::max(worst, move(q, m, stride, j));
      if (!only_active && q.b[j] != 0.0) active_.push_back(j);
    }
    return worst;
  }

  // Moves the worst offenders among the zero coefficients; returns the worst violation of all.
  double enter(InnerProblem& q, const double* m, int stride) {
    double worst = 0.0;
    std::size_t nonzero = 0;
    offenders_.clear();
    for (int j = 0; j < q.count; ++j) {
      const double violation = q.violation(j) / q.allowed[j];
      worst = std::max(worst, violation);
      nonzero += q.b[j] != 0.0;
      if (violation > 0.0 && !q.interior(j)) offenders_.emplace_back(-violation, j);
    }
    const std::size_t most = std::min(offenders_.size(), 8 + nonzero / 3);
    std::partial_sort(offenders_.begin(), offenders_.begin() + most, offenders_.end());
    for (std::size_t c = 0; c < most; ++c) move(q, m, stride, offenders_[c].second);
    return worst;
  }

  // One coordinate to its minimum; returns its violation before, by the length of the move.
  double move(InnerProblem& q, const double* m, int stride, int j) {
    const double* column = m + static_cast<std::size_t>(j) * stride;
    const double curvature = column[j] + q.ridge[j];
    if (!(curvature > 0.0)) return 0.0;
    const double moved = coordinate_minimiser(q.b[j], q.g[j], curvature, q.l1[j], q.lower[j], q.upper[j]);
    const double delta = moved - q.b[j];
    if (delta == 0.0) return 0.0;
    q.b[j] = moved;
    kernels().axpy(delta, column, q.g.data(), q.count);
    q.g[j] += delta * q.ridge[j];
    return std::fabs(delta) * curvature / q.allowed[j];
  }

  // Newton step on the non-zero block, cut off where a sign would change. True if it was cut off.
  bool block_step(InnerProblem& q, const double* m, int stride) {
    set_.clear();
    for (int j = 0; j < q.count; ++j)
      if (q.interior(j)) set_.push_back(j);
    if (set_.size() < 2 || !factor_.match(set_, m, stride, q.ridge)) return false;
    const Columns& order = factor_.order();
    const int k = static_cast<int>(order.size());
    step_.resize(k);
    for (int c = 0; c < k; ++c) {
      const int j = order[c];
      step_[c] = -(q.g[j] + (q.b[j] > 0.0 ? q.l1[j] : -q.l1[j]));
    }
    factor_.solve(step_.data());
    double reach = 1.0;
    for (int c = 0; c < k; ++c) {
      const auto [low, high] = sign_range(q, order[c]);
      const double b = q.b[order[c]], end = b + step_[c];
      if (end < low) reach = std::min(reach, (low - b) / step_[c]);
      if (end > high) reach = std::min(reach, (high - b) / step_[c]);
    }
    if (reach == 1.0) {
      apply(q, m, stride);
      return false;
    }
    if (!projected_step(q, m, stride)) {
      for (int c = 0; c < k; ++c) step_[c] *= reach;
      apply(q, m, stride);
    }
    return true;
  }

  // The full step with each coefficient cut off on its own, if that keeps a good part of the decrease.
  bool projected_step(InnerProblem& q, const double* m, int stride) {
    const Columns& order = factor_.order();
    const int k = static_cast<int>(order.size());
    saved_step_ = step_;
    saved_b_ = q.b;
    saved_g_ = q.g;
    double change = 0.0, promise = 0.0;
    for (int c = 0; c < k; ++c) {
      const int j = order[c];
      const auto [low, high] = sign_range(q, j);
      promise += 0.5 * step_[c] * (q.g[j] + (q.b[j] > 0.0 ? q.l1[j] : -q.l1[j]));
      step_[c] = std::clamp(q.b[j] + step_[c], low, high) - q.b[j];
      change += step_[c] * (q.g[j] + (q.b[j] > 0.0 ? q.l1[j] : -q.l1[j]));
    }
    apply(q, m, stride);
    for (int c = 0; c < k; ++c) change += 0.5 * step_[c] * (q.g[order[c]] - saved_g_[order[c]]);
    if (change < 0.3 * promise) return true;
    q.b = saved_b_;
    q.g = saved_g_;
    step_ = saved_step_;
    return false;
  }

  void apply(InnerProblem& q, const double* m, int stride) {
    const Columns& order = factor_.order();
    columns_.resize(order.size());
    for (std::size_t c = 0; c < order.size(); ++c) {
      const int j = order[c];
      columns_[c] = m + static_cast<std::size_t>(j) * stride;
      const auto [low, high] = sign_range(q, j);
      const double before = q.b[j];
      double after = std::clamp(before + step_[c], low, high);
      if (q.l1[j] > 0.0 && std::fabs(after) < 1e-14 * std::fabs(before)) after = 0.0;
      step_[c] = after - before;
      q.b[j] = after;
      q.g[j] += step_[c] * q.ridge[j];
    }
    kernels().combine(columns_.data(), columns_.size(), step_.data(), q.count, q.g.data());
  }

  std::vector<const double*> columns_;
  BlockFactor factor_;
  std::vector<std::pair<double, int>> offenders_;
  Columns active_, set_;
  Vector step_, saved_step_, saved_b_, saved_g_;
};

// Coordinate descent that keeps the residual instead of M: for many columns and few samples or entries.
// The intercept is profiled out: after each change it takes its best value, at no cost.
class ResidualDescent {
 public:
  // `e` and `h` are the model's first and second derivatives in the score; e sums to zero with an intercept.
  template <class Design>
  int solve(InnerProblem& q, const Design& x, const Columns& columns, const Vector& e, const Vector& h,
            bool intercept, double target) {
    Vector start(e);
    for (double& r : start) r = -r;
    typename Design::Weighted model(x, columns, h, start);
    measure(q, x, model, columns, h, intercept);
    constexpr int max_sweeps = 12;  // more would solve a model more exactly than it describes the loss
    int sweeps = 0;
    while (sweeps < max_sweeps) {
      ++sweeps;
      if (sweep(q, model, false) <= target) break;
      while (sweeps < max_sweeps) {
        ++sweeps;
        if (sweep(q, model, true) <= target) break;
      }
    }
    return sweeps;
  }

  double intercept_shift() const { return -shift_; }

 private:
  template <class Design, class Model>
  void measure(const InnerProblem& q, const Design& x, const Model& model, const Columns& columns, const Vector& h,
               bool intercept) {
    double total = 0.0;
    for (double hi : h) total += hi;
    mean_.assign(q.count, 0.0);
    first_.assign(q.count, 0.0);
    curvature_.resize(q.count);
    shift_ = 0.0;
    for (int j = 0; j < q.count; ++j) {
      double first, second;
      model.moments(j, first, second);
      if (intercept && total > 0.0) {
        first_[j] = first;
        mean_[j] = first / total;
        double centred = second - first * mean_[j];
        if (centred < 1e-6 * second) centred = x.spread(columns[j], h.data(), mean_[j], total);
        second = centred > 1e-24 * second ? centred : 0.0;
      }
      curvature_[j] = second;
    }
  }

  template <class Model>
  double sweep(InnerProblem& q, Model& model, bool only_active) {
    double worst = 0.0;
    if (!only_active) active_.clear();
    const int visits = only_active ? static_cast<int>(active_.size()) : q.count;
    for (int visit = 0; visit < visits; ++visit) {
      const int j = only_active ? active_[visit] : visit;
      const double curvature = curvature_[j] + q.ridge[j];
      if (!(curvature > 0.0)) continue;
      const double g = -(model.dot(j) + shift_ * first_[j]) + q.ridge[j] * q.b[j];
      const double moved = coordinate_minimiser(q.b[j], g, curvature, q.l1[j], q.lower[j], q.upper[j]);
      const double delta = moved - q.b[j];
      if (delta != 0.0) {
        worst = std::max(worst, std::fabs(delta) * curvature / q.allowed[j]);
        q.b[j] = moved;
        model.take_off(j, delta);
        shift_ += delta * mean_[j];
      }
      if (!only_active && q.b[j] != 0.0) active_.push_back(j);
    }
    return worst;
  }

  Columns active_;
  Vector mean_, first_, curvature_;
  double shift_ = 0.0;
};

// Without kinks (no l1 penalty, no bounds) the model is solved by conjugate gradients, preconditioned by its diagonal.
class ConjugateGradients {
 public:
  template <class Design>
  void solve(InnerProblem& q, const Design& x, const Columns& columns, const Vector& h, bool intercept,
             double target) {
    constexpr int most = 500;
    const int k = q.count;
    double total = 0.0;
    for (double hi : h) total += hi;
    const bool centred = intercept && total > 0.0;
    mean_.assign(k, 0.0);
    diagonal_.resize(k);
    for (int j = 0; j < k; ++j) {
      double first, second;
      x.moments(columns[j], h.data(), first, second);
      if (centred) mean_[j] = first / total;
      diagonal_[j] = std::max(second - first * mean_[j], 0.0) + q.ridge[j];
      if (!(diagonal_[j] > 0.0)) diagonal_[j] = 1.0;
    }
    along_.assign(k, 0.0);
    shift_ = 0.0;
    double length = 0.0;
    for (int iteration = 0; iteration < most && worst(q) > target; ++iteration) {
      double next = 0.0;
      for (int j = 0; j < k; ++j) next += q.g[j] * q.g[j] / diagonal_[j];
      const double keep = iteration == 0 ? 0.0 : next / length;
      for (int j = 0; j < k; ++j) along_[j] = keep * along_[j] - q.g[j] / diagonal_[j];
      length = next;
      x.curved_product(columns, h.data(), along_.data(), product_);
      double centre = 0.0, bend = 0.0;
      for (int j = 0; j < k; ++j) centre += mean_[j] * along_[j];
      for (int j = 0; j < k; ++j) {
        product_[j] += q.ridge[j] * along_[j] - total * centre * mean_[j];
        bend += along_[j] * product_[j];
      }
      if (!(bend > 0.0)) break;
      const double size = length / bend;
      for (int j = 0; j < k; ++j) {
        q.b[j] += size * along_[j];
        q.g[j] += size * product_[j];
      }
      shift_ -= size * centre;
    }
  }

  double intercept_shift() const { return shift_; }

 private:
  static double worst(const InnerProblem& q) {
    double worst = 0.0;
    for (int j = 0; j < q.count; ++j) worst = std::max(worst, std::fabs(q.g[j]) / q.allowed[j]);
    return worst;
  }

  Vector mean_, diagonal_, along_, product_;
  double shift_ = 0.0;
};

}  // namespace clearning
