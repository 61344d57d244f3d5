// A Newton step: the minimiser of the model plus the penalty, by whichever way suits the working set.
#pragma once
#include "solver/direct_step.hpp"
#include "solver/gram_descent.hpp"
#include "solver/residual_descent.hpp"
#include "solver/ridge_descent.hpp"
#include "solver/support_step.hpp"

namespace clearning {

template <class P>
class Step {
 public:
  explicit Step(const P& problem) : problem_(problem), support_step_(problem) {}

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
  // Whether a step is the model's minimiser itself, and not only near it.
  bool is_exact(const WorkingSet& set, const Model<P>& model) const {
    return direct_.suits(problem_) || (set.size() > 0 && model.wants_gram(set));
  }

  // The move to the model's minimiser, which is solved until violations are well below `worst`; empty if there is none.
  Move propose(const Stage<P>& at, const Iterate& x, const WorkingSet& set, Model<P>& model, double worst) {
    model.update_curvature(at, x);
    if (direct_.suits(problem_)) {
      used_gram_ = true;
      return direct_.propose(at, x, model);
    }
    used_gram_ = model.wants_gram(set);
    if constexpr (P::Quadratic::needs_gram)
      return support_step_.propose(at, x, set, model, inner_, worst, fine_target(worst));
    double shift = 0.0;
    if (used_gram_) {
      model.update_gram(at, set, worst);
      if (model.changed()) gram_descent_.invalidate();
      gram_descent_.solve(inner_, model.gram(), model.stride(), fine_target(worst));
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
  // A step whose dual point is to be the proof leaves less.
  static double fine_target(double worst) {
    const double enough = std::max(tuning::solved_model, tuning::fine_accuracy * worst);
    return std::clamp(tuning::gram_accuracy * worst, tuning::finest_model, enough);
  }
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

  const P& problem_;
  InnerProblem inner_;
  GramDescent gram_descent_;
  SupportStep<P> support_step_;
  ResidualDescent residual_descent_;
  RidgeDescent ridge_descent_;
  DirectStep<P> direct_;
  bool used_gram_ = false;
};

}  // namespace clearning
