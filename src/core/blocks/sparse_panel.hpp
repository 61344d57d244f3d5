// Rows of a sparse block (CSR), each entry once. Zeros stay zeros: nothing is centred.
#pragma once
#include <vector>

#include "blocks/plan.hpp"
#include "blocks/score_set.hpp"

namespace clearning::blocks {

template <class T, class I>
struct SparseRows {
  const T* data;
  const I* indices;
  const I* starts;
};

template <class T, class I>
class SparsePanel {
 public:
  using Rows = SparseRows<T, I>;

  SparsePanel(const Rows& rows, const Plan& plan, int) : rows_(rows), plan_(plan), place_(plan.columns()) {
    for (int c = 0; c < plan.columns(); ++c) place_[plan.order[c]] = c;
  }

  void load(const Index* chosen, int count) {
    chosen_ = chosen;
    count_ = count;
  }

  void scores(const ScoreSet& of, double* out) {
    sums_.resize(of.scores());
    for (int i = 0; i < count_; ++i) {
      std::fill(sums_.begin(), sums_.end(), 0.0);
      for (I e = first(i); e < last(i); ++e) {
        const int c = place_[rows_.indices[e]];
        if (c < plan_.working) loops().axpy(static_cast<double>(rows_.data[e]), of.coef(c), sums_.data(), of.reach(c));
      }
      for (int t = 0; t < of.scores(); ++t) out[offset(t, count_) + i] += sums_[t];
    }
  }

  void gradients(const double* r, int scores, double* out, int stride) {
    sums_.resize(scores);
    for (int i = 0; i < count_; ++i) {
      for (int t = 0; t < scores; ++t) sums_[t] = r[offset(t, count_) + i];
      for (I e = first(i); e < last(i); ++e)
        loops().axpy(static_cast<double>(rows_.data[e]), sums_.data(), out + offset(place_[rows_.indices[e]], stride),
                     scores);
    }
  }

  void gram(const double* h, double* gram, double* curved) {
    for (int i = 0; i < count_; ++i) {
      if (!(h[i] > 0.0)) continue;
      inside_.clear();
      for (I e = first(i); e < last(i); ++e)
        if (const int c = place_[rows_.indices[e]]; c < plan_.working)
          inside_.emplace_back(c, static_cast<double>(rows_.data[e]));
      std::sort(inside_.begin(), inside_.end());
      for (std::size_t a = 0; a < inside_.size(); ++a) {
        const double scaled = h[i] * inside_[a].second;
        double* target = gram + offset(inside_[a].first, plan_.working);
        curved[inside_[a].first] += scaled;
        for (std::size_t b = 0; b <= a; ++b) target[inside_[b].first] += scaled * inside_[b].second;
      }
    }
  }

  void copy_column(int c, double* out) const {
    for (int i = 0; i < count_; ++i) {
      out[i] = 0.0;
      for (I e = first(i); e < last(i); ++e)
        if (place_[rows_.indices[e]] == c) out[i] = static_cast<double>(rows_.data[e]);
    }
  }

 private:
  static std::size_t offset(int row, int width) { return static_cast<std::size_t>(row) * width; }
  I first(int i) const { return rows_.starts[chosen_[i]]; }
  I last(int i) const { return rows_.starts[chosen_[i] + 1]; }

  const Rows rows_;
  const Plan& plan_;
  const Index* chosen_ = nullptr;
  int count_ = 0;
  Columns place_;
  Vector sums_;
  std::vector<std::pair<int, double>> inside_;
};

}  // namespace clearning::blocks
