// The duality gap of many classes: Fenchel-Young terms of samples and coefficients at a feasible dual point. None of
// them is negative. A dual point is R = kappa w (s' - e_c), s' in the simplex; with intercepts each class sums to zero.
#pragma once
#include "solver/classes/problem.hpp"
#include "solver/references.hpp"

namespace clearning {

// Dual points are made feasible in place; each function says whether it could.
namespace dual_point {

// Weights that left the simplex go back to it, sample by sample. Sets `changed` where there were any.
inline void confine(const MultiCoherence& loss, const ClassSamples& samples, Vector& r, bool& changed) {
  const std::size_t n = samples.n;
  for (std::size_t i = 0; i < n; ++i) {
    const double unit = loss.kappa * samples.weight[i];
    double total = 0.0;
    bool outside = false;
    for (int k = 0; k < samples.m; ++k) {
      const double s = r[k * n + i] + (samples.label[i] == k ? unit : 0.0);
      outside = outside || s < 0.0;
      total += std::max(s, 0.0);
    }
    if (!outside || total <= 0.0) continue;
    changed = true;
    const double shrink = unit / total;
    for (int k = 0; k < samples.m; ++k) {
      const double own = samples.label[i] == k ? unit : 0.0;
      r[k * n + i] = shrink * std::max(r[k * n + i] + own, 0.0) - own;
    }
  }
}

// Whether each class sums to zero but for rounding. A sample's own class has the difference of its weight and what is
// left of it: rounded as the weight is, however small it may be.
inline bool is_even(const MultiCoherence& loss, const ClassSamples& samples, const Vector& r) {
  for (int k = 0; k < samples.m; ++k) {
    double sum = 0.0, size = 0.0, rounded = 0.0;
    for (std::size_t i = 0; i < samples.n; ++i) {
      sum += r[k * samples.n + i];
      size += std::fabs(r[k * samples.n + i]);
      if (samples.label[i] == k) rounded += tuning::unit_rounding * loss.kappa * samples.weight[i];
    }
    if (!(std::fabs(sum) <= tuning::class_evenness * size + rounded)) return false;
  }
  return true;
}

// What flows from class to class, M_cj = sum over the samples of class c of R_ij, is balanced by a scaling
// d_c / d_j of it (Osborne): then what a class gives is what it gets.
inline Vector flow_scaling(const ClassSamples& samples, const Vector& r) {
  const int m = samples.m;
  const std::size_t n = samples.n;
  Vector flow(static_cast<std::size_t>(m) * m, 0.0), d(m, 1.0);
  for (int j = 0; j < m; ++j)
    for (std::size_t i = 0; i < n; ++i) {
      const int c = static_cast<int>(samples.label[i]);
      if (c != j) flow[static_cast<std::size_t>(c) * m + j] += r[j * n + i];
    }
  for (int turn = 0; turn < tuning::class_scalings; ++turn) {
    double uneven = 0.0, total = 0.0;
    for (int k = 0; k < m; ++k) {
      double gives = 0.0, gets = 0.0;
      for (int j = 0; j < m; ++j) {
        gives += flow[static_cast<std::size_t>(k) * m + j] * d[k] / d[j];
        gets += flow[static_cast<std::size_t>(j) * m + k] * d[j] / d[k];
      }
      uneven = std::max(uneven, std::fabs(gives - gets));
      total = std::max({total, gives, gets});
      if (gives > 0.0 && gets > 0.0) d[k] *= std::sqrt(gets / gives);
    }
    if (uneven <= 0.1 * tuning::unit_rounding * total) break;
  }
  return d;
}

inline void balance(const MultiCoherence& loss, const ClassSamples& samples, Vector& r) {
  const std::size_t n = samples.n;
  const Vector d = flow_scaling(samples, r);
  Vector others(n, 0.0);
  for (int k = 0; k < samples.m; ++k)
    for (std::size_t i = 0; i < n; ++i) {
      const int c = static_cast<int>(samples.label[i]);
      if (c == k) continue;
      r[k * n + i] *= d[c] / d[k];
      others[i] += r[k * n + i];
    }
  double shrink = 1.0;
  for (std::size_t i = 0; i < n; ++i)
    if (others[i] > loss.kappa * samples.weight[i])
      shrink = std::min(shrink, loss.kappa * samples.weight[i] / others[i]);
  for (int k = 0; k < samples.m; ++k)
    for (std::size_t i = 0; i < n; ++i)
      r[k * n + i] = static_cast<int>(samples.label[i]) == k ? -shrink * others[i] : shrink * r[k * n + i];
}

// Makes each class orthogonal to the differences of columns without a penalty; what classes and samples sum to stays.
template <class P>
void take_off_differences(const P& problem, Vector& r) {
  for (const Difference& difference : problem.differences)
    for (int k = 0; k < problem.m; ++k) {
      const double* direction = difference.direction.data();
      double* part = r.data() + k * problem.n;
      loops().axpy_weighted(-loops().dot(direction, part, problem.n), direction, problem.samples.weight, part,
                            problem.n);
    }
}

// The samples' share alone, which needs no pass over the design. Makes the point feasible for samples and intercepts.
template <class P>
double samples_share(const P& problem, const ClassIterate& x, Vector& r) {
  bool changed = false;
  take_off_differences(problem, r);
  confine(problem.loss, problem.samples, r, changed);
  if (problem.settings.intercept && !is_even(problem.loss, problem.samples, r)) {
    balance(problem.loss, problem.samples, r);
    if (!is_even(problem.loss, problem.samples, r)) return INFINITY;
  }
  return class_loops().divergence(problem.loss, problem.samples, x.s.data(), r.data(), 1.0);
}

// What rounding leaves of the classes' sums, times the intercepts that it pulls at.
template <class P>
double uneven(const P& problem, const ClassIterate& x, const Vector& r) {
  double sum = 0.0;
  if (!problem.settings.intercept) return sum;
  const Vector sums = class_sums(r, problem.n, problem.m);
  for (int k = 0; k < problem.m; ++k) sum += std::fabs(sums[k] * x.a[k]);
  return sum;
}

}  // namespace dual_point

// A residual, and the coefficients that belong to it: rows of some features.
struct ClassDual {
  const Vector& r;
  const Columns& features;
  const Vector& b;
};

template <class P, class Form = typename P::Form>
class ClassCertificate {
 public:
  explicit ClassCertificate(const P& problem) : problem_(problem), v_(problem.p * problem.m) {}

