// What a pass asks of the rows of one task, each in one loop: compiled once an instruction set.
#pragma once
#include <tuple>

#include "problem/losses.hpp"
#include "problem/multi_coherence.hpp"
#include "problem/samples.hpp"

namespace clearning::blocks {

// Sums over rows of weight * loss, of its derivative in the score, of that one's size, and of the Fenchel-Young gap of
// dual weights that were scaled down, or a bound on it.
struct TrainSums {
  double value, slope, mass, shrunk;
};

// Sums over held-out rows of weight * log-likelihood and of the weight of those whose class was hit.
struct JudgeSums {
  double likelihood, hits;
};

template <class L>
struct MarginLoops {
  // Fills r, the derivatives of the weighted loss in the scores; `keep` is what the dual weights are scaled by.
  TrainSums (*train)(const L&, const Samples&, const double* score, double intercept, double keep, double* r);
  JudgeSums (*judge)(const L&, const Samples&, const double* score, double intercept);
};

struct ClassRowLoops {
  // The gap of dual weights keep s, or a bound on it; infinite where a sample's own weight is too small to be known.
  double (*shrunk)(const MultiCoherence&, const ClassSamples&, const double* s, double keep);
  JudgeSums (*judge)(const MultiCoherence&, const ClassSamples&, const double* score);
  double (*sum)(const double*, std::size_t);
};

namespace detail {
template <class V>
struct EachMargin;
template <class... L>
struct EachMargin<std::variant<L...>> {
  using Table = std::tuple<MarginLoops<L>...>;
};
}  // namespace detail

using MarginTable = detail::EachMargin<Loss>::Table;
const MarginTable& margin_loops();
const ClassRowLoops& class_row_loops();

inline TrainSums train(const Loss& loss, const Samples& samples, const double* score, double a, double keep,
                       double* r) {
  return std::visit(
      [&]<class L>(const L& phi) {
        return std::get<MarginLoops<L>>(margin_loops()).train(phi, samples, score, a, keep, r);
      },
      loss);
}

inline JudgeSums judge(const Loss& loss, const Samples& samples, const double* score, double a) {
  return std::visit(
      [&]<class L>(const L& phi) { return std::get<MarginLoops<L>>(margin_loops()).judge(phi, samples, score, a); },
      loss);
}

}  // namespace clearning::blocks
