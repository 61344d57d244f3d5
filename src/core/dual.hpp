// The SVM with a ridge alone, by coordinate ascent on its dual: signed weights s, one a sample, with 0 <= y s <= w and,
// where there is an intercept, sum s = 0, that minimise s'Ks / (2 alpha) + offset's - sum |s|.
// The residual of sample i, r = offset + Ks / alpha - y, is that objective's derivative; scores are r + y.
#pragma once
#include <numeric>
#include <random>

#include "design.hpp"

namespace clearning {

struct DualState {
  Vector s, residual;
  double ridge = 1.0, intercept = 0.0, gap = INFINITY;

  void start(const Samples& samples, const double* offset) {
    s.assign(samples.n, 0.0);
    residual.resize(samples.n);
    for (std::size_t i = 0; i < samples.n; ++i) residual[i] = offset[i] - samples.y[i];
  }
};

class BoxDual {
 public:
  BoxDual(const Samples& samples, bool intercept, const double* offset)
      : samples_(samples), n_(samples.n), has_intercept_(intercept), offset_(offset) {}

 protected:
  double lowest(Index i) const { return samples_.y[i] > 0.0 ? 0.0 : -samples_.weight[i]; }
  double highest(Index i) const { return samples_.y[i] > 0.0 ? samples_.weight[i] : 0.0; }

  // The intercept at which the hinge's sum is least: breakpoints are passed in order until the slope turns.
  double best_intercept(const Vector& residual) {
    if (!has_intercept_) return 0.0;
    order_ = every_index(n_);
    std::sort(order_.begin(), order_.end(), [&](int i, int j) { return residual[i] > residual[j]; });
    double slope = 0.0;
    for (Index i = 0; i < n_; ++i) slope -= std::max(samples_.y[i], 0.0) * samples_.weight[i];
    for (int i : order_) {
      slope += samples_.weight[i];  // past -residual a positive sample is content, a negative one no longer
      if (slope >= 0.0) return -residual[i];
    }
    return 0.0;
  }

  // The best intercept, and the gap there: primal less dual objective, at weights that sum to zero.
  void measure(DualState& at) {
    at.intercept = best_intercept(at.residual);
    at.gap = 0.0;
    for (Index i = 0; i < n_; ++i) {
      const double left = at.residual[i] + at.intercept;
      at.gap += samples_.weight[i] * std::max(0.0, -samples_.y[i] * left) + at.s[i] * left;
    }
  }

  Samples samples_;
  Index n_;
  bool has_intercept_;
  const double* offset_;

 private:
  std::vector<int> order_;
};

// For a kernel matrix in memory: the worst violators are solved among themselves, in cache, pair by pair, and all
// residuals follow in one product.
template <class Design>
class BlockAscent : public BoxDual {
 public:
  BlockAscent(const Design& kernel, const Samples& samples, bool intercept, const double* offset)
      : BoxDual(samples, intercept, offset), kernel_(kernel) {}

  // Ascends from `at` until its gap is at most `goal`, for `most` rounds at most.
  template <class Pause>
  void solve(DualState& at, double ridge, double goal, int most, int& rounds, Pause&& pause) {
    for (Index i = 0; i < n_; ++i) {
      const double rest = offset_[i] - samples_.y[i];
      at.residual[i] = rest + (at.ridge / ridge) * (at.residual[i] - rest);
    }
    at.ridge = ridge;
    measure(at);
    for (bool moves = true; moves && at.gap > goal && rounds < most; ++rounds) {
      pause();
      choose_block(at);
      moves = ascend(at);
      measure(at);
    }
  }

 private:
  static constexpr int size = 512, kept_size = 256;

  bool can_rise(const DualState& at, Index i) const { return at.s[i] < highest(i); }
  bool can_fall(const DualState& at, Index i) const { return at.s[i] > lowest(i); }

  // Half of the block are new: those that want to rise most and those that want to fall most.
  void choose_block(const DualState& at) {
    std::vector<char> inside(n_, 0);
    if (static_cast<int>(block_.size()) > kept_size) block_.erase(block_.begin(), block_.end() - kept_size);
    for (int i : block_) inside[i] = 1;
    const int fresh = (static_cast<int>(std::min<Index>(size, n_)) - static_cast<int>(block_.size())) / 2;
    for (const double way : {1.0, -1.0}) {
      candidates_.clear();
      for (Index i = 0; i < n_; ++i)
        if (!inside[i] && (way > 0.0 ? can_rise(at, i) : can_fall(at, i))) candidates_.push_back(static_cast<int>(i));
      const std::size_t taken = std::min<std::size_t>(candidates_.size(), fresh + 1);
      std::partial_sort(candidates_.begin(), candidates_.begin() + taken, candidates_.end(),
                        [&](int i, int j) { return way * at.residual[i] < way * at.residual[j]; });
      for (std::size_t c = 0; c < taken; ++c) {
        inside[candidates_[c]] = 1;
        block_.push_back(candidates_[c]);
      }
    }
  }

