// The curvature of each class by itself, for sets too large for a matrix of all classes together: a Gram matrix a
// class, or the columns' squares alone. Twice the classes' own curvatures majorise what they share.
#pragma once
#include <optional>

#include "solver/classes/class_gram.hpp"
#include "solver/classes/problem.hpp"
#include "solver/classes/set_descent.hpp"
#include "solver/classes/straight_lines.hpp"

namespace clearning {

template <class P>
class BlockCurvature {
 public:
  using D = typename P::DesignType;
  using Pen = typename P::Penalty;
  explicit BlockCurvature(const P& problem)
      : problem_(problem), grams_(problem.m), factors_(problem.m), places_(problem.m), factored_(problem.m) {}

  bool is_empty() const { return !is_made_; }
  // Steps of conjugate gradients that cost as much as new matrices.
  double worth() const {
    int most = 0;
    for (const auto& gram : grams_) most = std::max(most, gram.size());
    return std::max(tuning::least_worth, tuning::worth_of_class_gram * most);
  }
  void forget() {
    for (auto& places : places_) places.clear();
    drop_factor();
    is_made_ = false;
  }

  void prepare(const ClassSet& set, const Vector& s, bool fresh, double level, bool alike) {
    if (fresh) forget();
    const Columns& features = set.features();
    const bool made = std::exchange(is_made_, true);
    if (std::exchange(level_, level) != level || !made) descent_.invalidate();
    index_.resize(set.in().size(), -1);
    if (!made) std::fill(index_.begin(), index_.end(), -1);
    for (int k = 0; k < problem_.m; ++k) {
      for (int c : set.of_class(k)) {
        int& where = index_[static_cast<std::size_t>(c) * problem_.m + k];
        if (where >= 0) continue;
        where = static_cast<int>(places_[k].size());
        places_[k].push_back(c);
      }
      Columns columns(places_[k].size());
      for (std::size_t i = 0; i < columns.size(); ++i) columns[i] = features[places_[k][i]];
      if (!made)
        grams_[k].build(problem_.design, std::move(columns), weights_of(s, k), problem_.settings.intercept,
                        largest_gram(features, alike));
      else grams_[k].extend(problem_.design, std::move(columns), problem_.settings.intercept);
      grams_[k].couple(problem_.form, level);
    }
  }

  // residual: the gradient of the model in the scores, which descent without a matrix carries along.
  bool descend(const Level& at, const ClassSet& set, const Vector& slope, const Vector& even, const Vector& residual,
               double tolerance, bool alike, Vector& b, Vector& shift) {
    const int m = problem_.m;
    slopes_.assign(m, {});
    weighted_.clear();
    weighted_.resize(m);
    moved_.assign(m, 0.0);
    heavier_.assign(m, {});
    for (int k = 0; k < m; ++k) {
      const auto& gram = grams_[k];
      if (gram.has_matrix()) {
        for (int i = 0; i < gram.size(); ++i)
          slopes_[k].push_back(slope[static_cast<std::size_t>(places_[k][i]) * m + k] - gram.mean(i) * even[k]);
        continue;
      }
      heavier_[k] = gram.weights();
      for (double& h : heavier_[k]) h *= tuning::class_coupling;
      const auto start = residual.begin() + k * problem_.n;
      weighted_[k].emplace(problem_.design, gram.columns(), heavier_[k], Vector(start, start + problem_.n));
    }
    const bool any = descent_.run(*this, problem_.penalty, at, set.features(), tolerance, alike, b);
    if (!problem_.settings.intercept) return any;
    for (int k = 0; k < m; ++k) {
      const double total = tuning::class_coupling * grams_[k].total();
      // Without a matrix the intercepts stay where they are.
      if (grams_[k].has_matrix()) shift[k] -= moved_[k] + (total > 0.0 ? even[k] / total : 0.0);
    }
    return any;
  }

  bool has_matrix() const {
    return std::all_of(grams_.begin(), grams_.end(), [](const auto& gram) { return gram.has_matrix(); });
  }
  bool has(std::size_t cell) const { return index_[cell] >= 0; }
  double slope(std::size_t cell) const {
    const std::size_t k = cell % problem_.m;
    const auto& weighted = weighted_[k];
    return weighted ? weighted->dot(index_[cell]) : slopes_[k][index_[cell]];
  }
  double bend(std::size_t cell) const {
    return tuning::class_coupling * grams_[cell % problem_.m].diagonal(index_[cell]);
  }
  double bend_within(std::size_t cell, const Columns& group) const {
    const int m = problem_.m, k = static_cast<int>(cell % m);
    const auto& gram = grams_[k];
    double sum = 0.0;
    for (int c : group) {
      const int other = index_[static_cast<std::size_t>(c) * m + k];
      sum += gram.has_matrix() ? std::fabs(gram.column(index_[cell])[other])
                               : std::sqrt(gram.diagonal(other) * gram.diagonal(index_[cell]));
    }
    return tuning::class_coupling * sum;
  }
  void move(std::size_t cell, double by) {
    const int k = static_cast<int>(cell % problem_.m), i = index_[cell];
    moved_[k] += by * grams_[k].mean(i);
    if (auto& weighted = weighted_[k]) weighted->take_off(i, -by);
    else loops().axpy(tuning::class_coupling * by, grams_[k].column(i), slopes_[k].data(), slopes_[k].size());
  }

  // The same where the slopes are of no more use.
  void record(std::size_t cell, double by) {
    moved_[cell % problem_.m] += by * grams_[cell % problem_.m].mean(index_[cell]);
  }
  std::vector<GramPart> parts() const {
    std::vector<GramPart> out;
    for (int k = 0; k < problem_.m; ++k) {
      out.push_back({grams_[k].column(0), grams_[k].stride(), tuning::class_coupling, {}});
      for (int i = 0; i < grams_[k].size(); ++i) out.back().cells.push_back(cell(k, i));
    }
    return out;
  }

