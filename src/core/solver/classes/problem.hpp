// A problem of many classes, the coefficients that are looked at, and where the solver is.
// Letters as in the two-class solver: B coefficients, a intercepts; s dual weights and e = kappa w (s - e_c) the loss's
// gradient in the scores; v = X'e.
#pragma once
#include <functional>

#include "problem/class_form.hpp"
#include "problem/class_penalty.hpp"
#include "problem/design.hpp"
#include "problem/multi_coherence.hpp"
#include "problem/panel.hpp"
#include "problem/problem.hpp"
#include "solver/near_dependence.hpp"

namespace clearning {

template <Design D, class Pen, class Coupling = Uncoupled>
struct ClassProblem {
  using DesignType = D;
  using Penalty = Pen;
  using Form = Coupling;
  const D design;
  const MultiCoherence loss;
  const ClassSamples samples;
  const Pen penalty;
  const Form form;
  const Settings settings;
  const Index n, p;
  const int m;
  const Columns free;  // blocks without any penalty
  const Columns open;  // features whose row has no penalty and no bounds: the loss sees differences within it only
  const NearDependence<D> near;  // of features without a penalty that nearly depend on each other
  const std::vector<char> idle;  // features without a penalty that others make up, exactly: they can stay at zero
  const Vector length;

  ClassProblem(D x, MultiCoherence phi, ClassSamples s, Pen net, Settings how, Form coupling = {})
      : design(std::move(x)), loss(phi), samples(s), penalty(std::move(net)), form(coupling), settings(std::move(how)),
        n(design.n), p(design.p), m(s.m), free(free_blocks()), open(open_features()),
        near(design, s.weight, settings.intercept, far_reaching()), idle(idle_features()), length(lengths()) {}
  ClassProblem(const ClassProblem&) = delete;  // its parts know each other

  Level level(double alpha) const { return {alpha * penalty.l1_ratio, alpha * (1.0 - penalty.l1_ratio)}; }
  // Neither kinks nor bounds.
  bool is_smooth() const { return penalty.l1_ratio == 0.0 && !penalty.has_bounds(); }

 private:
  Columns free_blocks() const {
    Columns found;
    for (Index g = 0; g < penalty.blocks(); ++g)
      if (penalty.is_free(g)) found.push_back(static_cast<int>(g));
    return found;
  }
  Columns open_features() const {
    Columns found;
    for (Index j = 0; j < p; ++j)
      if (penalty.is_open(j)) found.push_back(static_cast<int>(j));
    return found;
  }
  Columns far_reaching() const {
    Columns found;
    for (Index j = 0; j < p; ++j)
      if (penalty.reaches_far(j)) found.push_back(static_cast<int>(j));
    return found;
  }
  std::vector<char> idle_features() const {
    std::vector<char> found(p, 0);
    if (!near.differences().empty() || open.size() != far_reaching().size()) return found;
    for (int j : near.dependent()) found[j] = 1;
    return found;
  }
  Vector lengths() const {
    const Vector one(n, 1.0);
    Vector out(p);
    double first = 0.0, second = 0.0;
    for (Index j = 0; j < p; ++j) {
      design.moments(j, one.data(), first, second);
      out[j] = std::sqrt(second);
    }
    return out;
  }
};

// The coefficients that are looked at: some features, and of each the classes.
class ClassSet {
 public:
  ClassSet(Index p, int m) : m_(m), place_(p, -1) {}

  const Columns& features() const { return features_; }
  // For each feature in turn, whether its coefficient of a class belongs to the set.
  const std::vector<char>& in() const { return in_; }
  std::size_t pairs() const { return pairs_; }
  int m() const { return m_; }
  bool has(int j, int k) const { return place_[j] >= 0 && in_[static_cast<std::size_t>(place_[j]) * m_ + k]; }
  int place(int j) const { return place_[j]; }
  void add(int j, int k) {
    if (place_[j] < 0) {
      place_[j] = static_cast<int>(features_.size());
      features_.push_back(j);
      in_.resize(in_.size() + m_, 0);
    }
    char& member = in_[static_cast<std::size_t>(place_[j]) * m_ + k];
    pairs_ += member == 0;
    member = 1;
  }
  void clear() {
    for (int j : features_) place_[j] = -1;
    features_.clear();
    in_.clear();
    pairs_ = 0;
  }
  // The set's features that have a coefficient of this class in it, by place.
  Columns of_class(int k) const {
    Columns out;
    for (std::size_t c = 0; c < features_.size(); ++c)
      if (in_[c * m_ + k]) out.push_back(static_cast<int>(c));
    return out;
  }

 private:
  int m_;
  Columns place_, features_;
  std::vector<char> in_;
  std::size_t pairs_ = 0;
};

struct ClassIterate {
  Vector b, a;  // p m coefficients, m intercepts
  Vector form;  // QB, where coefficients are coupled
  Vector score, s, e;
  double loss = 0.0;
};

// Matrix of samples and classes: the sum of each class.
inline Vector class_sums(const Vector& matrix, Index n, int m) {
  Vector sums(m);
  for (int k = 0; k < m; ++k) sums[k] = std::accumulate(matrix.begin() + k * n, matrix.begin() + (k + 1) * n, 0.0);
  return sums;
}

}  // namespace clearning
