// Elastic nets on the rows B_j of coefficients, one a class: each coefficient alone, or groups of rows together.
//   Elementwise  l1 sum l1_factor_j |B_jk| + ridge sum l2_factor_j B_jk^2 / 2, with bounds
//   Grouped      l1 sum l1_factor_g ||B_g||_2 + ridge sum l2_factor_g ||B_g||^2 / 2, a group spanning all classes
// A block is what enters or leaves as a whole: a coefficient j m + k, or a group. Coefficients of chosen features are
// stored feature by feature, m numbers each.
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "linalg/types.hpp"
#include "problem/penalty.hpp"
#include "tuning.hpp"

namespace clearning {

// What multiplies the two parts at one penalty.
struct Level {
  double l1 = 0.0, ridge = 0.0;
};

// How far a step of a model may go wrong in a correlation: `noise` times the column's length.
struct Correlations {
  const Vector& v;       // p m numbers
  const Vector& length;  // a column
  double noise;
};

struct Elementwise {
  int m;
  double l1_ratio;
  Vector l1_factor, l2_factor;  // a feature
  Vector lower, upper;          // a coefficient
  static constexpr bool is_separable = true;
  // A factor of so many coefficients serves on while no more of them have come or gone.
  static std::size_t changes_per_factor(std::size_t had) {
    return tuning::least_changes + had / tuning::changes_per_factor;
  }

  Index blocks() const { return static_cast<Index>(l1_factor.size()) * m; }
  Index block_of(Index j, int k) const { return j * m + k; }
  double factor(Index block) const { return l1_factor[block / m]; }
  double ridge_factor(Index block) const { return l2_factor[block / m]; }
  bool is_free(Index block) const { return factor(block) == 0.0 && ridge_factor(block) == 0.0; }
  bool is_open(Index j) const {
    bool open = is_free(j * m);
    for (int k = 0; k < m && open; ++k) open = std::isinf(lower[j * m + k]) && std::isinf(upper[j * m + k]);
    return open;
  }
  // Whether no penalty and no bound keeps one of a feature's coefficients near.
  bool reaches_far(Index j) const {
    bool far = false;
    for (int k = 0; k < m && !far; ++k) far = std::isinf(lower[j * m + k]) || std::isinf(upper[j * m + k]);
    return far && is_free(j * m);
  }
  bool has_bounds() const {
    const auto is_finite = [](double bound) { return std::isfinite(bound); };
    return std::any_of(lower.begin(), lower.end(), is_finite) || std::any_of(upper.begin(), upper.end(), is_finite);
  }
  bool bounds_what_is_free() const {
    bool found = false;
    for (Index block = 0; block < blocks() && !found; ++block)
      found = is_free(block) && (std::isfinite(lower[block]) || std::isfinite(upper[block]));
    return found;
  }
  // A bound on a block's pull at another dual point, given how far each class's and all classes' part of it went.
  double farthest(const Vector& v, const Vector& length, Index block, const Vector& way, double) const {
    return std::fabs(v[block]) + length[block / m] * way[block % m];
  }
  // Whether a pull on this block has no finite answer, however small it is.
  bool must_vanish(const Vector& v, Index block) const {
    return is_free(block) && is_constrained(-v[block], 0.0, lower[block], upper[block]);
  }
  // How strongly correlations pull at a block that is zero.
  double pull(const Vector& v, Index block) const {
    return v[block] < 0.0 ? (upper[block] > 0.0 ? -v[block] : 0.0) : (lower[block] < 0.0 ? v[block] : 0.0);
  }
  template <class Visit>
  void each_coefficient(Index block, Visit&& visit) const {
    visit(static_cast<int>(block / m), static_cast<int>(block % m));
  }

  double value(const Level& at, const Columns& features, const Vector& b) const {
    double sum = 0.0;
    for (std::size_t c = 0; c < features.size(); ++c)
      for (int k = 0; k < m; ++k) {
        const double x = b[c * m + k];
        if (x != 0.0)
          sum += at.l1 * l1_factor[features[c]] * std::fabs(x) + 0.5 * at.ridge * l2_factor[features[c]] * x * x;
      }
    return sum;
  }

