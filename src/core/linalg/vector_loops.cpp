// Compiled several times, each time with other instruction-set flags and another CLEARNING_TARGET.
#include "linalg/vector_loops.hpp"

#include <cmath>
#include <cstdint>
#include <utility>

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

// Rows are taken in blocks that stay in the second-level cache while the columns stream past: shorter runs of a column
// end before the processor has begun to fetch ahead (1024 rows: 20 GB/s, 4096: 24).
constexpr size_t block_rows = 4096;

// Adds the products of eight columns, or of four, with v. The sums are named because only then do they stay in
// registers.
void add_eight_dots(const double* const* columns, size_t begin, const double* v, size_t rows, double* out) {
  const double *x0 = columns[0] + begin, *x1 = columns[1] + begin, *x2 = columns[2] + begin, *x3 = columns[3] + begin,
               *x4 = columns[4] + begin, *x5 = columns[5] + begin, *x6 = columns[6] + begin, *x7 = columns[7] + begin;
  double s0 = 0, s1 = 0, s2 = 0, s3 = 0, s4 = 0, s5 = 0, s6 = 0, s7 = 0;
#pragma omp simd reduction(+ : s0, s1, s2, s3, s4, s5, s6, s7)
  for (size_t i = 0; i < rows; ++i) {
    s0 += x0[i] * v[i];
    s1 += x1[i] * v[i];
    s2 += x2[i] * v[i];
    s3 += x3[i] * v[i];
    s4 += x4[i] * v[i];
    s5 += x5[i] * v[i];
    s6 += x6[i] * v[i];
    s7 += x7[i] * v[i];
  }
  const double sums[] = {s0, s1, s2, s3, s4, s5, s6, s7};
  for (size_t k = 0; k < 8; ++k) out[k] += sums[k];
}

void add_four_dots(const double* const* columns, size_t begin, const double* v, size_t rows, double* out) {
  const double *x0 = columns[0] + begin, *x1 = columns[1] + begin, *x2 = columns[2] + begin, *x3 = columns[3] + begin;
  double s0 = 0, s1 = 0, s2 = 0, s3 = 0;
#pragma omp simd reduction(+ : s0, s1, s2, s3)
  for (size_t i = 0; i < rows; ++i) {
    s0 += x0[i] * v[i];
    s1 += x1[i] * v[i];
    s2 += x2[i] * v[i];
    s3 += x3[i] * v[i];
  }
  const double sums[] = {s0, s1, s2, s3};
  for (size_t k = 0; k < 4; ++k) out[k] += sums[k];
}

void dots(const double* const* columns, size_t count, const double* v, size_t n, double* out) {
  for (size_t c = 0; c < count; ++c) out[c] = 0.0;
  for (size_t begin = 0; begin < n; begin += block_rows) {
    const size_t rows = n - begin < block_rows ? n - begin : block_rows;
    size_t c = 0;
    for (; c + 8 <= count; c += 8) add_eight_dots(columns + c, begin, v + begin, rows, out + c);
    for (; c + 4 <= count; c += 4) add_four_dots(columns + c, begin, v + begin, rows, out + c);
    for (; c < count; ++c) out[c] += dot_of(columns[c] + begin, v + begin, rows);
  }
}

// Adds a combination of as many columns as there are numbers k, so that the sum is read and written once for all.
template <size_t... k>
void add_columns(std::index_sequence<k...>, const double* const* columns, const double* b, size_t begin, size_t rows,
                 double* acc) {
  const double* const x[] = {columns[k] + begin...};
  const double by[] = {b[k]...};
#pragma omp simd
  for (size_t i = 0; i < rows; ++i) acc[i] += (... + (by[k] * x[k][i]));
}

