// What a penalty's curvature lacks along lines that run through all classes: a group's norm is straight along the
// group's own coefficients. Factors of one class at a time know nothing of it; a matrix of the groups puts it right.
#pragma once
#include "solver/classes/class_gram.hpp"
#include "solver/classes/problem.hpp"

namespace clearning {

template <class Pen>
class StraightLines;

// Each coefficient has its own penalty: nothing runs through the classes.
template <>
class StraightLines<Elementwise> {
 public:
  void build(const Elementwise::Local&, const std::vector<Columns>&, const std::vector<Columns>&,
             const std::vector<ClassFactor>&) {}
  void solve(std::vector<ClassFactor>& factors, std::vector<Vector>& x) {
    for (std::size_t k = 0; k < factors.size(); ++k) factors[k].solve(x[k].data());
  }
};

// (M - Z Z')^-1 = M^-1 + M^-1 Z (I - Z' M^-1 Z)^-1 Z' M^-1, with a column of Z for each group and M by classes.
template <>
class StraightLines<Grouped> {
 public:
  // chosen: of each class's columns, whose places are given, those in its factor.
  void build(const Grouped::Local& local, const std::vector<Columns>& chosen, const std::vector<Columns>& places,
             const std::vector<ClassFactor>& factors) {
    number(local, chosen, places);
    // Where the factors are diagonal, so is the groups' matrix.
    const bool full = std::any_of(factors.begin(), factors.end(), [](const auto& factor) { return factor.is_full(); });
    const std::size_t stride = full ? groups_ : 0;
    Vector matrix(full ? stride * stride : groups_, 0.0);
    for (std::size_t k = 0; k < factors.size(); ++k)
      factors[k].each_of_inverse([&](int i, int j, double entry) {
        const int g = std::min(group_[k][i], group_[k][j]), h = std::max(group_[k][i], group_[k][j]);
        const double twice = g == h && i != j ? 2.0 : 1.0;
        matrix[h * stride + g] -= twice * z_[k][i] * z_[k][j] * entry;
      });
    factor_.build(groups_, [&](int g, int h) { return matrix[h * stride + g] + (g == h ? 1.0 : 0.0); }, full);
  }
  void solve(std::vector<ClassFactor>& factors, std::vector<Vector>& x) {
    Vector along(groups_, 0.0);
    for (std::size_t k = 0; k < factors.size(); ++k) {
      factors[k].solve(x[k].data());
      for (std::size_t i = 0; i < x[k].size(); ++i) along[group_[k][i]] += z_[k][i] * x[k][i];
    }
    factor_.solve(along.data());
    Vector back;
    for (std::size_t k = 0; k < factors.size(); ++k) {
      back.resize(x[k].size());
      for (std::size_t i = 0; i < back.size(); ++i) back[i] = z_[k][i] * along[group_[k][i]];
      factors[k].solve(back.data());
      loops().axpy(1.0, back.data(), x[k].data(), back.size());
    }
  }

 private:
  // Groups in the order in which they are met.
  void number(const Grouped::Local& local, const std::vector<Columns>& chosen, const std::vector<Columns>& places) {
    Columns seen(local.of.members.size(), -1);
    groups_ = 0;
    group_.assign(chosen.size(), {});
    z_.assign(chosen.size(), {});
    for (std::size_t k = 0; k < chosen.size(); ++k)
      for (int i : chosen[k]) {
        const int c = places[k][i];
        int& where = seen[local.group(c)];
        if (where < 0) where = groups_++;
        group_[k].push_back(where);
        z_[k].push_back(local.straight(c, static_cast<int>(k)));
      }
  }

  int groups_ = 0;
  std::vector<Columns> group_;  // of each class's factored columns
  std::vector<Vector> z_;
  ClassFactor factor_;
};

}  // namespace clearning