  // The loss sees differences between the classes only: a row of which all classes are in goes to where its penalty is
  // least. With l1 alone that is a median, so that one of them is zero and what is left has a single solution.
  void settle_rows(const Level& at, const Columns& features, const std::vector<char>& in, Vector& b) const {
    Vector sorted(m);
    for (std::size_t c = 0; c < features.size(); ++c) {
      const int j = features[c];
      const double l1 = at.l1 * l1_factor[j], ridge = at.ridge * l2_factor[j];
      if (l1 == 0.0 || !moves_as_one(j, in.begin() + static_cast<std::ptrdiff_t>(c * m))) continue;
      const auto row = b.begin() + static_cast<std::ptrdiff_t>(c * m);
      std::copy_n(row, m, sorted.begin());
      const double shift = least_shift(sorted, l1, ridge);
      if (shift != 0.0) std::for_each(row, row + m, [shift](double& x) { x -= shift; });
    }
  }

  // Which coefficients a smooth step may move: those whose penalty is smooth where they are.
  void mark_live(const Level& at, const Columns& features, const Vector& b, std::vector<char>& live) const {
    for (std::size_t c = 0; c < features.size(); ++c)
      for (int k = 0; k < m; ++k) {
        const Index block = static_cast<Index>(features[c]) * m + k;
        const double x = b[c * m + k];
        if (!live[c * m + k]) continue;
        live[c * m + k] = x > lower[block] && x < upper[block] && (x != 0.0 || at.l1 * l1_factor[features[c]] == 0.0);
      }
  }

  // The penalty near z, on live coefficients: its slope, its curvature and what comes of a step too far.
  struct Local {
    const Elementwise& of;
    const Level at;
    const Columns& features;
    const Vector z;

    double slope(std::size_t c, int k) const {
      const double x = z[c * of.m + k], l1 = at.l1 * of.l1_factor[features[c]];
      return at.ridge * of.l2_factor[features[c]] * x + (x > 0.0 ? l1 : x < 0.0 ? -l1 : 0.0);
    }
    double diagonal(std::size_t c, int) const { return at.ridge * of.l2_factor[features[c]]; }
    double between(std::size_t, int, std::size_t, int) const { return 0.0; }
    void add_curvature(const Vector& along, Vector& out) const {
      for (std::size_t c = 0; c < features.size(); ++c) {
        const double ridge = at.ridge * of.l2_factor[features[c]];
        if (ridge == 0.0) continue;
        for (int k = 0; k < of.m; ++k) out[c * of.m + k] += ridge * along[c * of.m + k];
      }
    }
    // Puts coefficients of x back that left their side or their bounds; returns whether there were any.
    bool confine(Vector& x) const {
      bool any = false;
      for (std::size_t c = 0; c < features.size(); ++c)
        for (int k = 0; k < of.m; ++k) {
          const std::size_t t = c * of.m + k;
          if (x[t] == z[t]) continue;
          const Index block = static_cast<Index>(features[c]) * of.m + k;
          const auto [low, high] =
              sign_range(z[t], at.l1 * of.l1_factor[features[c]], of.lower[block], of.upper[block]);
          const double inside = std::clamp(x[t], low, high);
          any = any || inside != x[t];
          x[t] = inside;
        }
      return any;
    }
    // The share of the way to x on which the penalty is what it is near z.
    double room(const Vector& x) const {
      double share = 1.0;
      Vector inside = x;
      confine(inside);
      for (std::size_t t = 0; t < x.size(); ++t)
        if (inside[t] != x[t]) share = std::min(share, (inside[t] - z[t]) / (x[t] - z[t]));
      return share;
    }
    // Coefficients that came to the end of their side but for rounding are at it.
    void arrive(Vector& x) const {
      for (std::size_t t = 0; t < x.size(); ++t)
        if (std::fabs(x[t]) <= tuning::arrived * std::fabs(z[t])) x[t] = 0.0;
    }
  };

