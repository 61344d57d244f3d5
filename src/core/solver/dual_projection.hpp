// Columns without a penalty have to be orthogonal to a dual point. It is moved along the model until they are; a sample
// that would leave the loss's domain stays at its edge, and the others make up for it.
#pragma once
#include "linalg/blas.hpp"
#include "solver/dual_repair.hpp"
#include "solver/reach.hpp"
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
                                [&](int c) { return problem.penalty.is_bounded(c); })),
        repair_(problem.design, near_, problem.settings.intercept), held_(reach_of_held(problem)) {}

  const Vector& dual() const { return dual_; }

  // Sets dual() from the point given, which moves where there is curvature h; false if that does not succeed: then
  // there is no certificate yet.
  bool project(const Stage<P>& at, const Vector& from, const Vector& h, const Columns& columns) {
    const double limit = std::visit([](const auto& phi) { return phi.weight_limit(); }, at.loss);
    dual_ = from;
    curvature_ = h;
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

  // The share of its room that a sample has to move at most until nothing pulls at columns without a penalty, and the
  // room itself: as far as a weight is from the nearer end of its domain.
  double share_of_room(const Stage<P>& at, const Iterate& x) {
    const double limit = std::visit([](const auto& phi) { return phi.weight_limit(); }, at.loss);
    room_.resize(problem_.n);
    for (Index i = 0; i < problem_.n; ++i) {
      const double size = std::fabs(dual_[i]), weight = problem_.samples.weight[i];
      room_[i] = weight > 0.0 ? std::max(std::min(size, limit * weight - size), 0.0) : 0.0;
    }
    return repair_.share(
        room_, [&](int j) { return is_projected(problem_, x, j) || hardly_pulls(j); },
        [&](const PullBasis& basis, const Vector& room) {
          return clearning::share_of_room(basis, dual_.data(), room);
        });
  }
  const Vector& room() const { return room_; }
  // The dual point with some share of its room taken, towards the far or the near end of each weight's domain.
  Vector moved(double share) const {
    Vector out(dual_);
    for (Index i = 0; i < problem_.n; ++i) out[i] += share * std::copysign(room_[i], dual_[i]);
    return out;
  }

  // Where room does not tell: what is left along columns and their differences, times the scores that their
  // coefficients may make at an objective that is not above this one. A column that its bound holds may pull.
  double leftover(const Stage<P>& at, const Iterate& x, double objective) const {
    double pull = is_bounded_ ? near_.pull_of_loose(dual_.data(), [&](int j) { return is_projected(problem_, x, j); })
                              : near_.pull_of_independent(dual_.data());
    for (const Difference& difference : near_.differences()) pull += Pull(difference, dual_.data()).most();
    double own = 0.0;
    for (int j : problem_.free)
      if (x.b[j] != 0.0) own += std::fabs(x.b[j]) * std::fabs(problem_.design.dot(j, dual_.data()));
    return tuning::farthest_free * own + pull * reach(at, x, objective);
  }

 private:
  static Columns far_reaching(const P& problem) {
    Columns found;
    for (int j : problem.free)
      if (std::isinf(problem.penalty.lower[j]) || std::isinf(problem.penalty.upper[j])) found.push_back(j);
    return found;
  }

  // Of a kernel's coefficients none is without a penalty.
  static HeldReach reach_of_held(const P& problem) {
    HeldReach held;
    const Columns far = far_reaching(problem);
    if (far.empty()) return held;
    if constexpr (!P::Quadratic::needs_gram) {
      const double* weight = problem.samples.weight;
      const double total = problem.settings.intercept ? std::accumulate(weight, weight + problem.n, 0.0) : 0.0;
      const auto& penalty = problem.penalty;
      for (Index j = 0; j < problem.p; ++j)
        if (!std::binary_search(far.begin(), far.end(), static_cast<int>(j)))
          held.add(length_of_scores(problem.design, j, weight, total), penalty.l1_factor[j],
                   penalty.quadratic.factor[j], std::max(-penalty.lower[j], penalty.upper[j]));
    }
    return held;
  }

  // The longest scores of coefficients without a penalty: beside what others may take back of them, the solution's own
  // are taken to be so many times the iterate's at most.
  double reach(const Stage<P>& at, const Iterate& x, double objective) const {
    double square = 0.0;
    for (Index i = 0; i < problem_.n; ++i)
      square += problem_.samples.weight[i] * (x.score[i] + x.a) * (x.score[i] + x.a);
    // The score that would take away the loss at a margin of zero, along its slope there.
    const double natural = std::visit(
        [](const auto& phi) {
          const LossPoint zero = phi.at(0.0);
          return zero.value / std::max(zero.weight, tuning::tiny);
        },
        at.loss);
    return tuning::farthest_free * (std::sqrt(square) + natural) + held_.at(objective, at.l1_level(), at.ridge_level());
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
    loops().moments(difference.direction.data(), curvature_.data(), problem_.n, &first, &second);
    if (!(second > 0.0)) return;
    const double by = loops().dot(difference.direction.data(), dual_.data(), problem_.n) / second;
    loops().axpy_weighted(-by, difference.direction.data(), curvature_.data(), dual_.data(), problem_.n);
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
    for (Index i = 0; i < problem_.n; ++i) dual_[i] -= curvature_[i] * shift[i];
  }

  // Puts dual weights that left [0, limit] back and takes their room to move; true if there were any.
  bool stop_at_edges(double limit) {
    const Samples& samples = problem_.samples;
    bool any = false;
    for (Index i = 0; i < problem_.n; ++i) {
      const double s = -dual_[i] * samples.y[i], most = limit * samples.weight[i];
      if (s >= 0.0 && !(s > most)) continue;
      dual_[i] = s < 0.0 ? 0.0 : -most * samples.y[i];
      curvature_[i] = 0.0;
      any = true;
    }
    return any;
  }

  // Up to its rounding: then it may be to the side on which no bound holds it.
  bool hardly_pulls(int j) const {
    double first, second, size = 0.0;
    Vector sizes(problem_.n);
    for (Index i = 0; i < problem_.n; ++i) size += sizes[i] = std::fabs(dual_[i]);
    problem_.design.moments(j, sizes.data(), first, second);
    return std::fabs(problem_.design.dot(j, dual_.data())) <= tuning::rounding * std::sqrt(second) * std::sqrt(size);
  }

  // By what is added up in each product: a row far out hides no pull of others.
  bool is_orthogonal(const Columns& columns) const {
    const double length = std::sqrt(loops().dot(dual_.data(), dual_.data(), problem_.n));
    const double sum = problem_.settings.intercept ? sum_of(dual_) : 0.0;
    if (std::fabs(sum) > tuning::rounding_of_sums * length * std::sqrt(static_cast<double>(problem_.n))) return false;
    Vector sizes(problem_.n), products(columns.size());
    for (Index i = 0; i < problem_.n; ++i) sizes[i] = std::fabs(dual_[i]);
    const double size = std::sqrt(sum_of(sizes));
    problem_.design.dots(columns, dual_.data(), products.data());
    for (std::size_t c = 0; c < columns.size(); ++c) {
      double first, second;
      problem_.design.moments(columns[c], sizes.data(), first, second);
      const double mean = problem_.settings.intercept ? first / std::max(size * size, tuning::tiny) : 0.0;
      const double away = std::sqrt(std::max(second - mean * first, 0.0));
      if (std::fabs(products[c]) > (tuning::orthogonal * away + tuning::rounding * std::sqrt(second)) * size)
        return false;
    }
    return true;
  }

  // Cholesky factor of the model on the columns; what is constant or repeated among them is made regular.
  bool factorise(const Columns& columns) {
    int k = static_cast<int>(columns.size()), info = 1;
    char upper = 'U';
    total_ = problem_.settings.intercept ? sum_of(curvature_) : 0.0;
    mean_.assign(k, 0.0);
    if (total_ > 0.0) {
      problem_.design.dots(columns, curvature_.data(), mean_.data());
      for (double& m : mean_) m /= total_;
    }
    Vector plain(static_cast<std::size_t>(k) * k);
    weighted_gram(problem_.design, columns, 0, curvature_.data(), total_, mean_.data(), plain.data(), k, workspace_);
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
  DualRepair<typename P::DesignType> repair_;
  const HeldReach held_;
  Workspace workspace_;
  Vector dual_, curvature_, mean_, factor_;  // the curvature of samples that have not stopped
  Vector room_;
  double total_ = 0.0;
};

}  // namespace clearning
