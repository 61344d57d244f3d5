// One block's share of a pass: rows are taken fold by fold, in panels, and every task sees each panel once.
// What a task's scores mean is the kind's: that of two classes or of more.
#pragma once
#include <algorithm>
#include <numeric>

#include "blocks/plan.hpp"
#include "blocks/samples.hpp"
#include "tuning.hpp"

namespace clearning::blocks {

// A number in [0, count) that goes with a row's own, as good as drawn.
inline int drawn(Index row, int count) {
  std::uint64_t mixed = static_cast<std::uint64_t>(row) * 0x9e3779b97f4a7c15u;
  mixed = (mixed ^ (mixed >> 32)) * 0xd6e8feb86659fd93u;
  return static_cast<int>((mixed >> 33) % static_cast<std::uint64_t>(count));
}

template <class Panel, class Kind>
class Pass {
 public:
  Pass(const Plan& plan, const typename Panel::Rows& rows, const BlockSamples& samples)
      : plan_(plan), samples_(samples),
        most_(tuning::panel_rows(std::max({plan.columns(), plan.tasks() * plan.width(), 1}))),
        panel_(rows, plan, most_), sums_(plan), kind_(plan, sums_) {}

  Sums run() {
    std::vector<Index> order(samples_.n);
    std::iota(order.begin(), order.end(), Index{0});
    std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return samples_.fold[a] < samples_.fold[b]; });
    for (Index begin = 0; begin < samples_.n;) {
      const int fold = samples_.fold[order[begin]];
      Index end = begin;
      while (end < samples_.n && end - begin < most_ && samples_.fold[order[end]] == fold) ++end;
      take(order.data() + begin, static_cast<int>(end - begin), fold);
      begin = end;
    }
    return std::move(sums_);
  }

 private:
  void take(const Index* chosen, int count, int fold) {
    count_ = count;
    chosen_ = chosen;
    panel_.load(chosen, count);
    kind_.gather(samples_, chosen, count);
    free_.resize(static_cast<std::size_t>(count) * plan_.free.size());
    for (std::size_t c = 0; c < plan_.free.size(); ++c) panel_.copy_column(plan_.free[c], free_.data() + c * count);
    weight_.resize(count);
    score(plan_.coef, plan_.tasks(), score_);
    score(plan_.line_coef, plan_.lines(), line_score_);
    residual_.assign(at(plan_.tasks()), 0.0);
    for (int t = 0; t < plan_.tasks(); ++t)
      if (plan_.trains(t, fold)) train(t, fold);
    for (int l = 0; l < plan_.lines(); ++l)
      if (plan_.trains(plan_.line_task[l], fold)) walk(l);
    for (int t : plan_.tested)
      if (!plan_.trains(t, fold)) kind_.judge(t, score_.data() + at(t));
    panel_.gradients(residual_, plan_.tasks() * plan_.width(), sums_.gradient);
  }

  void score(const Vector& coef, int tasks, Vector& out) {
    out.resize(at(tasks));
    for (int t = 0; t < tasks; ++t) std::copy(kind_.offset().begin(), kind_.offset().end(), out.begin() + at(t));
    panel_.scores(coef, tasks * plan_.width(), out.data());
  }

  void train(int t, int fold) {
    const double* score = score_.data() + at(t);
    double* r = residual_.data() + at(t);
    kind_.train(t, score, r);
    const int width = plan_.width(), q = plan_.border();
    double* border = sums_.border.data() + static_cast<std::size_t>(t) * width * width * q * q;
    for (int own = 0; own < width; ++own)
      for (int other = 0; other < width; ++other, border += q * q) {
        if (width > 1 && own == other) continue;
        kind_.dual_weights(own, other, r, weight_);
        add_border(border);
      }
    for (int k = 0; k < plan_.knots(); ++k)
      if (plan_.knot_task[k] == t) add_curvature(k, plan_.apart ? fold : 0, score);
  }

  void add_border(double* out) const {
    const int q = plan_.border();
    for (int a = 0; a < q; ++a)
      for (int b = 0; b <= a; ++b) {
        const double *first = a > 0 ? free_column(a - 1) : nullptr, *second = b > 0 ? free_column(b - 1) : nullptr;
        double sum = 0.0;
        for (int i = 0; i < count_; ++i) sum += weight_[i] * (a > 0 ? first[i] : 1.0) * (b > 0 ? second[i] : 1.0);
        out[a * q + b] += sum;
        if (a != b) out[b * q + a] += sum;
      }
  }

  void add_curvature(int k, int cell, const double* score) {
    const std::size_t width = plan_.working;
    std::size_t place = (static_cast<std::size_t>(k) * plan_.cells() + cell) * plan_.pairs();
    for (int pair = 0; pair < plan_.pairs(); ++pair, ++place) {
      kind_.curvature(plan_.knot_task[k], pair, plan_.knot_lift[k], score, h_);
      if (plan_.thin > 1)
        for (int i = 0; i < count_; ++i) h_[i] *= drawn(chosen_[i], plan_.thin) == 0 ? plan_.thin : 0;
      sums_.total[place] += sum_of(h_);
      panel_.gram(h_.data(), sums_.gram.data() + place * width * width, sums_.curved.data() + place * width);
    }
  }

  void walk(int l) {
    const int t = plan_.line_task[l], width = plan_.width();
    const double *from = line_score_.data() + at(l), *to = score_.data() + at(t);
    const double *a = plan_.line_intercept.data() + static_cast<std::size_t>(l) * width,
                 *b = plan_.intercept.data() + static_cast<std::size_t>(t) * width;
    between_.resize(at(1));
    intercept_.resize(width);
    for (std::size_t f = 0; f < plan_.fractions.size(); ++f) {
      const double share = plan_.fractions[f];
      for (std::size_t i = 0; i < between_.size(); ++i) between_[i] = from[i] + share * (to[i] - from[i]);
      for (int k = 0; k < width; ++k) intercept_[k] = a[k] + share * (b[k] - a[k]);
      sums_.line[l * plan_.fractions.size() + f] += kind_.value(between_.data(), intercept_.data());
    }
  }

  std::size_t at(int task) const { return static_cast<std::size_t>(task) * count_ * plan_.width(); }
  const double* free_column(int c) const { return free_.data() + static_cast<std::size_t>(c) * count_; }

  const Plan& plan_;
  const BlockSamples samples_;
  const int most_;
  Panel panel_;
  Sums sums_;
  Kind kind_;
  int count_ = 0;
  const Index* chosen_ = nullptr;
  Vector free_, score_, line_score_, residual_, weight_, h_, between_, intercept_;
};

}  // namespace clearning::blocks
