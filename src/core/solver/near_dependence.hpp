// Columns without a penalty that nearly depend on each other. A dual point that is orthogonal to each of them, up to
// its rounding, may still pull along what sets them apart, which their coefficients can follow as far as they like. So
// it has to be orthogonal to these small differences as well. Scores are measured by the samples' weights: a sample
// that weighs next to nothing sets nothing apart. But the differences themselves come from an elimination, whose
// rounding stays within each row: they are known where only samples of next to no weight show them.
#pragma once
#include <optional>

#include "linalg/elimination.hpp"
#include "linalg/vector_loops.hpp"
#include "problem/design.hpp"

namespace clearning {

struct Difference {
  Vector direction;  // scores whose weighted mean square is one
  Vector off;        // how far rounding may have moved each of them
};

// The length of a residual beside such scores: residuals are weights times slopes.
inline double length_by_weight(const double* residual, const double* weight, Index n) {
  double sum = 0.0;
  for (Index i = 0; i < n; ++i)
    if (weight[i] > 0.0) sum += residual[i] * (residual[i] / weight[i]);
  return std::sqrt(sum);
}

// How strongly a residual pulls along a difference, and how much more it may by what rounding hides.
struct Pull {
  double known, hidden;

  Pull(const Difference& difference, const double* residual)
      : known(std::fabs(loops().dot(difference.direction.data(), residual, difference.direction.size()))), hidden(0.0) {
    for (std::size_t i = 0; i < difference.off.size(); ++i) hidden += difference.off[i] * std::fabs(residual[i]);
  }
  double most() const { return known + hidden; }
};

// Adds a column to an elimination, with a length of one by weight where it has one. Columns that were centred have
// entries that were rounded beside others.
template <Design D>
void add_to(Elimination& elimination, const D& design, int j, const double* weight, bool is_centred) {
  double sum, square, beside = 0.0;
  design.moments(j, weight, sum, square);
  double by = 1.0 / std::sqrt(square);
  if (!std::isfinite(by)) by = 1.0;
  else if (by == 0.0) by = tuning::into_range;
  else if (is_centred) beside = 1.0 / std::sqrt(std::accumulate(weight, weight + design.n, 0.0));
  Vector column(design.n, 0.0);
  design.combine({j}, &by, column.data());
  elimination.add(std::move(column), beside);
}

template <Design D>
class NearDependence {
 public:
  // Among columns that neither a penalty nor a bound holds.
  NearDependence(const D& design, const double* weight, bool intercept, const Columns& candidates)
      : design_(design), weight_(weight), total_(0.0) {
    if (candidates.empty()) return;
    if (intercept) total_ = std::accumulate(weight, weight + design.n, 0.0);
    dependent_ = doubtful(candidates);
    if (!is_clear()) find_differences();
  }

  // Whether no column nearly depends on others: then none does among some of them.
  bool is_clear() const { return dependent_.empty(); }
  // Whether the differences are all that sets the dependent columns apart: products may not see the smallest.
  bool is_whole() const { return is_whole_; }

  const Columns& independent() const { return independent_; }
  const Columns& dependent() const { return dependent_; }  // the others
  const std::vector<Difference>& differences() const { return differences_; }

 private:
  // The columns' weighted products, each divided by both lengths, and their means.
  struct Products {
    Vector mean, length, gram;
    int count;

    double at(int r, int c) const { return gram[static_cast<std::size_t>(c) * count + r] / length[c] / length[r]; }
  };

  Products products_of(const Columns& columns) const {
    const int count = static_cast<int>(columns.size());
    Products of{Vector(count, 0.0), Vector(count), Vector(static_cast<std::size_t>(count) * count), count};
    if (total_ > 0.0) {
      design_.dots(columns, weight_, of.mean.data());
      for (double& m : of.mean) m /= total_;
    }
    typename D::Workspace space;
    weighted_gram(design_, columns, 0, weight_, total_, of.mean.data(), of.gram.data(), count, space);
    for (int c = 0; c < count; ++c) {
      double sum, square;
      design_.moments(columns[c], weight_, sum, square);
      of.length[c] = std::sqrt(square);
    }
    return of;
  }

