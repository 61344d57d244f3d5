// A Newton step: the minimiser of the model plus the penalty, by whichever way suits the working set.
#pragma once
#include "solver/gram_descent.hpp"
#include "solver/kernel_ridge.hpp"
#include "solver/model.hpp"
#include "solver/residual_descent.hpp"
#include "solver/ridge_descent.hpp"

namespace clearning {

// From the iterate to `target`, column by column, and by `shift` of the intercept.
struct Move {
  Columns columns;
  Vector delta, target;
  double shift = 0.0;
  const Vector* curvature = nullptr;  // of the model that it minimises

  bool empty() const { return columns.empty(); }
  void add(int column, double from, double to) {
    columns.push_back(column);
    delta.push_back(to - from);
    target.push_back(to);
  }
};

template <class P>
class Step {
 public:
  explicit Step(const P& problem) : problem_(problem) {}

  // How the working set violates its optimality at an iterate whose v is fresh.
  void load(const Stage<P>& at, const Iterate& x, const WorkingSet& set, double tighten) {
    inner_.load(at, x, set, tighten);
  }
  double worst() const { return inner_.worst(); }
  // The same after the iterate has moved, by the allowances loaded before.
  double worst_now(const Stage<P>& at, const Iterate& x, const WorkingSet& set) const {
    return worst_violation(at, x, set, inner_);
  }
  bool used_gram() const { return used_gram_; }

  // The move to the model's minimiser, which is solved until violations are well below `worst`; empty if there is none.
  Move propose(const Stage<P>& at, const Iterate& x, const WorkingSet& set, Model<P>& model, double worst) {
    model.update_curvature(at, x);
    if constexpr (P::Quadratic::couples)
      if (problem_.penalty.quadratic.is_design && problem_.penalty.l1_ratio == 0.0) return kernel_ridge(at, x, model);
    used_gram_ = model.wants_gram(set);
    double shift = 0.0;
    if (used_gram_) {
      model.update_gram(at, set, worst);
      if (model.changed()) gram_descent_.invalidate();
      gram_descent_.solve(inner_, model.gram(), model.stride(), target(tuning::gram_accuracy, worst));
    } else {
      model.forget_gram();
      shift = descend_without_gram(x, set, model, worst);
    }
    Move move;
    for (int c = 0; c < inner_.count; ++c) {
      const int j = set.columns()[c];
      if (inner_.b[c] == x.b[j]) continue;
      move.add(j, x.b[j], inner_.b[c]);
      if (used_gram_) shift -= move.delta.back() * model.mean(c);
    }
    move.shift = shift;
    move.curvature = used_gram_ ? &model.gram_h() : &model.h();
    return move;
  }

 private:
  static double target(double accuracy, double worst) { return std::max(tuning::solved_model, accuracy * worst); }

  double descend_without_gram(const Iterate& x, const WorkingSet& set, Model<P>& model, double worst) {
    const bool intercept = problem_.settings.intercept;
    if (problem_.is_smooth) {
      ridge_descent_.solve(inner_, problem_.design, set.columns(), model.h(), intercept,
                           target(tuning::gram_accuracy, worst), model.workspace());
      return ridge_descent_.intercept_shift();
    }
    residual_descent_.solve(inner_, problem_.design, set.columns(), x.e, model.h(), intercept,
                            target(tuning::descent_accuracy, worst));
    return residual_descent_.intercept_shift();
  }

  Move kernel_ridge(const Stage<P>& at, const Iterate& x, const Model<P>& model) {
    Move move;
    used_gram_ = true;
    Vector beta;
    move.curvature = &model.h();
    if (!kernel_ridge_.solve(problem_.design, x.form, x.e, model.h(), at.ridge_level(), problem_.settings.intercept,
                             beta, move.shift))
      return move;
    for (Index j = 0; j < problem_.p; ++j) move.add(static_cast<int>(j), x.b[j], beta[j]);
    return move;
  }

  const P& problem_;
  InnerProblem inner_;
  GramDescent gram_descent_;
  ResidualDescent residual_descent_;
  RidgeDescent ridge_descent_;
  KernelRidgeStep<typename P::DesignType> kernel_ridge_;
  bool used_gram_ = false;
};

}  // namespace clearning
