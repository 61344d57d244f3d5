// Rows of more than two classes: a score a class, and the joint loss of all of them.
#pragma once
#include <algorithm>
#include <cmath>

#include "blocks/plan.hpp"
#include "blocks/samples.hpp"

namespace clearning::blocks {

class ManyClasses {
 public:
  ManyClasses(const Plan& plan, Sums& sums)
      : plan_(plan), loss_(std::get<MultiCoherence>(plan.loss)), sums_(sums), m_(plan.width()) {}

  void gather(const BlockSamples& given, const Index* chosen, int count) {
    count_ = count;
    for (Vector* v : {&label_, &plain_, &weight_}) v->resize(count);
    for (Vector* v : {&offset_, &shifted_, &s_}) v->resize(at(m_));
    space_.resize(class_block * m_);
    for (int i = 0; i < count; ++i) {
      label_[i] = given.label[chosen[i]];
      plain_[i] = given.weight[chosen[i]];
      weight_[i] = plain_[i] * plan_.class_factors[static_cast<int>(label_[i])];
      for (int k = 0; k < m_; ++k) offset_[at(k) + i] = given.offset[chosen[i] * m_ + k];
    }
  }
  const Vector& offset() const { return offset_; }

  // Sets the residuals of a task and what `dual_weights` and `curvature` will say of it.
  void train(int t, const double* score, double* r) {
    shift(score, plan_.intercept.data() + static_cast<std::size_t>(t) * m_);
    sums_.value[t] += class_loops().evaluate(loss_, samples(), shifted_.data(), s_.data(), r);
    for (int k = 0; k < m_; ++k) {
      double sum = 0.0, size = 0.0;
      for (int i = 0; i < count_; ++i) {
        sum += r[at(k) + i];
        size += std::fabs(r[at(k) + i]);
      }
      sums_.slope[static_cast<std::size_t>(t) * m_ + k] += sum;
      // A dual weight is at most one.
      sums_.energy[static_cast<std::size_t>(t) * m_ + k] += loss_.kappa * size;
    }
    if (const double keep = 1.0 - plan_.shrink[t]; keep < 1.0)
      sums_.shrunk[t] += class_loops().divergence(loss_, samples(), s_.data(), r, keep);
  }

  // What the rows of class `own` owe to class `other`.
  void dual_weights(int own, int other, const double* r, Vector& out) const {
    for (int i = 0; i < count_; ++i) out[i] = own != other && label_[i] == own ? r[at(other) + i] : 0.0;
  }

  // The second derivatives of a pair of scores, without their sign; lifted by a share of their bound (I - 11'/m) / 2.
  void curvature(int, int pair, double lift, const double*, Vector& h) const {
    int k = 0;
    while (pair > k) pair -= ++k;
    const int l = pair;
    const double factor = loss_.kappa / loss_.rho;
    const double more = lift * (k == l ? 0.5 * (1.0 - 1.0 / m_) : 0.5 / m_);
    h.resize(count_);
    for (int i = 0; i < count_; ++i) {
      const double first = s_[at(k) + i], second = k == l ? others(k, i) : s_[at(l) + i];
      h[i] = factor * weight_[i] * (first * second + more);
    }
  }

  double value(const double* score, const double* intercept) {
    shift(score, intercept);
    return class_loops().value(loss_, samples(), shifted_.data(), 0.0, nullptr, space_.data());
  }

  void judge(int t, const double* score) {
    shift(score, plan_.intercept.data() + static_cast<std::size_t>(t) * m_);
    double* out = sums_.test.data() + 3 * static_cast<std::size_t>(t);
    for (int i = 0; i < count_; ++i) {
      int top = 0;
      for (int k = 1; k < m_; ++k)
        if (shifted_[at(k) + i] > shifted_[at(top) + i]) top = k;
      const int own = static_cast<int>(label_[i]);
      out[0] += plain_[i] * clipped(log_probability(i, own, top));
      out[1] += plain_[i] * (own == top);
      out[2] += plain_[i];
    }
  }

 private:
  // The sum of the others is exact where 1 - s_k is not.
  double others(int k, int i) const {
    double sum = 0.0;
    for (int j = 0; j < m_; ++j) sum += j == k ? 0.0 : s_[at(j) + i];
    return sum;
  }

  void shift(const double* score, const double* intercept) {
    for (int k = 0; k < m_; ++k)
      for (int i = 0; i < count_; ++i) shifted_[at(k) + i] = score[at(k) + i] + intercept[k];
  }

  // log of eta_c, eta_k ~ a_k (a_k + e^{u/rho} sum of the other a), with a seen from the largest score.
  double log_probability(int i, int own, int top) const {
    const double cold = std::exp(-loss_.u / loss_.rho);
    double rest = 0.0;
    const auto near = [&](int k) { return std::exp((shifted_[at(k) + i] - shifted_[at(top) + i]) / loss_.rho); };
    for (int k = 0; k < m_; ++k) rest += k == top ? 0.0 : near(k);
    const auto odds = [&](int k) {
      const double a = k == top ? 1.0 : near(k);
      return a * (cold * a + (k == top ? rest : 1.0 + rest - a));
    };
    double total = 0.0;
    for (int k = 0; k < m_; ++k) total += odds(k);
    return std::log(odds(own) / total);
  }

  std::size_t at(int k) const { return static_cast<std::size_t>(k) * count_; }
  ClassSamples samples() const {
    return {label_.data(), weight_.data(), offset_.data(), static_cast<std::size_t>(count_), m_};
  }

  const Plan& plan_;
  const MultiCoherence& loss_;
  Sums& sums_;
  const int m_;
  int count_ = 0;
  Vector label_, plain_, weight_, offset_, shifted_, s_, space_;
};

}  // namespace clearning::blocks
