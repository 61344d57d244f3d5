// The duality gap: Fenchel-Young terms of samples and coefficients at a feasible dual point. None is negative.
#pragma once
#include "solver/dual_projection.hpp"
#include "solver/kernel_gap.hpp"

namespace clearning {

template <class P>
class Certificate {
 public:
  Certificate(const P& problem, const Screening<P>& screening)
      : problem_(problem), screening_(screening), projection_(problem), penalty_(problem, screening) {}

  // The feasible dual point that belongs to the iterate, up to scaling.
  const Vector& dual(const Stage<P>& at, const Iterate& x) {
    if (problem_.free.empty()) return x.e;
    if (projected_at_ != x.point) project(at, x, x.e);
    return projection_.dual();
  }
  // How far a point may be from the last one that was made orthogonal to columns without a penalty, at which nothing
  // pulls at them.
  double off() const { return off_; }

  // The gap of the working set's problem; of the whole one once no other column violates its threshold.
  // samples(scale, dual): the samples' share when the dual point is scaled. Once the columns' share alone exceeds
  // `enough` it is left out: no gap is that small.
  template <class Share>
  double gap(const Stage<P>& at, const Iterate& x, const Columns& set, double enough, Share&& samples) {
    if (problem_.free.empty()) return measure(at, x, set, {x.e, x.b, x.form}, {x.v}, enough, samples);
    const Vector* theta = feasible(at, x, x.e);
    return theta == nullptr ? INFINITY : gap_at(at, x, set, {*theta, x.b, x.form}, samples);
  }

  // A dual point that is feasible for the samples and the intercept made so for the columns without a penalty; none if
  // that does not succeed. It is this one that columns outside of the set may violate.
  const Vector* feasible(const Stage<P>& at, const Iterate& x, const Vector& theta) {
    if (problem_.free.empty()) return &theta;
    return project(at, x, theta) ? &projection_.dual() : nullptr;
  }

  // The same at another feasible dual point.
  template <class Share>
  double gap_at(const Stage<P>& at, const Iterate& x, const Columns& set, const DualPoint& dual, Share&& samples) {
    v_.resize(problem_.p);
    Vector products(set.size());
    problem_.design.dots(set, dual.theta.data(), products.data());
    for (std::size_t c = 0; c < set.size(); ++c) v_[set[c]] = products[c];
    if (problem_.free.empty()) return measure(at, x, set, dual, {v_}, INFINITY, samples);
    // Fenchel-Young terms are convex: within a share of a sample's room they are at most the larger of those at both
    // ends of it, and grow by no more than that share of those at the ends of the room.
    const Correlated of{v_, off_};
    const Vector edge = projection_.moved(1.0);
    const double ends = share_ * (samples(0.0, edge) + samples(1.0, edge));
    const double chord = measure(at, x, set, dual, of, INFINITY, samples) + ends;
    if (ends <= tuning::negligible_share * at.goal) return chord;
    const Vector far = projection_.moved(share_), near = projection_.moved(-share_);
    const auto both = [&](double scale, const Vector&) { return samples(scale, far) + samples(scale, near); };
    return std::min(chord, measure(at, x, set, dual, of, INFINITY, both));
  }

  // The same at one whose correlations with the set are known, where no column has to be projected.
  template <class Share>
  double gap_at(const Stage<P>& at, const Iterate& x, const Columns& set, const DualPoint& dual, Correlated of,
                Share&& samples) {
    return measure(at, x, set, dual, of, INFINITY, samples);
  }

  // The samples' share where the loss that is minimised is the one that counts.
  static double samples_share(const Stage<P>& at, const Iterate& x, double scale, const Vector& dual) {
    const P& problem = at.problem;
    if (&dual != &x.e) {
      const double near = near_gap(at.loss, problem.samples, x.score.data(), x.a, dual.data(), scale);
      return near <= at.goal ? near : std::min(near, exact_share(at, x, scale, dual));
    }
    // Fenchel-Young terms are convex in the scale, zero at one and the loss itself at zero.
    const double chord = (1.0 - x.balance) * x.loss;
    if (scale == 1.0 && chord <= tuning::negligible_share * at.goal) return chord;
    return scaled_gap(at.loss, problem.samples, x.score.data(), x.a, scale * (x.heavy > 0.0 ? x.balance : 1.0),
                      scale * (x.heavy < 0.0 ? x.balance : 1.0));
  }

