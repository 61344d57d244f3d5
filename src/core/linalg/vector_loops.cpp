// Compiled several times, each time with other instruction-set flags and another CLEARNING_TARGET.
#include "linalg/vector_loops.hpp"

#include <cmath>
#include <cstdint>

namespace clearning::CLEARNING_TARGET {
namespace {

using std::size_t;

template <class T>
double dot_of(const T* x, const double* v, size_t n) {
  double sum = 0.0;
#pragma omp simd reduction(+ : sum)
  for (size_t i = 0; i < n; ++i) sum += static_cast<double>(x[i]) * v[i];
  return sum;
}

template <class T>
void axpy_of(double c, const T* x, double* v, size_t n) {
#pragma omp simd
  for (size_t i = 0; i < n; ++i) v[i] += c * static_cast<double>(x[i]);
}

// Rows are taken in blocks that stay in the first-level cache while the columns stream past.
constexpr size_t block_rows = 1024;

void dots(const double* const* columns, size_t count, const double* v, size_t n, double* out) {
  for (size_t c = 0; c < count; ++c) out[c] = 0.0;
  for (size_t begin = 0; begin < n; begin += block_rows) {
    const size_t rows = n - begin < block_rows ? n - begin : block_rows;
    const double* vb = v + begin;
    size_t c = 0;
    for (; c + 4 <= count; c += 4) {
      const double *x0 = columns[c] + begin, *x1 = columns[c + 1] + begin, *x2 = columns[c + 2] + begin,
                   *x3 = columns[c + 3] + begin;
      double s0 = 0, s1 = 0, s2 = 0, s3 = 0;
#pragma omp simd reduction(+ : s0, s1, s2, s3)
      for (size_t i = 0; i < rows; ++i) {
        s0 += x0[i] * vb[i];
        s1 += x1[i] * vb[i];
        s2 += x2[i] * vb[i];
        s3 += x3[i] * vb[i];
      }
      out[c] += s0;
      out[c + 1] += s1;
      out[c + 2] += s2;
      out[c + 3] += s3;
    }
    for (; c < count; ++c) out[c] += dot_of(columns[c] + begin, vb, rows);
  }
}

void combine(const double* const* columns, size_t count, const double* b, size_t n, double* acc) {
  for (size_t begin = 0; begin < n; begin += block_rows) {
    const size_t rows = n - begin < block_rows ? n - begin : block_rows;
    double* a = acc + begin;
    size_t c = 0;
    for (; c + 4 <= count; c += 4) {
      const double *x0 = columns[c] + begin, *x1 = columns[c + 1] + begin, *x2 = columns[c + 2] + begin,
                   *x3 = columns[c + 3] + begin;
      const double b0 = b[c], b1 = b[c + 1], b2 = b[c + 2], b3 = b[c + 3];
#pragma omp simd
      for (size_t i = 0; i < rows; ++i) a[i] += (b0 * x0[i] + b1 * x1[i]) + (b2 * x2[i] + b3 * x3[i]);
    }
    for (; c < count; ++c) axpy_of(b[c], columns[c] + begin, a, rows);
  }
}

void moments(const double* x, const double* h, size_t n, double* first, double* second) {
  double s1 = 0.0, s2 = 0.0;
#pragma omp simd reduction(+ : s1, s2)
  for (size_t i = 0; i < n; ++i) {
    const double hx = h[i] * x[i];
    s1 += hx;
    s2 += hx * x[i];
  }
  *first = s1;
  *second = s2;
}

void multiply(const double* x, const double* y, double shift, double* out, size_t n) {
#pragma omp simd
  for (size_t i = 0; i < n; ++i) out[i] = x[i] * (y[i] - shift);
}

void scale_class(const double* y, double sign, double factor, double* v, size_t n) {
#pragma omp simd
  for (size_t i = 0; i < n; ++i) v[i] *= y[i] * sign > 0.0 ? factor : 1.0;
}

void axpy_weighted(double c, const double* x, const double* h, double* out, size_t n) {
#pragma omp simd
  for (size_t i = 0; i < n; ++i) out[i] += c * h[i] * x[i];
}

// Few places are: a block is looked into only if one of it is.
size_t above(const double* v, const double* norm, double radius, const double* factor, double level, size_t n,
             int* out) {
  constexpr size_t block = 64;
  const auto is_above = [&](size_t i) { return std::fabs(v[i]) + radius * norm[i] >= level * factor[i]; };
  size_t count = 0;
  for (size_t start = 0; start < n; start += block) {
    const size_t end = start + block < n ? start + block : n;
    std::int64_t any = 0;
#pragma omp simd reduction(| : any)
    for (size_t i = start; i < end; ++i) any |= is_above(i);
    if (any == 0) continue;
    for (size_t i = start; i < end; ++i)
      if (is_above(i)) out[count++] = static_cast<int>(i);
  }
  return count;
}

}  // namespace

extern const VectorLoops vector_loops;
const VectorLoops vector_loops = {dot_of<double>, dot_of<float>, axpy_of<double>, axpy_of<float>, dots,       combine,
                                  moments,        axpy_weighted, multiply,        above,          scale_class};

}  // namespace clearning::CLEARNING_TARGET
