// Rows of more than two classes: a score a class, and the joint loss of all of them. Rows of a class are neighbours.
#pragma once
#include <algorithm>
#include <cmath>

#include "blocks/loops.hpp"
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
    first_.assign(m_ + 1, 0);
    for (int i = 0; i < count; ++i) {
      label_[i] = given.label[chosen[i]];
      plain_[i] = given.weight[chosen[i]];
      weight_[i] = plain_[i] * plan_.class_factors[static_cast<int>(label_[i])];
      for (int k = 0; k < m_; ++k) offset_[at(k) + i] = given.offset[chosen[i] * m_ + k];
      ++first_[static_cast<int>(label_[i]) + 1];
    }
    for (int k = 0; k < m_; ++k) first_[k + 1] += first_[k];
  }
  const Vector& offset() const { return offset_; }

  // Sets the residuals of a task and what `curvature` will say of it.
  void train(int t, int slot, const double* score, double* r) {
    shift(score, plan_.intercept.data() + static_cast<std::size_t>(t) * m_);
    sums_.value[slot] += class_loops().evaluate(loss_, samples(), shifted_.data(), s_.data(), r);
    double* slope = sums_.slope.data() + static_cast<std::size_t>(slot) * m_;
    double* energy = sums_.energy.data() + static_cast<std::size_t>(slot) * m_;
    for (int other = 0; other < m_; ++other)
      for (int own = 0; own < m_; ++own) {
        if (own == other || first_[own] == first_[own + 1]) continue;
        const WeightedRows rows = dual_weights(own, other, r);
        const double flow = class_row_loops().sum(rows.weight, rows.count);
        *sums_.border_of(plan_, slot, own, other) += flow;
        slope[other] += flow;
        slope[own] -= flow;
        // A dual weight is at most one.
        energy[other] += loss_.kappa * flow;
        energy[own] += loss_.kappa * flow;
      }
    if (const double keep = 1.0 - plan_.shrink[t]; keep < 1.0)
      sums_.shrunk[slot] += class_row_loops().shrunk(loss_, samples(), s_.data(), keep);
  }

  // What the rows of class `own` owe to class `other`.
  WeightedRows dual_weights(int own, int other, const double* r) const {
    return {first_[own], first_[own + 1] - first_[own], r + at(other) + first_[own]};
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
    ClassSamples plain = samples();
    plain.weight = plain_.data();
    sums_.judged(t, class_row_loops().judge(loss_, plain, shifted_.data()), sum_of(plain_));
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

  std::size_t at(int k) const { return static_cast<std::size_t>(k) * count_; }
  ClassSamples samples() const {
    return {label_.data(), weight_.data(), offset_.data(), static_cast<std::size_t>(count_), m_};
  }

  const Plan& plan_;
  const MultiCoherence& loss_;
  Sums& sums_;
  const int m_;
  int count_ = 0;
  Columns first_;  // of each class's rows
  Vector label_, plain_, weight_, offset_, shifted_, s_, space_;
};

}  // namespace clearning::blocks
