// The quadratic part of a penalty, level * b'Qb / 2: a diagonal Q, or the matrix of a kernel.
// What an iterate carries for it is `form` = Qb; a diagonal needs none.
#pragma once
#include <algorithm>
#include <cmath>

#include "linalg/types.hpp"
#include "linalg/vector_loops.hpp"

namespace clearning {

struct Diagonal {
  static constexpr bool needs_gram = false;  // whether it has second derivatives in two coefficients
  Vector factor;

  double ridge(Index j, double level) const { return level * factor[j]; }
  double gradient(const Vector& b, const Vector&, Index j, double level) const { return ridge(j, level) * b[j]; }
  double term(const Vector& b, const Vector&, Index j, double level) const {
    return 0.5 * ridge(j, level) * b[j] * b[j];
  }
  // What the term gains when b_j moves by t d.
  double change(const Vector& b, const Vector&, const Vector&, Index j, double d, double t, double level) const {
    return ridge(j, level) * (t * d * b[j] + 0.5 * t * t * d * d);
  }
  // The gradients of coefficients that are zero, given the loss's own; `room` is for those that have to be computed.
  const double* gradients_at_zero(const Vector& of_loss, const Vector&, double, Vector&) const {
    return of_loss.data();
  }
  double gradient_at_zero(const Vector&, Index, double) const { return 0.0; }
  void start(Index, Vector& form) const { form.clear(); }
  // How large sums are that cancel in e'Qb + level b'Qb / 2; `pull` is the sum of |e|.
  double cancelling(const Vector&, double, double) const { return 0.0; }
  void direction(const Columns&, const Vector&, const Vector&, Vector& out) const { out.clear(); }
  // Its curvature in one coefficient, where that is kept apart from the model's matrix.
  double apart(Index j, double level) const { return ridge(j, level); }
  void add_to_gram(const Columns&, int, double, double, double*, int) const {}
  // How far the gradients of `count` coefficients may be off before that costs more than a gap of `goal`.
  double forgiven(Index j, double level, double, double goal, int count) const {
    return std::sqrt(2.0 * ridge(j, level) * goal / count);
  }
};

// b'Kb / 2. Where the coefficients belong to the samples themselves, K is the design too, and Kb are the scores.
template <class T>
struct KernelForm {
  static constexpr bool needs_gram = true;
  const T* k;
  Index m;
  bool is_design;

  const T* column(Index j) const { return k + j * m; }
  double ridge(Index, double level) const { return level; }
  double gradient(const Vector&, const Vector& form, Index j, double level) const { return level * form[j]; }
  double term(const Vector& b, const Vector& form, Index j, double level) const { return 0.5 * level * b[j] * form[j]; }
  double change(const Vector&, const Vector& form, const Vector& along, Index j, double d, double t,
                double level) const {
    return level * (t * d * form[j] + 0.5 * t * t * d * along[j]);
  }
  const double* gradients_at_zero(const Vector& of_loss, const Vector& form, double level, Vector& room) const {
    room = of_loss;
    loops().axpy(level, form.data(), room.data(), room.size());
    return room.data();
  }
  double gradient_at_zero(const Vector& form, Index j, double level) const { return level * form[j]; }
  void start(Index p, Vector& form) const { form.assign(p, 0.0); }
  double cancelling(const Vector& b, double pull, double level) const {
    double size = 0.0;
    for (double bj : b) size += std::fabs(bj);
    return (pull + 0.5 * level * size) * size * largest();
  }
  // No entry exceeds the largest of the diagonal.
  double largest() const {
    double top = 0.0;
    for (Index j = 0; j < m; ++j) top = std::max(top, static_cast<double>(column(j)[j]));
    return top;
  }
  // out = K_C values, which the scores' own direction is where K is the design.
  void direction(const Columns& columns, const Vector& values, const Vector& scores, Vector& out) const {
    if (is_design) {
      out = scores;
      return;
    }
    out.assign(m, 0.0);
    for (std::size_t c = 0; c < columns.size(); ++c) {
      const T* from = column(columns[c]);
      for (Index j = 0; j < m; ++j) out[j] += values[c] * from[j];
    }
  }
  double apart(Index, double) const { return 0.0; }
  // All of it for columns from `kept` on, the difference of the levels for the others.
  void add_to_gram(const Columns& columns, int kept, double level, double level_before, double* gram,
                   int stride) const {
    const int count = static_cast<int>(columns.size());
    const double change = level - level_before;
    for (int c = 0; c < count; ++c) {
      double* target = gram + static_cast<std::size_t>(c) * stride;
      const T* from = column(columns[c]);
      const int old = c < kept ? kept : 0;
      if (change != 0.0)
        for (int r = 0; r < old; ++r) target[r] += change * from[columns[r]];
      for (int r = old; r < count; ++r) target[r] += level * from[columns[r]];
    }
  }
  double forgiven(Index, double level, double l1, double goal, int count) const {
    return l1 > 0.0 ? 0.0 : std::sqrt(2.0 * level * goal / count);
  }
};

}  // namespace clearning
