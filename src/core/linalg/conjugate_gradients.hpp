// Conjugate gradients for A x = r, A known by its products alone.
#pragma once
#include "linalg/types.hpp"

namespace clearning {

// precondition(out) sets out = M^-1 rest and returns rest' out; apply(along, out) sets out = A along and returns
// along' out; advance(size, along, product) moves x by size * along and the rest by -size * product, and says whether
// to go on. Returns the number of steps.
template <class Precondition, class Apply, class Advance>
int conjugate_gradients(std::size_t count, int most, Precondition&& precondition, Apply&& apply, Advance&& advance) {
  Vector along(count, 0.0), preconditioned(count), product(count);
  double length = 0.0;
  for (int step = 0; step < most; ++step) {
    const double next = precondition(preconditioned);
    if (!(next > 0.0)) return step;
    const double keep = step == 0 ? 0.0 : next / length;
    for (std::size_t c = 0; c < count; ++c) along[c] = keep * along[c] + preconditioned[c];
    length = next;
    const double bend = apply(along, product);
    if (!(bend > 0.0)) return step;
    if (!advance(length / bend, along, product)) return step + 1;
  }
  return most;
}

}  // namespace clearning
