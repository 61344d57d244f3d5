// Coordinate descent that keeps the residual instead of a matrix: for many columns and few samples or entries.
// The intercept is profiled out: after each change it takes its best value, at no cost.
#pragma once
#include "solver/extrapolation.hpp"
#include "solver/inner_problem.hpp"

namespace clearning {

class ResidualDescent {
 public:
  // `e` and `h` are the model's first and second derivatives in the score; e sums to zero with an intercept.
  template <class Design>
  int solve(InnerProblem& q, const Design& x, const Columns& columns, const Vector& e, const Vector& h, bool intercept,
            double target, int most_sweeps) {
    Vector start(e);
    for (double& r : start) r = -r;
    typename Design::Weighted model(x, columns, h, start);
    measure(q, x, model, columns, h, intercept);
    int sweeps = 0;
    while (sweeps < most_sweeps) {
      ++sweeps;
      const double found = sweep(q, model, false);
      if (found <= target) break;
      sweep_active(q, model, std::max(target, tuning::sweeps_of_active * found), most_sweeps, sweeps);
    }
    return sweeps;
  }

  double intercept_shift() const { return -shift_; }

 private:
  template <class Design, class Model>
  void measure(const InnerProblem& q, const Design& x, const Model& model, const Columns& columns, const Vector& h,
               bool intercept) {
    const double total = sum_of(h);
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
        if (centred < tuning::cancelled * second) centred = x.spread(columns[j], h.data(), mean_[j], total);
        second = centred > tuning::constant_share_dense * second ? centred : 0.0;
      }
      curvature_[j] = second;
    }
  }

  // Sweeps over the columns with a coefficient, which lead straight to their limit: every few of them it is
  // extrapolated, and taken back if the next sweep finds more to do than the one before.
  template <class Model>
  void sweep_active(InnerProblem& q, Model& model, double target, int most_sweeps, int& sweeps) {
    SweepState before;
    double found_before = INFINITY;
    limit_.begin();
    while (sweeps < most_sweeps) {
      ++sweeps;
      const double found = sweep(q, model, true);
      if (!before.b.empty() && found > found_before) restore(before, q, model);
      else if (found <= target) return;
      before.b.clear();
      limit_.remember(state(q, model));
      if (!limit_.is_ready()) continue;
      SweepState ahead;
      if (limit_.combine(ahead)) {
        before = state(q, model);
        found_before = found;
        restore(ahead, q, model);
        put_back(before, q, model);
      }
      limit_.begin();
    }
  }

  template <class Model>
  SweepState state(const InnerProblem& q, const Model& model) const {
    SweepState now{Vector(active_.size()), model.residual, shift_};
    for (std::size_t c = 0; c < active_.size(); ++c) now.b[c] = q.b[active_[c]];
    return now;
  }
  template <class Model>
  void restore(const SweepState& from, InnerProblem& q, Model& model) {
    for (std::size_t c = 0; c < active_.size(); ++c) q.b[active_[c]] = from.b[c];
    model.residual = from.residual;
    shift_ = from.shift;
  }
  // Coefficients that an extrapolation took past zero, or past a bound, go no farther.
  template <class Model>
  void put_back(const SweepState& from, InnerProblem& q, Model& model) {
    for (std::size_t c = 0; c < active_.size(); ++c) {
      const int j = active_[c];
      const auto [low, high] = sign_range(from.b[c], q.l1[j], q.lower[j], q.upper[j]);
      const double kept = std::clamp(q.b[j], low, high), back = kept - q.b[j];
      if (back == 0.0) continue;
      q.b[j] = kept;
      model.take_off(j, back);
      shift_ += back * mean_[j];
    }
  }

  // Moves each coefficient to its minimum; returns what there was to do.
  template <class Model>
  double sweep(InnerProblem& q, Model& model, bool only_active) {
    Excess found(q.adds_up, q.count);
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
        found.add(std::fabs(delta) * curvature / q.allowed[j]);
        q.b[j] = moved;
        model.take_off(j, delta);
        shift_ += delta * mean_[j];
      }
      if (!only_active && q.b[j] != 0.0) active_.push_back(j);
    }
    return found.total();
  }

  Columns active_;
  Extrapolation limit_;
  Vector mean_, first_, curvature_;
  double shift_ = 0.0;
};

}  // namespace clearning
