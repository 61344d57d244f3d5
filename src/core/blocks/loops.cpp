// Compiled several times, each time with other instruction-set flags and another CLEARNING_TARGET.
#include "blocks/loops.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "linalg/elementary.hpp"

namespace clearning::blocks::CLEARNING_TARGET {
namespace {

using std::size_t;

// Numbers below the normal range would slow every product with r down tenfold.
constexpr double negligible = 1e-150;

// What two terms that nearly cancel may be wrong by, as a share of their size.
constexpr double rounding = 1e-15;

// log of a probability, clipped as scikit-learn's log_loss does: to log(eps) and log(1 - eps).
CLEARNING_INLINE double clipped(double log_probability) {
  constexpr double low = -0x1.205966f2b4f12p+5, high = -0x1p-52;
  const double above = log_probability > low ? log_probability : low;
  return above < high ? above : high;
}

// log(x) of a normal number.
CLEARNING_INLINE double log_normal(double x) {
  const auto bits = std::bit_cast<std::int64_t>(x);
  const double mantissa = std::bit_cast<double>((bits & 0xfffffffffffff) | 0x3ff0000000000000);
  const double power = std::bit_cast<double>((bits >> 52) | 0x4330000000000000) - (0x1p52 + 1023.0);
  const bool upper = mantissa > 4.0 / 3.0;
  const double f = upper ? 0.5 * mantissa : mantissa, e = upper ? power + 1.0 : power;
  return e * 0x1.62e42fefa39efp-1 + twice_atanh((f - 1.0) / (f + 1.0));
}

// log(1 + x) for x >= 0.
CLEARNING_INLINE double log1p_positive(double x) {
  const double rounded = 1.0 + x;
  return log_normal(rounded) + (x - (rounded - 1.0)) / rounded;
}

CLEARNING_INLINE double softplus(double t) { return (t > 0.0 ? t : 0.0) + log1p_unit(exp_nonpositive(-std::fabs(t))); }

// log of the probability that the loss's link gives to the true class at margin z; losses without a link have none.
CLEARNING_INLINE double log_likelihood(const Coherence& phi, double z) {
  const double logit = softplus((z - phi.u) * phi.inverse_rho) - softplus(-(z + phi.u) * phi.inverse_rho);
  return clipped(-softplus(-logit));
}
template <class L>
CLEARNING_INLINE double log_likelihood(const L&, double) {
  return 0.0;
}

template <class L>
TrainSums train(const L& loss, const Samples& samples, const double* score, double a, double keep, double* r) {
  const L phi = loss;
  double value = 0.0, slope = 0.0, mass = 0.0, shrunk = 0.0;
#pragma omp simd reduction(+ : value, slope, mass, shrunk)
  for (size_t i = 0; i < samples.n; ++i) {
    const double y = samples.y[i], w = samples.weight[i], z = y * (score[i] + a);
    const LossPoint p = phi.at(z);
    const double pull = p.weight > negligible ? w * p.weight : 0.0;
    r[i] = -y * pull;
    value += w * p.value;
    slope -= y * pull;
    mass += pull;
    shrunk += w * phi.scaled_gap(z, keep);
  }
  return {value, slope, mass, shrunk};
}

template <class L>
JudgeSums judge(const L& loss, const Samples& samples, const double* score, double a) {
  const L phi = loss;
  double likelihood = 0.0, hits = 0.0;
#pragma omp simd reduction(+ : likelihood, hits)
  for (size_t i = 0; i < samples.n; ++i) {
    const double y = samples.y[i], w = samples.weight[i], f = score[i] + a;
    likelihood += w * log_likelihood(phi, y * f);
    hits += (f > 0.0) == (y > 0.0) ? w : 0.0;
  }
  return {likelihood, hits};
}

// kappa rho KL(s' || s): others lose the share d of their weight, which a sample's own class gains. Where its terms
// nearly cancel they are charged with their rounding, and with no more than log(1 + t) <= t - t^2/2 + t^3/3 says.
double shrunk(const MultiCoherence& loss, const ClassSamples& samples, const double* s, double keep) {
  constexpr size_t block = class_block;
  const double d = 1.0 - keep, log_keep = std::log(keep), of_others = d * d * (0.5 + d * (d / 3.0 + 1.0 / 6.0));
  double own[block], others[block], sum = 0.0;
  for (size_t begin = 0; begin < samples.n; begin += block) {
    const size_t rows = std::min(block, samples.n - begin);
    const double *label = samples.label + begin, *weight = samples.weight + begin;
    for (size_t i = 0; i < rows; ++i) own[i] = others[i] = 0.0;
    for (int k = 0; k < samples.m; ++k) {
      const double* sk = s + k * samples.n + begin;
#pragma omp simd
      for (size_t i = 0; i < rows; ++i) {
        own[i] = label[i] == k ? sk[i] : own[i];
        others[i] += label[i] == k ? 0.0 : sk[i];
      }
    }
#pragma omp simd reduction(+ : sum)
    for (size_t i = 0; i < rows; ++i) {
      const double odds = others[i] / own[i], up = d * odds;
      const double series = others[i] * of_others + own[i] * up * up * (0.5 + up * (up / 3.0 - 1.0 / 6.0));
      const double kept = keep * others[i];
      const double exact = kept * log_keep + (1.0 - kept) * log1p_positive(up) + rounding * d * others[i];
      const double gap = series < exact ? series : exact;
      // A weight that was lifted says nothing of how small it is.
      const double known = own[i] > negligible ? weight[i] * gap : std::numeric_limits<double>::infinity();
      sum += weight[i] > 0.0 ? known : 0.0;
    }
  }
  return loss.kappa * loss.rho * sum;
}

// Probabilities eta_k ~ a_k (a_k + e^{u/rho} sum of the other a), with a seen from the largest score.
JudgeSums judge_classes(const MultiCoherence& loss, const ClassSamples& samples, const double* score) {
  constexpr size_t block = class_block;
  const double inverse = 1.0 / loss.rho, cold = std::exp(-loss.u / loss.rho);
  const size_t n = samples.n;
  double largest[block], top[block], rest[block], own[block], total[block];
  double likelihood = 0.0, hits = 0.0;
  for (size_t begin = 0; begin < n; begin += block) {
    const size_t rows = std::min(block, n - begin);
    const double *label = samples.label + begin, *weight = samples.weight + begin;
    for (size_t i = 0; i < rows; ++i) {
      largest[i] = score[begin + i];
      top[i] = rest[i] = total[i] = 0.0;
    }
    for (int k = 1; k < samples.m; ++k) {
      const double* g = score + k * n + begin;
#pragma omp simd
      for (size_t i = 0; i < rows; ++i) {
        top[i] = g[i] > largest[i] ? k : top[i];
        largest[i] = g[i] > largest[i] ? g[i] : largest[i];
      }
    }
    const auto near = [&](double g, size_t i) { return exp_nonpositive((g - largest[i]) * inverse); };
    for (int k = 0; k < samples.m; ++k) {
      const double* g = score + k * n + begin;
#pragma omp simd
      for (size_t i = 0; i < rows; ++i) rest[i] += top[i] == k ? 0.0 : near(g[i], i);
    }
    for (int k = 0; k < samples.m; ++k) {
      const double* g = score + k * n + begin;
#pragma omp simd
      for (size_t i = 0; i < rows; ++i) {
        const double a = top[i] == k ? 1.0 : near(g[i], i);
        const double odds = a * (cold * a + (top[i] == k ? rest[i] : 1.0 + rest[i] - a));
        total[i] += odds;
        own[i] = label[i] == k ? odds : own[i];
      }
    }
#pragma omp simd reduction(+ : likelihood, hits)
    for (size_t i = 0; i < rows; ++i) {
      const double share = own[i] / total[i];
      likelihood += weight[i] * clipped(log_normal(share > negligible ? share : negligible));
      hits += label[i] == top[i] ? weight[i] : 0.0;
    }
  }
  return {likelihood, hits};
}

double sum(const double* v, size_t n) {
  double total = 0.0;
#pragma omp simd reduction(+ : total)
  for (size_t i = 0; i < n; ++i) total += v[i];
  return total;
}

template <class... L>
constexpr std::tuple<MarginLoops<L>...> table_of(const std::variant<L...>*) noexcept {
  return {MarginLoops<L>{train<L>, judge<L>}...};
}

}  // namespace

extern const MarginTable margin_table;
constinit const MarginTable margin_table = table_of(static_cast<const Loss*>(nullptr));
extern const ClassRowLoops class_row_table;
const ClassRowLoops class_row_table = {shrunk, judge_classes, sum};

}  // namespace clearning::blocks::CLEARNING_TARGET