  double violation(const Level& at, const Columns& features, const std::vector<char>& in, const Vector& b,
                   const Vector& g) const {
    double worst = 0.0;
    for (std::size_t c = 0; c < features.size(); ++c)
      for (int k = 0; k < m; ++k) {
        const std::size_t t = c * m + k;
        if (!in[t]) continue;
        const Index block = static_cast<Index>(features[c]) * m + k;
        const double slope = g[t] + at.ridge * l2_factor[features[c]] * b[t];
        worst = std::max(worst,
                         optimality_violation(b[t], slope, at.l1 * l1_factor[features[c]], lower[block], upper[block]));
      }
    return worst;
  }

  // The largest multiple of a dual point at which every conjugate is finite; correlations are those of the point.
  double feasible_scale(const Level& at, const Correlations& dual) const {
    double scale = 1.0;
    for (Index block = 0; block < blocks(); ++block) {
      if (must_vanish(dual.v, block)) continue;
      const double l1 = at.l1 * factor(block), ridge = at.ridge * ridge_factor(block);
      scale = std::min(scale, pulled(dual, block).feasible_scale(l1, ridge, lower[block], upper[block]));
    }
    return scale;
  }
  // Fenchel-Young terms of all coefficients, at scale times the dual point.
  double gap(const Level& at, const Correlations& dual, double scale, const Vector& b) const {
    double sum = 0.0;
    for (Index block = 0; block < blocks(); ++block) {
      const double l1 = at.l1 * factor(block), ridge = at.ridge * ridge_factor(block), x = b[block];
      const double pull = -scale * dual.v[block];
      if (!must_vanish(dual.v, block))
        sum += pulled(dual, block).conjugate(scale, l1, ridge, lower[block], upper[block]);
      if (x != 0.0) sum += l1 * std::fabs(x) + 0.5 * ridge * x * x - pull * x;
    }
    return sum;
  }

 private:
  // What rounding makes of the pull at the bound of a block without a penalty is left out on the side without a bound,
  // as it is of the blocks that must vanish: the certificate counts it for both.
  NoisyPull pulled(const Correlations& dual, Index block) const {
    const NoisyPull range(-dual.v[block], dual.noise * dual.length[block / m]);
    return is_free(block) ? range.one_sided() : range;
  }
  bool moves_as_one(int j, std::vector<char>::const_iterator in) const {
    for (int k = 0; k < m; ++k) {
      const Index block = static_cast<Index>(j) * m + k;
      if (!in[k] || std::isfinite(lower[block]) || std::isfinite(upper[block])) return false;
    }
    return true;
  }
  // The t at which l1 sum |x - t| + ridge sum (x - t)^2 / 2 is least; sorts the values unless it is zero.
  static double least_shift(Vector& x, double l1, double ridge) {
    const double m = static_cast<double>(x.size()), sum = std::accumulate(x.begin(), x.end(), 0.0);
    const auto slope = [&](double t, double below) { return l1 * (2.0 * below - m) + ridge * (m * t - sum); };
    const auto below = std::count_if(x.begin(), x.end(), [](double value) { return value < 0.0; });
    const auto above = std::count_if(x.begin(), x.end(), [](double value) { return value > 0.0; });
    if (slope(0.0, static_cast<double>(below)) <= 0.0 && slope(0.0, m - static_cast<double>(above)) >= 0.0) return 0.0;
    std::sort(x.begin(), x.end());
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double under = static_cast<double>(i);
      if (slope(x[i], under) > 0.0) return (sum - l1 * (2.0 * under - m) / ridge) / m;
      if (slope(x[i], under + 1.0) >= 0.0) return x[i];
    }
    return x.back();
  }
};

struct Grouped {
  int m;
  double l1_ratio;
  Vector l1_factor, l2_factor;   // a group
  std::vector<Columns> members;  // the features of each group
  Columns group_of;              // the group of each feature
  static constexpr bool is_separable = false;
  // The norm of a group that has just come bends so much that its own curvature alone says nothing.
  static std::size_t changes_per_factor(std::size_t) { return 0; }

