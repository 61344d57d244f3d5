// Coordinate descent on a model of the loss: finds which coefficients are zero.
// A curvature has, for the cells of a set (feature by feature, m classes each): has, slope, bend, bend_within a group,
// and move, which carries the slopes along.
#pragma once
#include "solver/classes/problem.hpp"

namespace clearning {

// Calls turn(all), which returns the largest movement, for all or only for non-zero coefficients, until nothing moves.
template <class Turn>
void sweep_until(double tolerance, Turn&& turn) {
  bool all = true;
  for (int sweep = 0; sweep < tuning::class_sweeps; ++sweep) {
    const double worst = turn(all);
    if (worst > tolerance) all = sweep % tuning::sweeps_per_full_sweep == tuning::sweeps_per_full_sweep - 1;
    else if (all) return;
    else all = true;
  }
}

// Minimises the model with the penalty from b, which it changes; returns whether anything moved.
template <class C>
bool sweep(C& model, const Elementwise& penalty, const Level& at, const Columns& features, double tolerance,
           Vector& b) {
  const int m = penalty.m;
  bool moved = false;
  sweep_until(tolerance, [&](bool all) {
    double worst = 0.0;
    for (std::size_t t = 0; t < b.size(); ++t) {
      if ((b[t] == 0.0 && !all) || !model.has(t)) continue;
      const int j = features[t / m];
      const double ridge = at.ridge * penalty.l2_factor[j], bend = model.bend(t) + ridge;
      if (!(bend > 0.0)) continue;
      const Index block = static_cast<Index>(j) * m + static_cast<Index>(t % m);
      const double next = coordinate_minimiser(b[t], model.slope(t) + ridge * b[t], bend, at.l1 * penalty.l1_factor[j],
                                               penalty.lower[block], penalty.upper[block]);
      if (next == b[t]) continue;
      model.move(t, next - b[t]);
      worst = std::max(worst, std::fabs(next - b[t]) * bend);
      b[t] = next;
      moved = true;
    }
    return worst;
  });
  return moved;
}

// The minimiser over x of sum d (x - y / d)^2 / 2 + l1 ||x||, in place of y.
inline void shrink_group(Vector& y, const Vector& d, double l1) {
  const double norm = std::sqrt(loops().dot(y.data(), y.data(), y.size()));
  if (norm <= l1) {
    std::fill(y.begin(), y.end(), 0.0);
    return;
  }
  // The norm t of the minimiser solves sum (y / (d t + l1))^2 = 1.
  const auto [least, most] = std::minmax_element(d.begin(), d.end());
  double low = (norm - l1) / *most, high = (norm - l1) / std::max(*least, tuning::tiny), t = low;
  for (int step = 0; step < 100 && high - low > 1e-15 * high; ++step) {
    double sum = 0.0, slope = 0.0;
    for (std::size_t i = 0; i < y.size(); ++i) {
      const double below = d[i] * t + l1, ratio = y[i] / below;
      sum += ratio * ratio;
      slope -= ratio * ratio * d[i] / below;
    }
    (sum > 1.0 ? low : high) = t;
    // Newton on one over the root of the sum, which is nearly linear in t.
    const double next = t - (std::sqrt(sum) - 1.0) * sum / slope;
    if (std::fabs(next - t) <= 1e-15 * t) break;
    t = next > low && next < high ? next : 0.5 * (low + high);
  }
  for (std::size_t i = 0; i < y.size(); ++i) y[i] *= t / (d[i] * t + l1);
}

// The same over groups of features in all classes; the set holds whole groups.
template <class C>
bool sweep(C& model, const Grouped& penalty, const Level& at, const Columns& features, double tolerance, Vector& b) {
  const int m = penalty.m;
  struct Group {
    double l1, ridge;
    std::vector<std::size_t> cells;
    Vector bends;
  };
  std::vector<Group> groups;
  penalty.each_group(features, [&](int g, std::size_t first, std::size_t last) {
    Group group{at.l1 * penalty.l1_factor[g], at.ridge * penalty.l2_factor[g], {}, {}};
    Columns members;
    for (std::size_t c = first / m; c < last / m; ++c) members.push_back(static_cast<int>(c));
    for (std::size_t t = first; t < last; ++t) {
      group.cells.push_back(t);
      group.bends.push_back(model.bend_within(t, members) + group.ridge);
    }
    if (*std::max_element(group.bends.begin(), group.bends.end()) > 0.0) groups.push_back(std::move(group));
  });
  bool moved = false;
  Vector y;
  sweep_until(tolerance, [&](bool all) {
    double worst = 0.0;
    for (const Group& group : groups) {
      const auto is_zero = [&](std::size_t t) { return b[t] == 0.0; };
      if (!all && std::all_of(group.cells.begin(), group.cells.end(), is_zero)) continue;
      y.resize(group.cells.size());
      for (std::size_t i = 0; i < y.size(); ++i)
        y[i] = (group.bends[i] - group.ridge) * b[group.cells[i]] - model.slope(group.cells[i]);
      shrink_group(y, group.bends, group.l1);
      for (std::size_t i = 0; i < y.size(); ++i) {
        double& x = b[group.cells[i]];
        if (y[i] == x) continue;
        model.move(group.cells[i], y[i] - x);
        worst = std::max(worst, std::fabs(y[i] - x) * group.bends[i]);
        x = y[i];
        moved = true;
      }
    }
    return worst;
  });
  return moved;
}

}  // namespace clearning
