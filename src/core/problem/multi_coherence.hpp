// The loss of m scores: kappa rho log(sum over j of exp((u [j != c] + g_j - g_c) / rho)), and the loops over all
// samples that every Newton step runs, compiled once an instruction set.
// Matrices of samples and classes are stored class by class: that of sample i and class k is at k n + i.
#pragma once
#include <cstddef>

namespace clearning {

struct MultiCoherence {
  double rho = 1.0, u = 1.0, kappa = 1.0;
};

// Classes 0 ... m - 1 as numbers, weights that sum to one, and what is added to each score.
struct ClassSamples {
  const double* label;
  const double* weight;
  const double* offset;
  std::size_t n;
  int m;
};

// Samples that are taken at a time: they stay in the first-level cache with what is summed over the classes.
inline constexpr std::size_t class_block = 256;

struct ClassLoops {
  // s = softmax((g + u (1 - e_c)) / rho) and e = kappa w (s - e_c), the loss's gradient; returns the weighted loss.
  double (*evaluate)(const MultiCoherence&, const ClassSamples&, const double* score, double* s, double* e);
  // The weighted loss at score + size * along; space holds class_block numbers a class.
  double (*value)(const MultiCoherence&, const ClassSamples&, const double* score, double size, const double* along,
                  double* space);
  // out = kappa w / rho (diag s - s s') along, sample by sample.
  void (*curve)(const MultiCoherence&, const ClassSamples&, const double* s, const double* along, double* out);
  // Fenchel-Young gap of the samples at size * dual: kappa rho w KL(s' || s), s' = e_c + size * dual / (kappa w).
  // Infinite where some s' is not in the simplex.
  double (*divergence)(const MultiCoherence&, const ClassSamples&, const double* score, const double* s,
                       const double* dual, double size);
};

const ClassLoops& class_loops();

}  // namespace clearning
