// The one place that decides what is claimed of a fit: a finite objective at the coefficients that are returned, the
// value of a feasible dual point below it, and what rounding may have added to either.
#pragma once
#include "solver/loop.hpp"

namespace clearning {

// Whether the scores are to be computed anew before anything is claimed of them.
template <class P>
bool has_drifted(const Solver<P>& solver, double objective) {
  return solver.iterate().drift > 0.0 && solver.rounding(objective) > tuning::drift_share * solver.stage().goal;
}

namespace detail {

// Runs a course; once more from scores computed anew, where what rounding has made of them could matter, and once more
// to a smaller gap, where what rounding adds to it would be too much for the claim.
template <class P, class Course>
void run_with_care(Solver<P>& solver, Course& course, Outcome& out) {
  solver.run(course, out);
  if (has_drifted(solver, out.objective)) {
    solver.recompute();
    solver.run(course, out);
  }
  const double claim = solver.stage().claim, lost = solver.rounding(out.objective);
  if (!out.converged || out.gap + lost <= claim || !(tuning::room_for_rounding * lost < claim)) return;
  solver.set_goal(claim - tuning::room_for_rounding * lost);
  solver.run(course, out);
  solver.set_claim(claim);
}

}  // namespace detail

// Runs a course, and leaves scores behind that are those of the coefficients: up to what the claim may bear, and up to
// a small share of the gap where they have come from so far that digits are lost.
template <class P, class Course>
void run_beyond_rounding(Solver<P>& solver, Course& course, Outcome& out) {
  detail::run_with_care(solver, course, out);
  const Rounding lost = solver.rounding_parts(out.objective);
  const bool is_seen = lost.comes_from_afar() && lost.total() > tuning::drift_share * course.least_gap(out);
  if (!is_seen && !has_drifted(solver, out.objective)) return;
  const double dual = out.objective - out.gap - lost.total();
  solver.recompute();
  out.objective = solver.objective(course);
  out.gap = out.objective - dual;
  out.converged = out.gap <= solver.stage().goal;
}

// What is claimed of the solver's iterate, at which the loss that is reported is `loss`. `out` holds an objective and a
// gap as the iteration knew them.
template <class P>
Outcome prove(const Solver<P>& solver, double loss, const Outcome& out) {
  const Stage<P>& at = solver.stage();
  const double dual = out.objective - out.gap;
  Outcome proved = out;
  const double objective = loss + at.penalty(solver.iterate(), solver.working_set().columns());
  proved.objective = std::max(objective, 0.0);
  const double rounding = solver.rounding(proved.objective);
  proved.gap = std::max(proved.objective - dual, 0.0) + rounding;
  // A dual value above the objective is none.
  if (dual - proved.objective > rounding + tuning::contradiction * proved.objective) proved.gap = INFINITY;
  // Losses and penalties are not negative: dual weights of zero are feasible, with a value of zero.
  proved.gap = std::min(proved.gap, proved.objective);
  // And a form that rounding has made negative says nothing.
  if (!std::isfinite(proved.objective) || !(proved.gap >= 0.0) || objective < 0.0) proved.gap = INFINITY;
  proved.converged = std::isfinite(proved.gap) && proved.gap <= at.claim;
  return proved;
}

// The unit of every tolerance: the null model's objective or, where the best null model was not found, what is proved
// of it; at least `floor`.
template <class P>
double unit_of_tolerance(const Solver<P>& solver, double loss, const Outcome& out, double floor) {
  const Outcome null = prove(solver, loss, out);
  return std::max(floor, null.converged ? null.objective : null.objective - null.gap);
}

}  // namespace clearning
