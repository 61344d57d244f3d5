// A path of penalties, each started from the one before.
#pragma once
#include "newton.hpp"

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
  Vector alphas;          // given penalties, descending; or empty:
  int count = 100;        // that many, log-spaced from the largest useful one
  double min_ratio = 1e-2;
};

inline Vector log_grid(double top, int count, double min_ratio) {
  Vector alphas(count);
  for (int k = 0; k < count; ++k) alphas[k] = top * std::pow(min_ratio, count > 1 ? k / (count - 1.0) : 0.0);
  return alphas;
}

template <class Solver>
void record(PathResult& path, double alpha, const Solver& solver, const Outcome& outcome) {
  path.alphas.push_back(alpha);
  path.intercepts.push_back(solver.intercept());
  path.objectives.push_back(outcome.objective);
  path.gaps.push_back(outcome.gap);
  path.iterations.push_back(outcome.iterations);
  path.converged.push_back(outcome.converged);
  for (int j : solver.support()) {
    path.columns.push_back(j);
    path.values.push_back(solver.coefficient(j));
  }
  path.starts.push_back(static_cast<Index>(path.values.size()));
}

template <class Design>
PathResult solve_path(const Design& x, const Loss& loss, const Samples& samples, const double* offset,
                      const Penalty& penalty, const Settings& settings, const Grid& grid, const double* start,
                      double start_intercept) {
  Solver<Design> solver(x, loss, samples, offset, penalty, settings);
  solver.fit_null();
  PathResult path;
  path.null_objective = solver.null_objective();
  const double top = solver.alpha_max();
  // Rounding must not let a coefficient in at the top of the grid; without any pull, any grid will do.
  const double first = top > 0.0 ? top * (1.0 + 1e-12) : 1.0;
  const Vector alphas = grid.alphas.empty() ? log_grid(first, grid.count, grid.min_ratio) : grid.alphas;
  double previous = std::max(top, alphas.front());
  if (start) solver.start_from(start, start_intercept);
  for (double alpha : alphas) {
    const Outcome outcome = solver.solve_at(alpha, previous);
    record(path, alpha, solver, outcome);
    previous = alpha;
  }
  return path;
}

}  // namespace clearning
