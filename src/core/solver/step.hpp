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
  template <class Size>
  void load(const Stage<P>& at, const Iterate& x, const WorkingSet& set, double tighten, Size&& size) {
    inner_.load(at, x, set, tighten, size);
  }
  Excess excess() const { return inner_.excess(); }
  double worst() const { return inner_.worst(); }
  // The same after the iterate has moved, by the allowances loaded before.
  Excess excess_now(const Stage<P>& at, const Iterate& x, const WorkingSet& set) const {
    return excess_at(at, x, set, inner_);
  }
  bool used_gram() const { return used_gram_; }
  // Whether a step's dual point is worth looking at: the step is the model's minimiser itself; or it is near, and what
  // it leaves would be scaled away, which costs more than solving its model to the end.
  bool may_prove(const Stage<P>& at, const WorkingSet& set, const Model<P>& model, bool is_near) const {
    return direct_.suits(problem_) || (set.size() > 0 && model.wants_gram(set)) || (is_near && at.ridge_level() == 0.0);
  }

  // The move to the model's minimiser, which is solved until violations are well below the excess; empty if there is
  // none. Where its dual point is to be a proof, it leaves less.
  Move propose(const Stage<P>& at, const Iterate& x, const WorkingSet& set, Model<P>& model, const Excess& excess,
               bool is_proof) {
    const double worst = excess.worst();
    model.update_curvature(at, x);
    if (direct_.suits(problem_)) {
      used_gram_ = true;
      return direct_.propose(at, x, model);
    }
    used_gram_ = model.wants_gram(set);
    if constexpr (P::Quadratic::needs_gram)
      return support_step_.propose(at, x, set, model, inner_, worst, fine_target(worst));
    double shift = 0.0, unit = 1.0;
    if (used_gram_) {
      model.update_gram(at, set, worst);
      if (model.changed()) gram_descent_.invalidate();
      unit = model.unit();
      inner_.divide(unit);
      gram_descent_.solve(inner_, model.gram(), model.stride(), fine_target(worst));
      inner_.divide(1.0 / unit);
    } else {
      model.forget_gram();
      shift = is_proof ? descend_without_gram(x, set, model, tuning::solved_model, tuning::most_sweeps_of_proof)
                       : descend_without_gram(x, set, model, coarse_target(excess), tuning::most_sweeps);
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
    move.unit = unit;
    return move;
  }

  // The move with what coefficients cannot hold of it, for its dual point; its targets mean nothing. Empty where they
  // hold it all.
  Move beyond_digits(const WorkingSet& set, const Model<P>& model, const Move& move) const {
    Move finer;
    if (P::Quadratic::needs_gram || !used_gram_ || gram_descent_.rest().empty()) return finer;
    const Vector& rest = gram_descent_.rest();
    Vector change(rest);
    for (std::size_t c = 0; c < move.columns.size(); ++c) change[set.place(move.columns[c])] += move.delta[c];
    finer.shift = move.shift;
    for (int c = 0; c < set.size(); ++c) {
      if (change[c] == 0.0) continue;
      finer.add(set.columns()[c], 0.0, change[c]);
      finer.shift -= rest[c] * model.mean(c);
    }
    finer.curvature = move.curvature;
    finer.unit = move.unit;
    return finer;
  }

  // Whether the model's matrix tells the correlations of the set with the dual point that a move foresees: those with
  // the iterate's, changed by the matrix times the move. Sets v of the set; `off` is how far rounding may have put them
  // off, by a column's length.
  template <class Length>
  bool foresee(const Iterate& x, const WorkingSet& set, const Model<P>& model, const Move& move, Length&& length,
               Vector& v, double& off) {
    if (P::Quadratic::needs_gram || !used_gram_) return false;
    std::vector<const double*> columns;
    double size = 0.0;
    for (std::size_t c = 0; c < move.columns.size(); ++c) {
      columns.push_back(model.gram() + static_cast<std::size_t>(set.place(move.columns[c])) * model.stride());
      size += std::fabs(move.delta[c]) * length(move.columns[c]);
    }
    foreseen_.resize(set.size());
    for (int c = 0; c < set.size(); ++c) foreseen_[c] = x.v[set.columns()[c]];
    Vector change(move.delta);
    for (double& d : change) d *= move.unit;
    loops().combine(columns.data(), columns.size(), change.data(), foreseen_.size(), foreseen_.data());
    v.resize(problem_.p);
    for (int c = 0; c < set.size(); ++c) v[set.columns()[c]] = foreseen_[c];
    off = tuning::rounding_of_matrix * move.unit * model.largest_h() * size;
    return true;
  }

 private:
  // A step whose dual point is to be the proof leaves less.
  static double fine_target(double worst) {
    const double enough = std::max(tuning::solved_model, tuning::fine_accuracy * worst);
    return std::clamp(tuning::gram_accuracy * worst, tuning::finest_model, enough);
  }
  static double coarse_target(const Excess& excess) {
    return std::max(tuning::solved_model, tuning::descent_accuracy * excess.total());
  }

  double descend_without_gram(const Iterate& x, const WorkingSet& set, Model<P>& model, double target,
                              int most_sweeps) {
    const bool intercept = problem_.settings.intercept;
    if (problem_.is_smooth) {
      ridge_descent_.solve(inner_, problem_.design, set.columns(), model.h(), intercept, target, model.workspace());
      return ridge_descent_.intercept_shift();
    }
    residual_descent_.solve(inner_, problem_.design, set.columns(), x.e, model.h(), intercept, target, most_sweeps);
    return residual_descent_.intercept_shift();
  }

  const P& problem_;
  InnerProblem inner_;
  GramDescent gram_descent_;
  SupportStep<P> support_step_;
  ResidualDescent residual_descent_;
  RidgeDescent ridge_descent_;
  DirectStep<P> direct_;
  Vector foreseen_;
  bool used_gram_ = false;
};

}  // namespace clearning