void combine(const double* const* columns, size_t count, const double* b, size_t n, double* acc) {
  for (size_t begin = 0; begin < n; begin += block_rows) {
    const size_t rows = n - begin < block_rows ? n - begin : block_rows;
    double* sum = acc + begin;
    size_t c = 0;
    for (; c + 8 <= count; c += 8) add_columns(std::make_index_sequence<8>(), columns + c, b + c, begin, rows, sum);
    for (; c + 4 <= count; c += 4) add_columns(std::make_index_sequence<4>(), columns + c, b + c, begin, rows, sum);
    for (; c < count; ++c) axpy_of(b[c], columns[c] + begin, sum, rows);
  }
}

// Two columns and four vectors at a time, in blocks of rows of which all vectors stay in the second-level cache: each
// column is read once.
void cross(const double* const* columns, size_t count, const double* const* vectors, size_t m, size_t n, double* out,
           size_t stride) {
  const size_t share = 4 * block_rows / (m > 0 ? m : 1), least = block_rows / 16;
  const size_t most = share < least ? least : (share > block_rows ? block_rows : share);
  for (size_t begin = 0; begin < n; begin += most) {
    const size_t rows = n - begin < most ? n - begin : most;
    for (size_t c = 0; c < count; c += 2) {
      const bool pair = c + 1 < count;
      const double *x = columns[c] + begin, *z = columns[pair ? c + 1 : c] + begin;
      for (size_t k = 0; k < m; k += 4) {
        const size_t last = m - k < 4 ? m - k - 1 : 3;  // fewer than four are filled up with the last of them
        const double *v0 = vectors[k] + begin, *v1 = vectors[k + (last < 1 ? last : 1)] + begin,
                     *v2 = vectors[k + (last < 2 ? last : 2)] + begin, *v3 = vectors[k + last] + begin;
        double x0 = 0, x1 = 0, x2 = 0, x3 = 0, z0 = 0, z1 = 0, z2 = 0, z3 = 0;
#pragma omp simd reduction(+ : x0, x1, x2, x3, z0, z1, z2, z3)
        for (size_t i = 0; i < rows; ++i) {
          x0 += x[i] * v0[i];
          x1 += x[i] * v1[i];
          x2 += x[i] * v2[i];
          x3 += x[i] * v3[i];
          z0 += z[i] * v0[i];
          z1 += z[i] * v1[i];
          z2 += z[i] * v2[i];
          z3 += z[i] * v3[i];
        }
        const double of_x[4] = {x0, x1, x2, x3}, of_z[4] = {z0, z1, z2, z3};
        for (size_t t = 0; t <= last; ++t) {
          out[(k + t) * stride + c] += of_x[t];
          if (pair) out[(k + t) * stride + c + 1] += of_z[t];
        }
      }
    }
  }
}

// Rows of many vectors at once: fewer, so that all of them stay in the second-level cache.
constexpr size_t many_rows = 512;

void dots_many(const double* x, size_t count, const double* v, size_t m, size_t n, double* out) {
  for (size_t t = 0; t < count * m; ++t) out[t] = 0.0;
  for (size_t begin = 0; begin < n; begin += many_rows) {
    const size_t rows = n - begin < many_rows ? n - begin : many_rows;
    size_t c = 0;
    for (; c + 2 <= count; c += 2) {
      const double *x0 = x + c * n + begin, *x1 = x0 + n;
      double *out0 = out + c * m, *out1 = out0 + m;
      size_t k = 0;
      for (; k + 2 <= m; k += 2) {
        const double *v0 = v + k * n + begin, *v1 = v0 + n;
        double s00 = 0, s01 = 0, s10 = 0, s11 = 0;
#pragma omp simd reduction(+ : s00, s01, s10, s11)
        for (size_t i = 0; i < rows; ++i) {
          s00 += x0[i] * v0[i];
          s01 += x0[i] * v1[i];
          s10 += x1[i] * v0[i];
          s11 += x1[i] * v1[i];
        }
        out0[k] += s00;
        out0[k + 1] += s01;
        out1[k] += s10;
        out1[k + 1] += s11;
      }
      for (; k < m; ++k) {
        out0[k] += dot_of(x0, v + k * n + begin, rows);
        out1[k] += dot_of(x1, v + k * n + begin, rows);
      }
    }
    for (; c < count; ++c)
      for (size_t k = 0; k < m; ++k) out[c * m + k] += dot_of(x + c * n + begin, v + k * n + begin, rows);
  }
}

