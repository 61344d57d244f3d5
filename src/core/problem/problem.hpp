// What is to be solved: loss, design, penalty and samples. Nothing of it changes.
#pragma once
#include <functional>

#include "problem/design.hpp"
#include "problem/losses.hpp"
#include "problem/penalty.hpp"
#include "problem/samples.hpp"

namespace clearning {

struct Settings {
  double tol = 1e-6;
  int max_iter = 10000;
  bool intercept = true;
  std::function<void()> check_interrupt;
};

template <Design D, class Q>
struct Problem {
  using DesignType = D;
  using Quadratic = Q;
  const D design;
  const Loss loss;
  const Samples samples;
  const ElasticNet<Q> penalty;
  const Settings settings;
  const Index n, p;
  const Columns free;    // columns without any penalty
  const bool is_smooth;  // neither kinks nor bounds

  Problem(D x, Loss phi, Samples s, ElasticNet<Q> net, Settings how)
      : design(std::move(x)), loss(phi), samples(s), penalty(std::move(net)), settings(std::move(how)), n(design.n),
        p(design.p), free(free_columns()), is_smooth(without_kinks()) {}

 private:
  Columns free_columns() const {
    Columns found;
    for (Index j = 0; j < p; ++j)
      if (penalty.is_free(j)) found.push_back(static_cast<int>(j));
    return found;
  }
  bool without_kinks() const {
    bool smooth = penalty.l1_ratio == 0.0;
    for (Index j = 0; j < p && smooth; ++j) smooth = std::isinf(penalty.lower[j]) && std::isinf(penalty.upper[j]);
    return smooth;
  }
};

}  // namespace clearning
