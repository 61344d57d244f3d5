// Rows of two classes: one score a task, and a loss of the margin.
#pragma once
#include <algorithm>
#include <cmath>

#include "blocks/loops.hpp"
#include "blocks/plan.hpp"
#include "blocks/samples.hpp"
#include "problem/loss_loops.hpp"

namespace clearning::blocks {

class TwoClasses {
 public:
  TwoClasses(const Plan& plan, Sums& sums) : plan_(plan), loss_(std::get<Loss>(plan.loss)), sums_(sums) {}

  void gather(const BlockSamples& given, const Index* chosen, int count) {
    count_ = count;
    for (Vector* v : {&y_, &plain_, &weight_, &offset_, &curvature_, &size_}) v->resize(count);
    for (int i = 0; i < count; ++i) {
      y_[i] = given.label[chosen[i]] > 0.0 ? 1.0 : -1.0;
      plain_[i] = given.weight[chosen[i]];
      weight_[i] = plain_[i] * plan_.class_factors[y_[i] > 0.0];
      offset_[i] = given.offset[chosen[i]];
    }
  }
  const Vector& offset() const { return offset_; }

  // Sets the residual of a task.
  void train(int t, int slot, const double* score, double* r) {
    const TrainSums found = blocks::train(loss_, samples(), score, plan_.intercept[t], 1.0 - plan_.shrink[t], r);
    sums_.value[slot] += found.value;
    sums_.slope[slot] += found.slope;
    sums_.energy[slot] += energy(found);
    sums_.shrunk[slot] += found.shrunk;
    *sums_.border_of(plan_, slot, 0, 0) += found.mass;
  }

  // The rows and weights of the dual point that a border is made of.
  WeightedRows dual_weights(int, int, const double* r) {
    for (int i = 0; i < count_; ++i) size_[i] = std::fabs(r[i]);
    return {0, count_, size_.data()};
  }

  void curvature(int t, int, double lift, const double* score, Vector& h) {
    h.resize(count_);
    evaluate(loss_, samples(), score, plan_.intercept[t], size_.data(), h.data());
    if (!(lift > 0.0)) return;
    std::visit(
        [&](const auto& phi) {
          for (int i = 0; i < count_; ++i)
            h[i] = std::max(h[i], lift * weight_[i] * phi.majoriser(y_[i] * (score[i] + plan_.intercept[t])));
        },
        loss_);
  }

  double value(const double* score, const double* intercept) {
    return evaluate(loss_, samples(), score, *intercept, size_.data(), curvature_.data()).value;
  }

  void judge(int t, const double* score) {
    const Samples plain{y_.data(), plain_.data(), offset_.data(), static_cast<std::size_t>(count_)};
    sums_.judged(t, blocks::judge(loss_, plain, score, plan_.intercept[t]), sum_of(plain_));
  }

 private:
  // Sum of w s^2: s is at most the loss's limit; without one the loss is a square, and s^2 at most twice its curvature
  // times its value.
  double energy(const TrainSums& sums) const {
    return std::visit(
        [&](const auto& phi) {
          const double limit = phi.weight_limit();
          return std::isfinite(limit) ? limit * sums.mass : 2.0 * phi.majoriser(0.0) * sums.value;
        },
        loss_);
  }

  Samples samples() const { return {y_.data(), weight_.data(), offset_.data(), static_cast<std::size_t>(count_)}; }

  const Plan& plan_;
  const Loss& loss_;
  Sums& sums_;
  int count_ = 0;
  Vector y_, plain_, weight_, offset_, curvature_, size_;
};

}  // namespace clearning::blocks
