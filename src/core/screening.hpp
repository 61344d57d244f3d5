// Which columns can be active, without touching them: correlations are known exactly at a few reference
// vectors; any later vector is a combination of those plus a small rest, and the rest's norm bounds the error.
#pragma once
#include <array>
#include <cmath>
#include <vector>

#include "design.hpp"

namespace clearning {

class Screen {
 public:
  static constexpr int capacity = 4;

  void reset(Vector norms) {
    norms_ = std::move(norms);
    size_ = 0;
  }
  bool ready() const { return size_ > 0; }
  const double* norms() const { return norms_.data(); }
  double norm(Index j) const { return norms_[j]; }

  // Keeps a vector and its correlations with all columns, in the place of the oldest.
  void remember(const Vector& theta, const Vector& correlations) {
    const int slot = size_ < capacity ? size_++ : oldest_;
    oldest_ = (slot + 1) % capacity;
    theta_[slot] = theta;
    correlations_[slot] = correlations;
    for (int k = 0; k < size_; ++k)
      gram_[slot][k] = gram_[k][slot] = kernels().dot(theta_[slot].data(), theta_[k].data(), theta.size());
  }

  // Writes theta as a combination of the references; afterwards what predict() gives +- radius() * norm(j) holds.
  void express(const Vector& theta) {
    std::array<double, capacity> right{};
    for (int k = 0; k < size_; ++k) right[k] = kernels().dot(theta_[k].data(), theta.data(), theta.size());
    solve(right);
    rest_ = theta;
    for (int k = 0; k < size_; ++k) kernels().axpy(-coefficient_[k], theta_[k].data(), rest_.data(), rest_.size());
    double length = 0.0, rounding = 0.0;
    for (int k = 0; k < size_; ++k) rounding += std::fabs(coefficient_[k]) * std::sqrt(gram_[k][k]);
    length = kernels().dot(rest_.data(), rest_.data(), rest_.size());
    radius_ = std::sqrt(length) + 1e-13 * rounding;
  }
  double radius() const { return radius_; }
  // The predicted correlations of all columns.
  void predict(Vector& out) const {
    std::array<const double*, capacity> parts{};
    for (int k = 0; k < size_; ++k) parts[k] = correlations_[k].data();
    out.assign(norms_.size(), 0.0);
    kernels().combine(parts.data(), size_, coefficient_.data(), out.size(), out.data());
  }

 private:
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
      used[i] = pivot > 1e-10 * gram_[i][i];
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

  Vector norms_, rest_;
  std::array<Vector, capacity> theta_, correlations_;
  double gram_[capacity][capacity] = {};
  std::array<double, capacity> coefficient_{};
  double radius_ = 0.0;
  int size_ = 0, oldest_ = 0;
};

}  // namespace clearning