  // The factors of the live coefficients' matrices; those of constant columns that nothing bends stay. Where few have
  // come or gone the last ones serve: with zeros for those that went, and curvatures alone for those that came.
  void factorise(const typename Pen::Local& local, const std::vector<char>& live) {
    is_live_ = live;
    for (int k = 0; k < problem_.m; ++k)
      for (int i = 0; i < grams_[k].size(); ++i)
        if (!(curvature(local, k, i) > 0.0)) is_live_[cell(k, i)] = 0;
    const std::size_t had = find_changes(local), changes = came_.size() + gone_;
    if (had > 0 && changes <= Pen::changes_per_factor(had)) return;
    came_.clear();
    for (int k = 0; k < problem_.m; ++k) {
      const auto& gram = grams_[k];
      Columns& own = factored_[k];
      own.clear();
      for (int i = 0; i < gram.size(); ++i)
        if (is_live_[cell(k, i)]) own.push_back(i);
      factors_[k].build(
          static_cast<int>(own.size()),
          [&](int i, int j) {
            const double penalty = i == j ? local.diagonal(places_[k][own[i]], k) : 0.0;
            return (gram.has_matrix() ? gram.column(own[j])[own[i]] : gram.diagonal(own[i])) + penalty;
          },
          gram.has_matrix(),
          [&](int i) {
            const bool is_loose = problem_.penalty.reaches_far(gram.columns()[own[i]]);
            return is_loose ? tuning::taken_by_others * gram.plain(own[i]) : -1.0;
          });
    }
    straight_.build(local, factored_, places_, factors_);
  }
  // The next factors are made anew.
  void drop_factor() {
    for (Columns& own : factored_) own.clear();
  }
  void precondition(const Vector& rest, Vector& out) {
    const int m = problem_.m;
    const std::size_t count = rest.size() - m;
    std::vector<Vector> part(m);
    const auto pull = [&](int k, int i) {
      return is_live_[cell(k, i)] ? rest[cell(k, i)] - grams_[k].mean(i) * rest[count + k] : 0.0;
    };
    for (int k = 0; k < m; ++k)
      for (int i : factored_[k]) part[k].push_back(pull(k, i));
    straight_.solve(factors_, part);
    Vector back(m, 0.0);
    const auto answer = [&](int k, int i, double step) {
      if (!is_live_[cell(k, i)]) return;
      out[cell(k, i)] = step;
      back[k] += grams_[k].mean(i) * step;
    };
    for (int k = 0; k < m; ++k)
      for (std::size_t i = 0; i < part[k].size(); ++i) answer(k, factored_[k][i], part[k][i]);
    for (const auto& [k, i, bend] : came_) answer(k, i, pull(k, i) / bend);
    if (!problem_.settings.intercept) return;
    for (int k = 0; k < m; ++k)
      if (grams_[k].total() > 0.0) out[count + k] = rest[count + k] / grams_[k].total() - back[k];
  }

 private:
  struct Arrival {
    int k, i;
    double bend;
  };

  // Columns up to which a class's matrix is worth what it costs beside a pass over them; alike ones need it anyway.
  int largest_gram(const Columns& features, bool alike) const {
    if (alike) return P::Form::largest_gram;
    const double worth = std::sqrt(tuning::class_gram_per_entry * problem_.design.entries(features));
    const double most = std::max<double>(worth, tuning::small_class_gram);
    return static_cast<int>(std::min<double>(most, P::Form::largest_gram));
  }
  double curvature(const typename Pen::Local& local, int k, int i) const {
    return grams_[k].diagonal(i) + local.diagonal(places_[k][i], k);
  }
  std::size_t cell(int k, int i) const { return static_cast<std::size_t>(places_[k][i]) * problem_.m + k; }
  // Sets the live coefficients without a place in the factors, and how many of the others went; returns how many the
  // factors have.
  std::size_t find_changes(const typename Pen::Local& local) {
    std::size_t had = 0;
    came_.clear();
    gone_ = 0;
    for (int k = 0; k < problem_.m; ++k) {
      std::vector<char> has(grams_[k].size(), 0);
      for (int i : factored_[k]) {
        has[i] = 1;
        gone_ += !is_live_[cell(k, i)];
      }
      had += factored_[k].size();
      for (int i = 0; i < grams_[k].size(); ++i)
        if (is_live_[cell(k, i)] && !has[i]) came_.push_back({k, i, curvature(local, k, i)});
    }
    return had;
  }
  Vector weights_of(const Vector& s, int k) const {
    const Index n = problem_.n;
    const double factor = problem_.loss.kappa / problem_.loss.rho;
    Vector h(n);
    for (Index i = 0; i < n; ++i) {
      const double bend = factor * problem_.samples.weight[i] * s[k * n + i] * (1.0 - s[k * n + i]);
      h[i] = bend > tuning::tiny ? bend : 0.0;
    }
    return h;
  }

  const P& problem_;
  std::vector<ClassGram<D>> grams_;
  std::vector<ClassFactor> factors_;
  StraightLines<Pen> straight_;
  SetDescent<Pen> descent_;
  double level_ = 0.0;                      // of the form in the matrices
  std::vector<Columns> places_, factored_;  // of each class's columns in the set, and those of them in the factors
  std::vector<char> is_live_;
  std::vector<Arrival> came_;
  std::size_t gone_ = 0;
  Columns index_;  // of each cell among its class's columns
  bool is_made_ = false;
  std::vector<Vector> slopes_, heavier_;  // during descent
  std::vector<std::optional<typename D::Weighted>> weighted_;
  Vector moved_;
};

}  // namespace clearning