  bool ascend(DualState& at) {
    const int k = static_cast<int>(block_.size());
    gram_.resize(static_cast<std::size_t>(k) * k);
    for (Vector* v : {&s_, &residual_, &low_, &high_, &diagonal_}) v->resize(k);
    for (int c = 0; c < k; ++c) {
      const int i = block_[c];
      const auto* column = kernel_.column(i);
      for (int r = 0; r < k; ++r) gram_[static_cast<std::size_t>(c) * k + r] = column[block_[r]] / at.ridge;
      s_[c] = at.s[i];
      residual_[c] = at.residual[i];
      low_[c] = lowest(i);
      high_[c] = highest(i);
      diagonal_[c] = std::max(gram_[static_cast<std::size_t>(c) * k + c], 1e-300);
    }
    has_intercept_ ? exchange(k) : adjust(k);
    Columns moved;
    Vector change;
    for (int c = 0; c < k; ++c) {
      if (s_[c] == at.s[block_[c]]) continue;
      moved.push_back(block_[c]);
      change.push_back((s_[c] - at.s[block_[c]]) / at.ridge);
      at.s[block_[c]] = s_[c];
    }
    kernel_.combine(moved, change.data(), at.residual.data());
    return !moved.empty();
  }

  // Pairs whose sum stays: the one that wants to rise most, and the one whose fall gains most with it.
  void exchange(int k) {
    double first = 0.0;
    for (int turn = 0; turn < 100 * k; ++turn) {
      int up = -1;
      for (int c = 0; c < k; ++c)
        if (s_[c] < high_[c] && (up < 0 || residual_[c] < residual_[up])) up = c;
      if (up < 0) return;
      const double* rise = gram_.data() + static_cast<std::size_t>(up) * k;
      int down = -1;
      double best = 0.0, widest = 0.0, wish = 0.0;
      for (int c = 0; c < k; ++c) {
        const double apart = residual_[c] - residual_[up];
        if (!(s_[c] > low_[c]) || apart <= 0.0) continue;
        widest = std::max(widest, apart);
        const double step = apart / std::max(diagonal_[c] + diagonal_[up] - 2.0 * rise[c], 1e-12 * diagonal_[c]);
        if (apart * step > best) {
          best = apart * step;
          wish = step;
          down = c;
        }
      }
      if (turn == 0) first = widest;
      if (down < 0 || widest < 0.1 * first) return;
      const double* fall = gram_.data() + static_cast<std::size_t>(down) * k;
      const double room_up = high_[up] - s_[up], room_down = s_[down] - low_[down];
      const double d = std::min({wish, room_up, room_down});
      s_[up] = d == room_up ? high_[up] : s_[up] + d;
      s_[down] = d == room_down ? low_[down] : s_[down] - d;
      for (int c = 0; c < k; ++c) residual_[c] += d * (rise[c] - fall[c]);
    }
  }

  // Without an intercept weights move one by one, the one that gains most first.
  void adjust(int k) {
    double first = 0.0;
    for (int turn = 0; turn < 100 * k; ++turn) {
      int chosen = -1;
      double best = 0.0, widest = 0.0, next = 0.0;
      for (int c = 0; c < k; ++c) {
        const double r = residual_[c];
        if (r < 0.0 ? !(s_[c] < high_[c]) : !(s_[c] > low_[c])) continue;
        widest = std::max(widest, std::fabs(r));
        const double end = std::clamp(s_[c] - r / diagonal_[c], low_[c], high_[c]), step = end - s_[c];
        const double gain = -step * (r + 0.5 * step * diagonal_[c]);
        if (gain > best) {
          best = gain;
          next = end;
          chosen = c;
        }
      }
      if (turn == 0) first = widest;
      if (chosen < 0 || widest < 0.1 * first) return;
      kernels().axpy(next - s_[chosen], gram_.data() + static_cast<std::size_t>(chosen) * k, residual_.data(), k);
      s_[chosen] = next;
    }
  }

  const Design& kernel_;
  std::vector<int> block_, candidates_;
  Vector gram_, s_, residual_, low_, high_, diagonal_;
};

// For rows whose kernel is never formed: sweeps in random order that carry the coefficients along, over the samples
// that are not settled at an edge. The intercept is the multiplier of sum s = 0 in an augmented Lagrangian.
template <class Rows>
class RowAscent : public BoxDual {
 public:
  RowAscent(const Rows& rows, const Samples& samples, bool intercept, const double* offset)
      : BoxDual(samples, intercept, offset), rows_(rows) {}

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
      const double next_check = work + std::max(3.0, 0.25 * work);
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
    if (has_intercept_) coupling_ = 0.05 * std::accumulate(diagonal_.begin(), diagonal_.end(), 0.0) / n_;
    for (double& d : diagonal_) d = std::max(d + coupling_, 1e-300);
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
      for (double& s : at.s) s *= s > 0.0 ? least / positive : least / negative;
    }
    b.assign(step_.size(), 0.0);
    for (Index i = 0; i < n_; ++i)
      if (at.s[i] != 0.0) add_row(i, at.s[i], b);
    for (Index i = 0; i < n_; ++i) at.residual[i] = offset_[i] + product(i, b) - samples_.y[i];
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
      const double pull = y * (offset_[i] + product(i, b) + at.intercept) - 1.0;
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
