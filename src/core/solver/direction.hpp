// Where a move leads: how it changes what the iterate carries beside the coefficients.
#pragma once
#include "solver/move.hpp"

namespace clearning {

// How a full move changes the scores and Qb.
struct Direction {
  Vector score, form;
  double drift = 0.0;  // how far the scores' change may be off beside its own rounding
};

template <class P>
Direction direction_of(const P& problem, const Move& move) {
  Direction along;
  along.score.assign(problem.n, 0.0);
  problem.design.combine(move.columns, move.delta.data(), along.score.data());
  problem.penalty.quadratic.direction(move.columns, move.delta, along.score, along.form);
  return along;
}

}  // namespace clearning