  // Sets the independent columns, with their factor, and returns the others. The one that the others tell least of
  // comes first, until the rest is too small for products to tell; then the last ones leave again as long as all
  // together are nearer to depending on each other than that.
  Columns doubtful(const Columns& candidates) {
    const Products of = products_of(candidates);
    Columns left, chosen, others;
    Vector rest(of.count);
    for (int c = 0; c < of.count; ++c) {
      rest[c] = of.at(c, c);
      if (std::isfinite(rest[c])) left.push_back(c);
      else others.push_back(candidates[c]);  // beyond the range of a double
    }
    std::vector<Vector> rows(of.count);  // of each column, its products with the basis of those chosen
    while (!left.empty()) {
      const auto best = std::max_element(left.begin(), left.end(), [&](int a, int b) { return rest[a] < rest[b]; });
      const int c = *best;
      if (!(rest[c] > tuning::clearly_apart * tuning::clearly_apart)) break;
      left.erase(best);
      rows[c].push_back(std::sqrt(rest[c]));
      for (int other : left) {
        double product = of.at(other, c);
        for (std::size_t a = 0; a < chosen.size(); ++a) product -= rows[c][a] * rows[other][a];
        rows[other].push_back(product / rows[c].back());
        rest[other] -= rows[other].back() * rows[other].back();
      }
      chosen.push_back(c);
      factor_.push_back(rows[c]);
    }
    while (!chosen.empty() && smallest_square() < tuning::clearly_apart * tuning::clearly_apart) {
      left.push_back(chosen.back());
      chosen.pop_back();
      factor_.pop_back();
    }
    for (int c : chosen) {
      independent_.push_back(candidates[c]);
      mean_.push_back(of.mean[c]);
      length_.push_back(of.length[c]);
    }
    for (int c : left) others.push_back(candidates[c]);
    return others;
  }

  // Of the combinations of independent columns whose coefficients have length one, the least mean square: by inverse
  // iteration, from above.
  double smallest_square() const {
    Vector x(factor_.size());
    for (std::size_t a = 0; a < x.size(); ++a) x[a] = 1.0 + 0.5 * std::sin(static_cast<double>(a + 1));
    double grown = 1.0;
    for (int step = 0; step < tuning::inverse_iterations; ++step) {
      const double size = std::sqrt(loops().dot(x.data(), x.data(), x.size()));
      for (double& value : x) value /= size;
      solve_lower(x);
      solve_upper(x);
      grown = std::sqrt(loops().dot(x.data(), x.data(), x.size()));
    }
    return 1.0 / grown;
  }

  // What is left of the others when the intercept and the independent columns are eliminated, one after the other.
  void find_differences() {
    Elimination elimination(weight_, design_.n);
    if (total_ > 0.0) elimination.add(Vector(design_.n, 1.0));
    for (int j : independent_) add_to(elimination, design_, j, weight_, total_ > 0.0);
    elimination.eliminate();
    for (int j : dependent_) add_to(elimination, design_, j, weight_, total_ > 0.0);
    while (elimination.step()) add_difference(elimination.last());
  }

  // Orthogonal to the independent columns and to the differences found before, by weight.
  void add_difference(const Elimination::Column& found) {
    Vector rest = found.value, size = found.size;
    const double length = unify(rest);
    for (double& s : size) s /= length;
    for (int round = 0; round < tuning::rounds_of_rest; ++round) {
      take_off_independent(rest, size);
      for (const Difference& before : differences_) take_off(before, rest, size);
    }
    const double share = unify(rest);
    if (!(share > tuning::same_column)) {
      is_whole_ = false;
      return;
    }
    Vector off(rest.size());
    for (std::size_t i = 0; i < off.size(); ++i)
      off[i] = tuning::unit_rounding * (size[i] / share + std::fabs(rest[i]));
    differences_.push_back({std::move(rest), std::move(off)});
  }

  // Makes the weighted mean square of scores one; returns what its root was.
  double unify(Vector& scores) const {
    double first, second;
    loops().moments(scores.data(), weight_, scores.size(), &first, &second);
    const double length = std::sqrt(second);
    for (double& s : scores) s /= length;
    return length;
  }

