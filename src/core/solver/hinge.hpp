// The hinge's problem, around the smooth solver. It is the limit of coherence functions, so the temperature is lowered
// until the hinge's own gap is small; or it is solved on its dual, where that pays.
#pragma once
#include "solver/hinge_ascent.hpp"
#include "solver/hinge_intercept.hpp"
#include "solver/proof.hpp"

namespace clearning {

template <class P>
class CoolingCourse {
 public:
  CoolingCourse(Solver<P>& solver, double null_objective) : solver_(solver), null_objective_(null_objective) {}

  double loss() const {
    const Samples& samples = solver_.problem().samples;
    const Iterate& x = solver_.iterate();
    double sum = 0.0;
    for (std::size_t i = 0; i < samples.n; ++i)
      sum += samples.weight[i] * std::max(0.0, 1.0 - samples.y[i] * (x.score[i] + x.a));
    return sum;
  }
  double samples_share(double scale, const Vector& dual) const {
    const Samples& samples = solver_.problem().samples;
    const Iterate& x = solver_.iterate();
    double sum = 0.0;
    for (std::size_t i = 0; i < samples.n; ++i) {
      const double short_of = 1.0 - samples.y[i] * (x.score[i] + x.a);
      sum += samples.weight[i] * std::max(0.0, short_of) + scale * dual[i] * samples.y[i] * short_of;
    }
    return sum;
  }
  double look(const Outcome&) const { return solver_.gap(*this); }

  // Warm, the temperature alone keeps the gap open: cool as soon as a step gains little beside that.
  Verdict before_step(const Outcome& out) {
    const double goal = solver_.stage().goal;
    if (out.iterations > 0) {
      const double warmth = this->warmth();
      if (warmth > 0.5 * goal && solver_.gain() < tuning::gain_beside_warmth * warmth && out.gap > goal) {
        solver_.admit();
        return cool() ? Verdict::again : Verdict::stop;
      }
    }
    tighten_ = share_ * std::min(out.gap, null_objective_) / goal;
    return Verdict::go_on;
  }
  double tighten() const { return tighten_; }

  // What keeps the gap open: the temperature, or a solution that is not exact enough at it?
  Verdict not_enough(const Outcome& out, double worst) {
    if (tighten_ < tuning::tightest) return Verdict::stop;
    if (worst > 1.0) return Verdict::go_on;
    if (warmth() < 0.5 * out.gap && share_ > tuning::smallest_share) share_ *= 0.1;
    else if (!cool()) return Verdict::stop;
    return Verdict::again;
  }
  // That may be claimed in the end: the hinge's own intercept may close what the temperature keeps open.
  double least_gap(const Outcome&) const { return 0.0; }
  static constexpr bool is_modelled = false;  // a warm model's dual point says little of the hinge
  bool after_failure() { return cool(); }

  void warm_up() {
    if (solver_.working_set().size() == 0) warm_up_to(tuning::first_temperature);
    else warm_up_to(std::min(tuning::first_temperature, tuning::rewarming * temperature()));
  }
  void warm_up_to(double temperature) {
    solver_.forget_path();
    solver_.change_loss(Hinge::warmed(temperature));
  }

 private:
  double temperature() const { return std::get<Coherence>(solver_.stage().loss).rho; }
  double warmth() const { return samples_share(1.0, solver_.dual()); }

  bool cool() {
    if (temperature() <= tuning::last_temperature) return false;
    solver_.remember(temperature());
    solver_.change_loss(Hinge::warmed(temperature() * tuning::cooling));
    solver_.extrapolate(temperature());
    return true;
  }

  Solver<P>& solver_;
  double null_objective_;
  double share_ = tuning::first_share;  // of the gap that a step may leave
  double tighten_ = 1.0;
};

template <class P>
class HingeSolver {
 public:
  explicit HingeSolver(const P& problem)
      : solver_(problem, {problem, Hinge::warmed(tuning::null_temperature), 1.0, 0.0, 0.0,
                          tuning::even_for_hinge * problem.settings.tol, tuning::first_columns}),
        ascent_(problem) {}

  const Solver<P>& solver() const { return solver_; }
  void start_from(const double* b, double a, double alpha) { solver_.start_from(b, a, alpha); }

  double fit_null() {
    const double tol = solver_.problem().settings.tol;
    solver_.settle_null();
    centre();
    null_objective_ = course().loss();
    if (!solver_.problem().free.empty()) {
      solver_.set_claim(tuning::null_accuracy * null_objective_);
      const double floor = tuning::separable_null * null_objective_;
      CoolingCourse<P> cooling = course();
      cooling.warm_up();
      const Outcome out = solver_.fit_free(cooling);
      centre();
      null_objective_ = unit_of_tolerance(solver_, cooling.loss(), out, floor);
    }
    solver_.set_claim(tol * null_objective_);
    solver_.correlate_null();
    return null_objective_;
  }

  Outcome solve_at(double alpha, double previous_alpha) {
    CoolingCourse<P> cooling = course();
    Outcome out;
    solver_.set_alpha(alpha);
    const P& problem = solver_.problem();
    const bool ascends =
        problem.is_smooth && problem.free.empty() && ascent_.pays(solver_.model(), solver_.working_set());
    if (ascends) {
      ascent_.solve(solver_.stage(), solver_.model(), out.iterations, problem.settings.check_interrupt);
      // Where a penalty's scale leaves the range of a double, ascent finds nothing.
      if (std::isfinite(ascent_.gap())) adopt(out);
      if (out.converged) return prove(solver_, cooling.loss(), out);
    }
    const bool begins_cold = solver_.working_set().size() > 0;
    cooling.warm_up();
    solver_.choose_columns(previous_alpha);
    run_beyond_rounding(solver_, cooling, out);
    // A start may be too far for a low temperature.
    if (begins_cold && !out.converged && out.iterations < problem.settings.max_iter) {
      cooling.warm_up_to(tuning::first_temperature);
      run_beyond_rounding(solver_, cooling, out);
    }
    if (ascends && !out.converged && ascent_.gap() < out.gap) adopt(out);
    else centre();
    return prove(solver_, cooling.loss(), out);
  }

 private:
  CoolingCourse<P> course() { return {solver_, null_objective_}; }

  // The hinge's own intercept, where that of the coherence function that stands in for it is near. Sets a.
  void centre() {
    if (!solver_.problem().settings.intercept) return;
    Iterate& x = solver_.iterate();
    x.a = hinge_intercept(solver_.problem().samples, [&](int i) { return x.score[i]; });
  }

  // The iterate that belongs to the dual's weights.
  void adopt(Outcome& out) {
    solver_.working_set().add(every_index(solver_.problem().p));
    ascent_.write_to(solver_.stage(), solver_.iterate());
    out.gap = ascent_.gap();
    out.objective = solver_.objective(course());
    out.converged = out.gap <= solver_.stage().goal;
  }

  Solver<P> solver_;
  HingeAscent<P> ascent_;
  double null_objective_ = 0.0;
};

}  // namespace clearning
