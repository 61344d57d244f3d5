// Where the solver is. The one state that several of its parts change; each says what it sets.
// Letters follow the paper: b coefficients, a intercept; e, h first and second derivatives of the weighted loss in
// the score; v = X'e; s = -phi' the dual weights.
#pragma once
#include <cmath>

#include "linalg/types.hpp"
#include "linalg/vector_loops.hpp"
#include "problem/loss_loops.hpp"

namespace clearning {

struct Iterate {
  double a = 0.0;
  Vector b, score;    // scores with the offset and without the intercept
  Vector form;        // Q b, where the quadratic penalty is a kernel's
  Vector e, h;        // at score + a; e of the heavier class is scaled by `balance`, so that e sums to zero
  double loss = 0.0;  // weighted sum
  double balance = 1.0, heavy = 0.0;  // heavy: the sign of the heavier class, 0 if the classes agree
  Vector v;
  std::vector<int> stamp;  // the point at which a column's v is exact
  double drift = 0.0;      // what rounding may have made of the scores since they were computed from the coefficients
  int point = 0;           // counts the points at which e and h were evaluated

  template <class P>
  explicit Iterate(const P& problem)
      : b(problem.p, 0.0), score(problem.samples.offset, problem.samples.offset + problem.n), e(problem.n),
        h(problem.n), v(problem.p, 0.0), stamp(problem.p, -1) {
    problem.penalty.quadratic.start(problem.p, form);
  }
};

// A dual point: what it gives the samples, and the coefficients, with their Qb, by which it answers a kernel's penalty.
struct DualPoint {
  const Vector& theta;
  const Vector &b, &form;
};

// Correlations of columns with a dual point, each known up to `off` times its column's length, beside their rounding.
struct Correlated {
  const Vector& v;
  double off = 0.0;
};

namespace detail {

// Newton's steps on the intercept alone, kept within what is known to hold the optimum. Sets a.
template <class StageT>
void centre(const StageT& at, Iterate& x) {
  double low = -INFINITY, high = INFINITY;
  for (int step = 0; step < tuning::intercept_steps; ++step) {
    const LossSums sums = slopes(at.loss, at.problem.samples, x.score.data(), x.a);
    const double uneven = std::fabs(sums.slope) / sums.mass;
    if (!(uneven > at.evenness)) return;
    (sums.slope > 0.0 ? high : low) = x.a;
    const double reach = std::max(1.0, 2.0 * std::fabs(x.a));
    double next = sums.curvature > 0.0 ? x.a - sums.slope / sums.curvature : NAN;
    const bool newton = next > std::max(low, x.a - reach) && next < std::min(high, x.a + reach);
    if (std::isinf(low) && !(next >= x.a - reach)) next = x.a - reach;
    if (std::isinf(high) && !(next <= x.a + reach)) next = x.a + reach;
    if (!(next > low && next < high)) next = 0.5 * (low + high);
    if (next == x.a || next == low || next == high) return;
    x.a = next;
    if (newton && uneven * uneven < 0.01 * at.evenness) return;  // the step squares it
  }
}

// Evens out the last rounding between the classes, so that e sums to zero. Sets e, balance and heavy.
inline void even_out(const LossSums& sums, const Samples& samples, Iterate& x) {
  const double positive = 0.5 * (sums.mass - sums.slope), negative = 0.5 * (sums.mass + sums.slope);
  if (positive == negative) return;
  x.heavy = positive > negative ? 1.0 : -1.0;
  x.balance = std::min(positive, negative) / std::max(positive, negative);
  loops().scale_class(samples.y, x.heavy, x.balance, x.e.data(), samples.n);
}

}  // namespace detail

// Fits the intercept to the scores and evaluates the loss there. Sets a, e, h, loss, balance, heavy and point.
template <class StageT>
void settle(const StageT& at, Iterate& x) {
  ++x.point;
  x.balance = 1.0;
  x.heavy = 0.0;
  const bool intercept = at.problem.settings.intercept;
  if (intercept) detail::centre(at, x);
  const LossSums sums = evaluate(at.loss, at.problem.samples, x.score.data(), x.a, x.e.data(), x.h.data());
  if (intercept) detail::even_out(sums, at.problem.samples, x);
  x.loss = sums.value;
}

// Computes the scores anew from the coefficients, of which those on the support are not zero. Sets score and form.
template <class P>
void score_anew(const P& problem, const Columns& support, Iterate& x) {
  Vector values, change(problem.n, 0.0);
  for (int j : support) values.push_back(x.b[j]);
  problem.design.combine(support, values.data(), change.data());
  x.score.assign(problem.samples.offset, problem.samples.offset + problem.n);
  loops().axpy(1.0, change.data(), x.score.data(), x.score.size());
  problem.penalty.quadratic.direction(support, values, change, x.form);
}

// Sets v of some columns: their correlations with e, or with another dual point, of which it is no more than a guess.
template <class P>
void correlate(const P& problem, const Columns& columns, const Vector& dual, Iterate& x) {
  if (columns.empty()) return;
  Vector products(columns.size());
  problem.design.dots(columns, dual.data(), products.data());
  for (std::size_t c = 0; c < columns.size(); ++c) {
    x.v[columns[c]] = products[c];
    x.stamp[columns[c]] = &dual == &x.e ? x.point : -1;
  }
}

// Sets v of all columns.
template <class P>
void correlate_all(const P& problem, Iterate& x) {
  problem.design.all_dots(x.e.data(), x.v.data());
  std::fill(x.stamp.begin(), x.stamp.end(), x.point);
}

// Sets v of those of the columns that have only an old or a predicted one.
template <class P>
void freshen(const P& problem, const Columns& columns, Iterate& x) {
  Columns stale;
  for (int j : columns)
    if (x.stamp[j] != x.point) stale.push_back(j);
  correlate(problem, stale, x.e, x);
}

}  // namespace clearning
