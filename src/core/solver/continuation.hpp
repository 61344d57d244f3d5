// A start at the next position of a path: the last two solutions continued.
// A position is the logarithm of a penalty or, while a hinge's problem cools, a temperature.
#pragma once
#include "solver/line_search.hpp"

namespace clearning {

template <class P>
class Continuation {
 public:
  void forget() { earlier_.position = latest_.position = NAN; }

  void remember(double position, const Iterate& x, const WorkingSet& set) {
    std::swap(earlier_, latest_);
    latest_.position = position;
    latest_.a = x.a;
    latest_.drift = x.drift;
    latest_.score = x.score;
    latest_.columns = set.support(x.b);
    latest_.values.clear();
    for (int j : latest_.columns) latest_.values.push_back(x.b[j]);
  }

  // The move from the latest solution, where the iterate stands, to the one foreseen, and how it changes the scores.
  // Empty where nothing is foreseen.
  Move foresee(const Stage<P>& at, double position, const Iterate& x, const WorkingSet& set, Direction& along) {
    const double ahead = (position - latest_.position) / (latest_.position - earlier_.position);
    Move move;
    if (!(ahead > 0.0 && ahead < tuning::farthest_ahead)) return move;
    Columns turned;
    Vector rest;
    continue_columns(at, ahead, x, set, move, turned, rest);
    if (move.empty()) return move;
    along.score.resize(x.score.size());
    for (std::size_t i = 0; i < x.score.size(); ++i) along.score[i] = ahead * (x.score[i] - earlier_.score[i]);
    at.problem.design.combine(turned, rest.data(), along.score.data());
    at.problem.penalty.quadratic.direction(move.columns, move.delta, along.score, along.form);
    along.drift = ahead * (x.drift + earlier_.drift);
    move.shift = ahead * (x.a - earlier_.a);
    return move;
  }

 private:
  struct Point {
    double position = NAN, a = 0.0, drift = 0.0;
    Columns columns;  // that carry coefficients
    Vector values, score;
  };

  // Coefficients drift on, but not through zero. Columns that do otherwise are turned: `rest` is what the scores,
  // which are continued as a whole, must take back.
  void continue_columns(const Stage<P>& at, double ahead, const Iterate& x, const WorkingSet& set, Move& move,
                        Columns& turned, Vector& rest) const {
    Vector before(set.size(), 0.0);
    for (std::size_t c = 0; c < earlier_.columns.size(); ++c) {
      const int j = earlier_.columns[c];
      if (set.holds(j)) {
        before[set.place(j)] = earlier_.values[c];
      } else {
        turned.push_back(j);
        rest.push_back(ahead * earlier_.values[c]);
      }
    }
    for (int c = 0; c < set.size(); ++c) {
      const int j = set.columns()[c];
      const double b = x.b[j], drift = ahead * (b - before[c]);
      if (drift == 0.0) continue;
      const auto [low, high] = sign_range(b, at.l1(j), at.lower(j), at.upper(j));
      const double next = b != 0.0 ? std::clamp(b + drift, low, high) : b;
      const double change = next - b;
      if (change != 0.0) move.add(j, b, next);
      if (std::fabs(change - drift) > tuning::rounding * std::fabs(drift)) {
        turned.push_back(j);
        rest.push_back(change - drift);
      }
    }
  }

  Point earlier_, latest_;  // the last two solutions of the path
};

}  // namespace clearning
