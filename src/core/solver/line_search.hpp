// Armijo's search along a move, on the true objective.
#pragma once
#include "solver/direction.hpp"
#include "solver/progress.hpp"
#include "solver/stage.hpp"
#include "solver/step.hpp"

namespace clearning {

struct Descent {
  bool accepted = false, was_cut = false;
  double gain = 0.0;  // what it took off the objective
};

template <class P>
class LineSearch {
 public:
  // Halves the step up to `most` times. Sets all of the iterate but v; where no step is accepted the iterate is as
  // before, and v of the set is fresh. Progress hears of a move that promises something.
  Descent descend(const Stage<P>& at, const Move& move, const Direction& along, int most, const WorkingSet& set,
                  Iterate& x, Progress& progress) {
    const double penalty = at.penalty(x, set.columns()), now = x.loss + penalty;
    const double promise = promised(at, move, along, x);
    Descent out;
    if (promise < -tuning::worthwhile * at.goal) progress.hear_promise();
    // Beyond the range of a double no part of the way is a number, and losses of what is none are not to be believed.
    const double moved = loops().dot(along.score.data(), x.e.data(), x.e.size());
    if (!std::isfinite(promise + move.shift + moved)) most = 0;
    if (progress.is_stalled()) return out;
    saved_score_ = x.score;
    const double saved_a = x.a;
    double t = 1.0;
    for (int tries = 0; tries < most; ++tries, t *= 0.5) {
      loops().axpy(t, along.score.data(), x.score.data(), x.score.size());
      x.a = saved_a + t * move.shift;
      settle(at, x);
      const double then = x.loss + penalty + penalty_change(at, move, along, t, x);
      if (then <= now + tuning::armijo * t * std::min(promise, 0.0) + tuning::armijo_slack * now) {
        commit(move, along, t, x);
        progress.keep_promise(now - then > tuning::worthwhile * at.goal);
        return {true, tries > 0, now - then};
      }
      x.score = saved_score_;
      x.a = saved_a;
    }
    settle(at, x);
    freshen(at.problem, set.columns(), x);
    progress.keep_promise(false);
    return out;
  }

  // The objective's slope along a full move.
  static double promised(const Stage<P>& at, const Move& move, const Direction& along, const Iterate& x) {
    double slope = 0.0;
    for (std::size_t c = 0; c < move.columns.size(); ++c) slope += x.v[move.columns[c]] * move.delta[c];
    return slope + penalty_change(at, move, along, 1.0, x);
  }

 private:
  static double penalty_change(const Stage<P>& at, const Move& move, const Direction& along, double t,
                               const Iterate& x) {
    const auto& quadratic = at.problem.penalty.quadratic;
    const double level = at.ridge_level();
    double sum = 0.0;
    for (std::size_t c = 0; c < move.columns.size(); ++c) {
      const int j = move.columns[c];
      const double b = x.b[j], d = move.delta[c];
      double change = at.l1(j) * (std::fabs(b + t * d) - std::fabs(b));
      change += quadratic.change(x.b, x.form, along.form, j, d, t, level);
      sum += change;
    }
    return sum;
  }

  // Sets b, form and drift.
  static void commit(const Move& move, const Direction& along, double t, Iterate& x) {
    const double largest = largest_size(x.score) + t * largest_size(along.score);
    x.drift += tuning::unit_rounding * largest + t * along.drift;
    for (std::size_t c = 0; c < move.columns.size(); ++c) {
      double& b = x.b[move.columns[c]];
      b = t == 1.0 ? move.target[c] : b + t * move.delta[c];
    }
    loops().axpy(t, along.form.data(), x.form.data(), x.form.size());
  }

  Vector saved_score_;
};

}  // namespace clearning
