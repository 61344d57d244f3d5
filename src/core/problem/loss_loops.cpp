// Compiled several times, each time with other instruction-set flags and another CLEARNING_TARGET.
#include "problem/loss_loops.hpp"

namespace clearning::CLEARNING_TARGET {
namespace {

using std::size_t;

// Numbers below the normal range would slow every product with e and h down tenfold.
constexpr double negligible = 1e-150;

template <class L>
LossSums evaluate(const L& loss, const Samples& samples, const double* score, double a, double* e, double* h) {
  const L phi = loss;
  double value = 0.0, slope = 0.0, curvature = 0.0, mass = 0.0;
#pragma omp simd reduction(+ : value, slope, curvature, mass)
  for (size_t i = 0; i < samples.n; ++i) {
    const double y = samples.y[i], w = samples.weight[i];
    const LossPoint p = phi.at(y * (score[i] + a));
    const double pull = p.weight > negligible ? w * p.weight : 0.0;
    e[i] = -y * pull;
    h[i] = p.curvature > negligible ? w * p.curvature : 0.0;
    value += w * p.value;
    slope -= y * pull;
    mass += pull;
    curvature += h[i];
  }
  return LossSums{value, slope, curvature, mass};
}

template <class L>
LossSums slopes(const L& loss, const Samples& samples, const double* score, double a) {
  const L phi = loss;
  double slope = 0.0, curvature = 0.0, mass = 0.0;
#pragma omp simd reduction(+ : slope, curvature, mass)
  for (size_t i = 0; i < samples.n; ++i) {
    const double y = samples.y[i], w = samples.weight[i];
    const LossPoint p = phi.at(y * (score[i] + a));
    slope -= y * w * p.weight;
    mass += w * p.weight;
    curvature += w * p.curvature;
  }
  return LossSums{0.0, slope, curvature, mass};
}

template <class L>
double scaled_gap(const L& loss, const Samples& samples, const double* score, double a, double scale_positive,
                  double scale_negative) {
  const L phi = loss;
  double sum = 0.0;
#pragma omp simd reduction(+ : sum)
  for (size_t i = 0; i < samples.n; ++i) {
    const double y = samples.y[i];
    const double c = y > 0.0 ? scale_positive : scale_negative;
    sum += samples.weight[i] * phi.scaled_gap(y * (score[i] + a), c);
  }
  return sum;
}

template <class L>
double near_gap(const L& loss, const Samples& samples, const double* score, double a, const double* dual,
                double scale) {
  const L phi = loss;
  double sum = 0.0;
#pragma omp simd reduction(+ : sum)
  for (size_t i = 0; i < samples.n; ++i) {
    const double y = samples.y[i], w = samples.weight[i];
    const double s = -scale * dual[i] * y / (w > 0.0 ? w : 1.0);
    const double gap = phi.near_gap(y * (score[i] + a), s);  // which may be infinite
    sum += w > 0.0 ? w * gap : 0.0;
  }
  return sum;
}

template <class... L>
constexpr std::tuple<LossLoops<L>...> table_of(const std::variant<L...>*) noexcept {
  return {LossLoops<L>{evaluate<L>, slopes<L>, scaled_gap<L>, near_gap<L>}...};
}

}  // namespace

extern const LossTable loss_table;
constinit const LossTable loss_table = table_of(static_cast<const Loss*>(nullptr));

}  // namespace clearning::CLEARNING_TARGET
