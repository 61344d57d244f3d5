// Compiled several times, each time with other instruction-set flags and another CLEARNING_TARGET.
#include "kernels.hpp"

#include <bit>
#include <cmath>
#include <cstdint>

#ifndef CLEARNING_TARGET
#define CLEARNING_TARGET baseline
#endif
#define CLEARNING_STRING_(x) #x
#define CLEARNING_STRING(x) CLEARNING_STRING_(x)

namespace clearning::CLEARNING_TARGET {
namespace {

using std::size_t;

// exp(x) for x <= 0, within 1 ulp or two; written so that a loop over it vectorises.
inline double exp_nonpositive(double x) {
  constexpr double shifter = 0x1.8p52;
  x = x < -708.0 ? -708.0 : x;
  const double shifted = x * 0x1.71547652b82fep0 + shifter;
  const double k = shifted - shifter;
  const double r = (x - k * 0x1.62e42fefa3800p-1) - k * 0x1.ef35793c76730p-45;
  double q = 1.0 / 6227020800.0;
  q = q * r + 1.0 / 479001600.0;
  q = q * r + 1.0 / 39916800.0;
  q = q * r + 1.0 / 3628800.0;
  q = q * r + 1.0 / 362880.0;
  q = q * r + 1.0 / 40320.0;
  q = q * r + 1.0 / 5040.0;
  q = q * r + 1.0 / 720.0;
  q = q * r + 1.0 / 120.0;
  q = q * r + 1.0 / 24.0;
  q = q * r + 1.0 / 6.0;
  q = q * r + 0.5;
  q = q * r + 1.0;
  q = q * r + 1.0;
  return std::bit_cast<double>(std::bit_cast<std::int64_t>(q) + (std::bit_cast<std::int64_t>(shifted) << 52));
}

// 2 atanh(z) for |z| <= 1/3, as an odd series.
inline double twice_atanh(double z) {
  const double z2 = z * z;
  double q = 1.0 / 33.0;
  q = q * z2 + 1.0 / 31.0;
  q = q * z2 + 1.0 / 29.0;
  q = q * z2 + 1.0 / 27.0;
  q = q * z2 + 1.0 / 25.0;
  q = q * z2 + 1.0 / 23.0;
  q = q * z2 + 1.0 / 21.0;
  q = q * z2 + 1.0 / 19.0;
  q = q * z2 + 1.0 / 17.0;
  q = q * z2 + 1.0 / 15.0;
  q = q * z2 + 1.0 / 13.0;
  q = q * z2 + 1.0 / 11.0;
  q = q * z2 + 1.0 / 9.0;
  q = q * z2 + 1.0 / 7.0;
  q = q * z2 + 1.0 / 5.0;
  q = q * z2 + 1.0 / 3.0;
  return 2.0 * z * (1.0 + z2 * q);
}

inline double log1p_unit(double x) { return twice_atanh(x / (2.0 + x)); }  // 0 <= x <= 1

struct Point {
  double value, weight, curvature;  // phi, s = -phi', phi''
};

struct CoherenceLoss {
  double rho, u, kappa, inverse_rho;
  explicit CoherenceLoss(const Loss& l) : rho(l.rho), u(l.u), kappa(l.kappa), inverse_rho(1.0 / l.rho) {}
  Point operator()(double z) const {
    const double t = (u - z) * inverse_rho;
    const double small = exp_nonpositive(-std::fabs(t));
    const double inverse = 1.0 / (1.0 + small);
    const double s = t >= 0.0 ? inverse : small * inverse;
    const double softplus = (t > 0.0 ? t : 0.0) + log1p_unit(small);
    return {kappa * rho * softplus, kappa * s, kappa * inverse_rho * small * inverse * inverse};
  }
  // kappa rho KL(c s || s), s = sigma(t), bounded from above without logarithms of c and s: by its chi-square
  // and, as it is convex in c, by its chord.
  double fenchel_young(double z, double c) const {
    const double t = (u - z) * inverse_rho;
    const double small = exp_nonpositive(-std::fabs(t));
    const double odds = t >= 0.0 ? 1.0 / small : small;
    const double softplus = (t > 0.0 ? t : 0.0) + log1p_unit(small);
    const double quadratic = (1.0 - c) * odds;
    return kappa * rho * (1.0 - c) * (quadratic < softplus ? quadratic : softplus);
  }
};

struct HuberizedLoss {
  double delta, inverse;
  explicit HuberizedLoss(const Loss& l) : delta(l.delta), inverse(1.0 / l.delta) {}
  Point operator()(double z) const {
    const double r = 1.0 - z;
    const double inside = r > 0.0 ? (r < delta ? r : delta) : 0.0;
    const double s = inside * inverse;
    return {s * r - 0.5 * s * inside, s, (r > 0.0 && r < delta) ? inverse : 0.0};
  }
  double fenchel_young(double z, double c) const {
    const Point p = (*this)(z);
    const double s = c * p.weight;
    return p.value + s * z - s + 0.5 * delta * s * s;
  }
};

struct SquaredHingeLoss {
  explicit SquaredHingeLoss(const Loss&) {}
  Point operator()(double z) const {
    const double r = z < 1.0 ? 1.0 - z : 0.0;
    return {r * r, 2.0 * r, z < 1.0 ? 2.0 : 0.0};
  }
  double fenchel_young(double z, double c) const {
    const Point p = (*this)(z);
    const double s = c * p.weight;
    return p.value + s * z - s + 0.25 * s * s;
  }
};

struct HingeLoss {
  explicit HingeLoss(const Loss&) {}
  Point operator()(double z) const { return {z < 1.0 ? 1.0 - z : 0.0, z < 1.0 ? 1.0 : 0.0, 0.0}; }
  double fenchel_young(double z, double c) const {
    const Point p = (*this)(z);
    return p.value - c * p.weight * (1.0 - z);
  }
};

template <class Function>
auto with_loss(const Loss& loss, Function&& function) {
  switch (loss.kind) {
    case LossKind::huberized_hinge: return function(HuberizedLoss(loss));
    case LossKind::squared_hinge: return function(SquaredHingeLoss(loss));
    case LossKind::hinge: return function(HingeLoss(loss));
    default: return function(CoherenceLoss(loss));
  }
}

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
size_t above(const double* v, const double* norm, double radius, const double* factor, double level, size_t n, int* out) {
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

LossSums evaluate(const Loss& loss, const Samples& samples, const double* score, double a, double* e, double* h) {
  return with_loss(loss, [&](auto phi) {
    double value = 0.0, slope = 0.0, curvature = 0.0, mass = 0.0;
#pragma omp simd reduction(+ : value, slope, curvature, mass)
    for (size_t i = 0; i < samples.n; ++i) {
      const double y = samples.y[i], w = samples.weight[i];
      const Point p = phi(y * (score[i] + a));
      // Numbers below the normal range would slow every product with e and h down tenfold.
      const double pull = p.weight > 1e-150 ? w * p.weight : 0.0;
      e[i] = -y * pull;
      h[i] = p.curvature > 1e-150 ? w * p.curvature : 0.0;
      value += w * p.value;
      slope -= y * pull;
      mass += pull;
      curvature += h[i];
    }
    return LossSums{value, slope, curvature, mass};
  });
}

LossSums slopes(const Loss& loss, const Samples& samples, const double* score, double a) {
  return with_loss(loss, [&](auto phi) {
    double slope = 0.0, curvature = 0.0, mass = 0.0;
#pragma omp simd reduction(+ : slope, curvature, mass)
    for (size_t i = 0; i < samples.n; ++i) {
      const double y = samples.y[i], w = samples.weight[i];
      const Point p = phi(y * (score[i] + a));
      slope -= y * w * p.weight;
      mass += w * p.weight;
      curvature += w * p.curvature;
    }
    return LossSums{0.0, slope, curvature, mass};
  });
}

double sample_gap(const Loss& loss, const Samples& samples, const double* score, double a, double scale_positive,
                  double scale_negative) {
  return with_loss(loss, [&](auto phi) {
    double sum = 0.0;
#pragma omp simd reduction(+ : sum)
    for (size_t i = 0; i < samples.n; ++i) {
      const double y = samples.y[i];
      const double c = y > 0.0 ? scale_positive : scale_negative;
      sum += samples.weight[i] * phi.fenchel_young(y * (score[i] + a), c);
    }
    return sum;
  });
}

}  // namespace

extern const Kernels table;
const Kernels table = {CLEARNING_STRING(CLEARNING_TARGET),
                       dot_of<double>,
                       dot_of<float>,
                       axpy_of<double>,
                       axpy_of<float>,
                       dots,
                       combine,
                       moments,
                       axpy_weighted,
                       multiply,
                       above,
                       scale_class,
                       evaluate,
                       slopes,
                       sample_gap};

}  // namespace clearning::CLEARNING_TARGET
