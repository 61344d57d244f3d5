// A step that needs no working set, where the penalty has one: a kernel's ridge on its own samples.
#pragma once
#include "solver/kernel_ridge.hpp"
#include "solver/model.hpp"
#include "solver/move.hpp"

namespace clearning {

template <class P, class Quadratic = typename P::Quadratic>
class DirectStep {
 public:
  static bool suits(const P&) { return false; }
  static Move propose(const Stage<P>&, const Iterate&, const Model<P>&) { return {}; }
};

template <class P, class T>
class DirectStep<P, KernelForm<T>> {
 public:
  static bool suits(const P& problem) { return problem.penalty.quadratic.is_design && problem.penalty.l1_ratio == 0.0; }

  // The move to the model's minimiser; empty if the system has no factor.
  Move propose(const Stage<P>& at, const Iterate& x, const Model<P>& model) {
    const P& problem = at.problem;
    Move move;
    Vector beta;
    move.curvature = &model.h();
    if (!ridge_.solve(problem.design, x.form, x.e, model.h(), at.ridge_level(), problem.settings.intercept, beta,
                      move.shift))
      return move;
    for (Index j = 0; j < problem.p; ++j) move.add(static_cast<int>(j), x.b[j], beta[j]);
    return move;
  }

 private:
  KernelRidgeStep<typename P::DesignType> ridge_;
};

}  // namespace clearning
