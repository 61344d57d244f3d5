// One block's share of a pass: rows are taken fold by fold, in panels, and every task sees each panel once.
#pragma once
#include <algorithm>
#include <cmath>
#include <numeric>

#include "blocks/plan.hpp"
#include "problem/loss_loops.hpp"
#include "tuning.hpp"

namespace clearning::blocks {

// A block's rows beside their design: labels in {-1, +1}, weights, offsets, and the fold that each belongs to.
struct BlockSamples {
  const double* y;
  const double* weight;
  const double* offset;
  const std::int32_t* fold;
  Index n;
};

// log of the probability that the loss's link gives to the true class at margin z, clipped as scikit-learn's log_loss
// does; losses without a link have none.
inline double log_likelihood(const Coherence& phi, double z) {
  constexpr double least = std::numeric_limits<double>::epsilon();
  const auto softplus = [](double t) { return (t > 0.0 ? t : 0.0) + log1p_unit(exp_nonpositive(-std::fabs(t))); };
  const double logit = softplus((z - phi.u) * phi.inverse_rho) - softplus(-(z + phi.u) * phi.inverse_rho);
  static const double low = std::log(least), high = std::log1p(-least);
  return std::clamp(-softplus(-logit), low, high);
}
template <class L>
double log_likelihood(const L&, double) {
  return 0.0;
}

template <class Panel>
class Pass {
 public:
  Pass(const Plan& plan, const typename Panel::Rows& rows, const BlockSamples& samples)
      : plan_(plan), samples_(samples), most_(tuning::panel_rows(std::max({plan.columns(), plan.tasks(), 1}))),
        panel_(rows, plan, most_), sums_(plan) {}

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
    panel_.load(chosen, count);
    gather(chosen);
    score(plan_.coef, plan_.tasks(), score_);
    score(plan_.line_coef, plan_.lines(), line_score_);
    residual_.assign(static_cast<std::size_t>(count) * plan_.tasks(), 0.0);
    curvature_.resize(count);
    for (int t = 0; t < plan_.tasks(); ++t)
      if (plan_.trains(t, fold)) train(t, fold);
    for (int l = 0; l < plan_.lines(); ++l)
      if (plan_.trains(plan_.line_task[l], fold)) walk(l);
    for (int t : plan_.tested)
      if (!plan_.trains(t, fold)) judge(t);
    panel_.gradients(residual_, plan_.tasks(), sums_.gradient);
  }

  void gather(const Index* chosen) {
    for (Vector* v : {&y_, &plain_, &weight_, &offset_}) v->resize(count_);
    for (int i = 0; i < count_; ++i) {
      y_[i] = samples_.y[chosen[i]];
      plain_[i] = samples_.weight[chosen[i]];
      weight_[i] = plain_[i] * (y_[i] > 0.0 ? plan_.positive_factor : plan_.negative_factor);
      offset_[i] = samples_.offset[chosen[i]];
    }
    free_.resize(static_cast<std::size_t>(count_) * plan_.free.size());
    for (std::size_t c = 0; c < plan_.free.size(); ++c) panel_.copy_column(plan_.free[c], free_.data() + c * count_);
  }

  void score(const Vector& coef, int tasks, Vector& out) {
    out.resize(static_cast<std::size_t>(count_) * tasks);
    for (int t = 0; t < tasks; ++t) std::copy(offset_.begin(), offset_.end(), out.begin() + at(t));
    panel_.scores(coef, tasks, out.data());
  }

  void train(int t, int fold) {
    const double* score = score_.data() + at(t);
    double* r = residual_.data() + at(t);
    const LossSums sums = evaluate(plan_.loss, samples(), score, plan_.intercept[t], r, curvature_.data());
    sums_.value[t] += sums.value;
    sums_.slope[t] += sums.slope;
    sums_.energy[t] += energy(sums);
    if (const double keep = 1.0 - plan_.shrink[t]; keep < 1.0)
      sums_.shrunk[t] += scaled_gap(plan_.loss, samples(), score, plan_.intercept[t], keep, keep);
    add_border(t, r);
    for (int k = 0; k < plan_.knots(); ++k)
      if (plan_.knot_task[k] == t) add_curvature(k, plan_.apart ? fold : 0, score, plan_.intercept[t]);
  }

