// The duality gap of many classes: Fenchel-Young terms of samples and coefficients at a feasible dual point. None of
// them is negative. A dual point is R = kappa w (s' - e_c), s' in the simplex; with intercepts each class sums to zero.
#pragma once
#include "solver/classes/repair.hpp"
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

// Whether each class sums to zero but for that share of its size. A sample's own class has the difference of its weight
// and what is left of it: rounded as the weight is, however small it may be.
inline bool is_even(const MultiCoherence& loss, const ClassSamples& samples, const Vector& r,
                    double tolerance = tuning::class_evenness) {
  for (int k = 0; k < samples.m; ++k) {
    double sum = 0.0, size = 0.0, rounded = 0.0;
    for (std::size_t i = 0; i < samples.n; ++i) {
      sum += r[k * samples.n + i];
      size += std::fabs(r[k * samples.n + i]);
      if (samples.label[i] == k) rounded += tuning::unit_rounding * loss.kappa * samples.weight[i];
    }
    if (!(std::fabs(sum) <= tolerance * size + rounded)) return false;
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
  for (const Difference& difference : problem.near.differences())
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
  if (problem.settings.intercept && !is_even(problem.loss, problem.samples, r, tuning::best_evenness)) {
    balance(problem.loss, problem.samples, r);
    if (!is_even(problem.loss, problem.samples, r)) return INFINITY;
  }
  return class_loops().divergence(problem.loss, problem.samples, x.score.data(), x.s.data(), r.data(), 1.0);
}

// What rounding leaves of the classes' sums pulls at their intercepts.
struct Unevenness {
  double pull = 0.0;  // that it is at coefficients, a unit of an entry
  double cost = 0.0;  // beside that
};

// How far another class's intercept may be above that of each class, but for what a sample's entries make of the
// coefficients: at an objective that is known some sample of the class is not lost to the other one.
template <class P>
Vector highest_above(const P& problem, double objective) {
  const ClassSamples& samples = problem.samples;
  Vector most(samples.m, INFINITY);
  for (std::size_t i = 0; i < samples.n; ++i) {
    if (samples.weight[i] == 0.0) continue;
    const int own = static_cast<int>(samples.label[i]);
    double least = INFINITY;
    for (int k = 0; k < samples.m; ++k) least = std::min(least, samples.offset[k * samples.n + i]);
    const double ahead = samples.offset[own * samples.n + i] - least;
    most[own] = std::min(most[own], objective / (problem.loss.kappa * samples.weight[i]) + ahead);
  }
  return most;
}

// The solution's intercepts differ as that allows, and its objective is not above the iterate's.
template <class P>
Unevenness uneven(const P& problem, const ClassIterate& x, const Vector& r, double objective) {
  Unevenness of;
  if (!problem.settings.intercept) return of;
  const Vector sums = class_sums(r, problem.n, problem.m), most = highest_above(problem, objective);
  for (int k = 0; k < problem.m; ++k) {
    const double left = std::fabs(sums[k]);
    if (left == 0.0) continue;
    of.pull = std::max(of.pull, left);
    of.cost += left * (std::fabs(x.a[k]) + most[k]);
  }
  return of;
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
  explicit ClassCertificate(const P& problem)
      : problem_(problem), v_(problem.p * problem.m), repair_(problem),
        bounds_what_is_free_(problem.penalty.bounds_what_is_free()) {}

  // Correlations of all columns with the last dual point that was looked at in full.
  const Vector& correlations() const { return v_; }
  // All of them, computed anew: what later ones are bounded by.
  void correlate(const ClassIterate& x, const Level&) { correlate(x.e); }
  void correlate(const Vector& r) {
    Panel<typename P::DesignType>::all_dots(problem_.design, r.data(), problem_.m, v_.data());
    references_.remember(r, v_);
  }
  // Of those columns alone that have a coefficient or may pull near their threshold; what is known of the others is
  // that they do not, even if a class's residual is moved by as much as `off`.
  void correlate_near(const ClassIterate& x, const Level& at, const Vector& r, double off) {
    const Columns near = near_columns(x, at, r, off);
    if (static_cast<double>(near.size()) > tuning::doubtful_share * static_cast<double>(problem_.p))
      return correlate(r);
    Vector dots(near.size());
    for (int k = 0; k < problem_.m; ++k) {
      problem_.design.dots(near, r.data() + k * problem_.n, dots.data());
      for (std::size_t c = 0; c < near.size(); ++c) v_[static_cast<Index>(near[c]) * problem_.m + k] = dots[c];
    }
  }

  // The gap of the iterate at a point that samples_share has made feasible for the samples. A gap as small as the goal
  // is what is wanted.
  double gap(const ClassIterate& x, const Level& at, const ClassDual& dual_pair, double goal) {
    if (problem_.free.empty()) return gap_of_penalised(x, at, dual_pair.r);
    Vector r = dual_pair.r;
    const double share = bounds_what_is_free_ ? INFINITY : share_without_pull(x, goal, r);
    correlate_near(x, at, r, 0.0);
    return share <= 1.0 ? gap_at(x, at, r, share) : INFINITY;
  }

 private:
  // Where nothing but intercepts has no penalty: what is left of their pull is weighed by what they can be.
  double gap_of_penalised(const ClassIterate& x, const Level& at, const Vector& r) {
    const auto uneven = dual_point::uneven(problem_, x, r, objective(x, at));
    correlate_near(x, at, r, uneven.pull);
    const Correlations dual{v_, problem_.length, tuning::unit_rounding * length_of(r) + uneven.pull};
    const double scale = problem_.penalty.feasible_scale(at, dual);
    return std::max(problem_.penalty.gap(at, dual, scale, x.b), 0.0) + divergence(x, r, scale) + uneven.cost;
  }
  // Moves the point until next to nothing pulls at intercepts and free columns; the share of their room by which
  // weights would have to move still.
  double share_without_pull(const ClassIterate& x, double goal, Vector& r) {
    double share = repair_.share(r);
    if (share <= tuning::little_room) return share;
    const Vector given = r;
    if (share <= 1.0) share = repair_.move(r) ? repair_.share(r) : INFINITY;
    if (share <= 1.0) return share;
    // Classes that columns without a penalty set apart lose their weight on the way, without an end: those that have
    // lost all but an even share of what may be left out, or where that does not help as many as may be.
    const double most = tuning::left_out_share * std::max(goal, tuning::null_accuracy * x.loss);
    for (const double each : {most / static_cast<double>(r.size()), most}) {
      r = given;
      if (leave_out(x, each, most, r) && repair_.move(r)) share = repair_.share(r);
      if (share <= 1.0) return share;
    }
    return INFINITY;
  }
  double gap_at(const ClassIterate& x, const Level& at, const Vector& r, double share) {
    const double size = length_of(r), off = share * longest_room();
    if (off > 0.0) correlate_near(x, at, r, off);
    if (!is_orthogonal(size) || !is_orthogonal_to_differences(r)) return INFINITY;
    const Correlations dual{v_, problem_.length, tuning::unit_rounding * size + off};
    const double scale = problem_.penalty.feasible_scale(at, dual);
    const double coefficients = problem_.penalty.gap(at, dual, scale, x.b);
    // What is scaled goes to each sample's own weight, where it may cost the loss itself.
    const double edges = most_at_edges(x, r) + 2.0 * (1.0 - scale) * x.loss;
    double of_samples = divergence(x, r, scale) + share * edges;
    if (scale == 1.0) of_samples = std::min(of_samples, divergence_near(x, r, share));
    return std::max(coefficients, 0.0) + of_samples + moved(x, off);
  }
  static double length_of(const Vector& r) { return std::sqrt(loops().dot(r.data(), r.data(), r.size())); }

  // Takes weights of classes at samples, the cheapest first, that cost so much each at most and so much together;
  // whether there were any.
  bool leave_out(const ClassIterate& x, double each, double most, Vector& r) const {
    const Index n = problem_.n;
    const auto is_own = [&](std::size_t cell) {
      return static_cast<std::size_t>(problem_.samples.label[cell % n]) == cell / n;
    };
    std::vector<std::pair<double, std::size_t>> costs;
    for (std::size_t cell = 0; cell < r.size(); ++cell)
      if (r[cell] != 0.0 && !is_own(cell))
        costs.emplace_back(problem_.loss.kappa * problem_.loss.rho * problem_.samples.weight[cell % n] * x.s[cell],
                           cell);
    std::sort(costs.begin(), costs.end());
    double together = 0.0;
    bool any = false;
    for (const auto& [cost, cell] : costs) {
      together += cost;
      if (cost > each || together > most) break;
      r[cell] = 0.0;
      any = true;
    }
    for (Index i = 0; i < n; ++i) {
      const Index own = static_cast<Index>(problem_.samples.label[i]) * n + i;
      double others = 0.0;
      for (int k = 0; k < problem_.m; ++k)
        if (const Index cell = k * n + i; cell != own) others += r[cell];
      r[own] = -others;
    }
    return any;
  }
  double divergence(const ClassIterate& x, const Vector& r, double scale) const {
    return class_loops().divergence(problem_.loss, problem_.samples, x.score.data(), x.s.data(), r.data(), scale);
  }

  // Sets all correlations to what the references foresee, and finds the columns of which that is not enough.
  Columns near_columns(const ClassIterate& x, const Level& at, const Vector& r, double off) {
    const double radius = references_.predict(r, v_);
    Vector square = squares(references_.rest()), way(problem_.m);
    const double rest = std::sqrt(std::accumulate(square.begin(), square.end(), 0.0));
    for (int k = 0; k < problem_.m; ++k)
      way[k] = std::sqrt(square[k]) + (radius - rest) + tuning::rounding_of_sums * radius + off;
    std::vector<char> is_near(problem_.p, 0);
    for (Index g = 0; g < problem_.penalty.blocks(); ++g) {
      bool near = !(problem_.penalty.farthest(v_, problem_.length, g, way, radius + off * std::sqrt(problem_.m)) <
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
  double longest_room() const {
    const Vector square = squares(repair_.room());
    return std::sqrt(*std::max_element(square.begin(), square.end()));
  }
  double weight_of(const Vector& r, Index i, int k) const {
    const bool is_own = static_cast<int>(problem_.samples.label[i]) == k;
    return r[k * problem_.n + i] + (is_own ? problem_.loss.kappa * problem_.samples.weight[i] : 0.0);
  }

  // The Fenchel-Young terms where weights have moved as far as they may, at most: they are twice what they were, and
  // the terms are convex in them.
  double most_at_edges(const ClassIterate& x, const Vector& r) const {
    const MultiCoherence& loss = problem_.loss;
    const double blur = loss.rho * std::log(static_cast<double>(problem_.m));
    Vector gain(problem_.m);
    double sum = 0.0;
    for (Index i = 0; i < problem_.n; ++i) {
      if (problem_.samples.weight[i] == 0.0) continue;
      const int own = static_cast<int>(problem_.samples.label[i]);
      for (int k = 0; k < problem_.m; ++k)
        gain[k] = (k == own ? 0.0 : loss.u) + x.score[k * problem_.n + i] - x.score[own * problem_.n + i];
      const double most = *std::max_element(gain.begin(), gain.end()) + blur;
      for (int k = 0; k < problem_.m; ++k) sum += std::max(weight_of(r, i, k), 0.0) * (most - gain[k]);
    }
    return 2.0 * sum;
  }

  // The same where weights have moved by that share at most: relative entropies are below the squares of
  // differences, by the weights at the iterate.
  double divergence_near(const ClassIterate& x, const Vector& r, double share) const {
    double sum = 0.0;
    for (Index i = 0; i < problem_.n; ++i) {
      const double unit = problem_.loss.kappa * problem_.samples.weight[i];
      if (unit == 0.0) continue;
      double square = 0.0;
      for (int k = 0; k < problem_.m; ++k) {
        const double there = x.s[k * problem_.n + i], away = std::fabs(weight_of(r, i, k) / unit - there);
        const double most = away + share * repair_.room()[k * problem_.n + i] / unit;
        if (most > 0.0) square += most * (most / there);
      }
      sum += unit * square;
    }
    return problem_.loss.rho * sum;
  }

  // What the coefficients' terms change where correlations are that far off, by the columns' lengths, and where nothing
  // pulls at free ones.
  double moved(const ClassIterate& x, double off) const {
    double sum = 0.0;
    for (Index block = 0; block < problem_.penalty.blocks(); ++block) {
      const bool is_free = problem_.penalty.is_free(block);
      problem_.penalty.each_coefficient(block, [&](int j, int k) {
        const std::size_t t = static_cast<std::size_t>(j) * problem_.m + k;
        if (x.b[t] != 0.0) sum += std::fabs(x.b[t]) * (is_free ? std::fabs(v_[t]) : off * problem_.length[j]);
      });
    }
    return sum;
  }

  // Whether the pull along differences of columns without a penalty is next to none.
  bool is_orthogonal_to_differences(const Vector& r) const {
    for (int k = 0; k < problem_.m; ++k) {
      const double* part = r.data() + k * problem_.n;
      const double length = length_by_weight(part, problem_.samples.weight, problem_.n);
      for (const Difference& difference : problem_.near.differences()) {
        const Pull pull(difference, part);
        if (pull.known > tuning::most_pull_apart * length + pull.hidden) return false;
      }
    }
    return true;
  }

  double objective(const ClassIterate& x, const Level& at) const {
    return x.loss + problem_.penalty.value(at, every_index(problem_.p), x.b);
  }

  const P& problem_;
  Vector v_;
  ClassRepair<P> repair_;
  const bool bounds_what_is_free_;
  References references_;  // points of which all were computed
};

}  // namespace clearning
