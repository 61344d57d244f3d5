// Everything about a problem but its design, read from a dictionary: each name, type and length is checked here.
#pragma once
#include "bindings/arrays.hpp"
#include "problem/losses.hpp"
#include "problem/samples.hpp"
#include "solver/path.hpp"

namespace clearning {

class Request {
 public:
  // Throws ValueError or TypeError with one sentence where an entry is missing, mistyped or of the wrong length.
  Request(const nb::dict& given, Index n, Index p);

  Loss loss;
  Samples samples{};
  double l1_ratio = 0.5;
  Vector l1_factor, l2_factor, lower, upper;
  Settings settings;
  Grid grid;
  Start start;

  template <class Quadratic>
  ElasticNet<Quadratic> penalty(Quadratic quadratic) const {
    return {l1_ratio, l1_factor, lower, upper, std::move(quadratic)};
  }

 private:
  Flat<double> y_, weight_, offset_, start_b_;  // kept alive for as long as they are looked at
};

Loss loss_of(const nb::dict& given);
Settings settings_of(const nb::dict& given);
Grid grid_of(const nb::dict& given);

}  // namespace clearning
