// A door for tests to the core's parts. It is built with -DCLEARNING_PARTS=ON and is in no wheel.
#pragma once
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "bindings/arrays.hpp"
#include "linalg/types.hpp"
#include "problem/samples.hpp"

namespace clearning::parts {

using In = Flat<double>;

inline Vector copy(const In& array) { return {array.data(), array.data() + array.size()}; }
inline nb::object numpy(const Vector& v) { return to_numpy(Vector(v)); }

// The arrays behind a view of samples, kept alive beside it.
struct HeldSamples {
  Vector y, weight, offset;
  Samples view() const { return {y.data(), weight.data(), offset.data(), y.size()}; }
};

inline HeldSamples hold(const In& y, const In& weight, const In& offset) {
  return {copy(y), copy(weight), copy(offset)};
}

void bind_losses(nb::module_& m);
void bind_penalty(nb::module_& m);
void bind_linalg(nb::module_& m);
void bind_steps(nb::module_& m);
void bind_ascents(nb::module_& m);
void bind_bench(nb::module_& m);
void bind_classes(nb::module_& m);

}  // namespace clearning::parts
