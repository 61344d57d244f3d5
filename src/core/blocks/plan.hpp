// What one pass over the rows is to compute, and the sums that it gives: a block's sums are a pure function of the
// block and the plan, and those of all rows are the blocks' own, added up.
#pragma once
#include "blocks/loops.hpp"
#include "linalg/types.hpp"
#include "problem/losses.hpp"
#include "problem/multi_coherence.hpp"

namespace clearning::blocks {

// A task is one penalty on one part of the rows: on all of them (part -1), or on all but those of one fold. Tasks are
// ordered by their part. Two classes have one score a task, more of them a score a class: the plan's width. Columns are
// ordered so that the working set comes first; `coef` has a row for each of its columns and a column for each score.
struct Plan {
  std::variant<MultiCoherence, Loss> loss;  // of more than two classes, or of two
  Vector class_factors;                     // what the weights of the classes are multiplied by
  Columns order;                            // every column, those of the working set first
  int working = 0;
  Vector centre;  // what is taken off each column, in that order; empty for none
  int folds = 1;
  Columns part;
  int parted = 0;  // so many tasks from the first, on all rows, have their sums kept apart for each fold
  Vector coef, intercept;
  Vector shrink;  // a task: how far dual weights may be scaled down at once; 0 where nobody asks
  // Lines: the loss on the way from another point to a task's own, at some fractions of it.
  Columns line_task;
  Vector line_coef, line_intercept, fractions;
  // Knots: tasks whose curvature is wanted, lifted by a share of the majoriser; apart for each fold, or summed.
  Columns knot_task;
  Vector knot_lift;
  bool apart = true;
  int thin = 1;    // one row in so many, drawn by its number, stands for the curvature of all
  Columns free;    // places in the working set of the columns without a penalty
  Columns tested;  // tasks to be judged by the rows of the fold that they leave out

  int columns() const { return static_cast<int>(order.size()); }
  int tasks() const { return static_cast<int>(part.size()); }
  int lines() const { return static_cast<int>(line_task.size()); }
  int knots() const { return static_cast<int>(knot_task.size()); }
  int cells() const { return apart ? folds : 1; }
  int border() const { return static_cast<int>(free.size()) + 1; }
  int classes() const { return static_cast<int>(class_factors.size()); }
  int width() const { return classes() > 2 ? classes() : 1; }
  int pairs() const { return width() * (width() + 1) / 2; }  // of scores, whose second derivatives make a knot
  bool trains(int task, int fold) const { return part[task] != fold; }
  // Sums have a slot a task, those that are kept apart one in each fold: these come first, fold by fold.
  int slots() const { return slot(tasks(), 0); }
  int slot(int task, int fold) const { return task < parted ? fold * parted + task : (folds - 1) * parted + task; }
};

// Sums over rows of weight times ...; r are the loss's derivatives in the scores. With one score s = |r| by weight;
// with more, s are the dual weights, and h those of a pair of scores: s_k (1 - s_k) and, for two of them, s_k s_l,
// which is minus the second derivative.
struct Sums {
  Vector value;     // a slot: the loss
  Vector gradient;  // columns x slots x width: X'r
  Vector slope;     // slots x width: r
  Vector energy;    // slots x width: the square of r by weight, or a bound on it
  Vector shrunk;    // a slot: Fenchel-Young gap of the samples with dual weights (1 - shrink) s, or a bound on it
  Vector border;    // slots x width x width x border x border: Z'diag(s)Z, Z the ones and the columns without a
                    // penalty; with more than one score, of the rows of one class and the weight of another
  Vector line;      // lines x fractions: the loss
  Vector gram;      // knots x cells x pairs x working x working: X'HX, the lower triangle by rows
  Vector curved;    // knots x cells x pairs x working: X'h
  Vector total;     // knots x cells x pairs: h
  Vector test;      // tasks x 3, of the rows that were left out: log-likelihood, hits and weight

  explicit Sums(const Plan& plan)
      : value(plan.slots()), gradient(product(plan.columns(), plan.slots(), plan.width())),
        slope(product(plan.slots(), plan.width())), energy(slope.size()), shrunk(plan.slots()),
        border(product(plan.slots(), plan.border(), plan.border()) * plan.width() * plan.width()),
        line(product(plan.lines(), static_cast<int>(plan.fractions.size()))),
        gram(matrices(plan) * plan.working * plan.working), curved(matrices(plan) * plan.working),
        total(matrices(plan)), test(product(plan.tasks(), 3)) {}

  // The border of the rows of one class and the weight of another.
  double* border_of(const Plan& plan, int slot, int own, int other) {
    const std::size_t size = product(plan.border(), plan.border());
    return border.data() + ((static_cast<std::size_t>(slot) * plan.width() + own) * plan.width() + other) * size;
  }
  void judged(int task, const JudgeSums& found, double weight) {
    double* out = test.data() + 3 * static_cast<std::size_t>(task);
    out[0] += found.likelihood;
    out[1] += found.hits;
    out[2] += weight;
  }

 private:
  static std::size_t product(int a, int b, int c = 1) { return static_cast<std::size_t>(a) * b * c; }
  static std::size_t matrices(const Plan& plan) { return product(plan.knots(), plan.cells(), plan.pairs()); }
};

}  // namespace clearning::blocks
