// Rows of two classes: one score a task, and a loss of the margin.
#pragma once
#include <algorithm>
#include <cmath>

#include "blocks/plan.hpp"
#include "blocks/samples.hpp"
#include "problem/loss_loops.hpp"

namespace clearning::blocks {

// log of the probability that the loss's link gives to the true class at margin z, clipped as scikit-learn's log_loss
// does; losses without a link have none.
inline double log_likelihood(const Coherence& phi, double z) {
  const auto softplus = [](double t) { return (t > 0.0 ? t : 0.0) + log1p_unit(exp_nonpositive(-std::fabs(t))); };
  const double logit = softplus((z - phi.u) * phi.inverse_rho) - softplus(-(z + phi.u) * phi.inverse_rho);
  return clipped(-softplus(-logit));
}
template <class L>
double log_likelihood(const L&, double) {
  return 0.0;
}

class TwoClasses {
 public:
  TwoClasses(const Plan& plan, Sums& sums) : plan_(plan), loss_(std::get<Loss>(plan.loss)), sums_(sums) {}

  void gather(const BlockSamples& given, const Index* chosen, int count) {
    count_ = count;
    for (Vector* v : {&y_, &plain_, &weight_, &offset_, &curvature_, &waste_}) v->resize(count);
    for (int i = 0; i < count; ++i) {
      y_[i] = given.label[chosen[i]] > 0.0 ? 1.0 : -1.0;
      plain_[i] = given.weight[chosen[i]];
      weight_[i] = plain_[i] * plan_.class_factors[y_[i] > 0.0];
      offset_[i] = given.offset[chosen[i]];
    }
  }
  const Vector& offset() const { return offset_; }

  // Sets the residual of a task and what `curvature` will say of it.
  void train(int t, const double* score, double* r) {
    const double a = plan_.intercept[t];
    const LossSums sums = evaluate(loss_, samples(), score, a, r, curvature_.data());
    sums_.value[t] += sums.value;
    sums_.slope[t] += sums.slope;
    sums_.energy[t] += energy(sums);
    if (const double keep = 1.0 - plan_.shrink[t]; keep < 1.0)
      sums_.shrunk[t] += scaled_gap(loss_, samples(), score, a, keep, keep);
  }

  // The weights of the dual point that a border is made of.
  void dual_weights(int, int, const double* r, Vector& out) const {
    for (int i = 0; i < count_; ++i) out[i] = std::fabs(r[i]);
  }

  void curvature(int t, int, double lift, const double* score, Vector& h) const {
    h = curvature_;
    if (!(lift > 0.0)) return;
    std::visit(
        [&](const auto& phi) {
          for (int i = 0; i < count_; ++i)
            h[i] = std::max(h[i], lift * weight_[i] * phi.majoriser(y_[i] * (score[i] + plan_.intercept[t])));
        },
        loss_);
  }

  double value(const double* score, const double* intercept) {
    return evaluate(loss_, samples(), score, *intercept, waste_.data(), curvature_.data()).value;
  }

  void judge(int t, const double* score) {
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
        loss_);
  }

 private:
  // Sum of w s^2: s is at most the loss's limit; without one the loss is a square, and s^2 at most twice its curvature
  // times its value.
  double energy(const LossSums& sums) const {
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
  Vector y_, plain_, weight_, offset_, curvature_, waste_;
};

}  // namespace clearning::blocks
