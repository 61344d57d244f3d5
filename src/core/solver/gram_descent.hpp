// Coordinate descent on an explicit matrix, finished by Cholesky solves on the block of non-zero coefficients.
#pragma once
#include <algorithm>
#include <cmath>
#include <vector>

#include "linalg/block_factor.hpp"
#include "solver/inner_problem.hpp"

namespace clearning {

class GramDescent {
 public:
  // `crawls`: columns are known to resemble each other, and descent is not even tried.
  explicit GramDescent(bool crawls = false) : crawls_(crawls) {}

  // Forget the factor: M has changed.
  void invalidate() { factor_.invalidate(); }

  // Returns the number of rounds. Stops when no violation exceeds `target` times what is allowed.
  // Plain descent as long as it is quick; where it crawls, an active-set method: second-order steps on the
  // non-zero block until no sign changes, then the worst of the zero coefficients enter; until rounds lead nowhere, or
  // have taken more steps than a model is worth.
  int solve(InnerProblem& q, const double* m, int stride, double target) {
    int round = 0;
    rest_.clear();
    if (!crawls_ && descend(q, m, stride, target, round)) return round;
    double least = INFINITY;
    std::size_t largest = 0;
    const bool bends = std::any_of(q.ridge.begin(), q.ridge.end(), [](double ridge) { return ridge > 0.0; });
    const int patience = crawls_ ? tuning::idle_rounds : tuning::most_rounds;
    int steps = tuning::block_steps + tuning::steps_of_a_coefficient * q.count;
    for (int idle = 0; round < tuning::most_rounds && idle < patience && steps > 0; ++round) {
      settle(q, m, stride, target, steps);
      const double worst = q.worst();
      if (worst <= target) return round;
      idle = worst < tuning::better_violation * least || set_.size() > largest ? 0 : idle + 1;
      least = std::min(least, worst);
      largest = std::max(largest, set_.size());
      if (bends && !crawls_ && idle % tuning::rounds_of_a_way == 0) {
        if (idle > 0) go_on(q);
        before_b_ = q.b;
        before_g_ = q.g;
      }
      enter(q, m, stride);
    }
    find_rest(q, m, stride);
    return round;
  }

  // What the coefficients cannot hold of the solution, being below their last digits; empty where it is solved.
  const Vector& rest() const { return rest_; }

 private:
  // A second-order step on the non-zero block that is not taken, solved again for what its factor's jitter leaves.
  void find_rest(const InnerProblem& q, const double* m, int stride) {
    if (!match(q, m, stride)) return;
    const Columns& order = factor_.order();
    rest_.assign(q.count, 0.0);
    Vector g(q.g);
    columns_.resize(order.size());
    for (std::size_t c = 0; c < order.size(); ++c) columns_[c] = m + static_cast<std::size_t>(order[c]) * stride;
    for (int again = 0; again < tuning::solves_of_rest; ++again) {
      step_.resize(order.size());
      for (std::size_t c = 0; c < order.size(); ++c) step_[c] = q.g[order[c]] - g[order[c]] - q.slope(order[c]);
      factor_.solve(step_.data());
      for (std::size_t c = 0; c < order.size(); ++c) {
        rest_[order[c]] += step_[c];
        g[order[c]] += step_[c] * q.ridge[order[c]];
      }
      loops().combine(columns_.data(), columns_.size(), step_.data(), g.size(), g.data());
    }
  }

  // Sweeps until all is solved, or until they crawl. True if it is solved.
  bool descend(InnerProblem& q, const double* m, int stride, double target, int& round) {
    double before = INFINITY;
    for (; round < tuning::most_rounds; ++round) {
      const bool all = round % tuning::sweeps_per_full_sweep == 0;
      const double worst = sweep(q, m, stride, !all);
      if (worst <= target && all) return true;
      if (worst > tuning::slow_descent * before) return false;
      before = worst;
    }
    return true;
  }

  // Second-order steps, of those that are left, on the non-zero block until one is not cut off. A block without a
  // factor is swept.
  void settle(InnerProblem& q, const double* m, int stride, double target, int& left) {
    while (left > 0 && match(q, m, stride)) {
      --left;
      if (!block_step(q, m, stride) || q.worst() <= target) return;
    }
    for (int j : set_) move(q, m, stride, j);
  }

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

