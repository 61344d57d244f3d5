// A path of penalties, each started from the one before.
#pragma once
#include "solver/hinge.hpp"
#include "solver/smooth.hpp"

namespace clearning {

// Coefficients are kept as the non-zeros of each solution, row after row.
struct PathResult {
  Vector alphas, intercepts, objectives, gaps, values;
  std::vector<int> iterations, columns;
  std::vector<Index> starts{0};
  std::vector<char> converged;
  double null_objective = 0.0;
};

struct Grid {
  Vector alphas;    // given penalties, descending; or empty:
  int count = 100;  // that many, log-spaced from the largest useful one
  double min_ratio = 1e-2;
};

struct Start {
  const double* b = nullptr;  // none: the null model
  double a = 0.0;
};

inline Vector log_grid(double top, int count, double min_ratio) {
  Vector alphas(count);
  for (int k = 0; k < count; ++k) alphas[k] = top * std::pow(min_ratio, count > 1 ? k / (count - 1.0) : 0.0);
  return alphas;
}

// The smallest penalty at which every penalised coefficient is zero.
template <class P>
double alpha_max(const Solver<P>& null) {
  const auto& penalty = null.problem().penalty;
  const Iterate& x = null.iterate();
  const double ratio = std::max(penalty.l1_ratio, tuning::least_l1_ratio);
  const double rounding = tuning::rounding * std::sqrt(loops().dot(x.e.data(), x.e.data(), x.e.size()));
  double top = 0.0;
  for (Index j = 0; j < null.problem().p; ++j) {
    const double v = x.v[j], factor = penalty.l1_factor[j];
    if (factor == 0.0 || std::fabs(v) <= rounding * null.screening().length(j)) continue;
    const double pull = v < 0.0 ? (penalty.upper[j] > 0.0 ? -v : 0.0) : (penalty.lower[j] < 0.0 ? v : 0.0);
    top = std::max(top, pull / (ratio * factor));
  }
  return top;
}

template <class P>
void record(const Solver<P>& solver, double alpha, const Outcome& outcome, PathResult& path) {
  path.alphas.push_back(alpha);
  path.intercepts.push_back(solver.iterate().a);
  path.objectives.push_back(outcome.objective);
  path.gaps.push_back(outcome.gap);
  path.iterations.push_back(outcome.iterations);
  path.converged.push_back(outcome.converged);
  for (int j : solver.working_set().support(solver.iterate().b)) {
    path.columns.push_back(j);
    path.values.push_back(solver.iterate().b[j]);
  }
  path.starts.push_back(static_cast<Index>(path.values.size()));
}

// A method has a solver, of which alpha_max and record know, fits the null model, and solves at one penalty after
// another.
template <class Method, class From>
PathResult follow(Method&& method, const Grid& grid, const From& start) {
  PathResult path;
  path.null_objective = method.fit_null();
  const double top = alpha_max(method.solver());
  // Rounding must not let a coefficient in at the top of the grid; without any pull, any grid will do.
  const double first = top > 0.0 ? top * (1.0 + tuning::above_the_top) : 1.0;
  const Vector alphas = grid.alphas.empty() ? log_grid(first, grid.count, grid.min_ratio) : grid.alphas;
  double previous = std::max(top, alphas.front());
  if (start.b != nullptr) method.start_from(start.b, start.a, alphas.front());
  for (double alpha : alphas) {
    const auto outcome = method.solve_at(alpha, previous);
    record(method.solver(), alpha, outcome, path);
    previous = alpha;
  }
  return path;
}

template <class P>
PathResult solve_path(const P& problem, const Grid& grid, const Start& start) {
  if (std::holds_alternative<Hinge>(problem.loss)) return follow(HingeSolver<P>(problem), grid, start);
  return follow(SmoothSolver<P>(problem), grid, start);
}

}  // namespace clearning
