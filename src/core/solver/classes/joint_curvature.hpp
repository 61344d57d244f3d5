// The curvature of all classes together: one Gram matrix of the set's coefficients with the intercepts taken out.
// Descent on it knows how the classes pull at each other; its factor leaves little to conjugate gradients.
#pragma once
#include "solver/classes/class_gram.hpp"
#include "solver/classes/problem.hpp"
#include "solver/classes/set_descent.hpp"

namespace clearning {

template <class P>
class JointCurvature {
 public:
  using D = typename P::DesignType;
  using Pen = typename P::Penalty;
  explicit JointCurvature(const P& problem) : problem_(problem) {}

  // Whether the matrix has room, and its factor is worth it beside steps of conjugate gradients, unless these have been
  // seen to lead nowhere.
  bool fits(const ClassSet& set, bool whatever_it_costs) const {
    const double size = static_cast<double>(set.pairs()), step = problem_.design.entries(set.features()) * problem_.m;
    return size <= tuning::largest_joint_gram && (whatever_it_costs || size <= tuning::free_joint_factor ||
                                                  size * size * size <= tuning::steps_for_joint_factor * step);
  }
  bool is_empty() const { return weight_.empty(); }
  // Steps of conjugate gradients that cost as much as a new matrix.
  double worth() const {
    const double size = static_cast<double>(pairs_.size()), cells = static_cast<double>(index_.size()) + 1.0;
    return std::max(tuning::least_worth, tuning::worth_of_matrix * size * size / cells);
  }
  void forget() {
    pairs_ = {};
    column_.clear();
    level_ = 0.0;
    index_.clear();
    weight_.clear();
    factored_.clear();
  }

  // A new matrix at these dual weights, or the old one with the set's new coefficients.
  void prepare(Panel<D>& panel, const ClassSet& set, const Vector& s, bool fresh, double level, bool alike) {
    if (fresh || is_empty()) {
      forget();
      s_ = s;
      const double factor = problem_.loss.kappa / problem_.loss.rho;
      weight_.assign(problem_.samples.weight, problem_.samples.weight + problem_.n);
      for (double& w : weight_) w *= factor;
      if (problem_.settings.intercept) curve_intercepts();
    }
    const int first = static_cast<int>(pairs_.size());
    index_.resize(set.in().size(), -1);
    for (std::size_t t = 0; t < set.in().size(); ++t) {
      if (!set.in()[t] || index_[t] >= 0) continue;
      index_[t] = static_cast<int>(pairs_.size());
      pairs_.place.push_back(static_cast<int>(t) / problem_.m);
      pairs_.klass.push_back(static_cast<int>(t) % problem_.m);
      column_.push_back(set.features()[t / problem_.m]);
    }
    if (static_cast<int>(pairs_.size()) > first) extend(panel, first, alike || !problem_.free.empty());
    if (level != level_ || first == 0) descent_.invalidate();
    problem_.form.add_to_pairs(column_, pairs_.klass, first, level, level_, gram_.data(), stride_);
    level_ = level;
  }

  // Minimises the model with the penalty from its slopes at b and shift. Changes both; returns whether anything moved.
  bool descend(const Level& at, const ClassSet& set, const Vector& slope, const Vector& even, double tolerance,
               bool alike, Vector& b, Vector& shift) {
    const int m = problem_.m;
    moved_.assign(pairs_.size(), 0.0);
    slope_.resize(pairs_.size());
    for (std::size_t t = 0; t < pairs_.size(); ++t) {
      slope_[t] = slope[cell(t)];
      for (int k = 0; k < m; ++k) slope_[t] -= follow_[t * m + k] * even[k];
    }
    const bool any = descent_.run(*this, problem_.penalty, at, set.features(), tolerance, alike, b);
    if (!problem_.settings.intercept) return any;
    Vector back = even;
    solve_intercepts(back);
    for (int k = 0; k < m; ++k) shift[k] -= back[k];
    for (std::size_t t = 0; t < pairs_.size(); ++t)
      for (int k = 0; k < m; ++k) shift[k] -= follow_[t * m + k] * moved_[t];
    return any;
  }

