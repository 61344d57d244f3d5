// A problem of many classes but for its design, read from a dictionary and checked entry by entry.
#pragma once
#include "bindings/arrays.hpp"
#include "solver/classes/path.hpp"

namespace clearning {

class ClassRequest {
 public:
  // Throws ValueError or TypeError with one sentence where an entry is missing, mistyped or of the wrong length.
  ClassRequest(const nb::dict& given, Index n, Index p);

  MultiCoherence loss;
  ClassSamples samples{};
  Settings settings;
  Grid grid;
  ClassStart start;

  bool is_grouped() const { return !group_of_.empty(); }
  Elementwise elementwise() const { return {samples.m, l1_ratio_, l1_factor_, l2_factor_, lower_, upper_}; }
  Grouped grouped() const;

 private:
  void read_penalty(const nb::dict& given, Index p);
  void read_groups(const nb::dict& given, Index p);

  double l1_ratio_ = 0.5;
  Vector l1_factor_, l2_factor_, lower_, upper_;  // factors of features, or of groups
  Columns group_of_;
  Flat<double> label_, weight_, offset_, start_b_, start_a_;  // kept alive for as long as they are looked at
};

}  // namespace clearning
