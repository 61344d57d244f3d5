// A loss over all samples: the loops that every Newton step runs, compiled once an instruction set.
#pragma once
#include <tuple>

#include "problem/losses.hpp"
#include "problem/samples.hpp"

namespace clearning {

// Sums over the samples of weight * loss, of its first two derivatives in the score, and of the first's size.
struct LossSums {
  double value, slope, curvature, mass;
};

template <class L>
struct LossLoops {
  // Fills e (first derivative of the weighted loss in the score) and h (second) at score + intercept.
  LossSums (*evaluate)(const L&, const Samples&, const double* score, double intercept, double* e, double* h);
  // The same sums but the loss's value, at less than half the price.
  LossSums (*slopes)(const L&, const Samples&, const double* score, double intercept);
  // Fenchel-Young gap of the samples when the dual weights of the two classes are scaled.
  double (*scaled_gap)(const L&, const Samples&, const double* score, double intercept, double scale_positive,
                       double scale_negative);
  // The same, bounded, at a dual point scale * dual that is near the losses' own.
  double (*near_gap)(const L&, const Samples&, const double* score, double intercept, const double* dual, double scale);
};

namespace detail {
template <class V>
struct EachLoss;
template <class... L>
struct EachLoss<std::variant<L...>> {
  using Table = std::tuple<LossLoops<L>...>;
};
}  // namespace detail

using LossTable = detail::EachLoss<Loss>::Table;
const LossTable& loss_loops();

inline LossSums evaluate(const Loss& loss, const Samples& samples, const double* score, double a, double* e,
                         double* h) {
  return std::visit(
      [&]<class L>(const L& phi) {
        return std::get<LossLoops<L>>(loss_loops()).evaluate(phi, samples, score, a, e, h);
      },
      loss);
}

inline LossSums slopes(const Loss& loss, const Samples& samples, const double* score, double a) {
  return std::visit(
      [&]<class L>(const L& phi) { return std::get<LossLoops<L>>(loss_loops()).slopes(phi, samples, score, a); }, loss);
}

inline double near_gap(const Loss& loss, const Samples& samples, const double* score, double a, const double* dual,
                       double scale) {
  return std::visit(
      [&]<class L>(const L& phi) {
        return std::get<LossLoops<L>>(loss_loops()).near_gap(phi, samples, score, a, dual, scale);
      },
      loss);
}

inline double scaled_gap(const Loss& loss, const Samples& samples, const double* score, double a, double scale_positive,
                         double scale_negative) {
  return std::visit(
      [&]<class L>(const L& phi) {
        return std::get<LossLoops<L>>(loss_loops()).scaled_gap(phi, samples, score, a, scale_positive, scale_negative);
      },
      loss);
}

}  // namespace clearning
