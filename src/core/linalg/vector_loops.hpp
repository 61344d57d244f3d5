// The hot loops over vectors, compiled once an instruction set and chosen at run time.
#pragma once
#include "linalg/types.hpp"

namespace clearning {

// Dual weights of the two classes, by their sums and squares; and the square of how far they were put back.
struct WeightSums {
  double positive, negative, positive_square, negative_square, put_back;
};

struct VectorLoops {
  double (*dot)(const double*, const double*, std::size_t);
  double (*dot_float)(const float*, const double*, std::size_t);
  void (*axpy)(double, const double*, double*, std::size_t);
  void (*axpy_float)(double, const float*, double*, std::size_t);
  // out[c] = columns[c]' v and acc += sum of coefficients[c] * columns[c], several columns at a time.
  void (*dots)(const double* const* columns, std::size_t count, const double* v, std::size_t n, double* out);
  void (*combine)(const double* const* columns, std::size_t count, const double* coefficients, std::size_t n,
                  double* acc);
  // out[k * stride + c] += columns[c]' vectors[k], and out is what it was where they are none.
  void (*cross)(const double* const* columns, std::size_t count, const double* const* vectors, std::size_t m,
                std::size_t n, double* out, std::size_t stride);
  // sums of h x and of h x^2
  void (*moments)(const double* x, const double* h, std::size_t n, double* first, double* second);
  void (*axpy_weighted)(double, const double* x, const double* h, double* out, std::size_t n);
  void (*multiply)(const double* x, const double* y, double shift, double* out, std::size_t n);
  // The places where |v| + radius * norm >= level * factor; returns how many there are.
  std::size_t (*above)(const double* v, const double* norm, double radius, const double* factor, double level,
                       std::size_t n, int* out);
  // The same two for m vectors at once: x is n x count by columns, v and acc are n x m by columns; out and b hold m
  // numbers a column.
  void (*dots_many)(const double* x, std::size_t count, const double* v, std::size_t m, std::size_t n, double* out);
  void (*combine_many)(const double* x, std::size_t count, const double* b, std::size_t m, std::size_t n, double* acc);
  double (*largest)(const double*, std::size_t);  // size of an entry
  double (*sizes)(const double*, std::size_t);    // and their sum
  double (*squared_distance)(const double*, const double*, std::size_t);
  // theta = e + unit h (along + shift), with -theta y put back to between 0 and limit * weight.
  WeightSums (*foresee)(const double* e, const double* h, const double* along, double shift, double unit,
                        const double* y, const double* weight, double limit, double* theta, std::size_t n);
  // v *= factor for the samples of one class
  void (*scale_class)(const double* y, double sign, double factor, double* v, std::size_t n);
};

const VectorLoops& loops();

inline double largest_size(const Vector& v) { return loops().largest(v.data(), v.size()); }

}  // namespace clearning
