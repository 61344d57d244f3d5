// Ascent on the hinge's dual for a kernel matrix in memory: the worst violators are solved among themselves, in cache,
// pair by pair, and all residuals follow in one product.
#pragma once
#include "solver/box_dual.hpp"

namespace clearning {

template <class Kernel>
class BlockAscent : public BoxDual {
 public:
  BlockAscent(const Kernel& kernel, const Samples& samples, bool intercept)
      : BoxDual(samples, intercept), kernel_(kernel) {}

  // Ascends from `at` until its gap is at most `goal`, for `most` rounds at most.
  template <class Pause>
  void solve(DualState& at, double ridge, double goal, int most, int& rounds, Pause&& pause) {
    at.ridge = ridge;
    begin(at);
    const long last = tuning::ascent_most_turns * static_cast<long>(n_);
    for (bool moves = true; moves && at.gap > goal && rounds < most && turns_ < last; ++rounds) {
      pause();
      choose_block(at);
      moves = ascend(at);
      measure(at);
      // What is claimed is of the weights, not of residuals that many steps have made.
      if (!(at.gap > goal)) begin(at);
    }
    if (at.gap > goal) begin(at);
  }

 private:
  // Residuals computed from the weights, and the gap.
  void begin(DualState& at) const {
    Columns moved;
    Vector values;
    for (Index i = 0; i < n_; ++i) {
      at.residual[i] = samples_.offset[i] - samples_.y[i];
      if (at.s[i] == 0.0) continue;
      moved.push_back(static_cast<int>(i));
      values.push_back(at.s[i] / at.ridge);
    }
    kernel_.combine(moved, values.data(), at.residual.data());
    measure(at);
  }

  static constexpr int size = tuning::ascent_block, kept_size = tuning::ascent_block / 2;

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
      diagonal_[c] = std::max(gram_[static_cast<std::size_t>(c) * k + c], tuning::tiny);
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
    for (int turn = 0; turn < tuning::ascent_turns * k; ++turn, ++turns_) {
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
        const double step =
            apart / std::max(diagonal_[c] + diagonal_[up] - 2.0 * rise[c], tuning::flat_pair * diagonal_[c]);
        if (apart * step > best) {
          best = apart * step;
          wish = step;
          down = c;
        }
      }
      if (turn == 0) first = widest;
      if (down < 0 || widest < tuning::ascent_accuracy * first) return;
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
    for (int turn = 0; turn < tuning::ascent_turns * k; ++turn, ++turns_) {
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
      if (chosen < 0 || widest < tuning::ascent_accuracy * first) return;
      loops().axpy(next - s_[chosen], gram_.data() + static_cast<std::size_t>(chosen) * k, residual_.data(), k);
      s_[chosen] = next;
    }
  }

  const Kernel& kernel_;
  std::vector<int> block_, candidates_;
  Vector gram_, s_, residual_, low_, high_, diagonal_;
  long turns_ = 0;
};

}  // namespace clearning
