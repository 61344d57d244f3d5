// A Newton step whose matrix holds the columns that carry coefficients and those about to. The others of the working
// set are watched through the design: many are near their threshold, few come above it, and a matrix of all is waste.
#pragma once
#include <algorithm>
#include <utility>
#include <vector>

#include "solver/direction.hpp"
#include "solver/gram_descent.hpp"
#include "solver/model.hpp"

namespace clearning {

template <class P>
class SupportStep {
 public:
  explicit SupportStep(const P& problem) : held_(P::Quadratic::needs_gram ? problem.p : 0) {}

  // The move to the model's minimiser on the set, for which `all` is loaded. Solved as soon as no violation, of which
  // the worst is given, exceeds `target`.
  Move propose(const Stage<P>& at, const Iterate& x, const WorkingSet& set, Model<P>& model, const InnerProblem& all,
               double worst, double target) {
    hold(set, all, model, worst);
    model.update_gram(at, held_, worst);
    if (model.changed()) descent_.invalidate();
    inner_.resize(0);
    take(set, all, all.g);
    while (true) {
      descent_.solve(inner_, model.gram(), model.stride(), target);
      Move move = move_from(x, model);
      foresee(at, set, all, move);
      if (!enter(set, all, target)) return move;
      model.extend_gram(at, held_);
      take(set, all, foreseen_);
    }
  }

 private:
  // What a second-order step may move is held. The rest leaves when the matrix is made anew, or becomes too large.
  void hold(const WorkingSet& set, const InnerProblem& all, Model<P>& model, double worst) {
    Columns wanted;
    for (int c = 0; c < all.count; ++c)
      if (all.b[c] != 0.0 || all.l1[c] == 0.0) wanted.push_back(set.columns()[c]);
    if (model.is_stale(held_, worst) || !model.keeps_gram(held_, wanted)) {
      model.forget_gram();
      held_.replace(wanted);
    }
    held_.add(wanted);
  }

  // The inner problem takes those over that are held since, at these gradients in the order of the set.
  void take(const WorkingSet& set, const InnerProblem& all, const Vector& gradients) {
    while (inner_.count < held_.size()) {
      const int c = set.place(held_.columns()[inner_.count]);
      inner_.append(all, c, gradients[c]);
    }
  }

  Move move_from(const Iterate& x, const Model<P>& model) const {
    Move move;
    move.curvature = &model.gram_h();
    for (int c = 0; c < inner_.count; ++c) {
      const int j = held_.columns()[c];
      if (inner_.b[c] == x.b[j]) continue;
      move.add(j, x.b[j], inner_.b[c]);
      move.shift -= move.delta.back() * model.mean(c);
    }
    return move;
  }

  // Sets the watched columns, and the gradients that the model expects of them after a move.
  void foresee(const Stage<P>& at, const WorkingSet& set, const InnerProblem& all, const Move& move) {
    watched_.clear();
    for (int j : set.columns())
      if (!held_.holds(j)) watched_.push_back(j);
    if (watched_.empty()) return;
    const P& problem = at.problem;
    Direction along = direction_of(problem, move);
    for (std::size_t i = 0; i < along.score.size(); ++i)
      along.score[i] = (*move.curvature)[i] * (along.score[i] + move.shift);
    change_.resize(watched_.size());
    problem.design.dots(watched_, along.score.data(), change_.data());
    foreseen_ = all.g;
    for (std::size_t c = 0; c < watched_.size(); ++c) {
      const int j = watched_[c];
      const double of_penalty = problem.penalty.quadratic.gradient(along.form, along.form, j, at.ridge_level());
      foreseen_[set.place(j)] += change_[c] + of_penalty;
    }
  }

  // Holds the worst of the watched columns from now on. False if all is well.
  bool enter(const WorkingSet& set, const InnerProblem& all, double target) {
    double worst = 0.0;
    offenders_.clear();
    for (int j : watched_) {
      const int c = set.place(j);
      const double excess = optimality_violation(0.0, foreseen_[c], all.l1[c], all.lower[c], all.upper[c]);
      worst = std::max(worst, excess / all.allowed[c]);
      if (excess > 0.0) offenders_.emplace_back(-excess / all.allowed[c], j);
    }
    if (worst <= target) return false;
    const std::size_t most = std::min(offenders_.size(), tuning::entering + held_.size() / tuning::held_per_entering);
    std::partial_sort(offenders_.begin(), offenders_.begin() + most, offenders_.end());
    Columns entering;
    for (std::size_t c = 0; c < most; ++c) entering.push_back(offenders_[c].second);
    held_.add(entering);
    return true;
  }

  WorkingSet held_;  // in the matrix, and in the inner problem
  InnerProblem inner_;
  GramDescent descent_{true};
  Columns watched_;
  Vector change_, foreseen_;
  std::vector<std::pair<double, int>> offenders_;
};

}  // namespace clearning
