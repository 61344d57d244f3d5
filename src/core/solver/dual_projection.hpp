// Columns without a penalty have to be orthogonal to a dual point. It is moved along the model until they are; a sample
// that would leave the loss's domain stays at its edge, and the others make up for it.
#pragma once
#include "linalg/blas.hpp"
#include "solver/dual_repair.hpp"
#include "solver/screening.hpp"

namespace clearning {

template <class P>
class DualProjection {
 public:
  using Workspace = typename P::DesignType::Workspace;

  explicit DualProjection(const P& problem)
      : problem_(problem),
        near_(problem.design, problem.samples.weight, problem.settings.intercept, far_reaching(problem)),
        repair_(problem.design, problem.settings.intercept) {}

  const Vector& dual() const { return dual_; }

  // Sets dual() from the point given, which moves where there is curvature h; false if that does not succeed: then
  // there is no certificate yet. Samples may be left out, which then carry nothing.
  bool project(const Stage<P>& at, const Vector& from, const Vector& h, const Columns& columns,
               const std::vector<char>& left_out = {}) {
    const double limit = std::visit([](const auto& phi) { return phi.weight_limit(); }, at.loss);
    dual_ = from;
    curvature_ = h;
    loose_ = columns;
    for (std::size_t i = 0; i < left_out.size(); ++i)
      if (left_out[i]) dual_[i] = curvature_[i] = 0.0;
    const NearDependence<typename P::DesignType>& near = near_.among(loose_);
    bool done = columns.empty(), stale = true;
    for (int pass = 0; pass < tuning::projections && !done; ++pass) {
      if (stale && !factorise(columns)) return false;
      for (const Difference& difference : near.differences()) shift_along(difference);
      shift_along(columns);
      stale = stop_at_edges(limit);
      done = !stale && is_orthogonal(columns) && is_orthogonal(near.differences());
    }
    return done;
  }

  // The share of its room that a sample has to move at most until nothing pulls at columns without a penalty, and the
  // room itself: as far as a weight is from the nearer end of its domain. Infinite where room does not tell.
  double share_of_room(const Stage<P>& at) {
    const double limit = std::visit([](const auto& phi) { return phi.weight_limit(); }, at.loss);
    room_.resize(problem_.n);
    for (Index i = 0; i < problem_.n; ++i) {
      const double size = std::fabs(dual_[i]), weight = problem_.samples.weight[i];
      room_[i] = weight > 0.0 ? std::max(std::min(size, limit * weight - size), 0.0) : 0.0;
    }
    return share_of_given_room();
  }
  // The same where weights are at the ends of their domain: once all are a little smaller they have that much room.
  double share_once_smaller(double by) {
    room_.resize(problem_.n);
    for (Index i = 0; i < problem_.n; ++i) {
      dual_[i] *= 1.0 - by;
      room_[i] = by * std::fabs(dual_[i]);
    }
    return share_of_given_room();
  }
  const Vector& room() const { return room_; }
  // The dual point with some share of its room taken, towards the far or the near end of each weight's domain.
  Vector moved(double share) const {
    Vector out(dual_);
    for (Index i = 0; i < problem_.n; ++i) out[i] += share * std::copysign(room_[i], dual_[i]);
    return out;
  }

 private:
  // A column at its bound whose pull is no more than what the moves change may come to pull to the other side, where no
  // bound holds it: then it must not pull either.
  double share_of_given_room() {
    Columns must_not, held;
    for (int j : near_.all())
      (std::binary_search(loose_.begin(), loose_.end(), j) || hardly_pulls(j) ? must_not : held).push_back(j);
    while (true) {
      Vector room(room_);
      const double share = share_that_frees(must_not, room);
      if (!(share <= 1.0)) return INFINITY;
      const auto moved = [&](int j) { return std::fabs(problem_.design.dot(j, dual_.data())) <= share * change(j); };
      const auto first = std::stable_partition(held.begin(), held.end(), [&](int j) { return !moved(j); });
      if (first == held.end()) {
        room_ = std::move(room);
        return share;
      }
      must_not.insert(must_not.end(), first, held.end());
      std::sort(must_not.begin(), must_not.end());
      held.erase(first, held.end());
    }
  }
  double share_that_frees(const Columns& must_not, Vector& room) {
    return repair_.share(
        near_.among(must_not), dual_, room,
        [&](int j) { return std::binary_search(must_not.begin(), must_not.end(), j); },
        [&](const PullBasis& basis, const Vector& left) {
          return clearning::share_of_room(basis, dual_.data(), left);
        });
  }
  // How much of a column's pull all the room is.
  double change(int j) const {
    double first, second;
    problem_.design.moments(j, room_.data(), first, second);
    return std::sqrt(sum_of(room_)) * std::sqrt(second);
  }

  static Columns far_reaching(const P& problem) {
    Columns found;
    for (int j : problem.free)
      if (std::isinf(problem.penalty.lower[j]) || std::isinf(problem.penalty.upper[j])) found.push_back(j);
    return found;
  }

  bool is_orthogonal(const std::vector<Difference>& differences) const {
    const double length = length_by_weight(dual_.data(), problem_.samples.weight, problem_.n);
    return std::all_of(differences.begin(), differences.end(), [&](const Difference& difference) {
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
  NearDependenceOfSome<typename P::DesignType> near_;
  const DualRepair<typename P::DesignType> repair_;
  Workspace workspace_;
  Columns loose_;                            // that had to be orthogonal to the last point
  Vector dual_, curvature_, mean_, factor_;  // the curvature of samples that have not stopped
  Vector room_;
  double total_ = 0.0;
};

}  // namespace clearning
