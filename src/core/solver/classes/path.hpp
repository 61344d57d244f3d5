// A path of penalties for many classes, each started from the one before.
#pragma once
#include "solver/classes/loop.hpp"
#include "solver/path.hpp"

namespace clearning {

struct ClassStart {
  const double* b = nullptr;  // p m coefficients, feature by feature; none: the null model
  const double* a = nullptr;
};

// The smallest penalty at which every penalised coefficient is zero.
template <class P>
double alpha_max(const ClassSolver<P>& null) {
  const P& problem = null.problem();
  const Vector& e = null.iterate().e;
  const double ratio = std::max(problem.penalty.l1_ratio, tuning::least_l1_ratio);
  const double rounding = tuning::rounding * std::sqrt(loops().dot(e.data(), e.data(), e.size()));
  double top = 0.0;
  for (Index g = 0; g < problem.penalty.blocks(); ++g) {
    double length = 0.0;
    problem.penalty.each_coefficient(g, [&](int j, int) { length = std::max(length, problem.length[j]); });
    const double pull = problem.penalty.pull(null.correlations(), g), factor = problem.penalty.factor(g);
    if (factor > 0.0 && pull > rounding * length) top = std::max(top, pull / (ratio * factor));
  }
  return top;
}

// Coefficients of a solution are kept class by class: that of class k and column j at k p + j.
template <class P>
void record(const ClassSolver<P>& solver, double alpha, const ClassOutcome& outcome, PathResult& path) {
  const ClassIterate& x = solver.iterate();
  const P& problem = solver.problem();
  path.alphas.push_back(alpha);
  path.intercepts.insert(path.intercepts.end(), x.a.begin(), x.a.end());
  path.objectives.push_back(outcome.objective);
  path.gaps.push_back(outcome.gap);
  path.iterations.push_back(outcome.iterations);
  path.converged.push_back(outcome.converged);
  Columns features = solver.set().features();
  std::sort(features.begin(), features.end());
  for (int k = 0; k < problem.m; ++k)
    for (int j : features) {
      const double b = x.b[static_cast<std::size_t>(j) * problem.m + k];
      if (b == 0.0) continue;
      path.columns.push_back(static_cast<int>(k * problem.p + j));
      path.values.push_back(b);
    }
  path.starts.push_back(static_cast<Index>(path.values.size()));
}

// A path's solutions, one penalty after the other.
template <class P>
class ClassMethod {
 public:
  explicit ClassMethod(const P& problem) : solver_(problem) {}

  const ClassSolver<P>& solver() const { return solver_; }
  // After the null model, which is where to begin if it is better.
  void start_from(const double* b, const double* a, double alpha) {
    solver_.start_from(b, a, alpha, solver_.iterate().loss);
  }
  // A cold loss has kinks, which hold steps up: a solution far from the last one is reached from warmer ones, and one
  // that was not reached otherwise.
  ClassOutcome solve_at(double alpha, double previous_alpha) {
    const P& problem = solver_.problem();
    const bool has_kinks = problem.loss.rho < tuning::cold_classes * std::max(1.0, problem.loss.u);
    const bool is_far = previous_alpha > tuning::far_from_cold * alpha;
    int steps = 0;
    if (has_kinks && is_far) cool_down(alpha, steps);
    ClassOutcome found = solver_.solve_at(alpha, previous_alpha);
    found.iterations += steps;
    if (found.converged) cooled_in_vain_ = false;
    if (found.converged || !has_kinks || is_far || found.iterations >= problem.settings.max_iter) return found;
    return cooled_in_vain_ ? found : solve_from_warmer(alpha, found);
  }

  double fit_null() {
    const bool is_cold = solver_.problem().loss.rho < tuning::cold_classes;
    if (is_cold) warm_up();
    const double objective = solver_.fit_null();
    if (is_cold || solver_.is_even()) return objective;
    warm_up();
    return solver_.fit_null();
  }

 private:
  // At a low temperature the null model's loss has kinks and little else: it is reached from warmer ones. Sets where
  // the solver stands.
  void warm_up() {
    come_from_warmer(solver_.problem().settings.tol, [](ClassSolver<P>& at, const Vector& b, const Vector& a) {
      if (!a.empty()) at.start_from(b.data(), a.data(), 0.0);
      at.fit_null();
      return true;
    });
  }
  // What was found is kept where this proves no more.
  ClassOutcome solve_from_warmer(double alpha, const ClassOutcome& found) {
    const Vector b = solver_.iterate().b, a = solver_.iterate().a;
    int steps = found.iterations;
    ClassOutcome cooled = cool_down(alpha, steps) ? solver_.solve_at(alpha, alpha) : found;
    cooled_in_vain_ = !cooled.converged;
    if (!(cooled.gap < found.gap)) {
      solver_.start_from(b.data(), a.data(), alpha);
      return found;
    }
    cooled.iterations += steps;
    return cooled;
  }
  // Lets the solver stand where warmer solutions lead; returns whether they lead anywhere. Adds to their steps.
  bool cool_down(double alpha, int& steps) {
    return come_from_warmer(tuning::tolerance_of_cooling, [&](ClassSolver<P>& at, const Vector& b, const Vector& a) {
      at.fit_null();
      if (!a.empty()) at.start_from(b.data(), a.data(), alpha);
      const ClassOutcome warmer = at.solve_at(alpha, alpha);
      steps += warmer.iterations;
      return warmer.converged;
    });
  }
  // Goes from problem to problem, each colder than the last, and lets the solver stand where they end; returns whether
  // all of them were as they should be.
  template <class Go>
  bool come_from_warmer(double tol, Go&& go) {
    const P& problem = solver_.problem();
    Settings settings = problem.settings;
    settings.tol = std::max(settings.tol, tol);
    Vector b, a;
    const double warm_enough = tuning::warm_classes * std::max(1.0, problem.loss.u);
    const double first = std::max(warm_enough, problem.loss.rho / tuning::cooling_of_classes);
    for (double rho = first; rho > problem.loss.rho; rho *= tuning::cooling_of_classes) {
      const P warm(problem.design, {rho, problem.loss.u, problem.loss.kappa}, problem.samples, problem.penalty,
                   settings, problem.form);
      ClassSolver<P> at(warm);
      if (!go(at, b, a)) return false;
      b = at.iterate().b;
      a = at.iterate().a;
    }
    solver_.start_from(b.data(), a.data(), 0.0);
    return true;
  }

  ClassSolver<P> solver_;
  bool cooled_in_vain_ = false;  // the last penalty that was not reached otherwise was not by way of warmer ones either
};

template <class P>
PathResult solve_class_path(const P& problem, const Grid& grid, const ClassStart& start) {
  return follow(ClassMethod<P>(problem), grid, start);
}

}  // namespace clearning
