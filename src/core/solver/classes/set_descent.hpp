// The descent that finds which coefficients are zero: sweeps over them, or, where columns are so alike that sweeps
// crawl, an active-set method with second-order steps on a curvature's own matrices.
#pragma once
#include "solver/classes/descent.hpp"
#include "solver/gram_descent.hpp"

namespace clearning {

// A curvature gives, beside what sweeps ask for, parts(): matrices that have no entries in common, each with its
// cells. Each part's is `factor` times what is stored.
struct GramPart {
  const double* gram;
  int stride;
  double factor;
  std::vector<std::size_t> cells;
};

// Of a group all coefficients move together, which the active-set method does not know.
template <class Pen>
class SetDescent {
 public:
  static constexpr bool believes_matrix = false;  // whether it goes as far as the matrix says, at once
  void invalidate() {}
  template <class C>
  bool run(C& model, const Pen& penalty, const Level& at, const Columns& features, double tolerance, bool, Vector& b) {
    return sweep(model, penalty, at, features, tolerance, b);
  }
};

template <>
class SetDescent<Elementwise> {
 public:
  static constexpr bool believes_matrix = true;
  // A matrix has changed.
  void invalidate() {
    for (GramDescent& solver : solvers_) solver.invalidate();
  }
  template <class C>
  bool run(C& model, const Elementwise& penalty, const Level& at, const Columns& features, double tolerance, bool alike,
           Vector& b) {
    if (!alike || !model.has_matrix()) return sweep(model, penalty, at, features, tolerance, b);
    const std::vector<GramPart> parts = model.parts();
    while (solvers_.size() < parts.size()) solvers_.emplace_back(true);
    bool moved = false;
    for (std::size_t i = 0; i < parts.size(); ++i)
      moved = solve(model, parts[i], solvers_[i], penalty, at, features, tolerance, b) || moved;
    return moved;
  }

 private:
  // Divided by the matrix's factor, the problem is one on the matrix as it is stored.
  template <class C>
  bool solve(C& model, const GramPart& part, GramDescent& solver, const Elementwise& penalty, const Level& at,
             const Columns& features, double tolerance, Vector& b) {
    const int count = static_cast<int>(part.cells.size());
    InnerProblem q;
    q.resize(count);
    for (int i = 0; i < count; ++i) {
      const std::size_t t = part.cells[i];
      const int j = features[t / penalty.m];
      const Index block = static_cast<Index>(j) * penalty.m + static_cast<Index>(t % penalty.m);
      q.b[i] = b[t];
      q.ridge[i] = at.ridge * penalty.l2_factor[j] / part.factor;
      q.g[i] = model.slope(t) / part.factor + q.ridge[i] * b[t];
      q.l1[i] = at.l1 * penalty.l1_factor[j] / part.factor;
      q.lower[i] = penalty.lower[block];
      q.upper[i] = penalty.upper[block];
      q.allowed[i] = std::max(tolerance / part.factor, tuning::tiny);
    }
    solver.solve(q, part.gram, part.stride, 1.0);
    bool moved = false;
    for (int i = 0; i < count; ++i) {
      const std::size_t t = part.cells[i];
      if (q.b[i] == b[t]) continue;
      model.record(t, q.b[i] - b[t]);
      b[t] = q.b[i];
      moved = true;
    }
    return moved;
  }

  std::vector<GramDescent> solvers_;
};

}  // namespace clearning
