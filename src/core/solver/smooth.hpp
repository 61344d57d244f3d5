// The course of a smooth loss: the loss that is minimised is the one that counts.
#pragma once
#include "solver/proof.hpp"

namespace clearning {

template <class P>
class SmoothCourse {
 public:
  // A start that was given is looked at before it is left. Our own is not: one step makes far more of it than its gap
  // may ask for. Steps are counted from `first` and end at `last`.
  SmoothCourse(Solver<P>& solver, bool was_given, int first, int last)
      : solver_(solver), was_given_(was_given), first_(first), last_(last) {}

  double loss() const { return solver_.iterate().loss; }
  double samples_share(double scale, const Vector& dual) const {
    return Certificate<P>::samples_share(solver_.stage(), solver_.iterate(), scale, dual);
  }
  double look(const Outcome& out) const {
    if (out.iterations == first_ && !was_given_) return INFINITY;
    return solver_.gap(*this, solver_.stage().goal);
  }
  Verdict before_step(const Outcome& out) const { return out.iterations < last_ ? Verdict::go_on : Verdict::stop; }
  double tighten() const { return tighten_; }
  Verdict not_enough(const Outcome&, double worst) {
    if (tighten_ < tuning::tightest) return Verdict::stop;
    if (worst <= 1.0) tighten_ *= 0.1;
    return Verdict::go_on;
  }
  double least_gap(const Outcome& out) const { return out.gap; }
  static constexpr bool is_modelled = true;
  bool after_failure() const { return false; }

 private:
  Solver<P>& solver_;
  bool was_given_;
  int first_, last_;
  double tighten_ = 1.0;
};

// A path's solutions, one penalty after the other.
template <class P>
class SmoothSolver {
 public:
  explicit SmoothSolver(const P& problem)
      : solver_(problem, {problem, problem.loss, 1.0, 0.0, 0.0,
                          problem.n > tuning::many_samples ? tuning::even_enough_for_many : tuning::even_enough,
                          problem.design.first_columns()}) {}

  const Solver<P>& solver() const { return solver_; }
  void start_from(const double* b, double a, double alpha) { solver_.start_from(b, a, alpha); }

  // Fits the model without penalised coefficients; returns its objective, the scale of every tolerance.
  double fit_null() {
    solver_.settle_null();
    SmoothCourse<P> course(solver_, false, 0, solver_.steps_of_null());
    double null_objective = course.loss();
    if (!solver_.problem().free.empty()) {
      const double floor = tuning::separable_null * null_objective;
      solver_.set_claim(tuning::null_accuracy * null_objective);
      warm_up(course);
      const Outcome out = solver_.fit_free(course);
      null_objective = unit_of_tolerance(solver_, course.loss(), out, floor);
    }
    solver_.correlate_null();
    solver_.set_claim(solver_.problem().settings.tol * null_objective);
    return null_objective;
  }

  Outcome solve_at(double alpha, double previous_alpha) {
    const Outcome out = reach(alpha, previous_alpha, 0);
    return prove(solver_, solver_.iterate().loss, out);
  }

 private:
  // At a low temperature columns of samples away from the margin have no curvature, and would never move: they are
  // fitted at higher ones before.
  void warm_up(SmoothCourse<P>& course) {
    const Loss& loss = solver_.problem().loss;
    const double cold = std::visit([](const auto& phi) { return temperature_of(phi); }, loss);
    if (!(tuning::first_temperature > cold)) return;
    for (double warm = tuning::first_temperature; warm > cold; warm *= tuning::cooling_of_free) {
      solver_.change_loss(std::visit([&](const auto& phi) { return Loss(warmed(phi, warm)); }, loss));
      solver_.fit_free(course);
    }
    solver_.change_loss(loss);
  }

  // A penalty that is far from the last one, and does not give in soon, is reached by way of those between; unless
  // rounding alone is more than may be claimed, which no way leads around.
  Outcome reach(double alpha, double previous_alpha, int steps) {
    const int most = solver_.problem().settings.max_iter;
    const bool near = Screening<P>::is_near(alpha, previous_alpha);
    const int last = near ? most : std::min(most, steps + tuning::steps_from_afar);
    const Outcome out = run_at(alpha, previous_alpha, steps, last);
    if (out.converged || out.iterations < last || last == most) return out;
    if (solver_.rounding(out.objective) > solver_.stage().claim) return out;
    const double between = std::sqrt(alpha) * std::sqrt(previous_alpha);
    const Outcome way = reach(between, previous_alpha, out.iterations);
    if (way.converged || way.gap <= tuning::far_from_proved * solver_.stage().goal)
      return reach(alpha, between, way.iterations);
    return run_at(alpha, between, way.iterations, std::min(most, way.iterations + tuning::steps_from_afar));
  }

  Outcome run_at(double alpha, double previous_alpha, int first, int last) {
    SmoothCourse<P> course(solver_, solver_.was_given(), first, last);
    Outcome out;
    out.iterations = first;
    solver_.set_alpha(alpha);
    solver_.choose_columns(previous_alpha);
    solver_.extrapolate(std::log(alpha));
    run_beyond_rounding(solver_, course, out);
    solver_.remember(std::log(alpha));
    return out;
  }

  Solver<P> solver_;
};

}  // namespace clearning
