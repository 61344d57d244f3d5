// Compiled several times, each time with other instruction-set flags and another CLEARNING_TARGET.
#include <algorithm>
#include <cmath>
#include <limits>

#include "linalg/elementary.hpp"
#include "problem/multi_coherence.hpp"

namespace clearning::CLEARNING_TARGET {
namespace {

using std::size_t;

// Rows are taken in blocks that stay in the first-level cache with what is summed over the classes.
constexpr size_t block = class_block;
// Smaller weights are lifted to this one, and pull no more: below the normal range every product would be slow.
constexpr double least = 1e-150;
// A dual weight that rounding made negative.
constexpr double slightly_negative = -1e-13;
// What is left of a sample's own class beside one is no more than rounding.
constexpr double slightly_positive = 4.5e-16;

struct Block {
  double top[block], sum[block], own[block];
};

// Exponents of one block, relative to each sample's largest, into s; returns the block's weighted loss over rho kappa.
inline double exponentials(const MultiCoherence& loss, const ClassSamples& samples, const double* score, double size,
                           const double* along, size_t begin, size_t rows, double* s, size_t stride, Block& at) {
  const double inverse = 1.0 / loss.rho, u = loss.u;
  const double *label = samples.label + begin, *weight = samples.weight + begin;
  for (size_t i = 0; i < rows; ++i) at.top[i] = -std::numeric_limits<double>::infinity();
  for (int k = 0; k < samples.m; ++k) {
    const double* g = score + k * samples.n + begin;
    const double* d = along == nullptr ? nullptr : along + k * samples.n + begin;
    double* out = s + k * stride;
    const auto place = [&](size_t i, double value) {
      const double t = (value + (label[i] == k ? 0.0 : u)) * inverse;
      out[i] = t;
      at.top[i] = t > at.top[i] ? t : at.top[i];
      at.own[i] = label[i] == k ? t : at.own[i];
    };
    if (d == nullptr) {
#pragma omp simd
      for (size_t i = 0; i < rows; ++i) place(i, g[i]);
    } else {
#pragma omp simd
      for (size_t i = 0; i < rows; ++i) place(i, g[i] + size * d[i]);
    }
  }
  for (size_t i = 0; i < rows; ++i) at.sum[i] = 0.0;
  for (int k = 0; k < samples.m; ++k) {
    double* out = s + k * stride;
#pragma omp simd
    for (size_t i = 0; i < rows; ++i) {
      out[i] = exp_nonpositive(out[i] - at.top[i]);
      at.sum[i] += out[i];
    }
  }
  double value = 0.0;
  for (size_t i = 0; i < rows; ++i) value += weight[i] * ((at.top[i] - at.own[i]) + std::log(at.sum[i]));
  return value;
}

double evaluate(const MultiCoherence& loss, const ClassSamples& samples, const double* score, double* s, double* e) {
  const size_t n = samples.n;
  Block at;
  double value = 0.0;
  for (size_t begin = 0; begin < n; begin += block) {
    const size_t rows = std::min(block, n - begin);
    value += exponentials(loss, samples, score, 0.0, nullptr, begin, rows, s + begin, n, at);
    const double *label = samples.label + begin, *weight = samples.weight + begin;
    for (size_t i = 0; i < rows; ++i) {
      at.top[i] = 1.0 / at.sum[i];
      at.own[i] = 0.0;
    }
    for (int k = 0; k < samples.m; ++k) {
      double *sk = s + k * n + begin, *ek = e + k * n + begin;
#pragma omp simd
      for (size_t i = 0; i < rows; ++i) {
        const double share = sk[i] * at.top[i];
        const double pull = (share > least) & (label[i] != k) ? loss.kappa * weight[i] * share : 0.0;
        sk[i] = share > least ? share : least;
        ek[i] = pull;
        at.own[i] += pull;
      }
    }
    for (int k = 0; k < samples.m; ++k) {
      double* ek = e + k * n + begin;
#pragma omp simd
      for (size_t i = 0; i < rows; ++i) ek[i] = label[i] == k ? -at.own[i] : ek[i];
    }
  }
  return loss.kappa * loss.rho * value;
}

double value(const MultiCoherence& loss, const ClassSamples& samples, const double* score, double size,
             const double* along, double* space) {
  Block at;
  double sum = 0.0;
  for (size_t begin = 0; begin < samples.n; begin += block) {
    const size_t rows = std::min(block, samples.n - begin);
    sum += exponentials(loss, samples, score, size, along, begin, rows, space, block, at);
  }
  return loss.kappa * loss.rho * sum;
}

void curve(const MultiCoherence& loss, const ClassSamples& samples, const double* s, const double* along, double* out) {
  const size_t n = samples.n;
  const double factor = loss.kappa / loss.rho;
  double mean[block];
  for (size_t begin = 0; begin < n; begin += block) {
    const size_t rows = std::min(block, n - begin);
    const double* weight = samples.weight + begin;
    for (size_t i = 0; i < rows; ++i) mean[i] = 0.0;
    for (int k = 0; k < samples.m; ++k) {
      const double *sk = s + k * n + begin, *d = along + k * n + begin;
#pragma omp simd
      for (size_t i = 0; i < rows; ++i) mean[i] += sk[i] * d[i];
    }
    for (int k = 0; k < samples.m; ++k) {
      const double *sk = s + k * n + begin, *d = along + k * n + begin;
      double* to = out + k * n + begin;
#pragma omp simd
      for (size_t i = 0; i < rows; ++i) to[i] = factor * weight[i] * sk[i] * (d[i] - mean[i]);
    }
  }
}

// s' log(s' / s) - s' + s as a share of s, never negative.
inline double young(double excess) {
  if (std::fabs(excess) < 1e-3)
    return excess * excess * (0.5 - excess * (1.0 / 6.0 - excess * (1.0 / 12.0 - excess / 20.0)));
  return excess <= -1.0 ? 1.0 : (1.0 + excess) * std::log1p(excess) - excess;
}

// The logarithm of a weight, however small it is.
double log_weight(const MultiCoherence& loss, const ClassSamples& samples, const double* score, size_t i, int k) {
  const auto exponent = [&](int j) {
    return (score[j * samples.n + i] + (samples.label[i] == j ? 0.0 : loss.u)) / loss.rho;
  };
  double top = exponent(0), sum = 0.0;
  for (int j = 1; j < samples.m; ++j) top = std::max(top, exponent(j));
  for (int j = 0; j < samples.m; ++j) sum += std::exp(exponent(j) - top);
  return exponent(k) - top - std::log(sum);
}

double divergence(const MultiCoherence& loss, const ClassSamples& samples, const double* score, const double* s,
                  const double* dual, double size) {
  const size_t n = samples.n;
  double sum = 0.0;
  for (size_t i = 0; i < n; ++i) {
    if (samples.weight[i] == 0.0) continue;
    const double scale = size / (loss.kappa * samples.weight[i]);
    double of_sample = 0.0;
    for (int k = 0; k < samples.m; ++k) {
      const double share = s[k * n + i];
      double moved = scale * dual[k * n + i];
      if (samples.label[i] == k) moved = moved + 1.0 > slightly_positive ? moved + 1.0 : std::min(moved + 1.0, 0.0);
      if (moved < slightly_negative) return std::numeric_limits<double>::infinity();
      // A weight that was lifted says nothing of how small it is.
      if (share <= least && moved > 0.0)
        of_sample += moved * (std::log(moved) - log_weight(loss, samples, score, i, k) - 1.0);
      else of_sample += share * young(std::max(moved, 0.0) / share - 1.0);
    }
    sum += samples.weight[i] * of_sample;
  }
  return loss.kappa * loss.rho * sum;
}

}  // namespace

extern const ClassLoops class_loop_table;
const ClassLoops class_loop_table = {evaluate, value, curve, divergence};

}  // namespace clearning::CLEARNING_TARGET