  // Sum of w s^2: s is at most the loss's limit; without one the loss is a square, and s^2 at most twice its curvature
  // times its value.
  double energy(const LossSums& sums) const {
    return std::visit(
        [&](const auto& phi) {
          const double limit = phi.weight_limit();
          return std::isfinite(limit) ? limit * sums.mass : 2.0 * phi.majoriser(0.0) * sums.value;
        },
        plan_.loss);
  }

  void add_border(int t, const double* r) {
    const int q = plan_.border();
    double* out = sums_.border.data() + static_cast<std::size_t>(t) * q * q;
    for (int a = 0; a < q; ++a)
      for (int b = 0; b <= a; ++b) {
        const double *first = a > 0 ? free_.data() + at(a - 1) : nullptr,
                     *second = b > 0 ? free_.data() + at(b - 1) : nullptr;
        double sum = 0.0;
        for (int i = 0; i < count_; ++i) sum += std::fabs(r[i]) * (a > 0 ? first[i] : 1.0) * (b > 0 ? second[i] : 1.0);
        out[a * q + b] += sum;
        if (a != b) out[b * q + a] += sum;
      }
  }

  void add_curvature(int k, int cell, const double* score, double intercept) {
    Vector h = curvature_;
    if (const double lift = plan_.knot_lift[k]; lift > 0.0)
      std::visit(
          [&](const auto& phi) {
            for (int i = 0; i < count_; ++i)
              h[i] = std::max(h[i], lift * weight_[i] * phi.majoriser(y_[i] * (score[i] + intercept)));
          },
          plan_.loss);
    const std::size_t place = static_cast<std::size_t>(k) * plan_.cells() + cell;
    const std::size_t width = plan_.working;
    sums_.total[place] += sum_of(h);
    panel_.gram(h.data(), sums_.gram.data() + place * width * width, sums_.curved.data() + place * width);
  }

  void walk(int l) {
    const int t = plan_.line_task[l];
    const double *from = line_score_.data() + at(l), *to = score_.data() + at(t);
    between_.resize(count_);
    waste_.resize(count_);
    for (std::size_t f = 0; f < plan_.fractions.size(); ++f) {
      const double share = plan_.fractions[f];
      for (int i = 0; i < count_; ++i) between_[i] = from[i] + share * (to[i] - from[i]);
      const double intercept = plan_.line_intercept[l] + share * (plan_.intercept[t] - plan_.line_intercept[l]);
      sums_.line[l * plan_.fractions.size() + f] +=
          evaluate(plan_.loss, samples(), between_.data(), intercept, waste_.data(), curvature_.data()).value;
    }
  }

  void judge(int t) {
    const double* score = score_.data() + at(t);
    double* out = sums_.test.data() + 3 * static_cast<std::size_t>(t);
    std::visit(
        [&](const auto& phi) {
          for (int i = 0; i < count_; ++i) {
            const double f = score[i] + plan_.intercept[t];
            out[0] += plain_[i] * log_likelihood(phi, y_[i] * f);
            out[1] += plain_[i] * ((f > 0.0) == (y_[i] > 0.0));
            out[2] += plain_[i];
          }
        },
        plan_.loss);
  }

  std::size_t at(int t) const { return static_cast<std::size_t>(t) * count_; }
  Samples samples() const { return {y_.data(), weight_.data(), offset_.data(), static_cast<std::size_t>(count_)}; }

  const Plan& plan_;
  const BlockSamples samples_;
  const int most_;
  Panel panel_;
  Sums sums_;
  int count_ = 0;
  Vector y_, plain_, weight_, offset_, free_, score_, line_score_, residual_, curvature_, between_, waste_;
};

}  // namespace clearning::blocks
