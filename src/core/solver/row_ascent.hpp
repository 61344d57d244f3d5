// Ascent on the hinge's dual for rows whose kernel is never formed: sweeps in random order that carry the coefficients
// along, over the samples that are not settled at an edge. The intercept is the multiplier of sum s = 0 in an augmented
// Lagrangian.
#pragma once
#include <random>

#include "solver/box_dual.hpp"

namespace clearning {

template <class Rows>
class RowAscent : public BoxDual {
 public:
  RowAscent(const Rows& rows, const Samples& samples, bool intercept) : BoxDual(samples, intercept), rows_(rows) {}

  // A coefficient's penalty is ridge * factor; b are the coefficients that belong to the weights found.
  template <class Pause>
  void solve(DualState& at, Vector& b, double ridge, const Vector& factor, double goal, int most, int& rounds,
             Pause&& pause) {
    step_.resize(factor.size());
    for (std::size_t j = 0; j < factor.size(); ++j) step_[j] = 1.0 / (ridge * factor[j]);
    measure_diagonal();
    std::minstd_rand random(1);
    double work = 0.0;  // in sweeps over all samples; checks take at most a quarter of it
    check(at, b);
    while (at.gap > goal && work < most) {
      const double next_check = work + std::max(tuning::sweeps_before_check, tuning::check_share * work);
      bool moves = true;
      int sweeps = 0;
      for (; moves && work < next_check; ++sweeps) {
        pause();
        work += std::max(1.0, static_cast<double>(active_.size())) / n_;
        moves = sweep(at, b, random);
      }
      check(at, b);
      if (!moves && sweeps == 1) break;
    }
    rounds = static_cast<int>(std::ceil(work));
  }

 private:
  void measure_diagonal() {
    diagonal_.assign(n_, 0.0);
    for (Index i = 0; i < n_; ++i)
      for (Index t = rows_.starts[i]; t < rows_.starts[i + 1]; ++t) {
        const double x = rows_.value[t];
        diagonal_[i] += x * x * step_[rows_.position[t]];
      }
    coupling_ = 0.0;
    if (has_intercept_) coupling_ = tuning::intercept_coupling * sum_of(diagonal_) / static_cast<double>(n_);
    for (double& d : diagonal_) d = std::max(d + coupling_, tuning::tiny);
  }

  double product(Index i, const Vector& b) const {
    double sum = 0.0;
    for (Index t = rows_.starts[i]; t < rows_.starts[i + 1]; ++t) sum += rows_.value[t] * b[rows_.position[t]];
    return sum;
  }

  void add_row(Index i, double c, Vector& b) const {
    for (Index t = rows_.starts[i]; t < rows_.starts[i + 1]; ++t) {
      const int j = rows_.position[t];
      b[j] += c * rows_.value[t] * step_[j];
    }
  }

  // Weights made to sum to zero, coefficients and residuals anew, and the gap; every sample is active again.
  void check(DualState& at, Vector& b) {
    double positive = 0.0, negative = 0.0;
    for (double s : at.s) (s > 0.0 ? positive : negative) += std::fabs(s);
    if (has_intercept_ && positive != negative) {
      const double least = std::min(positive, negative);
      const auto share = [&](double all) { return all > 0.0 ? least / all : 0.0; };
      for (double& s : at.s) s *= share(s > 0.0 ? positive : negative);
    }
    b.assign(step_.size(), 0.0);
    for (Index i = 0; i < n_; ++i)
      if (at.s[i] != 0.0) add_row(i, at.s[i], b);
    for (Index i = 0; i < n_; ++i) at.residual[i] = samples_.offset[i] + product(i, b) - samples_.y[i];
    measure(at);
    active_ = every_index(n_);
    sum_ = 0.0;
    edge_above_ = INFINITY;
    edge_below_ = -INFINITY;
  }

  // Once over the active samples; false when none is left or moves.
  bool sweep(DualState& at, Vector& b, std::minstd_rand& random) {
    double top = 0.0, bottom = 0.0;
    at.intercept += coupling_ * sum_;
    for (std::size_t c = 0; c < active_.size();) {
      std::swap(active_[c], active_[c + random() % (active_.size() - c)]);
      const int i = active_[c];
      const double y = samples_.y[i], s = at.s[i], most = samples_.weight[i];
      const double pull = y * (samples_.offset[i] + product(i, b) + at.intercept) - 1.0;
      // Pulled against its edge, and further than any sample was from its optimum in the last sweep: settled.
      if ((s == 0.0 && (pull > edge_above_ || most == 0.0)) || (y * s == most && pull < edge_below_)) {
        active_[c] = active_.back();
        active_.pop_back();
        continue;
      }
      ++c;
      const double next = y * std::clamp(y * s - pull / diagonal_[i], 0.0, most);
      if (next == s) continue;
      top = std::max(top, pull);
      bottom = std::min(bottom, pull);
      add_row(i, next - s, b);
      sum_ += next - s;
      at.intercept += coupling_ * (next - s);
      at.s[i] = next;
    }
    edge_above_ = top > 0.0 ? top : INFINITY;
    edge_below_ = bottom < 0.0 ? bottom : -INFINITY;
    return top > bottom;
  }

  const Rows& rows_;
  std::vector<int> active_;
  Vector step_, diagonal_;
  double coupling_ = 0.0, sum_ = 0.0, edge_above_ = INFINITY, edge_below_ = -INFINITY;
};

}  // namespace clearning
