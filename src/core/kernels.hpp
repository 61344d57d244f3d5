// The hot loops over samples, compiled once per instruction set and chosen at run time.
#pragma once
#include <cstddef>

#include "loss.hpp"

namespace clearning {

// Sums over the samples of weight * loss, of its first two derivatives in the score, and of the first's size.
struct LossSums {
  double value, slope, curvature, mass;
};

// What a loss is evaluated on: labels in {-1, +1}, weights that sum to one, scores without the intercept.
struct Samples {
  const double* y;
  const double* weight;
  std::size_t n;
};

struct Kernels {
  const char* name;
  double (*dot)(const double*, const double*, std::size_t);
  double (*dot_float)(const float*, const double*, std::size_t);
  void (*axpy)(double, const double*, double*, std::size_t);
  void (*axpy_float)(double, const float*, double*, std::size_t);
  // out[c] = columns[c]' v and acc += sum of coefficients[c] * columns[c], several columns at a time.
  void (*dots)(const double* const* columns, std::size_t count, const double* v, std::size_t n, double* out);
  void (*combine)(const double* const* columns, std::size_t count, const double* coefficients,
                  std::size_t n, double* acc);
  // sums of h x and of h x^2
  void (*moments)(const double* x, const double* h, std::size_t n, double* first, double* second);
  void (*axpy_weighted)(double, const double* x, const double* h, double* out, std::size_t n);
  void (*multiply)(const double* x, const double* y, double shift, double* out, std::size_t n);
  // The places where |v| + radius * norm >= level * factor; returns how many there are.
  std::size_t (*above)(const double* v, const double* norm, double radius, const double* factor, double level,
                       std::size_t n, int* out);
  // v *= factor for the samples of one class
  void (*scale_class)(const double* y, double sign, double factor, double* v, std::size_t n);
  // Fills e (first derivative of the weighted loss in the score) and h (second) at score + intercept.
  LossSums (*evaluate)(const Loss&, const Samples&, const double* score, double intercept, double* e, double* h);
  // The same sums but the loss's value, at less than half the price.
  LossSums (*slopes)(const Loss&, const Samples&, const double* score, double intercept);
  // Fenchel-Young gap of the samples when the dual weights of the two classes are scaled.
  double (*sample_gap)(const Loss&, const Samples&, const double* score, double intercept, double scale_positive,
                       double scale_negative);
};

// The best table for this machine; CLEARNING_SIMD=baseline|avx2|avx512 overrides it.
const Kernels& kernels();

}  // namespace clearning
