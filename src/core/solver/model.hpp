// The quadratic model of the loss on the working set: its curvature, and its matrix of second derivatives where that
// is worth having. The matrix is kept from step to step, and from penalty to penalty, as long as it serves.
#pragma once
#include <numeric>

#include "solver/curvature.hpp"
#include "solver/inner_problem.hpp"

namespace clearning {

template <class P>
class Model {
 public:
  using Workspace = typename P::DesignType::Workspace;

  explicit Model(const P& problem) : problem_(problem) {}

  const Vector& h() const { return curvature_.h(); }
  Workspace& workspace() { return workspace_; }

  // Second derivatives in the set's coefficients, column-major; the intercept is profiled out by the means.
  const double* gram() const { return gram_.data(); }
  int stride() const { return stride_; }
  const Vector& gram_h() const { return gram_h_; }  // the curvature that it was made with
  double largest_h() const { return largest_h_; }
  double unit() const { return unit_; }  // what it is to be multiplied by
  double mean(int c) const { return mean_[c]; }
  bool changed() const { return changed_; }  // by the last update, but for columns that were added

  void update_curvature(const Stage<P>& at, const Iterate& x) { curvature_.update(at, x); }

  // Whether steps on this set are better taken with the matrix than by sweeps over the columns.
  bool wants_gram(const WorkingSet& set) const {
    if (P::Quadratic::needs_gram) return true;
    if (set.size() > tuning::largest_gram) return false;
    const double k = set.size(), entries = problem_.design.entries(set.columns());
    const bool crawls = crawls_ && set.size() <= tuning::gram_where_descent_crawls;
    const double sweeps = crawls ? tuning::sweeps_of_crawling : tuning::expected_sweeps;
    return tuning::fresh_gram_share * gram_cost(k, entries) + tuning::gram_upkeep * k * k <=
           sweeps * problem_.design.sweep_cost(entries);
  }

  // Whether the old curvature costs more steps than a new matrix of these columns costs time.
  bool is_stale(const WorkingSet& set, double worst) const {
    const double k = set.size(), entries = problem_.design.entries(set.columns());
    if (count_ == 0 || contraction_ > tuning::poor_contraction) return true;
    if (gram_cost(k, entries) < tuning::free_gram) return contraction_ > tuning::good_contraction;
    const double left = std::log(std::max(worst, 1.1)) / -std::log(contraction_);
    return (left - tuning::steps_with_fresh_gram) * (problem_.design.pass_cost(entries) + k * k) >
           gram_cost(k, entries);
  }

  // Brings the matrix up to the set; anew where the old curvature costs more steps than a new matrix costs time.
  void update_gram(const Stage<P>& at, const WorkingSet& set, double worst) {
    const int k = set.size();
    const bool rebuild = is_stale(set, worst);
    fresh_ = rebuild;
    const bool is_level_new = level_ != at.ridge_level();
    changed_ = rebuild || (is_level_new && P::Quadratic::needs_gram);
    // Curvature falls along a path, most of it by a common factor. Beside a ridge another one may ask for a new factor,
    // so that it waits for another level.
    if (!rebuild && total_ > 0.0 && (is_level_new || level_ == 0.0)) unit_ = sum_of(curvature_.h()) / total_;
    if (!rebuild && !is_level_new && count_ == k) return;
    if (rebuild) {
      unit_ = 1.0;
      gram_h_ = curvature_.h();
      largest_h_ = largest_size(gram_h_);
      count_ = 0;
      total_ = sum_of(gram_h_);
      contraction_ = tuning::hoped_contraction;
    }
    extend_gram(at, set);
  }

  // Brings the matrix up to the set and the penalty, with the curvature that it has.
  void extend_gram(const Stage<P>& at, const WorkingSet& set) {
    const int k = set.size();
    reserve(k);
    if (count_ < k) extend(set);
    problem_.penalty.quadratic.add_to_gram(set.columns(), count_, at.ridge_level(), level_, gram_.data(), stride_);
    count_ = k;
    level_ = at.ridge_level();
  }

  void forget_gram() { count_ = 0; }
  bool has_old_gram() const { return count_ > 0 && !fresh_; }
  // Whether a matrix that holds more columns than wanted is still cheaper than a new one.
  bool keeps_gram(const WorkingSet& set, const Columns& wanted) const {
    return count_ > 0 && static_cast<std::size_t>(set.size()) <= 2 * wanted.size() + tuning::spare_columns;
  }

  // What a step made of the violations.
  void learn(const Excess& before, const Excess& after, bool with_gram) {
    crawls_ = crawls_ || (!with_gram && after.total() > std::max(1.0, tuning::crawling * before.total()));
    contraction_ = std::max(tuning::best_contraction, after.worst() / before.worst());
  }
  void expect_contraction(double most) { contraction_ = std::min(contraction_, most); }
  void respond(bool was_cut) {
    if (was_cut) count_ = 0;
    curvature_.respond(was_cut);
  }
  // A step that led nowhere: once more with the true curvature, then with more of it. False if nothing is left to try.
  bool reconsider() {
    if (!has_old_gram() && !curvature_.raise()) return false;
    count_ = 0;
    return true;
  }
  // Another loss.
  void restart() {
    count_ = 0;
    contraction_ = tuning::hoped_contraction;
  }

 private:
  double gram_cost(double k, double entries) const {
    return problem_.design.gram_cost(k, entries, curvature_.curved_share());
  }

  void extend(const WorkingSet& set) {
    const int k = set.size();
    mean_.resize(k);
    std::fill(mean_.begin() + count_, mean_.end(), 0.0);
    if (problem_.settings.intercept && total_ > 0.0) {
      const Columns fresh(set.columns().begin() + count_, set.columns().end());
      problem_.design.dots(fresh, gram_h_.data(), mean_.data() + count_);
      for (int c = count_; c < k; ++c) mean_[c] /= total_;
    }
    weighted_gram(problem_.design, set.columns(), count_, gram_h_.data(), total_, mean_.data(), gram_.data(), stride_,
                  workspace_);
  }

  void reserve(int k) {
    if (k <= stride_) return;
    if (count_ == 0) gram_ = Vector();  // nothing to keep beside the new one
    const int wider = static_cast<int>(std::min<Index>(problem_.p, tuning::with_room(k)));
    Vector grown(static_cast<std::size_t>(wider) * wider);
    for (int c = 0; c < count_; ++c)
      std::copy_n(gram_.data() + static_cast<std::size_t>(c) * stride_, count_,
                  grown.data() + static_cast<std::size_t>(c) * wider);
    gram_ = std::move(grown);
    stride_ = wider;
  }

  const P& problem_;
  Workspace workspace_;
  Curvature curvature_;
  Vector gram_, mean_, gram_h_;
  int count_ = 0, stride_ = 0;  // columns in the matrix, and how far its columns are apart
  double unit_ = 1.0, total_ = 0.0, largest_h_ = 0.0, level_ = 0.0;
  double contraction_ = tuning::hoped_contraction;  // of the worst violation by the last step
  bool fresh_ = false, changed_ = false;
  bool crawls_ = false;  // descent on the residual: strongly correlated columns need second-order steps
};

}  // namespace clearning
