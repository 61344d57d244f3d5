// What columns' correlations can be, without touching them: they are known exactly at a few reference vectors; any
// later vector is a combination of those plus a small rest, and the rest's norm bounds the error.
#pragma once
#include <array>
#include <cmath>
#include <vector>

#include "linalg/types.hpp"
#include "linalg/vector_loops.hpp"
#include "tuning.hpp"

namespace clearning {

class References {
 public:
  static constexpr int capacity = tuning::references;

  bool empty() const { return size_ == 0; }

  // Keeps a vector and its correlations with all columns, in the place of the oldest.
  void remember(const Vector& theta, const Vector& correlations) {
    const int slot = size_ < capacity ? size_++ : oldest_;
    oldest_ = (slot + 1) % capacity;
    theta_[slot] = theta;
    correlations_[slot] = correlations;
    for (int k = 0; k < size_; ++k)
      gram_[slot][k] = gram_[k][slot] = loops().dot(theta_[slot].data(), theta_[k].data(), theta.size());
  }

  // Predicts the correlations of all columns with theta, and returns the radius: what is predicted holds within
  // radius * norm of a column.
  double predict(const Vector& theta, Vector& out) {
    const double radius = express(theta);
    std::array<const double*, capacity> parts{};
    for (int k = 0; k < size_; ++k) parts[k] = correlations_[k].data();
    std::fill(out.begin(), out.end(), 0.0);
    loops().combine(parts.data(), size_, coefficient_.data(), out.size(), out.data());
    return radius;
  }
  // What was left of the last vector that was predicted for.
  const Vector& rest() const { return rest_; }

 private:
  // Writes theta as a combination of the references; returns what the rest's length is at most.
  double express(const Vector& theta) {
    std::array<double, capacity> right{};
    for (int k = 0; k < size_; ++k) right[k] = loops().dot(theta_[k].data(), theta.data(), theta.size());
    solve(right);
    rest_ = theta;
    for (int k = 0; k < size_; ++k) loops().axpy(-coefficient_[k], theta_[k].data(), rest_.data(), rest_.size());
    double rounding = 0.0;
    for (int k = 0; k < size_; ++k) rounding += std::fabs(coefficient_[k]) * std::sqrt(gram_[k][k]);
    const double length = loops().dot(rest_.data(), rest_.data(), rest_.size());
    return std::sqrt(length) + tuning::rounding_of_sums * rounding;
  }

  // Cholesky of the references' Gram matrix, with directions that add nothing left out.
  void solve(const std::array<double, capacity>& right) {
    double lower[capacity][capacity] = {};
    std::array<double, capacity> y{};
    bool used[capacity] = {};
    for (int i = 0; i < size_; ++i) {
      for (int j = 0; j < i; ++j) {
        if (!used[j]) continue;
        double sum = gram_[i][j];
        for (int k = 0; k < j; ++k) sum -= lower[i][k] * lower[j][k];
        lower[i][j] = sum / lower[j][j];
      }
      double pivot = gram_[i][i];
      for (int k = 0; k < i; ++k) pivot -= lower[i][k] * lower[i][k];
      used[i] = pivot > tuning::reference_rest * gram_[i][i];
      if (!used[i]) continue;
      lower[i][i] = std::sqrt(pivot);
      double sum = right[i];
      for (int k = 0; k < i; ++k) sum -= lower[i][k] * y[k];
      y[i] = sum / lower[i][i];
    }
    coefficient_.fill(0.0);
    for (int i = size_ - 1; i >= 0; --i) {
      if (!used[i]) continue;
      double sum = y[i];
      for (int k = i + 1; k < size_; ++k) sum -= lower[k][i] * coefficient_[k];
      coefficient_[i] = sum / lower[i][i];
    }
  }

  Vector rest_;
  std::array<Vector, capacity> theta_, correlations_;
  double gram_[capacity][capacity] = {};
  std::array<double, capacity> coefficient_{};
  int size_ = 0, oldest_ = 0;
};

}  // namespace clearning
