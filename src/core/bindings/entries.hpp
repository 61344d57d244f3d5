// Entries of the dictionary that a request is: each is looked up by name, and what is wrong with it is said in one
// sentence.
#pragma once
#include <nanobind/stl/string.h>

#include <cmath>
#include <string>

#include "bindings/arrays.hpp"
#include "linalg/types.hpp"

namespace clearning {

[[noreturn]] inline void refuse(const std::string& name, const std::string& why) {
  throw nb::value_error((name + " " + why).c_str());
}

inline nb::object entry(const nb::dict& given, const char* name) {
  if (!given.contains(name)) refuse(name, "is missing from the request.");
  return given[name];
}

template <class T>
T value(const nb::dict& given, const char* name, const char* kind) {
  T out{};
  if (!nb::try_cast<T>(entry(given, name), out)) refuse(name, std::string("must be ") + kind + ".");
  return out;
}

inline double number(const nb::dict& given, const char* name) { return value<double>(given, name, "a number"); }

inline double finite(const nb::dict& given, const char* name) {
  const double out = number(given, name);
  if (!std::isfinite(out)) refuse(name, "must be finite.");
  return out;
}

inline double positive(const nb::dict& given, const char* name) {
  const double out = finite(given, name);
  if (!(out > 0.0)) refuse(name, "must be positive.");
  return out;
}

inline Flat<double> flat(const nb::dict& given, const char* name, Index length) {
  Flat<double> array;
  // Without a conversion: what is looked at must be the caller's own memory, which outlives the solve.
  if (!nb::try_cast<Flat<double>>(entry(given, name), array, false))
    refuse(name, "must be a contiguous one-dimensional array of float64.");
  if (length >= 0 && static_cast<Index>(array.size()) != length)
    refuse(name, "has " + std::to_string(array.size()) + " entries; " + std::to_string(length) + " are needed.");
  return array;
}

inline Vector vector_of(const nb::dict& given, const char* name, Index length) {
  const auto array = flat(given, name, length);
  return {array.data(), array.data() + array.size()};
}

inline Vector penalties(const nb::dict& given) {
  if (entry(given, "alphas").is_none()) return {};
  const auto array = flat(given, "alphas", -1);
  Vector out(array.data(), array.data() + array.size());
  if (out.empty()) refuse("alphas", "must hold at least one penalty.");
  for (std::size_t k = 0; k < out.size(); ++k)
    if (!std::isfinite(out[k]) || !(out[k] > 0.0) || (k > 0 && out[k] > out[k - 1]))
      refuse("alphas", "must be positive, finite and descending.");
  return out;
}

}  // namespace clearning