  // These add what is added up in each row to its size, which rounding is a share of; what a difference before was off
  // itself is one.
  void take_off_independent(Vector& rest, Vector& size) const {
    const Vector weighted = by_weight(rest);
    const double sum = total_ > 0.0 ? sum_of(weighted) : 0.0;
    Vector along = pulls(weighted.data(), sum);
    solve_upper(along);
    for (std::size_t a = 0; a < along.size(); ++a) along[a] /= length_[a];
    const double centre = std::inner_product(mean_.begin(), mean_.end(), along.begin(), 0.0);
    const double level = total_ > 0.0 ? sum / total_ - centre : 0.0;
    Vector change(rest.size(), level);
    for (double& s : size) s += std::fabs(level);
    for (std::size_t a = 0; a < along.size(); ++a) {
      Vector part(rest.size(), 0.0);
      design_.combine({independent_[a]}, &along[a], part.data());
      for (std::size_t i = 0; i < part.size(); ++i) {
        change[i] += part[i];
        size[i] += std::fabs(part[i]);
      }
    }
    for (std::size_t i = 0; i < rest.size(); ++i) rest[i] -= change[i];
  }
  void take_off(const Difference& before, Vector& rest, Vector& size) const {
    const Vector weighted = by_weight(rest);
    const double along = loops().dot(before.direction.data(), weighted.data(), rest.size());
    loops().axpy(-along, before.direction.data(), rest.data(), rest.size());
    for (std::size_t i = 0; i < rest.size(); ++i)
      size[i] += std::fabs(along) * (std::fabs(before.direction[i]) + before.off[i] / tuning::unit_rounding);
  }
  Vector by_weight(const Vector& scores) const {
    Vector weighted(scores.size());
    loops().multiply(weight_, scores.data(), 0.0, weighted.data(), scores.size());
    return weighted;
  }

  // Of a residual with that sum, along an orthogonal basis of the independent columns.
  Vector pulls(const double* residual, double sum) const {
    Vector along(independent_.size());
    design_.dots(independent_, residual, along.data());
    for (std::size_t a = 0; a < along.size(); ++a) along[a] = (along[a] - mean_[a] * sum) / length_[a];
    solve_lower(along);
    return along;
  }

  // By the factor, and by its transpose.
  void solve_lower(Vector& right) const {
    for (std::size_t a = 0; a < right.size(); ++a) {
      for (std::size_t b = 0; b < a; ++b) right[a] -= factor_[a][b] * right[b];
      right[a] /= factor_[a][a];
    }
  }
  void solve_upper(Vector& right) const {
    for (std::size_t a = right.size(); a-- > 0;) {
      for (std::size_t b = a + 1; b < right.size(); ++b) right[a] -= factor_[b][a] * right[b];
      right[a] /= factor_[a][a];
    }
  }

  const D& design_;
  const double* weight_;
  double total_;  // of the weights, where there is an intercept
  Columns independent_, dependent_;
  Vector mean_, length_;
  std::vector<Vector> factor_;  // of their products by length, row by row
  std::vector<Difference> differences_;
  bool is_whole_ = true;
};

// The same among some of the columns that no penalty holds, as bounds come to hold the others.
template <Design D>
class NearDependenceOfSome {
 public:
  NearDependenceOfSome(const D& design, const double* weight, bool intercept, Columns all)
      : design_(design), weight_(weight), intercept_(intercept), all_(std::move(all)),
        of_all_(design, weight, intercept, all_) {}

  const Columns& all() const { return all_; }
  // Sorted columns; where none nearly depends on others, all columns are told of.
  const NearDependence<D>& among(const Columns& some) {
    if (of_all_.is_clear() || some == all_) return of_all_;
    if (!of_some_ || some != some_) {
      some_ = some;
      of_some_.emplace(design_, weight_, intercept_, some_);
    }
    return *of_some_;
  }

 private:
  const D& design_;
  const double* weight_;
  const bool intercept_;
  const Columns all_;
  const NearDependence<D> of_all_;
  Columns some_;
  std::optional<NearDependence<D>> of_some_;
};

}  // namespace clearning
