// Columns without a penalty have to be orthogonal to a dual point. It is moved along the model until they are; a sample
// that would leave the loss's domain stays at its edge, and the others make up for it.
#pragma once
#include "linalg/blas.hpp"
#include "solver/near_dependence.hpp"
#include "solver/screening.hpp"

namespace clearning {

template <class P>
class DualProjection {
 public:
  using Workspace = typename P::DesignType::Workspace;

  DualProjection(const P& problem, const Screening<P>& screening)
      : problem_(problem), screening_(screening),
        near_(problem.design, problem.samples.weight, problem.settings.intercept, far_reaching(problem)),
        is_bounded_(std::any_of(problem.free.begin(), problem.free.end(),
                                [&](int c) { return problem.penalty.is_bounded(c); })) {}

  const Vector& dual() const { return dual_; }

  // Sets dual() from the point given, which moves where there is curvature h; false if that does not succeed: then
  // there is no certificate yet.
  bool project(const Stage<P>& at, const Vector& from, const Vector& h, const Columns& columns) {
    const double limit = std::visit([](const auto& phi) { return phi.weight_limit(); }, at.loss);
    dual_ = from;
    room_ = h;
    bool done = columns.empty(), stale = true;
    for (int pass = 0; pass < tuning::projections && !done; ++pass) {
      if (stale && !factorise(columns)) return false;
      for (const Difference& difference : near_.differences()) shift_along(difference);
      shift_along(columns);
      stale = stop_at_edges(limit);
      done = !stale && is_orthogonal(columns) && is_orthogonal_to_differences();
    }
    return done;
  }

  // What is left along columns and their differences, times the scores that their coefficients may make. A column that
  // its bound holds may pull.
  double leftover(const Stage<P>& at, const Iterate& x) const {
    double pull = is_bounded_ ? 0.0 : near_.pull_of_independent(dual_), square = 0.0;
    for (const Difference& difference : near_.differences()) pull += Pull(difference, dual_.data()).most();
    for (Index i = 0; i < problem_.n; ++i)
      square += problem_.samples.weight[i] * (x.score[i] + x.a) * (x.score[i] + x.a);
    // The score that would take away the loss at a margin of zero, along its slope there.
    const double natural = std::visit(
        [](const auto& phi) {
          const LossPoint zero = phi.at(0.0);
          return zero.value / std::max(zero.weight, tuning::tiny);
        },
        at.loss);
    return tuning::farthest_free * pull * (std::sqrt(square) + natural);
  }

 private:
  static Columns far_reaching(const P& problem) {
    Columns found;
    for (int j : problem.free)
      if (std::isinf(problem.penalty.lower[j]) || std::isinf(problem.penalty.upper[j])) found.push_back(j);
    return found;
  }

  bool is_orthogonal_to_differences() const {
    const double length = length_by_weight(dual_.data(), problem_.samples.weight, problem_.n);
    return std::all_of(near_.differences().begin(), near_.differences().end(), [&](const Difference& difference) {
      const Pull pull(difference, dual_.data());
      return pull.known <= tuning::orthogonal * length + pull.hidden;
    });
  }

  void shift_along(const Difference& difference) {
    double first, second;
    loops().moments(difference.direction.data(), room_.data(), problem_.n, &first, &second);
    if (!(second > 0.0)) return;
    const double by = loops().dot(difference.direction.data(), dual_.data(), problem_.n) / second;
    loops().axpy_weighted(-by, difference.direction.data(), room_.data(), dual_.data(), problem_.n);
  }

  void shift_along(const Columns& columns) {
    int k = static_cast<int>(columns.size()), one = 1, info = 0;
    char upper = 'U';
    Vector right(k);
    const double sum = problem_.settings.intercept ? sum_of(dual_) : 0.0;
    problem_.design.dots(columns, dual_.data(), right.data());
    for (int c = 0; c < k; ++c) right[c] -= mean_[c] * sum;
    blas::dpotrs(&upper, &k, &one, factor_.data(), &k, right.data(), &k, &info);
    const double centre = std::inner_product(mean_.begin(), mean_.end(), right.begin(), 0.0);
    Vector shift(problem_.n, (total_ > 0.0 ? sum / total_ : 0.0) - centre);
    problem_.design.combine(columns, right.data(), shift.data());
    for (Index i = 0; i < problem_.n; ++i) dual_[i] -= room_[i] * shift[i];
  }

  // Puts dual weights that left [0, limit] back and takes their room to move; true if there were any.
  bool stop_at_edges(double limit) {
    const Samples& samples = problem_.samples;
    bool any = false;
    for (Index i = 0; i < problem_.n; ++i) {
      const double s = -dual_[i] * samples.y[i], most = limit * samples.weight[i];
      if (s >= 0.0 && !(s > most)) continue;
      dual_[i] = s < 0.0 ? 0.0 : -most * samples.y[i];
      room_[i] = 0.0;
      any = true;
    }
    return any;
  }

  bool is_orthogonal(const Columns& columns) const {
    const double length = std::sqrt(loops().dot(dual_.data(), dual_.data(), problem_.n));
    const double sum = problem_.settings.intercept ? sum_of(dual_) : 0.0;
    if (std::fabs(sum) > tuning::rounding_of_sums * length * std::sqrt(static_cast<double>(problem_.n))) return false;
    Vector products(columns.size());
    problem_.design.dots(columns, dual_.data(), products.data());
    for (std::size_t c = 0; c < columns.size(); ++c) {
      const int j = columns[c];
      const double rounding = tuning::orthogonal * screening_.norm(j) + tuning::rounding * screening_.length(j);
      if (std::fabs(products[c]) > rounding * length) return false;
    }
    return true;
  }

  // Cholesky factor of the model on the columns; what is constant or repeated among them is made regular.
  bool factorise(const Columns& columns) {
    int k = static_cast<int>(columns.size()), info = 1;
    char upper = 'U';
    total_ = problem_.settings.intercept ? sum_of(room_) : 0.0;
    mean_.assign(k, 0.0);
    if (total_ > 0.0) {
      problem_.design.dots(columns, room_.data(), mean_.data());
      for (double& m : mean_) m /= total_;
    }
    Vector plain(static_cast<std::size_t>(k) * k);
    weighted_gram(problem_.design, columns, 0, room_.data(), total_, mean_.data(), plain.data(), k, workspace_);
    for (double jitter = tuning::first_projection_jitter; info != 0 && jitter < tuning::last_jitter; jitter *= 100.0) {
      factor_ = plain;
      for (int c = 0; c < k; ++c) {
        double& diagonal = factor_[static_cast<std::size_t>(c) * k + c];
        diagonal = diagonal > 0.0 ? diagonal * (1.0 + jitter) : 1.0;
      }
      blas::dpotrf(&upper, &k, factor_.data(), &k, &info);
    }
    return info == 0;
  }

  const P& problem_;
  const Screening<P>& screening_;
  const NearDependence<typename P::DesignType> near_;
  const bool is_bounded_;  // some column without a penalty is
  Workspace workspace_;
  Vector dual_, room_, mean_, factor_;
  double total_ = 0.0;
};

}  // namespace clearning
