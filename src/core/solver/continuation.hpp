// A start at the next position of a path: the last solutions continued, along the line or the curve through them.
// A position is the logarithm of a penalty or, while a hinge's problem cools, a temperature.
#pragma once
#include <array>

#include "solver/line_search.hpp"

namespace clearning {

template <class P>
class Continuation {
 public:
  void forget() {
    for (Point& point : points_) point.position = NAN;
  }

  // The solution at a position: the iterate, or where a step leads that was foreseen from it and not taken.
  void remember(double position, const Iterate& x, const WorkingSet& set, const Move& ahead, const Direction& along) {
    std::rotate(points_.begin(), points_.end() - 1, points_.end());
    Point& latest = points_[0];
    latest.position = position;
    latest.a = x.a + ahead.shift;
    latest.drift = x.drift;
    latest.score = x.score;
    if (!ahead.empty()) {
      loops().axpy(1.0, along.score.data(), latest.score.data(), latest.score.size());
      latest.drift += along.drift + tuning::unit_rounding * (largest_size(x.score) + largest_size(along.score));
    }
    latest.largest = largest_size(latest.score);
    Vector values(set.size());
    for (int c = 0; c < set.size(); ++c) values[c] = x.b[set.columns()[c]];
    for (std::size_t c = 0; c < ahead.columns.size(); ++c) values[set.place(ahead.columns[c])] = ahead.target[c];
    latest.columns.clear();
    latest.values.clear();
    for (int c = 0; c < set.size(); ++c) {
      if (values[c] == 0.0) continue;
      latest.columns.push_back(set.columns()[c]);
      latest.values.push_back(values[c]);
    }
    if (foreseen_at_ == position) bends_ = miss(curve_) < miss(line_);
  }

  // The move from the iterate to the solution foreseen, and how it changes the scores. Empty where nothing is foreseen.
  // Rounding that the remembered scores have gathered is removed where it could come to more than `most_drift`.
  Move foresee(const Stage<P>& at, double position, const Iterate& x, const WorkingSet& set, double most_drift,
               Direction& along) {
    Move move;
    const double ahead = (position - points_[0].position) / (points_[0].position - points_[1].position);
    if (!(ahead > 0.0 && ahead < tuning::farthest_ahead)) return move;
    const Weights line{1.0 + ahead, -ahead, 0.0}, curve = curve_to(position, line);
    if (drift(curve) > most_drift) renew(at.problem);
    line_ = scores(line);
    curve_ = scores(curve);
    foreseen_at_ = position;
    const Weights& chosen = bends_ ? curve : line;
    Columns turned;
    Vector rest;
    continue_columns(at, line, chosen, x, set, move, turned, rest);
    if (move.empty()) return move;
    along.score = bends_ ? curve_ : line_;
    loops().axpy(-1.0, x.score.data(), along.score.data(), along.score.size());
    at.problem.design.combine(turned, rest.data(), along.score.data());
    at.problem.penalty.quadratic.direction(move.columns, move.delta, along.score, along.form);
    along.drift = drift(chosen) + rounding_of_sum(chosen) - x.drift;  // the iterate's own scores cancel
    for (std::size_t k = 0; k < points_.size(); ++k) move.shift += chosen[k] * points_[k].a;
    move.shift -= x.a;
    return move;
  }

 private:
  struct Point {
    double position = NAN, a = 0.0, drift = 0.0, largest = 0.0;  // largest: of the scores
    Columns columns;                                             // that carry coefficients
    Vector values, score;
  };
  using Weights = std::array<double, 3>;  // of the points

  // Lagrange's, or the line's where there are but two points.
  Weights curve_to(double position, const Weights& line) const {
    if (std::isnan(points_[2].position)) return line;
    Weights weights{1.0, 1.0, 1.0};
    for (std::size_t k = 0; k < points_.size(); ++k)
      for (std::size_t l = 0; l < points_.size(); ++l)
        if (l != k) weights[k] *= (position - points_[l].position) / (points_[k].position - points_[l].position);
    return weights;
  }

  double drift(const Weights& weights) const {
    double sum = 0.0;
    for (std::size_t k = 0; k < points_.size(); ++k) sum += std::fabs(weights[k]) * points_[k].drift;
    return sum;
  }

  double rounding_of_sum(const Weights& weights) const {
    double sum = 0.0;
    for (std::size_t k = 0; k < points_.size(); ++k) sum += std::fabs(weights[k]) * points_[k].largest;
    return tuning::unit_rounding * sum;
  }

  Vector scores(const Weights& weights) const {
    Vector sum(points_[0].score.size(), 0.0);
    for (std::size_t k = 0; k < points_.size(); ++k)
      if (weights[k] != 0.0) loops().axpy(weights[k], points_[k].score.data(), sum.data(), sum.size());
    return sum;
  }

  // How far scores that were foreseen are from the latest.
  double miss(const Vector& foreseen) const {
    return loops().squared_distance(foreseen.data(), points_[0].score.data(), foreseen.size());
  }

  // Computes the points' scores anew from their coefficients.
  void renew(const P& problem) {
    for (Point& point : points_) {
      if (std::isnan(point.position)) continue;
      point.score.assign(problem.samples.offset, problem.samples.offset + problem.n);
      problem.design.combine(point.columns, point.values.data(), point.score.data());
      point.drift = 0.0;
    }
  }

  // Coefficients drift on, but not through zero; those that were zero at some of the points do so along the line.
  // Columns that do otherwise than the scores, which are continued as a whole, are turned: `rest` is what the scores
  // must take back.
  void continue_columns(const Stage<P>& at, const Weights& line, const Weights& chosen, const Iterate& x,
                        const WorkingSet& set, Move& move, Columns& turned, Vector& rest) const {
    std::array<Vector, 3> were;
    for (std::size_t k = 0; k < points_.size(); ++k) were[k] = values_of(k, chosen[k], set, turned, rest);
    for (int c = 0; c < set.size(); ++c) {
      const int j = set.columns()[c];
      const double latest = were[0][c], earlier = were[1][c], earliest = were[2][c];
      const double whole = chosen[0] * latest + chosen[1] * earlier + chosen[2] * earliest;
      const bool was_always = latest * earlier > 0.0 && earlier * earliest > 0.0;
      const auto [low, high] = sign_range(latest, at.l1(j), at.lower(j), at.upper(j));
      const double next =
          latest == 0.0 ? 0.0 : std::clamp(was_always ? whole : line[0] * latest + line[1] * earlier, low, high);
      if (next != x.b[j]) move.add(j, x.b[j], next);
      if (std::fabs(next - whole) > tuning::rounding * std::fabs(whole)) {
        turned.push_back(j);
        rest.push_back(next - whole);
      }
    }
  }

  // A point's coefficients on the set; what it has elsewhere is turned.
  Vector values_of(std::size_t k, double weight, const WorkingSet& set, Columns& turned, Vector& rest) const {
    Vector values(set.size(), 0.0);
    if (weight == 0.0) return values;
    const Point& point = points_[k];
    for (std::size_t c = 0; c < point.columns.size(); ++c) {
      const int j = point.columns[c];
      if (set.holds(j)) {
        values[set.place(j)] = point.values[c];
      } else {
        turned.push_back(j);
        rest.push_back(-weight * point.values[c]);
      }
    }
    return values;
  }

  std::array<Point, 3> points_;  // the last solutions of the path, the latest first
  Vector line_, curve_;          // the scores that either foresaw, and where
  double foreseen_at_ = NAN;
  bool bends_ = false;  // the curve foresaw the latest solution better
};

}  // namespace clearning