  bool has_matrix() const { return true; }
  // What descent asks: coefficients by their cell in the set, feature by feature.
  bool has(std::size_t cell) const { return index_[cell] >= 0; }
  double slope(std::size_t cell) const { return slope_[index_[cell]]; }
  double bend(std::size_t cell) const { return entry(index_[cell], index_[cell]); }
  // A bound on the curvature of one of a group's cells, along any direction of the group.
  double bend_within(std::size_t cell, const Columns& group) const {
    double sum = 0.0;
    for (int c : group)
      for (int k = 0; k < problem_.m; ++k)
        sum += std::fabs(entry(index_[static_cast<std::size_t>(c) * problem_.m + k], index_[cell]));
    return sum;
  }
  void move(std::size_t cell, double by) {
    const int t = index_[cell];
    moved_[t] += by;
    loops().axpy(by, column(t), slope_.data(), slope_.size());
  }
  // The same where the slopes are of no more use.
  void record(std::size_t cell, double by) { moved_[index_[cell]] += by; }
  std::vector<GramPart> parts() const {
    GramPart all{gram_.data(), stride_, 1.0, {}};
    for (std::size_t t = 0; t < pairs_.size(); ++t) all.cells.push_back(cell(t));
    return {all};
  }

  // The factor of the live coefficients' matrix; those of constant columns that nothing bends stay. Where few have come
  // or gone the last one serves: with zeros for those that went, and curvatures alone for those that came.
  void factorise(const typename Pen::Local& local, const std::vector<char>& live) {
    is_live_.assign(pairs_.size(), 0);
    for (std::size_t t = 0; t < pairs_.size(); ++t)
      is_live_[t] = live[cell(t)] && curvature(local, static_cast<int>(t)) > 0.0;
    came_.clear();
    std::vector<char> has(pairs_.size(), 0);
    std::size_t gone = 0;
    for (int t : factored_) {
      has[t] = 1;
      gone += !is_live_[t];
    }
    for (std::size_t t = 0; t < pairs_.size(); ++t)
      if (is_live_[t] && !has[t]) came_.push_back({static_cast<int>(t), curvature(local, static_cast<int>(t))});
    if (!factored_.empty() && came_.size() + gone <= Pen::changes_per_factor(factored_.size())) return;
    came_.clear();
    factored_.clear();
    for (std::size_t t = 0; t < pairs_.size(); ++t)
      if (is_live_[t]) factored_.push_back(static_cast<int>(t));
    const Columns& live_pairs = factored_;
    factor_.build(
        static_cast<int>(live_pairs.size()),
        [&](int i, int j) {
          const int t = live_pairs[i], o = live_pairs[j];
          return i == j ? curvature(local, t) : entry(t, o) + between(local, t, o);
        },
        true,
        [&](int i) {
          const int t = live_pairs[i];
          return problem_.penalty.reaches_far(column_[t]) ? tuning::taken_by_others * plain_[t] : -1.0;
        });
  }
  // The next factor is made anew.
  void drop_factor() { factored_.clear(); }
  // out = M^-1 rest on the live coefficients and the intercepts, which come last.
  void precondition(const Vector& rest, Vector& out) {
    const int m = problem_.m;
    const std::size_t count = rest.size() - m;
    Vector part(factored_.size()), back(rest.begin() + static_cast<std::ptrdiff_t>(count), rest.end());
    const Vector uneven = back;
    if (problem_.settings.intercept) solve_intercepts(back);
    const auto pull = [&](int t) {
      double sum = rest[cell(t)];
      for (int k = 0; k < m; ++k) sum -= follow_[static_cast<std::size_t>(t) * m + k] * uneven[k];
      return sum;
    };
    const auto answer = [&](int t, double step) {
      if (!is_live_[t]) return;
      out[cell(t)] = step;
      for (int k = 0; k < m; ++k) back[k] -= follow_[static_cast<std::size_t>(t) * m + k] * step;
    };
    for (std::size_t i = 0; i < factored_.size(); ++i) part[i] = is_live_[factored_[i]] ? pull(factored_[i]) : 0.0;
    factor_.solve(part.data());
    for (std::size_t i = 0; i < factored_.size(); ++i) answer(factored_[i], part[i]);
    for (const auto& [t, bend] : came_) answer(t, pull(t) / bend);
    if (problem_.settings.intercept)
      std::copy(back.begin(), back.end(), out.begin() + static_cast<std::ptrdiff_t>(count));
  }

 private:
  double between(const typename Pen::Local& local, int t, int o) const {
    return local.between(pairs_.place[t], pairs_.klass[t], pairs_.place[o], pairs_.klass[o]);
  }
  double curvature(const typename Pen::Local& local, int t) const {
    return entry(t, t) + local.diagonal(pairs_.place[t], pairs_.klass[t]) + between(local, t, t);
  }
  std::size_t cell(std::size_t t) const {
    return static_cast<std::size_t>(pairs_.place[t]) * problem_.m + pairs_.klass[t];
  }
  const double* column(int t) const { return gram_.data() + static_cast<Index>(t) * stride_; }
  double entry(int i, int j) const { return gram_[static_cast<Index>(j) * stride_ + i]; }