  // Correlations of all columns with the last dual point that was looked at in full.
  const Vector& correlations() const { return v_; }
  // All of them, computed anew: what later ones are bounded by.
  void correlate(const ClassIterate& x, const Level&) { correlate(x.e); }
  void correlate(const Vector& r) {
    Panel<typename P::DesignType>::all_dots(problem_.design, r.data(), problem_.m, v_.data());
    references_.remember(r, v_);
  }
  // Of those columns alone that have a coefficient or may pull near their threshold; what is known of the others is
  // that they do not.
  void correlate_near(const ClassIterate& x, const Level& at, const Vector& r) {
    const Columns near = near_columns(x, at, r);
    if (static_cast<double>(near.size()) > tuning::doubtful_share * static_cast<double>(problem_.p))
      return correlate(r);
    Vector dots(near.size());
    for (int k = 0; k < problem_.m; ++k) {
      problem_.design.dots(near, r.data() + k * problem_.n, dots.data());
      for (std::size_t c = 0; c < near.size(); ++c) v_[static_cast<Index>(near[c]) * problem_.m + k] = dots[c];
    }
  }

  // The gap of the iterate at a point that samples_share has made feasible for the samples.
  double gap(const ClassIterate& x, const Level& at, const ClassDual& dual_pair) {
    const Vector& r = dual_pair.r;
    correlate_near(x, at, r);
    const double size = std::sqrt(loops().dot(r.data(), r.data(), r.size()));
    const double apart = pull_apart(r);
    if (!is_orthogonal(size) || apart == INFINITY) return INFINITY;
    const Correlations dual{v_, problem_.length, tuning::unit_rounding * size};
    const double scale = problem_.penalty.feasible_scale(at, dual);
    const double coefficients = problem_.penalty.gap(at, dual, scale, x.b);
    return std::max(coefficients, 0.0) +
           class_loops().divergence(problem_.loss, problem_.samples, x.s.data(), r.data(), scale) + leftover(x, r) +
           tuning::farthest_free * apart * reach(x);
  }