  Index blocks() const { return static_cast<Index>(members.size()); }
  Index block_of(Index j, int) const { return group_of[j]; }
  double factor(Index block) const { return l1_factor[block]; }
  double ridge_factor(Index block) const { return l2_factor[block]; }
  bool is_free(Index block) const { return l1_factor[block] == 0.0 && l2_factor[block] == 0.0; }
  double farthest(const Vector& v, const Vector& length, Index block, const Vector&, double way) const {
    double square = 0.0;
    for (int j : members[block]) square += length[j] * length[j];
    return pull(v, block) + std::sqrt(square) * way;
  }
  bool must_vanish(const Vector&, Index block) const { return is_free(block); }
  bool is_open(Index j) const { return is_free(group_of[j]); }
  bool reaches_far(Index j) const { return is_open(j); }
  bool has_bounds() const { return false; }
  bool bounds_what_is_free() const { return false; }
  double pull(const Vector& v, Index block) const {
    double sum = 0.0;
    for (int j : members[block])
      for (int k = 0; k < m; ++k) sum += v[static_cast<Index>(j) * m + k] * v[static_cast<Index>(j) * m + k];
    return std::sqrt(sum);
  }
  template <class Visit>
  void each_coefficient(Index block, Visit&& visit) const {
    for (int j : members[block])
      for (int k = 0; k < m; ++k) visit(j, k);
  }

  // Calls visit(group, first, last) for the chosen features, of which those of a group stand together: cells of the
  // group are those from first m to last m.
  template <class Visit>
  void each_group(const Columns& features, Visit&& visit) const {
    for (std::size_t first = 0, last; first < features.size(); first = last) {
      const int g = group_of[features[first]];
      for (last = first; last < features.size() && group_of[features[last]] == g;) ++last;
      visit(g, first * m, last * m);
    }
  }
  static double inner(const Vector& a, const Vector& b, std::size_t first, std::size_t last) {
    return std::inner_product(a.begin() + static_cast<std::ptrdiff_t>(first),
                              a.begin() + static_cast<std::ptrdiff_t>(last),
                              b.begin() + static_cast<std::ptrdiff_t>(first), 0.0);
  }
  double value(const Level& at, const Columns& features, const Vector& b) const {
    double sum = 0.0;
    each_group(features, [&](int g, std::size_t first, std::size_t last) {
      const double square = inner(b, b, first, last);
      sum += at.l1 * l1_factor[g] * std::sqrt(square) + 0.5 * at.ridge * l2_factor[g] * square;
    });
    return sum;
  }
  // Of a group the norm says where its classes are: it sums to zero by itself.
  void settle_rows(const Level&, const Columns&, const std::vector<char>&, Vector&) const {}
  void mark_live(const Level& at, const Columns& features, const Vector& b, std::vector<char>& live) const {
    each_group(features, [&](int g, std::size_t first, std::size_t last) {
      if (inner(b, b, first, last) == 0.0 && at.l1 * l1_factor[g] != 0.0)
        std::fill(live.begin() + static_cast<std::ptrdiff_t>(first), live.begin() + static_cast<std::ptrdiff_t>(last),
                  0);
    });
  }

  struct Local {
    const Grouped& of;
    const Level at;
    const Columns& features;
    const Vector z;
    Vector bend, ridge, inverse;  // of each feature's group: l1 over its norm, its ridge, one over its norm or zero