  // Where rounding asks for a jitter above the ridge, rounds make short steps along what the ridge alone bends, all the
  // same way: on to where the model is least on it, as far as no sign changes. Slopes are linear along the way.
  void go_on(InnerProblem& q) const {
    double slope = 0.0, bend = 0.0, size = tuning::farthest_way;
    for (int j = 0; j < q.count; ++j) {
      const double way = q.b[j] - before_b_[j];
      if (way == 0.0) continue;
      slope += way * (q.g[j] + std::copysign(q.l1[j], side_on(q, j, way)));
      bend += way * (q.g[j] - before_g_[j]);
      const auto [low, high] = range_on(q, j, way);
      size = std::min(size, ((way < 0.0 ? low : high) - q.b[j]) / way);
    }
    if (bend > 0.0) size = std::min(size, -slope / bend);
    if (!(slope < 0.0 && size > 0.0)) return;
    for (int j = 0; j < q.count; ++j) {
      q.g[j] += size * (q.g[j] - before_g_[j]);
      const double way = q.b[j] - before_b_[j];
      if (way == 0.0) continue;
      const auto [low, high] = range_on(q, j, way);
      q.b[j] = std::clamp(q.b[j] + size * way, low, high);
    }
  }

  // The side of zero on which a coefficient is on this way, and where it may be.
  static double side_on(const InnerProblem& q, int j, double way) { return q.b[j] != 0.0 ? q.b[j] : way; }
  static std::pair<double, double> range_on(const InnerProblem& q, int j, double way) {
    return sign_range(side_on(q, j, way), q.l1[j], q.lower[j], q.upper[j]);
  }

  // Moves the worst offenders among the zero coefficients.
  void enter(InnerProblem& q, const double* m, int stride) {
    std::size_t nonzero = 0;
    offenders_.clear();
    for (int j = 0; j < q.count; ++j) {
      nonzero += q.b[j] != 0.0;
      if (q.interior(j)) continue;
      const double violation = q.violation(j) / q.allowed[j];
      if (violation > 0.0) offenders_.emplace_back(-violation, j);
    }
    const std::size_t most = std::min(offenders_.size(), tuning::entering + nonzero / 3);
    std::partial_sort(offenders_.begin(), offenders_.begin() + most, offenders_.end());
    for (std::size_t c = 0; c < most; ++c) move(q, m, stride, offenders_[c].second);
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
    loops().axpy(delta, column, q.g.data(), q.count);
    q.g[j] += delta * q.ridge[j];
    return std::fabs(delta) * curvature / q.allowed[j];
  }

  // Factorises the block that a second-order step may move; false if it has no factor.
  bool match(const InnerProblem& q, const double* m, int stride) {
    set_.clear();
    // A column without curvature, as a constant one without a penalty has none, stays where it is.
    for (int j = 0; j < q.count; ++j)
      if (q.interior(j) && m[static_cast<std::size_t>(j) * stride + j] + q.ridge[j] > 0.0) set_.push_back(j);
    return !set_.empty() && factor_.match(set_, m, stride, q.ridge);
  }

  // Newton step on that block, cut off where a sign would change. True if it was cut off.
  bool block_step(InnerProblem& q, const double* m, int stride) {
    const Columns& order = factor_.order();
    const int k = static_cast<int>(order.size());
    step_.resize(k);
    for (int c = 0; c < k; ++c) step_[c] = -q.slope(order[c]);
    factor_.solve(step_.data());
    double reach = 1.0;
    for (int c = 0; c < k; ++c) {
      const auto [low, high] = q.sign_range(order[c]);
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
      const auto [low, high] = q.sign_range(j);
      promise += 0.5 * step_[c] * q.slope(j);
      step_[c] = std::clamp(q.b[j] + step_[c], low, high) - q.b[j];
      change += step_[c] * q.slope(j);
    }
    apply(q, m, stride);
    for (int c = 0; c < k; ++c) change += 0.5 * step_[c] * (q.g[order[c]] - saved_g_[order[c]]);
    if (change < tuning::projected_gain * promise) return true;
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
      const auto [low, high] = q.sign_range(j);
      const double before = q.b[j];
      double after = std::clamp(before + step_[c], low, high);
      if (q.l1[j] > 0.0 && std::fabs(after) < tuning::rounding * std::fabs(before)) after = 0.0;
      step_[c] = after - before;
      q.b[j] = after;
      q.g[j] += step_[c] * q.ridge[j];
    }
    loops().combine(columns_.data(), columns_.size(), step_.data(), q.count, q.g.data());
  }

  std::vector<const double*> columns_;
  BlockFactor factor_;
  std::vector<std::pair<double, int>> offenders_;
  Columns active_, set_;
  Vector step_, saved_step_, saved_b_, saved_g_;
  Vector before_b_, before_g_;  // where the way of the last rounds began
  Vector rest_;
  const bool crawls_;
};

}  // namespace clearning