  // The intercepts' own curvature, filled up along even intercepts, which change nothing.
  void curve_intercepts() {
    const int m = problem_.m;
    const Index n = problem_.n;
    Vector matrix(static_cast<std::size_t>(m) * m), weighted(n);
    bends_.resize(m);
    for (int k = 0; k < m; ++k) {
      for (Index i = 0; i < n; ++i) weighted[i] = weight_[i] * s_[k * n + i];
      for (int l = 0; l < m; ++l)
        matrix[static_cast<std::size_t>(k) * m + l] =
            (k == l ? sum_of(weighted) : 0.0) - loops().dot(weighted.data(), s_.data() + l * n, n);
      bends_[k] = matrix[static_cast<std::size_t>(k) * m + k];
    }
    const double fill = std::max(*std::max_element(matrix.begin(), matrix.end()), tuning::tiny) / m;
    intercepts_.build(
        m, [&](int k, int l) { return matrix[static_cast<std::size_t>(k) * m + l] + fill; }, true,
        [&](int k) { return tuning::taken_by_others * bends_[k]; });
  }
  void solve_intercepts(Vector& x) { intercepts_.solve(x.data()); }

  void extend(Panel<D>& panel, int first, bool in_double) {
    const int m = problem_.m, count = static_cast<int>(pairs_.size());
    make_room(gram_, stride_, first, count);
    for (int t = first; t < count; ++t) std::fill_n(gram_.data() + static_cast<Index>(t) * stride_, count, 0.0);
    panel.joint_gram(pairs_, first, {s_, weight_}, gram_.data(), stride_, in_double);
    plain_.resize(count);
    is_constant_.resize(count, 0);
    for (int t = first; t < count; ++t) plain_[t] = entry(t, t);
    follow_.resize(static_cast<std::size_t>(count) * m, 0.0);
    if (problem_.settings.intercept) take_out_intercepts(panel, first);
    mirror(gram_.data(), count, first, stride_);
  }
  // cross: curvature between a coefficient and each intercept; follow: what the intercepts do in answer to it.
  void take_out_intercepts(Panel<D>& panel, int first) {
    const int m = problem_.m, count = static_cast<int>(pairs_.size());
    cross_.resize(static_cast<std::size_t>(count) * m);
    panel.cross(pairs_, first, {s_, weight_}, m, cross_.data() + static_cast<std::ptrdiff_t>(first) * m);
    Vector answer(m);
    for (int t = first; t < count; ++t) {
      std::copy_n(cross_.begin() + static_cast<std::ptrdiff_t>(t) * m, m, answer.begin());
      solve_intercepts(answer);
      std::copy(answer.begin(), answer.end(), follow_.begin() + static_cast<std::ptrdiff_t>(t) * m);
      double* target = gram_.data() + static_cast<Index>(t) * stride_;
      for (int i = 0; i <= t; ++i)
        for (int k = 0; k < m; ++k) target[i] -= cross_[static_cast<std::size_t>(i) * m + k] * answer[k];
      const double centre = panel.centre(pairs_.place[t]);
      const double taken = tuning::taken_by_centres * centre * centre * bends_[pairs_.klass[t]];
      is_constant_[t] = target[t] <= tuning::taken_by_others * plain_[t] + taken;
      for (int i = 0; i <= t; ++i)
        if (is_constant_[i] || is_constant_[t]) target[i] = 0.0;
      follow_[static_cast<std::size_t>(t) * m + pairs_.klass[t]] += centre;
    }
  }
  const P& problem_;
  Pairs pairs_;
  Columns column_;            // of each pair
  Columns index_, factored_;  // of each cell among the pairs; pairs of the factor
  std::vector<char> is_live_, is_constant_;
  std::vector<std::pair<int, double>> came_;  // live ones without a place in the factor, and their curvatures
  Vector s_, weight_;                         // at which the matrix was made
  Vector gram_, cross_, follow_, plain_;      // plain: curvatures before the intercepts were taken out
  Vector bends_;                              // of the intercepts
  double level_ = 0.0;                        // of the form in the matrix
  int stride_ = 0;
  ClassFactor intercepts_, factor_;
  SetDescent<Pen> descent_;
  Vector slope_, moved_;  // during descent
};

}  // namespace clearning