    Local(const Grouped& of, const Level& at, const Columns& features, const Vector& z)
        : of(of), at(at), features(features), z(z), bend(features.size()), ridge(features.size()),
          inverse(features.size()) {
      of.each_group(features, [&](int g, std::size_t first, std::size_t last) {
        const double square = inner(z, z, first, last), one_over = square > 0.0 ? 1.0 / std::sqrt(square) : 0.0;
        for (std::size_t c = first / of.m; c < last / of.m; ++c) {
          inverse[c] = one_over;
          bend[c] = at.l1 * of.l1_factor[g] * one_over;
          ridge[c] = at.ridge * of.l2_factor[g];
        }
      });
    }
    double slope(std::size_t c, int k) const { return (ridge[c] + bend[c]) * z[c * of.m + k]; }
    // A norm bends as much in every direction, less all of it along the coefficients themselves.
    double diagonal(std::size_t c, int) const { return ridge[c] + bend[c]; }
    double straight(std::size_t c, int k) const { return std::sqrt(bend[c]) * inverse[c] * z[c * of.m + k]; }
    double between(std::size_t c, int k, std::size_t d, int l) const {
      return group(c) == group(d) ? -straight(c, k) * straight(d, l) : 0.0;
    }
    int group(std::size_t c) const { return of.group_of[features[c]]; }
    void add_curvature(const Vector& along, Vector& out) const {
      of.each_group(features, [&](int, std::size_t first, std::size_t last) {
        const std::size_t c = first / of.m;
        const double own = ridge[c] + bend[c];
        if (own == 0.0) return;
        const double back = bend[c] * inverse[c] * inverse[c] * inner(z, along, first, last);
        for (std::size_t t = first; t < last; ++t) out[t] += own * along[t] - back * z[t];
      });
    }
    // A group that went through zero stays there.
    bool confine(Vector& x) const {
      bool any = false;
      of.each_group(features, [&](int, std::size_t first, std::size_t last) {
        if (bend[first / of.m] == 0.0 || inner(z, x, first, last) > 0.0) return;
        std::fill(x.begin() + static_cast<std::ptrdiff_t>(first), x.begin() + static_cast<std::ptrdiff_t>(last), 0.0);
        any = true;
      });
      return any;
    }
    // A norm goes on to bend wherever it is.
    double room(const Vector&) const { return 1.0; }
    void arrive(Vector&) const {}
  };

  double violation(const Level& at, const Columns& features, const std::vector<char>&, const Vector& b,
                   const Vector& g) const {
    const Local local(*this, at, features, b);
    double worst = 0.0;
    each_group(features, [&](int group, std::size_t first, std::size_t last) {
      double square = 0.0;
      for (std::size_t t = first; t < last; ++t) {
        const double slope = g[t] + local.slope(t / m, static_cast<int>(t % m));
        square += slope * slope;
      }
      const double kink = local.inverse[first / m] == 0.0 ? at.l1 * l1_factor[group] : 0.0;
      worst = std::max(worst, std::sqrt(square) - kink);
    });
    return worst;
  }

  double noisy_pull(const Correlations& dual, Index g) const {
    double length = 0.0;
    for (int j : members[g]) length += dual.length[j];
    return pull(dual.v, g) + dual.noise * length * std::sqrt(static_cast<double>(m));
  }
  double feasible_scale(const Level& at, const Correlations& dual) const {
    double scale = 1.0;
    for (Index g = 0; g < blocks(); ++g) {
      const double l1 = at.l1 * l1_factor[g];
      if (at.ridge * l2_factor[g] > 0.0 || is_free(g)) continue;
      const double size = noisy_pull(dual, g);
      if (size > l1) scale = std::min(scale, l1 / size);
    }
    return scale;
  }
  double gap(const Level& at, const Correlations& dual, double scale, const Vector& b) const {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    double sum = 0.0;
    for (Index g = 0; g < blocks(); ++g) {
      const double l1 = at.l1 * l1_factor[g], ridge = at.ridge * l2_factor[g];
      const double noisy = scale * noisy_pull(dual, g);
      if (!is_free(g) && noisy > l1 * (1.0 + tuning::scaling_rounding))
        sum += penalty_conjugate(noisy, l1, ridge, -infinity, infinity);
      double square = 0.0, inner = 0.0;
      each_coefficient(g, [&](int j, int k) {
        const Index t = static_cast<Index>(j) * m + k;
        square += b[t] * b[t];
        inner += scale * dual.v[t] * b[t];
      });
      sum += l1 * std::sqrt(square) + 0.5 * ridge * square + inner;
    }
    return sum;
  }
};

}  // namespace clearning