 private:
  // Sets all correlations to what the references foresee, and finds the columns of which that is not enough.
  Columns near_columns(const ClassIterate& x, const Level& at, const Vector& r) {
    const double radius = references_.predict(r, v_);
    Vector square = squares(references_.rest()), way(problem_.m);
    const double rest = std::sqrt(std::accumulate(square.begin(), square.end(), 0.0));
    for (int k = 0; k < problem_.m; ++k)
      way[k] = std::sqrt(square[k]) + (radius - rest) + tuning::rounding_of_sums * radius;
    std::vector<char> is_near(problem_.p, 0);
    for (Index g = 0; g < problem_.penalty.blocks(); ++g) {
      bool near = !(problem_.penalty.farthest(v_, problem_.length, g, way, radius) <
                    tuning::near_threshold * at.l1 * problem_.penalty.factor(g));
      problem_.penalty.each_coefficient(
          g, [&](int j, int k) { near = near || x.b[static_cast<std::size_t>(j) * problem_.m + k] != 0.0; });
      if (near) problem_.penalty.each_coefficient(g, [&](int j, int) { is_near[j] = 1; });
    }
    Columns near;
    for (Index j = 0; j < problem_.p; ++j)
      if (is_near[j]) near.push_back(static_cast<int>(j));
    return near;
  }
  // Of each class.
  Vector squares(const Vector& matrix) const {
    Vector out(problem_.m);
    for (int k = 0; k < problem_.m; ++k) {
      const double* part = matrix.data() + k * problem_.n;
      out[k] = loops().dot(part, part, problem_.n);
    }
    return out;
  }
  // Coefficients without a penalty can follow any pull, so there must be none.
  bool is_orthogonal(double size) const {
    bool all = true;
    for (int block : problem_.free)
      if (problem_.penalty.must_vanish(v_, block))
        problem_.penalty.each_coefficient(block, [&](int j, int k) {
          const double v = v_[static_cast<std::size_t>(j) * problem_.m + k];
          all = all && std::fabs(v) <= 10.0 * tuning::orthogonal * size * problem_.length[j];
        });
    return all;
  }
  // What rounding leaves of the classes' sums and of the pull on free coefficients, times what it pulls at.
  double leftover(const ClassIterate& x, const Vector& r) const {
    double sum = dual_point::uneven(problem_, x, r);
    for (int block : problem_.free)
      problem_.penalty.each_coefficient(block, [&](int j, int k) {
        const std::size_t t = static_cast<std::size_t>(j) * problem_.m + k;
        sum += 2.0 * std::fabs(v_[t] * x.b[t]);
      });
    return sum;
  }

  // The pull along differences of columns without a penalty, infinite where it is not next to none; and the scores
  // that their coefficients may make.
  double pull_apart(const Vector& r) const {
    double sum = 0.0;
    if (problem_.differences.empty()) return sum;
    for (int k = 0; k < problem_.m; ++k) {
      const double* part = r.data() + k * problem_.n;
      const double length = length_by_weight(part, problem_.samples.weight, problem_.n);
      for (const Difference& difference : problem_.differences) {
        const Pull pull(difference, part);
        if (pull.known > tuning::most_pull_apart * length + pull.hidden) return INFINITY;
        sum += pull.most();
      }
    }
    return sum;
  }
  double reach(const ClassIterate& x) const {
    if (problem_.differences.empty()) return 0.0;
    const double natural = problem_.loss.u + problem_.loss.rho * std::log(static_cast<double>(problem_.m));
    double square = 0.0;
    for (int k = 0; k < problem_.m; ++k)
      for (Index i = 0; i < problem_.n; ++i)
        square += problem_.samples.weight[i] * std::pow(x.score[k * problem_.n + i], 2);
    return std::sqrt(square) + natural;
  }

  const P& problem_;
  Vector v_;
  References references_;  // points of which all were computed
};

}  // namespace clearning
