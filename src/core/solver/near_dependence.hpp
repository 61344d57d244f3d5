// Columns without a penalty that nearly depend on each other. A dual point that is orthogonal to each of them, up to
// its rounding, may still pull along what sets them apart, which their coefficients can follow as far as they like. So
// it has to be orthogonal to these small differences as well.
#pragma once
#include "linalg/vector_loops.hpp"
#include "problem/design.hpp"

namespace clearning {

struct Difference {
  Vector direction;  // of unit length
  double off;        // how far rounding may have turned it
};

// How strongly a residual of that length pulls along a difference, at most.
inline double pull_along(const Difference& difference, const double* residual, double length) {
  const Vector& direction = difference.direction;
  return std::fabs(loops().dot(direction.data(), residual, direction.size())) + difference.off * length;
}

template <Design D>
class NearDependence {
 public:
  // Of samples that carry weight, among columns that neither a penalty nor a bound holds.
  NearDependence(const D& design, const double* weight, bool intercept, const Columns& candidates)
      : design_(design), inside_(design.n) {
    if (candidates.empty()) return;
    for (Index i = 0; i < design.n; ++i) inside_[i] = weight[i] > 0.0;
    total_ = intercept ? sum_of(inside_) : 0.0;
    for (int j : doubtful(candidates)) add_difference(j);
  }

  const std::vector<Difference>& differences() const { return differences_; }

 private:
  // Sets the independent columns, with their factor, and returns the others. A pivot of the matrix of products tells
  // the two apart as long as the difference is well above the root of its rounding.
  Columns doubtful(const Columns& candidates) {
    const int count = static_cast<int>(candidates.size());
    Vector mean(count, 0.0), gram(static_cast<std::size_t>(count) * count);
    if (total_ > 0.0) {
      design_.dots(candidates, inside_.data(), mean.data());
      for (double& m : mean) m /= total_;
    }
    typename D::Workspace space;
    weighted_gram(design_, candidates, 0, inside_.data(), total_, mean.data(), gram.data(), count, space);
    Columns others, places;
    for (int c = 0; c < count; ++c) {
      const double* products = gram.data() + static_cast<std::size_t>(c) * count;
      Vector row;
      for (std::size_t a = 0; a < places.size(); ++a) row.push_back(products[places[a]]);
      const double taken = solve_lower(row);
      const double rest = products[c] - taken, square = products[c] + total_ * mean[c] * mean[c];
      if (rest > tuning::clearly_apart * tuning::clearly_apart * square) {
        row.push_back(std::sqrt(rest));
        factor_.push_back(std::move(row));
        independent_.push_back(candidates[c]);
        mean_.push_back(mean[c]);
        places.push_back(c);
      } else {
        others.push_back(candidates[c]);
      }
    }
    return others;
  }

  // What a column is beside those that are independent and the differences found before.
  void add_difference(int j) {
    double sum, square;
    design_.moments(j, inside_.data(), sum, square);
    const double by = 1.0 / std::sqrt(square);
    if (!std::isfinite(by)) return;
    Vector rest(design_.n, 0.0);
    design_.combine({j}, &by, rest.data());
    for (int round = 0; round < tuning::rounds_of_rest; ++round) {
      take_off_independent(rest);
      for (const Difference& found : differences_)
        loops().axpy(-loops().dot(found.direction.data(), rest.data(), rest.size()), found.direction.data(),
                     rest.data(), rest.size());
    }
    const double size = std::sqrt(loops().dot(rest.data(), rest.data(), rest.size()));
    if (!(size > tuning::same_column)) return;
    for (double& r : rest) r /= size;
    differences_.push_back({std::move(rest), tuning::unit_rounding / size});
  }

  void take_off_independent(Vector& rest) const {
    loops().multiply(inside_.data(), rest.data(), 0.0, rest.data(), rest.size());
    const double sum = total_ > 0.0 ? sum_of(rest) : 0.0;
    Vector along(independent_.size()), change(rest.size(), 0.0);
    design_.dots(independent_, rest.data(), along.data());
    for (std::size_t a = 0; a < along.size(); ++a) along[a] -= mean_[a] * sum;
    solve_lower(along);
    solve_upper(along);
    const double centre = std::inner_product(mean_.begin(), mean_.end(), along.begin(), 0.0);
    design_.combine(independent_, along.data(), change.data());
    const double level = total_ > 0.0 ? sum / total_ - centre : 0.0;
    for (std::size_t i = 0; i < rest.size(); ++i) rest[i] -= inside_[i] * (change[i] + level);
  }

  // By the factor's transpose, and by the factor; the first returns the square of the solution.
  double solve_lower(Vector& right) const {
    double square = 0.0;
    for (std::size_t a = 0; a < right.size(); ++a) {
      for (std::size_t b = 0; b < a; ++b) right[a] -= factor_[a][b] * right[b];
      right[a] /= factor_[a][a];
      square += right[a] * right[a];
    }
    return square;
  }
  void solve_upper(Vector& right) const {
    for (std::size_t a = right.size(); a-- > 0;) {
      for (std::size_t b = a + 1; b < right.size(); ++b) right[a] -= factor_[b][a] * right[b];
      right[a] /= factor_[a][a];
    }
  }

  const D& design_;
  Vector inside_;  // one for samples that carry weight
  double total_ = 0.0;
  Columns independent_;
  Vector mean_;
  std::vector<Vector> factor_;  // of their products, row by row
  std::vector<Difference> differences_;
};

}  // namespace clearning
