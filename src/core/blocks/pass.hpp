// One block's share of a pass: rows are taken fold by fold, in panels, and every task sees each panel once.
// What a task's scores mean is the kind's: that of two classes or of more.
#pragma once
#include <algorithm>
#include <numeric>

#include "blocks/plan.hpp"
#include "blocks/samples.hpp"
#include "blocks/score_set.hpp"
#include "linalg/vector_loops.hpp"
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
    const std::vector<Index> order = by_fold_and_class();
    int fold = -1;
    for (Index begin = 0; begin < samples_.n;) {
      if (const int next = samples_.fold[order[begin]]; next != fold) enter(fold = next);
      Index end = begin;
      while (end < samples_.n && end - begin < most_ && samples_.fold[order[end]] == fold) ++end;
      take(order.data() + begin, static_cast<int>(end - begin), fold);
      begin = end;
    }
    return std::move(sums_);
  }

 private:
  std::vector<Index> by_fold_and_class() const {
    const auto cell = [&](Index i) { return samples_.fold[i] * plan_.classes() + static_cast<int>(samples_.label[i]); };
    std::vector<Index> first(static_cast<std::size_t>(plan_.folds) * plan_.classes() + 1), order(samples_.n);
    for (Index i = 0; i < samples_.n; ++i) ++first[cell(i) + 1];
    std::partial_sum(first.begin(), first.end(), first.begin());
    for (Index i = 0; i < samples_.n; ++i) order[first[cell(i)]++] = i;
    return order;
  }

  // Packs the scores of the tasks that train on the rows of a fold or are judged by them.
  void enter(int fold) {
    Columns seen, lines;
    for (int t = 0; t < plan_.tasks(); ++t)
      if (plan_.trains(t, fold)) seen.push_back(t);
    for (int t : plan_.tested)
      if (!plan_.trains(t, fold)) seen.push_back(t);
    for (int l = 0; l < plan_.lines(); ++l)
      if (plan_.trains(plan_.line_task[l], fold)) lines.push_back(l);
    points_ = ScoreSet(plan_.coef, plan_.tasks(), seen, plan_.working, plan_.width());
    line_points_ = ScoreSet(plan_.line_coef, plan_.lines(), lines, plan_.working, plan_.width());
  }

  void take(const Index* chosen, int count, int fold) {
    count_ = count;
    stands_for_.resize(count);
    for (int i = 0; i < count; ++i) stands_for_[i] = drawn(chosen[i], plan_.thin) == 0 ? plan_.thin : 0;
    panel_.load(chosen, count);
    kind_.gather(samples_, chosen, count);
    free_.resize(static_cast<std::size_t>(count) * plan_.free.size());
    for (std::size_t c = 0; c < plan_.free.size(); ++c) panel_.copy_column(plan_.free[c], free_.data() + c * count);
    score(points_, score_);
    score(line_points_, line_score_);
    residual_.resize(at(plan_.tasks()));
    for (int t = 0; t < plan_.tasks(); ++t)
      if (plan_.trains(t, fold)) train(t, fold);
    for (int l = 0; l < plan_.lines(); ++l)
      if (plan_.trains(plan_.line_task[l], fold)) walk(l);
    for (int t : plan_.tested)
      if (!plan_.trains(t, fold)) kind_.judge(t, score_of(t));
    add_gradients(fold);
  }

  void score(const ScoreSet& of, Vector& out) {
    out.resize(static_cast<std::size_t>(of.scores()) * count_);
    for (std::size_t at = 0; at < out.size(); at += kind_.offset().size())
      std::copy(kind_.offset().begin(), kind_.offset().end(), out.begin() + at);
    panel_.scores(of, out.data());
  }

  // Tasks whose slots are neighbours go together: those that are kept apart, and the others, which are ordered by their
  // part, before and after the fold's own.
  void add_gradients(int fold) {
    const auto own = std::equal_range(plan_.part.begin(), plan_.part.end(), fold);
    const int before = static_cast<int>(own.first - plan_.part.begin()),
              after = static_cast<int>(own.second - plan_.part.begin());
    add_gradients(fold, 0, plan_.parted);
    add_gradients(fold, plan_.parted, before);
    add_gradients(fold, after, plan_.tasks());
  }

  void add_gradients(int fold, int first, int last) {
    const int width = plan_.width();
    if (first < last)
      panel_.gradients(residual_.data() + at(first), (last - first) * width,
                       sums_.gradient.data() + plan_.slot(first, fold) * width, plan_.slots() * width);
  }

  void train(int t, int fold) {
    const double* score = score_of(t);
    double* r = residual_.data() + at(t);
    const int slot = plan_.slot(t, fold), width = plan_.width();
    kind_.train(t, slot, score, r);
    if (!plan_.free.empty())
      for (int own = 0; own < width; ++own)
        for (int other = 0; other < width; ++other)
          if (width == 1 || own != other)
            add_border(kind_.dual_weights(own, other, r), sums_.border_of(plan_, slot, own, other));
    for (int k = 0; k < plan_.knots(); ++k)
      if (plan_.knot_task[k] == t) add_curvature(k, plan_.apart ? fold : 0, score);
  }

  // Z'diag(weight)Z but for its first entry, which has been added already.
  void add_border(const WeightedRows& rows, double* out) {
    const int q = plan_.border();
    weighted_.resize(rows.count);
    for (int a = 1; a < q; ++a) {
      loops().multiply(rows.weight, free_column(a - 1) + rows.first, 0.0, weighted_.data(), rows.count);
      for (int b = 0; b <= a; ++b) {
        const double sum = b == 0 ? class_row_loops().sum(weighted_.data(), rows.count)
                                  : loops().dot(weighted_.data(), free_column(b - 1) + rows.first, rows.count);
        out[a * q + b] += sum;
        if (a != b) out[b * q + a] += sum;
      }
    }
  }

  void add_curvature(int k, int cell, const double* score) {
    const std::size_t width = plan_.working;
    std::size_t place = (static_cast<std::size_t>(k) * plan_.cells() + cell) * plan_.pairs();
    for (int pair = 0; pair < plan_.pairs(); ++pair, ++place) {
      kind_.curvature(plan_.knot_task[k], pair, plan_.knot_lift[k], score, h_);
      for (int i = 0; i < count_; ++i) h_[i] *= stands_for_[i];
      sums_.total[place] += sum_of(h_);
      panel_.gram(h_.data(), sums_.gram.data() + place * width * width, sums_.curved.data() + place * width);
    }
  }

  void walk(int l) {
    const int t = plan_.line_task[l], width = plan_.width();
    const double *from = line_score_.data() + at(line_points_.place(l)), *to = score_of(t);
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
  const double* score_of(int task) const { return score_.data() + at(points_.place(task)); }
  const double* free_column(int c) const { return free_.data() + static_cast<std::size_t>(c) * count_; }

  const Plan& plan_;
  const BlockSamples samples_;
  const int most_;
  Panel panel_;
  Sums sums_;
  Kind kind_;
  ScoreSet points_, line_points_;
  int count_ = 0;
  Vector free_, score_, line_score_, residual_, weighted_, h_, stands_for_, between_, intercept_;
};

}  // namespace clearning::blocks