 private:
  bool project(const Stage<P>& at, const Iterate& x, const Vector& theta) {
    Columns loose;
    for (int j : problem_.free)
      if (is_projected(problem_, x, j)) loose.push_back(j);
    projected_at_ = &theta == &x.e ? x.point : -1;
    off_ = 0.0;
    share_ = INFINITY;
    if (projection_.project(at, theta, x.h, loose)) find_room(at);
    // Samples that columns without a penalty set apart from all others lose their weight on the way, without an end.
    if (!(share_ <= 1.0) && projection_.project(at, theta, x.h, loose, negligible(at, x))) find_room(at);
    // Where few samples have curvature all of them may come to an edge: then others move, as it costs them little.
    if (!(share_ <= 1.0) && projection_.project(at, theta, ease(at, x, theta), loose)) find_room(at);
    if (!(share_ <= 1.0)) return false;
    const Vector& room = projection_.room();
    off_ = share_ * std::sqrt(loops().dot(room.data(), room.data(), room.size()));
    return true;
  }

  void find_room(const Stage<P>& at) {
    share_ = projection_.share_of_room(at);
    for (const double by : tuning::made_smaller)
      if (!(share_ <= 1.0)) share_ = projection_.share_once_smaller(by);
  }

  // How far each sample's weight goes into its domain for a unit of what that costs.
  static Vector ease(const Stage<P>& at, const Iterate& x, const Vector& theta) {
    const Samples& samples = at.problem.samples;
    Vector out(samples.n, 0.0);
    std::visit(
        [&](const auto& phi) {
          const double limit = std::min(phi.weight_limit(), 1.0), step = tuning::eased_step * limit;
          for (std::size_t i = 0; i < samples.n; ++i) {
            if (samples.weight[i] == 0.0) continue;
            const double s = std::fabs(theta[i]) / samples.weight[i], inside = s + (s < 0.5 * limit ? step : -step);
            const double cost = phi.fenchel_young(samples.y[i] * (x.score[i] + x.a), inside);
            out[i] = samples.weight[i] * step / std::max(cost, tuning::rounding * step);
          }
        },
        at.loss);
    return out;
  }

  // Samples whose losses, all together, are a small share of the goal.
  static std::vector<char> negligible(const Stage<P>& at, const Iterate& x) {
    const Samples& samples = at.problem.samples;
    const double most = tuning::left_out_share * at.goal / static_cast<double>(samples.n);
    std::vector<char> out(samples.n);
    std::visit(
        [&](const auto& phi) {
          for (std::size_t i = 0; i < samples.n; ++i)
            out[i] = samples.weight[i] * phi.at(samples.y[i] * (x.score[i] + x.a)).value <= most;
        },
        at.loss);
    return out;
  }

  template <class Share>
  double measure(const Stage<P>& at, const Iterate& x, const Columns& set, const DualPoint& dual, Correlated of,
                 double enough, Share&& samples) {
    const double gap =
        penalty_.gap(at, x, set, dual, of, enough, [&](double scale) { return samples(scale, dual.theta); });
    if (std::isnan(gap)) return INFINITY;
    return std::max(gap, 0.0);
  }

  static double exact_share(const Stage<P>& at, const Iterate& x, double scale, const Vector& dual) {
    const Samples& samples = at.problem.samples;
    return std::visit(
        [&](const auto& phi) {
          double sum = 0.0;
          for (std::size_t i = 0; i < samples.n; ++i) {
            if (samples.weight[i] == 0.0) continue;
            const double s = -scale * dual[i] * samples.y[i] / samples.weight[i];
            sum += samples.weight[i] * phi.fenchel_young(samples.y[i] * (x.score[i] + x.a), s);
          }
          return sum;
        },
        at.loss);
  }

  const P& problem_;
  const Screening<P>& screening_;
  DualProjection<P> projection_;
  PenaltyGap<P> penalty_;
  Vector v_;  // correlations of the set at another dual point than e
  int projected_at_ = -1;
  double share_ = INFINITY, off_ = 0.0;  // of the room of samples, to where nothing pulls; and how far that is
};

}  // namespace clearning