void combine_many(const double* x, size_t count, const double* b, size_t m, size_t n, double* acc) {
  for (size_t begin = 0; begin < n; begin += many_rows) {
    const size_t rows = n - begin < many_rows ? n - begin : many_rows;
    size_t c = 0;
    for (; c + 4 <= count; c += 4) {
      const double *x0 = x + c * n + begin, *x1 = x0 + n, *x2 = x1 + n, *x3 = x2 + n;
      for (size_t k = 0; k < m; ++k) {
        const double b0 = b[c * m + k], b1 = b[c * m + m + k], b2 = b[c * m + 2 * m + k], b3 = b[c * m + 3 * m + k];
        if (b0 == 0.0 && b1 == 0.0 && b2 == 0.0 && b3 == 0.0) continue;
        double* a = acc + k * n + begin;
#pragma omp simd
        for (size_t i = 0; i < rows; ++i) a[i] += (b0 * x0[i] + b1 * x1[i]) + (b2 * x2[i] + b3 * x3[i]);
      }
    }
    for (; c < count; ++c)
      for (size_t k = 0; k < m; ++k)
        if (b[c * m + k] != 0.0) axpy_of(b[c * m + k], x + c * n + begin, acc + k * n + begin, rows);
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

double largest(const double* x, size_t n) {
  double most = 0.0;
#pragma omp simd reduction(max : most)
  for (size_t i = 0; i < n; ++i) most = std::fabs(x[i]) > most ? std::fabs(x[i]) : most;
  return most;
}

double sizes(const double* x, size_t n) {
  double sum = 0.0;
#pragma omp simd reduction(+ : sum)
  for (size_t i = 0; i < n; ++i) sum += std::fabs(x[i]);
  return sum;
}

double squared_distance(const double* x, const double* y, size_t n) {
  double sum = 0.0;
#pragma omp simd reduction(+ : sum)
  for (size_t i = 0; i < n; ++i) sum += (x[i] - y[i]) * (x[i] - y[i]);
  return sum;
}

WeightSums foresee(const double* e, const double* h, const double* along, double shift, double unit, const double* y,
                   const double* weight, double limit, double* theta, size_t n) {
  double positive = 0.0, negative = 0.0, positive_square = 0.0, negative_square = 0.0, put_back = 0.0;
#pragma omp simd reduction(+ : positive, negative, positive_square, negative_square, put_back)
  for (size_t i = 0; i < n; ++i) {
    const double s = -y[i] * (e[i] + unit * h[i] * (along[i] + shift));
    const double most = weight[i] > 0.0 ? limit * weight[i] : 0.0;
    const double above = s < 0.0 ? 0.0 : s, inside = above > most ? most : above;
    const double of_positive = y[i] > 0.0 ? inside : 0.0, of_negative = y[i] > 0.0 ? 0.0 : inside;
    theta[i] = -inside * y[i];
    positive += of_positive;
    negative += of_negative;
    positive_square += of_positive * of_positive;
    negative_square += of_negative * of_negative;
    put_back += (s - inside) * (s - inside);
  }
  return {positive, negative, positive_square, negative_square, put_back};
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
    for (size_t i = start; i < end; ++i) {  // written always, kept if it counts: a branch would be mispredicted
      out[count] = static_cast<int>(i);
      count += is_above(i);
    }
  }
  return count;
}

}  // namespace

extern const VectorLoops vector_loops;
const VectorLoops vector_loops = {
    dot_of<double>, dot_of<float>, axpy_of<double>, axpy_of<float>,   dots,    combine,
    cross,          moments,       axpy_weighted,   multiply,         above,   dots_many,
    combine_many,   largest,       sizes,           squared_distance, foresee, scale_class};

}  // namespace clearning::CLEARNING_TARGET
