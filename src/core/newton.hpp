// One penalty: proximal Newton steps on a working set, until the duality gap is small.
// Letters follow the paper: b coefficients, a intercept; e, h first and second derivatives of the
// weighted loss in the score; g the gradient of the smooth part; s = -phi' the dual weights.
#pragma once
#include <functional>
#include <numeric>

#include "certificate.hpp"
#include "descent.hpp"
#include "dual.hpp"
#include "ridge_system.hpp"
#include "screening.hpp"

namespace clearning {

struct Penalty {
  Vector l1_factor, l2_factor, lower, upper;
  double l1_ratio = 0.5;
};

struct Settings {
  double tol = 1e-6;
  int max_iter = 10000;
  bool intercept = true;
  std::function<void()> check_interrupt;
};

struct PathPoint {
  double position = NAN, a = 0.0;
  Columns columns;  // that carry coefficients
  Vector values, score;
};

struct Outcome {
  double objective = 0.0, gap = std::numeric_limits<double>::infinity();
  int iterations = 0;
  bool converged = false;
};

template <class Design>
class Solver {
 public:
  Solver(const Design& x, const Loss& loss, const Samples& samples, const double* offset, const Penalty& penalty,
         const Settings& settings)
      : x_(x), loss_(loss), samples_(samples), offset_(offset), penalty_(penalty), settings_(settings), n_(x.n), p_(x.p),
        b_(x.p, 0.0), score_(offset, offset + x.n), e_(x.n), h_(x.n), v_(x.p, 0.0),
        place_(x.p, -1), stamp_(x.p, -1), cools_(loss.kind == LossKind::hinge) {
    if (cools_) loss_ = {LossKind::coherence, null_temperature, 1.0, 2.0, 1.0};
    if constexpr (Design::is_kernel) quad_.assign(p_, 0.0);
    smooth_ = penalty.l1_ratio == 0.0;
    for (Index j = 0; j < p_; ++j) {
      if (unpenalised(j)) free_.push_back(static_cast<int>(j));
      smooth_ = smooth_ && std::isinf(penalty.lower[j]) && std::isinf(penalty.upper[j]);
    }
  }

  double coefficient(Index j) const { return b_[j]; }
  // The columns that carry coefficients, in order.
  Columns support() const {
    Columns columns;
    for (int j : set_)
      if (b_[j] != 0.0) columns.push_back(j);
    std::sort(columns.begin(), columns.end());
    return columns;
  }
  double intercept() const { return a_; }
  double null_objective() const { return null_objective_; }

  // Fits the model without penalised coefficients; the start of every path and the scale of every tolerance.
  void fit_null() {
    measure_norms();
    settle();
    null_objective_ = reported_loss();
    if (!free_.empty()) {
      const double floor = 1e-10 * null_objective_;  // unpenalised columns may separate the classes
      freeze_ = true;
      add_columns(free_);
      solve_at(1.0, 1.0);
      freeze_ = false;
      null_objective_ = std::max(floor, reported_loss());
    }
    correlate_all();
    screen_.remember(e_, v_);
  }

  void start_from(const double* b, double a) {
    Columns columns;
    Vector values;
    for (Index j = 0; j < p_; ++j)
      if (b[j] != 0.0) {
        columns.push_back(static_cast<int>(j));
        values.push_back(b[j] - b_[j]);
        b_[j] = b[j];
      }
    a_ = a;
    move_scores(columns, values, 1.0);
    settle();
    correlate_all();
    warm_ = true;
  }

  // Another temperature from here on; the coefficients stay.
  void set_temperature(double rho) {
    loss_.rho = rho;
    begin_progress();
    gram_count_ = 0;
    contraction_ = 0.05;
    settle();
    refresh_gradient();
  }

  // The smallest penalty at which every penalised coefficient is zero.
  double alpha_max() const {
    const double ratio = std::max(penalty_.l1_ratio, 1e-3);
    const double rounding = 1e-14 * std::sqrt(kernels().dot(e_.data(), e_.data(), n_));
    double top = 0.0;
    for (Index j = 0; j < p_; ++j) {
      if (penalty_.l1_factor[j] == 0.0 || std::fabs(v_[j]) <= rounding * lengths_[j]) continue;
      const double pull = v_[j] < 0.0 ? (penalty_.upper[j] > 0.0 ? -v_[j] : 0.0) : (penalty_.lower[j] < 0.0 ? v_[j] : 0.0);
      top = std::max(top, pull / (ratio * penalty_.l1_factor[j]));
    }
    return top;
  }

  Outcome solve_at(double alpha, double previous_alpha) {
    const bool given = warm_;
    set_alpha(alpha);
    Outcome out;
    const bool ascended = cools_ && ascends();
    if (ascended) out = ascend();
    if (out.converged) return out;
    if (cools_) warm_up();
    begin_progress();
    if (!freeze_) choose_columns(alpha, previous_alpha);
    if (!cools_ && !freeze_) extrapolate(std::log(alpha));
    const double goal = settings_.tol * null_objective_;
    double tighten = 1.0, check_level = 1.0, best_dual = -INFINITY, share = 0.1;
    while (true) {
      settings_.check_interrupt();
      // One step makes far more of our own start than its gap may ask for, so that is not looked at.
      const bool untried = out.iterations == 0 && !cools_ && !given;
      out.gap = untried ? INFINITY : gap(cools_ ? INFINITY : goal);
      if (cools_ && out.iterations > 0) {
        // Warm, the temperature alone keeps the gap open: cool as soon as a step gains little beside that.
        const double warmth = sample_gap(1.0);
        if (warmth > 0.5 * goal && gain_ < 0.1 * warmth && out.gap > goal) {
          if (!freeze_) admit_violators();
          if (!cool()) break;
          continue;
        }
      }
      if (cools_) tighten = share * std::min(out.gap, null_objective_) / goal;
      load_inner(goal, tighten);
      const double worst = inner_.worst();
      if (out.gap <= goal || worst <= check_level) {
        const int entered = freeze_ ? 0 : admit_violators();
        if (entered > 0) {
          load_inner(goal, tighten);
          check_level = std::max(1.0, 0.1 * inner_.worst());
          contraction_ = std::min(contraction_, 0.3);
        } else {
          if (out.gap > goal) out.gap = gap();
          best_dual = std::max(best_dual, objective() - out.gap);
          out.converged = out.gap <= goal;
          if (out.converged || tighten < 1e-9) break;
          check_level = 1.0;
          if (worst <= 1.0 && cools_) {
            // What keeps the gap open: the temperature, or a solution that is not exact enough at it?
            if (sample_gap(1.0) < 0.5 * out.gap && share > 1e-6) share *= 0.1;
            else if (!cool()) break;
            continue;
          }
          if (worst <= 1.0) tighten *= 0.1;
          load_inner(goal, tighten);
        }
      }
      if (out.iterations >= settings_.max_iter) break;
      ++out.iterations;
      if (!step(inner_.worst())) {
        if (cools_ && cool()) continue;
        break;
      }
    }
    if (!freeze_ && !cools_) remember(std::log(alpha));
    out.objective = objective();
    if (!out.converged) {
      // Any dual point bounds the optimum; if none was complete, the last one is completed now.
      while (!freeze_ && best_dual == -INFINITY && admit_violators() > 0) {}
      load_inner(goal, 1.0);
      out.gap = std::min(gap(), out.objective - best_dual);
      out.converged = out.gap <= goal;
      if (ascended && dual_.gap < out.gap) adopt_dual(out);
    }
    return out;
  }

 private:
  // --- the state at a point -------------------------------------------------------------------
  void set_alpha(double alpha) {
    ridge_level_ = alpha * (1.0 - penalty_.l1_ratio);
    l1_level_ = alpha * penalty_.l1_ratio;
  }
  double l1(Index j) const { return l1_level_ * penalty_.l1_factor[j]; }
  double ridge(Index j) const { return ridge_level_ * penalty_.l2_factor[j]; }

  // Ridge part of the smooth gradient.
  double ridge_gradient(Index j) const {
    if constexpr (Design::is_kernel) return ridge_level_ * quad_[j];
    else return ridge(j) * b_[j];
  }
  double gradient(Index j) const { return v_[j] + ridge_gradient(j); }

  double objective() const { return reported_loss() + penalty_value(b_); }

  double penalty_value(const Vector& b) const {
    double sum = 0.0;
    for (int j : set_) {  // all others are zero
      if (b[j] == 0.0) continue;
      sum += l1(j) * std::fabs(b[j]);
      if constexpr (Design::is_kernel) sum += 0.5 * ridge_level_ * b[j] * quad_[j];
      else sum += 0.5 * ridge(j) * b[j] * b[j];
    }
    return sum;
  }

  // The hinge is the limit of the coherence function, so its problem is solved by lowering the temperature
  // until the hinge's own gap is small.
  static constexpr double null_temperature = 1e-3, first_temperature = 0.25, cooling = 0.5, last_temperature = 1e-9;

  bool cool() {
    if (loss_.rho <= last_temperature) return false;
    if (!freeze_) remember(loss_.rho);
    set_temperature(loss_.rho * cooling);
    if (!freeze_) extrapolate(loss_.rho);
    gain_ = INFINITY;  // no step at this temperature yet
    return true;
  }

  void warm_up() {
    const bool fresh = set_.empty();
    earlier_.position = latest_.position = NAN;
    set_temperature(fresh ? first_temperature : std::min(first_temperature, 2.0 * loss_.rho));
  }

  // A ridge alone makes the hinge's dual a box in the samples' weights, where ascent needs no temperature. It pays
  // where second-order steps are dear.
  bool ascends() {
    if (!smooth_ || !free_.empty()) return false;
    if constexpr (Design::is_kernel) return x_.square();
    if constexpr (!Design::is_sparse) return false;
    add_columns(every_index(p_));
    return !uses_gram();
  }

  Outcome ascend() {
    Outcome out;
    const auto solve = [&](auto&& method, auto&&... by) {
      method.solve(dual_, by..., settings_.tol * null_objective_, settings_.max_iter / 2, out.iterations,
                   settings_.check_interrupt);
    };
    if (dual_.s.empty()) dual_.start(samples_, offset_);
    if constexpr (Design::is_kernel)
      solve(BlockAscent<Design>(x_, samples_, settings_.intercept, offset_), ridge_level_);
    else if constexpr (Design::is_sparse)
      solve(RowAscent(x_.rows(), samples_, settings_.intercept, offset_), dual_b_, ridge_level_, penalty_.l2_factor);
    adopt_dual(out);
    return out;
  }

  // The coefficients, scores and correlations that belong to the dual's weights.
  void adopt_dual(Outcome& out) {
    add_columns(every_index(p_));
    ++point_;
    for (Index i = 0; i < n_; ++i) {
      score_[i] = dual_.residual[i] + samples_.y[i];
      e_[i] = -dual_.s[i];
      if constexpr (Design::is_kernel) {
        b_[i] = dual_.s[i] / ridge_level_;
        quad_[i] = score_[i] - offset_[i];
      }
    }
    if constexpr (!Design::is_kernel) b_ = dual_b_;
    for (Index j = 0; j < p_; ++j) {
      v_[j] = -ridge_gradient(j);
      stamp_[j] = point_;
    }
    a_ = dual_.intercept;
    out.gap = std::max(0.0, dual_.gap);
    out.objective = objective();
    out.converged = out.gap <= settings_.tol * null_objective_;
  }

  // The loss that is reported: the hinge's where the coherence function only stands in for it.
  double reported_loss() const {
    if (!cools_) return loss_value_;
    double sum = 0.0;
    for (Index i = 0; i < n_; ++i) sum += samples_.weight[i] * std::max(0.0, 1.0 - samples_.y[i] * (score_[i] + a_));
    return sum;
  }

  // Fits the intercept to the scores, fills e and h, and evens out the last rounding between the classes,
  // so that e sums to zero and the dual point is feasible.
  void settle() {
    ++point_;
    balance_ = 1.0;
    heavy_ = 0.0;
    if (settings_.intercept) centre();
    const LossSums sums = kernels().evaluate(loss_, samples_, score_.data(), a_, e_.data(), h_.data());
    if (settings_.intercept) even_out(sums);
    loss_value_ = sums.value;
    curvature_sum_ = sums.curvature;
  }

  // Newton's steps on the intercept alone, kept within what is known to hold the optimum.
  void centre() {
    const double even = cools_ ? 0.03 * settings_.tol : n_ > 10000 ? 1e-8 : 1e-10;
    double low = -INFINITY, high = INFINITY;
    for (int step = 0; step < 200; ++step) {
      const LossSums sums = kernels().slopes(loss_, samples_, score_.data(), a_);
      const double uneven = std::fabs(sums.slope) / sums.mass;
      if (!(uneven > even)) return;
      (sums.slope > 0.0 ? high : low) = a_;
      const double reach = std::max(1.0, 2.0 * std::fabs(a_));
      double next = sums.curvature > 0.0 ? a_ - sums.slope / sums.curvature : NAN;
      const bool newton = next > std::max(low, a_ - reach) && next < std::min(high, a_ + reach);
      if (std::isinf(low) && !(next >= a_ - reach)) next = a_ - reach;
      if (std::isinf(high) && !(next <= a_ + reach)) next = a_ + reach;
      if (!(next > low && next < high)) next = 0.5 * (low + high);
      if (next == a_ || next == low || next == high) return;
      a_ = next;
      if (newton && uneven * uneven < 0.01 * even) return;  // the step squares it
    }
  }

  void even_out(const LossSums& sums) {
    const double positive = 0.5 * (sums.mass - sums.slope), negative = 0.5 * (sums.mass + sums.slope);
    if (positive == negative) return;
    heavy_ = positive > negative ? 1.0 : -1.0;
    balance_ = std::min(positive, negative) / std::max(positive, negative);
    kernels().scale_class(samples_.y, heavy_, balance_, e_.data(), n_);
  }

  void move_scores(const Columns& columns, const Vector& values, double step) {
    direction_.assign(n_, 0.0);
    x_.combine(columns, values.data(), direction_.data());
    kernels().axpy(step, direction_.data(), score_.data(), n_);
    if constexpr (Design::is_kernel) {
      penalty_direction(columns, values);
      kernels().axpy(step, quad_direction_.data(), quad_.data(), p_);
    }
  }

  void penalty_direction(const Columns& columns, const Vector& values) {
    if constexpr (Design::is_kernel) {
      if (x_.square()) {
        quad_direction_ = direction_;
        return;
      }
      quad_direction_.assign(p_, 0.0);
      for (std::size_t c = 0; c < columns.size(); ++c) {
        const auto* column = x_.penalty_column(columns[c]);
        for (Index j = 0; j < p_; ++j) quad_direction_[j] += values[c] * column[j];
      }
    }
  }

  void correlate_all() {
    x_.all_dots(e_.data(), v_.data());
    std::fill(stamp_.begin(), stamp_.end(), point_);
  }

  // --- screening ------------------------------------------------------------------------------
  void measure_norms() {
    Vector ones(n_, 1.0), norms(p_);
    lengths_.resize(p_);
    for (Index j = 0; j < p_; ++j) {
      double first, second;
      x_.moments(j, ones.data(), first, second);
      const double centred = settings_.intercept ? std::max(0.0, second - first * first / n_) : second;
      lengths_[j] = std::sqrt(second);
      norms[j] = std::sqrt(centred) + 1e-7 * lengths_[j];
    }
    screen_.reset(std::move(norms));
  }

  void add_columns(const Columns& columns) {
    for (int j : columns)
      if (place_[j] < 0) {
        place_[j] = static_cast<int>(set_.size());
        set_.push_back(j);
      }
  }

  // Columns whose gradient may reach a share of its threshold when it is known within radius * norm.
  Columns candidates(double share, double radius) {
    const double* at = v_.data();
    if constexpr (Design::is_kernel) {
      scratch(p_);
      for (Index j = 0; j < p_; ++j) scratch_[j] = gradient(j);
      at = scratch_.data();
    }
    Columns found(p_);
    found.resize(kernels().above(at, screen_.norms(), radius, penalty_.l1_factor.data(), share * l1_level_, p_,
                                 found.data()));
    return found;
  }

  // Sequential strong rule for a small change of the penalty; for a large one, the worst offenders only.
  void choose_columns(double alpha, double previous_alpha) {
    const bool near = !warm_ && 2.0 * alpha - previous_alpha >= 0.3 * alpha;
    warm_ = false;
    Columns wanted;
    if (near) {
      wanted = support();
      for (int j : candidates((2.0 * alpha - previous_alpha) / alpha, 0.0))
        if (b_[j] == 0.0) wanted.push_back(j);
    } else {
      for (Index j = 0; j < p_; ++j)
        if (b_[j] != 0.0 || l1(j) == 0.0) wanted.push_back(static_cast<int>(j));
      append_worst(wanted, first_columns() + 2 * static_cast<int>(wanted.size()));
    }
    if (!keeps_gram(wanted)) replace_columns(wanted);
    add_columns(wanted);
    freshen();
  }

  // A cold start takes a hundred columns, or where they are sparse as many as hold two entries a sample. A hinge's
  // first temperatures need few.
  int first_columns() const {
    if constexpr (Design::is_sparse) {
      if (cools_) return 100;
      const double entries_a_column = std::max(static_cast<double>(x_.starts[p_]), 1.0) / p_;
      return static_cast<int>(std::max(100.0, std::min(2.0 * n_ / entries_a_column, static_cast<double>(p_))));
    }
    return 100;
  }

  // Exact correlations for the working set's columns that have only old or predicted ones.
  void freshen() {
    Columns stale;
    for (int j : set_)
      if (stamp_[j] != point_) stale.push_back(j);
    update_correlations(stale, e_);
  }

  void update_correlations(const Columns& columns, const Vector& dual) {
    if (columns.empty()) return;
    x_.dots(columns, dual.data(), scratch(columns.size()));
    for (std::size_t c = 0; c < columns.size(); ++c) {
      v_[columns[c]] = scratch_[c];
      stamp_[columns[c]] = point_;
    }
  }

  double* scratch(std::size_t size) {
    scratch_.resize(size);
    return scratch_.data();
  }

  void append_worst(Columns& wanted, int most) const {
    std::vector<std::pair<double, int>> offenders;
    for (Index j = 0; j < p_; ++j) {
      const double size = std::fabs(gradient(j));
      if (b_[j] == 0.0 && l1(j) > 0.0 && size > l1(j)) offenders.emplace_back(-size / l1(j), static_cast<int>(j));
    }
    const auto kept = std::min<std::size_t>(offenders.size(), most);
    std::partial_sort(offenders.begin(), offenders.begin() + kept, offenders.end());
    for (std::size_t c = 0; c < kept; ++c) wanted.push_back(offenders[c].second);
  }

  void replace_columns(const Columns& wanted) {
    for (int j : set_) place_[j] = -1;
    set_.clear();
    gram_count_ = 0;
    add_columns(wanted);
  }

  // Brings v up to date where a column could matter, and lets those above their threshold in.
  int admit_violators() {
    const Vector& dual = free_.empty() ? e_ : dual_e_;
    Columns doubtful;
    const bool predicts = screen_.ready() && p_ > 2 * static_cast<Index>(set_.size());
    if (predicts) {
      screen_.express(dual);
      Vector exact(set_.size());
      for (std::size_t c = 0; c < set_.size(); ++c) exact[c] = v_[set_[c]];
      screen_.predict(v_);
      for (std::size_t c = 0; c < set_.size(); ++c) v_[set_[c]] = exact[c];
      for (int j : candidates(1.0, screen_.radius()))
        if (place_[j] < 0) doubtful.push_back(j);
    } else {
      for (Index j = 0; j < p_; ++j)
        if (place_[j] < 0) doubtful.push_back(static_cast<int>(j));
    }
    if (predicts && static_cast<Index>(doubtful.size()) > p_ / 4) {
      scratch(p_);
      x_.all_dots(dual.data(), scratch_.data());
      screen_.remember(dual, scratch_);
      for (Index j = 0; j < p_; ++j)
        if (place_[j] < 0) {
          v_[j] = scratch_[j];
          stamp_[j] = point_;
        }
    } else {
      update_correlations(doubtful, dual);
    }
    std::vector<std::pair<double, int>> violators;
    for (int j : doubtful) {
      const double excess = optimality_violation(0.0, gradient(j), l1(j), penalty_.lower[j], penalty_.upper[j]);
      if (excess > 0.0) violators.emplace_back(-excess / std::max(l1(j), 1e-300), j);
    }
    const auto most = std::min(violators.size(), std::max<std::size_t>(100, set_.size()));
    std::partial_sort(violators.begin(), violators.begin() + most, violators.end());
    Columns entering;
    for (std::size_t c = 0; c < most; ++c) entering.push_back(violators[c].second);
    add_columns(entering);
    return static_cast<int>(entering.size());
  }

  // --- the certificate ------------------------------------------------------------------------
  // The gap of the working set's problem; of the whole one once no other column violates its threshold.
  // Once the columns' share alone exceeds `enough`, the samples' share is left out: no gap is that small.
  double gap(double enough = INFINITY) {
    const Vector* v = &v_;
    if (!free_.empty()) {
      if (!correct_free_columns()) return std::numeric_limits<double>::infinity();
      v = &dual_v_;
    }
    if constexpr (Design::is_kernel) return kernel_gap();
    double scale = 1.0;
    for (int j : set_) {
      if (corrected(j)) continue;
      const double g = std::fabs((*v)[j]);
      if (g > l1(j) && is_constrained(-(*v)[j], ridge(j), penalty_.lower[j], penalty_.upper[j]))
        scale = std::min(scale, l1(j) / g);
    }
    double sum = 0.0;
    for (int j : set_) {
      if (corrected(j)) continue;
      const double dual = -scale * (*v)[j], b = b_[j];
      sum += penalty_conjugate(std::fabs(dual) <= l1(j) * (1.0 + 1e-15) ? 0.0 : dual, l1(j), ridge(j),
                               penalty_.lower[j], penalty_.upper[j]);
      if (b != 0.0) sum += l1(j) * std::fabs(b) + 0.5 * ridge(j) * b * b - dual * b;
    }
    if (sum <= enough) sum += sample_gap(scale);
    return std::max(sum, 0.0);
  }

  bool unpenalised(Index j) const { return penalty_.l1_factor[j] == 0.0 && penalty_.l2_factor[j] == 0.0; }

  // Unpenalised columns have to be orthogonal to the dual point, unless a bound holds them.
  bool corrected(Index j) const {
    return unpenalised(j) && is_constrained(-v_[j], 0.0, penalty_.lower[j], penalty_.upper[j]);
  }

  double sample_gap(double scale) const {
    if (cools_) {
      const Vector& dual = free_.empty() ? e_ : dual_e_;
      double sum = 0.0;
      for (Index i = 0; i < n_; ++i) {
        const double short_of = 1.0 - samples_.y[i] * (score_[i] + a_);
        sum += samples_.weight[i] * std::max(0.0, short_of) + scale * dual[i] * samples_.y[i] * short_of;
      }
      return sum;
    }
    if (!free_.empty()) {
      double sum = 0.0;
      for (Index i = 0; i < n_; ++i) {
        if (samples_.weight[i] == 0.0) continue;
        const double s = -scale * dual_e_[i] * samples_.y[i] / samples_.weight[i];
        sum += samples_.weight[i] * fenchel_young(loss_, samples_.y[i] * (score_[i] + a_), s);
      }
      return sum;
    }
    if (scale == 1.0 && balance_ >= 1.0 - 1e-8) return 0.0;
    return kernels().sample_gap(loss_, samples_, score_.data(), a_, scale * (heavy_ > 0.0 ? balance_ : 1.0),
                                scale * (heavy_ < 0.0 ? balance_ : 1.0));
  }

  double kernel_gap() const {
    double scale = 1.0, cross = 0.0, square = 0.0, absolute = 0.0;
    for (int j : set_) {
      const double g = std::fabs(gradient(j));
      if (g > l1(j)) scale = std::min(scale, l1(j) / g);
      cross += v_[j] * b_[j];
      absolute += l1(j) * std::fabs(b_[j]);
      if constexpr (Design::is_kernel) square += ridge_level_ * b_[j] * quad_[j];
    }
    const double scaled = sample_gap(scale) + scale * cross + 0.5 * (1.0 + scale * scale) * square + absolute;
    return std::max(0.0, std::min(scaled, absolute + ridge_gap()));
  }

  // The other dual point, which leaves the l1 penalty out: g' K^-1 g / (2 ridge), g = K q.
  double ridge_gap() const {
    if constexpr (Design::is_kernel) {
      if (static_cast<Index>(set_.size()) < p_ || ridge_level_ == 0.0) return INFINITY;
      double sum = 0.0;
      if (x_.square()) {
        for (Index j = 0; j < p_; ++j) sum += (e_[j] + ridge_level_ * b_[j]) * gradient(j);
      } else {
        Vector g(p_);
        for (Index j = 0; j < p_; ++j) g[j] = gradient(j);
        sum = landmark_form(g);
      }
      return sample_gap(1.0) + 0.5 * sum / ridge_level_;
    }
    return INFINITY;
  }

  // g' K_mm^-1 g
  double landmark_form(Vector& g) const {
    int m = static_cast<int>(p_), info = 0;
    char upper = 'U', transposed = 'T', plain = 'N';
    if (landmark_factor_.empty()) {
      landmark_factor_.assign(x_.penalty_column(0), x_.penalty_column(0) + p_ * p_);
      double top = 0.0;
      for (Index j = 0; j < p_; ++j) top = std::max(top, landmark_factor_[j * p_ + j]);
      for (Index j = 0; j < p_; ++j) landmark_factor_[j * p_ + j] += 1e-13 * top;
      blas::dpotrf(&upper, &m, landmark_factor_.data(), &m, &info);
      if (info != 0) landmark_factor_.assign(1, NAN);
    }
    if (static_cast<Index>(landmark_factor_.size()) < p_ * p_) return INFINITY;
    int one = 1;
    blas::dtrsv(&upper, &transposed, &plain, &m, landmark_factor_.data(), &m, g.data(), &one);
    return kernels().dot(g.data(), g.data(), g.size());
  }

  // Moves the dual point along the model until unpenalised columns are orthogonal to it. A sample that would leave
  // the loss's domain stays at its edge, and the others make up for it. False if that does not succeed: then there
  // is no certificate yet.
  bool correct_free_columns() {
    constexpr int passes = 20;
    dual_e_ = e_;
    dual_v_ = v_;
    Columns loose;
    for (int j : free_)
      if (corrected(j)) loose.push_back(j);
    int k = static_cast<int>(loose.size()), one = 1, info = 0;
    char upper = 'U';
    Vector room = h_, gram, mean(k), right(k), shift(n_);
    double total = 0.0;
    bool done = k == 0, stale = true;
    for (int pass = 0; pass < passes && !done; ++pass) {
      if (stale && !factorise_free(loose, room, total, mean, gram)) return false;
      const double sum = settings_.intercept ? std::accumulate(dual_e_.begin(), dual_e_.end(), 0.0) : 0.0;
      x_.dots(loose, dual_e_.data(), right.data());
      for (int c = 0; c < k; ++c) right[c] -= mean[c] * sum;
      blas::dpotrs(&upper, &k, &one, gram.data(), &k, right.data(), &k, &info);
      const double centre = std::inner_product(mean.begin(), mean.end(), right.begin(), 0.0);
      shift.assign(n_, (total > 0.0 ? sum / total : 0.0) - centre);
      x_.combine(loose, right.data(), shift.data());
      for (Index i = 0; i < n_; ++i) dual_e_[i] -= room[i] * shift[i];
      stale = stop_at_edges(room);
      done = !stale && is_orthogonal(loose);
    }
    if (!done) return false;
    x_.dots(set_, dual_e_.data(), scratch(set_.size()));
    for (std::size_t c = 0; c < set_.size(); ++c) dual_v_[set_[c]] = scratch_[c];
    return true;
  }

  // Puts dual weights that left [0, limit] back and takes their room to move; true if there were any.
  bool stop_at_edges(Vector& room) {
    const double limit = loss_.weight_limit();
    bool any = false;
    for (Index i = 0; i < n_; ++i) {
      const double s = -dual_e_[i] * samples_.y[i], most = limit * samples_.weight[i];
      if (s >= 0.0 && !(s > most)) continue;
      dual_e_[i] = s < 0.0 ? 0.0 : -most * samples_.y[i];
      room[i] = 0.0;
      any = true;
    }
    return any;
  }

  bool is_orthogonal(const Columns& columns) {
    const double length = std::sqrt(kernels().dot(dual_e_.data(), dual_e_.data(), n_));
    const double sum = settings_.intercept ? std::accumulate(dual_e_.begin(), dual_e_.end(), 0.0) : 0.0;
    if (std::fabs(sum) > 1e-13 * length * std::sqrt(static_cast<double>(n_))) return false;
    x_.dots(columns, dual_e_.data(), scratch(columns.size()));
    for (std::size_t c = 0; c < columns.size(); ++c) {
      const double rounding = 1e-11 * screen_.norm(columns[c]) + 1e-14 * lengths_[columns[c]];
      if (std::fabs(scratch_[c]) > rounding * length) return false;
    }
    return true;
  }

  // Cholesky factor of the model on unpenalised columns; what is constant or repeated among them is made regular.
  bool factorise_free(const Columns& columns, const Vector& h, double& total, Vector& mean, Vector& gram) const {
    int k = static_cast<int>(columns.size()), info = 1;
    char upper = 'U';
    total = settings_.intercept ? std::accumulate(h.begin(), h.end(), 0.0) : 0.0;
    std::fill(mean.begin(), mean.end(), 0.0);
    if (total > 0.0) {
      x_.dots(columns, h.data(), mean.data());
      for (double& m : mean) m /= total;
    }
    Vector plain(static_cast<std::size_t>(k) * k);
    weighted_gram(x_, columns, 0, h.data(), total, mean.data(), plain.data(), k);
    for (double jitter = 1e-14; info != 0 && jitter < 1e-6; jitter *= 100.0) {
      gram = plain;
      for (int c = 0; c < k; ++c) {
        double& diagonal = gram[static_cast<std::size_t>(c) * k + c];
        diagonal = diagonal > 0.0 ? diagonal * (1.0 + jitter) : 1.0;
      }
      blas::dpotrf(&upper, &k, gram.data(), &k, &info);
    }
    return info == 0;
  }

  // --- the Newton step ------------------------------------------------------------------------
  void load_inner(double goal, double tighten) {
    freshen();
    const int k = static_cast<int>(set_.size());
    inner_.resize(k);
    for (int c = 0; c < k; ++c) {
      const int j = set_[c];
      inner_.b[c] = b_[j];
      inner_.g[c] = gradient(j);
      inner_.l1[c] = l1(j);
      inner_.ridge[c] = Design::is_kernel ? 0.0 : ridge(j);
      inner_.lower[c] = penalty_.lower[j];
      inner_.upper[c] = penalty_.upper[j];
      // How much violation the certificate forgives: with a ridge its square counts, with l1 alone its share.
      double by_ridge = std::sqrt(2.0 * ridge(j) * goal / k);
      if constexpr (Design::is_kernel)
        if (l1(j) > 0.0) by_ridge = 0.0;
      const double by_l1 = settings_.tol * l1(j);
      const double floor = 1e-3 * settings_.tol * std::sqrt(goal);
      inner_.allowed[c] = 0.3 * std::max({by_ridge * std::sqrt(tighten), by_l1 * tighten, floor * tighten});
    }
  }

  bool step(double worst) {
    curvature();
    if constexpr (Design::is_kernel)
      if (penalty_.l1_ratio == 0.0 && x_.square()) return ridge_step();
    const bool explicit_model = uses_gram();
    if (explicit_model) {
      update_gram(worst);
      descent_.solve(inner_, gram_.data(), stride_, std::max(0.5, 0.1 * worst));
    } else {
      gram_count_ = 0;
      if (smooth_)
        gradients_.solve(inner_, x_, set_, model_h_, settings_.intercept, std::max(0.5, 0.1 * worst));
      else
        residual_descent_.solve(inner_, x_, set_, e_, model_h_, settings_.intercept, std::max(0.5, 0.03 * worst));
    }
    Columns moved;
    Vector delta;
    double shift = 0.0;
    for (int c = 0; c < inner_.count; ++c) {
      const double d = inner_.b[c] - b_[set_[c]];
      if (d == 0.0) continue;
      moved.push_back(set_[c]);
      delta.push_back(d);
      if (explicit_model) shift -= d * mean_[c];
    }
    if (moved.empty()) return retry();
    if (!explicit_model) shift = smooth_ ? gradients_.intercept_shift() : residual_descent_.intercept_shift();
    if (!search(moved, delta, shift)) return retry();
    refresh_gradient();
    const double after = worst_violation();
    crawls_ = crawls_ || (!explicit_model && after > 0.7 * worst);
    contraction_ = std::max(1e-3, after / worst);
    watch_progress(after);
    return true;
  }

  void begin_progress() {
    stalled_ = 0;
    best_violation_ = INFINITY;
  }

  void watch_progress(double violation) {
    if (violation < 0.9 * best_violation_) {
      best_violation_ = violation;
      stalled_ = 0;
    } else {
      ++stalled_;
    }
  }

  // --- along the path -------------------------------------------------------------------------
  // The position of a solution is the logarithm of its penalty or, while a hinge's problem cools, its temperature.
  void remember(double position) {
    std::swap(earlier_, latest_);
    latest_.position = position;
    latest_.a = a_;
    latest_.score = score_;
    latest_.columns = support();
    latest_.values.clear();
    for (int j : latest_.columns) latest_.values.push_back(b_[j]);
  }

  // A start at the next position: the last two solutions continued, if that is better.
  void extrapolate(double position) {
    const double ahead = (position - latest_.position) / (latest_.position - earlier_.position);
    if (!(ahead > 0.0 && ahead < 3.0)) return;
    load_inner(settings_.tol * null_objective_, 1.0);
    Columns moved, turned;
    Vector delta, rest, before(inner_.count, 0.0);
    for (std::size_t c = 0; c < earlier_.columns.size(); ++c) {
      const int j = earlier_.columns[c];
      if (place_[j] >= 0) {
        before[place_[j]] = earlier_.values[c];
      } else {
        turned.push_back(j);
        rest.push_back(ahead * earlier_.values[c]);
      }
    }
    for (int c = 0; c < inner_.count; ++c) {
      const int j = set_[c];
      const double drift = ahead * (b_[j] - before[c]);
      if (drift == 0.0) continue;
      const auto [low, high] = sign_range(inner_, c);
      if (b_[j] != 0.0) inner_.b[c] = std::clamp(b_[j] + drift, low, high);
      const double change = inner_.b[c] - b_[j];
      if (change != 0.0) {
        moved.push_back(j);
        delta.push_back(change);
      }
      if (std::fabs(change - drift) > 1e-14 * std::fabs(drift)) {
        turned.push_back(j);
        rest.push_back(change - drift);
      }
    }
    if (moved.empty()) return;
    for (Index i = 0; i < n_; ++i) direction_[i] = ahead * (score_[i] - earlier_.score[i]);
    x_.combine(turned, rest.data(), direction_.data());
    penalty_direction(moved, delta);
    if (descend(moved, delta, ahead * (a_ - earlier_.a), 1)) refresh_gradient();
  }

  // Without an l1 penalty the model's minimiser solves (ridge I + H K) beta = c - h shift, which Woodbury's
  // identity turns into a system on the samples that carry curvature: ridge I + D K D, D = H^(1/2).
  bool ridge_step() {
    constexpr double negligible = 1e-10;
    Columns rows;
    double top = 0.0;
    for (Index i = 0; i < n_; ++i) top = std::max(top, model_h_[i]);
    for (Index i = 0; i < n_; ++i)
      if (model_h_[i] > negligible * top) rows.push_back(static_cast<int>(i));
    const std::size_t k = rows.size();
    Vector root(k);
    for (std::size_t c = 0; c < k; ++c) root[c] = std::sqrt(model_h_[rows[c]]);
    if (!ridge_system_.build(x_, rows, root, ridge_level_)) return retry();
    Vector target(n_), weight(n_, 0.0);
    for (Index i = 0; i < n_; ++i) target[i] = model_h_[i] * quad_[i] - e_[i];
    for (int i : rows) weight[i] = model_h_[i];
    const auto take_off = [&](Vector& from) {
      Vector product(n_), right(k);
      x_.all_dots(from.data(), product.data());
      for (std::size_t c = 0; c < k; ++c) right[c] = root[c] * product[rows[c]];
      const Vector solution = ridge_system_.solve(right);
      for (std::size_t c = 0; c < k; ++c) from[rows[c]] -= root[c] * solution[c];
    };
    take_off(target);
    if (settings_.intercept) take_off(weight);
    double shift = 0.0;
    if (settings_.intercept) {
      const double total = std::accumulate(weight.begin(), weight.end(), 0.0);
      if (total > 0.0) shift = std::accumulate(target.begin(), target.end(), 0.0) / total;
    }
    Vector delta(n_);
    for (Index i = 0; i < n_; ++i) {
      inner_.b[place_[i]] = (target[i] - shift * weight[i]) / ridge_level_;
      delta[i] = inner_.b[place_[i]] - b_[i];
    }
    if (!search(every_index(n_), delta, shift)) return retry();
    refresh_gradient();
    watch_progress(worst_violation());
    return true;
  }

  // A step that leads nowhere: once more with the true curvature, then give up.
  bool retry() {
    if (stalled_ > 12) return false;
    if (gram_count_ > 0 && !gram_fresh_) {
      gram_count_ = 0;
      return true;
    }
    if (floor_ < 1.0) {
      floor_ = std::min(1.0, 16.0 * std::max(floor_, 1e-3));
      gram_count_ = 0;
      return true;
    }
    return false;
  }

  double worst_violation() const {
    double worst = 0.0;
    for (int c = 0; c < inner_.count; ++c) {
      const int j = set_[c];
      worst = std::max(worst, optimality_violation(b_[j], gradient(j), l1(j), inner_.lower[c], inner_.upper[c]) /
                                  inner_.allowed[c]);
    }
    return worst;
  }

  void refresh_gradient() { update_correlations(set_, e_); }

  // Curvature of the model: the loss's own, lifted where it is too flat to be trusted.
  void curvature() {
    const double negligible = 1e-12 * *std::max_element(h_.begin(), h_.end());
    model_h_.resize(n_);
    Index curved = 0;
    for (Index i = 0; i < n_; ++i) {
      model_h_[i] = h_[i] > negligible ? h_[i] : 0.0;
      curved += h_[i] > negligible;
    }
    curved_share_ = static_cast<double>(curved) / n_;
    // Piecewise quadratic losses are flat in places, where a model without curvature has no minimum.
    const double floor = std::max(floor_, loss_.kind == LossKind::coherence ? 0.0 : 1e-8);
    if (floor <= 0.0) return;
    curved_share_ = 1.0;
    for (Index i = 0; i < n_; ++i) model_h_[i] = std::max(model_h_[i], floor * safe_curvature(i));
  }

  // A curvature that majorises the loss from here, as far as is known.
  double safe_curvature(Index i) const {
    const double w = samples_.weight[i];
    if (loss_.kind == LossKind::huberized_hinge) return w / loss_.delta;
    if (loss_.kind == LossKind::squared_hinge) return 2.0 * w;
    const double t = std::fabs(loss_.u - samples_.y[i] * (score_[i] + a_)) / loss_.rho;
    return loss_.kappa * w / loss_.rho * (t < 1e-4 ? 0.25 : std::tanh(0.5 * t) / (2.0 * t));
  }

  bool search(const Columns& moved, const Vector& delta, double shift) {
    constexpr int most = 40;
    direction_.assign(n_, 0.0);
    x_.combine(moved, delta.data(), direction_.data());
    penalty_direction(moved, delta);
    return descend(moved, delta, shift, most);
  }

  // Armijo search on the true objective along (delta, shift), which moves the scores along direction_; commits
  // the step it accepts.
  bool descend(const Columns& moved, const Vector& delta, double shift, int most) {
    const double penalty_now = penalty_value(b_);
    double slope = 0.0, penalty_full = 0.0;
    for (std::size_t c = 0; c < moved.size(); ++c) {
      const int j = moved[c];
      slope += v_[j] * delta[c];
      penalty_full += penalty_change(j, delta[c], 1.0);
    }
    const double promise = slope + penalty_full;
    const double now = loss_value_ + penalty_now, slack = 1e-15 * now;
    if (promise < -1e-4 * settings_.tol * null_objective_) stalled_ = 0;
    if (stalled_ > 12) return false;
    saved_score_ = score_;
    const double saved_intercept = a_;
    double t = 1.0;
    for (int tries = 0; tries < most; ++tries, t *= 0.5) {
      kernels().axpy(t, direction_.data(), score_.data(), n_);
      a_ = saved_intercept + t * shift;
      settle();
      double change = 0.0;
      for (std::size_t c = 0; c < moved.size(); ++c) change += penalty_change(moved[c], delta[c], t);
      if (loss_value_ + penalty_now + change <= now + 1e-4 * t * std::min(promise, 0.0) + slack) {
        if (tries > 0) {
          gram_count_ = 0;
          floor_ = std::min(1.0, 4.0 * std::max(floor_, 1e-4));
        } else {
          floor_ = floor_ < 1e-4 ? 0.0 : 0.25 * floor_;
        }
        gain_ = now - (loss_value_ + penalty_now + change);
        commit(moved, delta, t);
        return true;
      }
      score_ = saved_score_;
      a_ = saved_intercept;
    }
    settle();
    freshen();
    return false;
  }

  double penalty_change(int j, double d, double t) const {
    const double b = b_[j];
    double change = l1(j) * (std::fabs(b + t * d) - std::fabs(b));
    if constexpr (Design::is_kernel)
      change += ridge_level_ * (t * d * quad_[j] + 0.5 * t * t * d * quad_direction_[j]);
    else
      change += ridge(j) * (t * d * b + 0.5 * t * t * d * d);
    return change;
  }

  void commit(const Columns& moved, const Vector& delta, double t) {
    for (std::size_t c = 0; c < moved.size(); ++c) {
      const int j = moved[c];
      b_[j] = t == 1.0 ? inner_.b[place_[j]] : b_[j] + t * delta[c];
    }
    if constexpr (Design::is_kernel) kernels().axpy(t, quad_direction_.data(), quad_.data(), p_);
  }

  // --- the explicit model ---------------------------------------------------------------------
  // Rough nanoseconds. Only rows with curvature count, and of a sparse row only the pairs of its entries.
  double gram_cost(double k, double entries) const {
    const double curved = entries * curved_share_;
    if constexpr (Design::is_sparse) return curved * (1.0 + entries / n_) + 3.0 * k * k;
    else return curved * k / 30.0;
  }
  double pass_cost(double entries) const { return (Design::is_sparse ? 2.0 : 0.6) * entries + 20.0 * n_; }

  // Whether a Gram matrix is affordable even where it is not the quicker way.
  bool small_enough() const { return set_.size() <= 2000; }

  bool uses_gram() const {
    if constexpr (Design::is_kernel) return true;
    if (crawls_ && small_enough()) return true;
    const double k = static_cast<double>(set_.size());
    if (k > 6000) return false;
    const double entries = x_.entries(set_);
    return 0.25 * gram_cost(k, entries) + 3.0 * k * k <= 20.0 * (Design::is_sparse ? 2.0 : 0.5) * entries;
  }

  bool keeps_gram(const Columns& wanted) const {
    return gram_count_ > 0 && set_.size() <= 2 * wanted.size() + 50;
  }

  void update_gram(double worst) {
    const int k = static_cast<int>(set_.size());
    const double entries = x_.entries(set_);
    constexpr double nothing = 5e4;  // where a fresh model costs nothing, steps converge quadratically
    bool rebuild = gram_count_ == 0 || contraction_ > 0.7 || gram_cost(k, entries) < nothing;
    if (!rebuild) {
      const double left = std::log(std::max(worst, 1.1)) / -std::log(contraction_);
      rebuild = (left - 1.5) * (pass_cost(entries) + k * k) > gram_cost(k, entries);
    }
    gram_fresh_ = rebuild;
    if (!rebuild && gram_count_ == k && gram_ridge_ == ridge_level_) return;
    if (rebuild) {
      gram_h_ = model_h_;
      gram_count_ = 0;
      gram_total_ = std::accumulate(gram_h_.begin(), gram_h_.end(), 0.0);
      contraction_ = 0.05;
    }
    reserve(k);
    if (gram_count_ < k) {
      mean_.resize(k);
      Columns fresh(set_.begin() + gram_count_, set_.end());
      if (settings_.intercept && gram_total_ > 0.0) {
        x_.dots(fresh, gram_h_.data(), mean_.data() + gram_count_);
        for (int c = gram_count_; c < k; ++c) mean_[c] /= gram_total_;
      } else {
        std::fill(mean_.begin() + gram_count_, mean_.end(), 0.0);
      }
      weighted_gram(x_, set_, gram_count_, gram_h_.data(), gram_total_, mean_.data(), gram_.data(), stride_);
    }
    if constexpr (Design::is_kernel) add_kernel_ridge(gram_count_);
    if (rebuild || gram_ridge_ != ridge_level_) descent_.invalidate();
    gram_count_ = k;
    gram_ridge_ = ridge_level_;
  }

  void reserve(int k) {
    if (k <= stride_) return;
    if (gram_count_ == 0) gram_ = Vector();  // nothing to keep beside the new one
    const int wider = static_cast<int>(std::min<Index>(p_, k + k / 4 + 16));
    Vector grown(static_cast<std::size_t>(wider) * wider);
    for (int c = 0; c < gram_count_; ++c)
      std::copy_n(gram_.data() + static_cast<std::size_t>(c) * stride_, gram_count_,
                  grown.data() + static_cast<std::size_t>(c) * wider);
    gram_ = std::move(grown);
    stride_ = wider;
  }

  // The quadratic penalty's share of the model: all of it for columns that are new, the difference for the others.
  void add_kernel_ridge(int kept) {
    const int k = static_cast<int>(set_.size());
    for (int c = 0; c < k; ++c) {
      double* column = gram_.data() + static_cast<std::size_t>(c) * stride_;
      const auto* penalty = x_.penalty_column(set_[c]);
      for (int r = 0; r < k; ++r)
        column[r] += (c < kept && r < kept ? ridge_level_ - gram_ridge_ : ridge_level_) * penalty[set_[r]];
    }
  }

  const Design& x_;
  Loss loss_;
  Samples samples_;
  const double* offset_;
  const Penalty& penalty_;
  const Settings& settings_;
  Index n_, p_;
  Vector b_, score_, e_, h_, v_, quad_;
  double a_ = 0.0, loss_value_ = 0.0, curvature_sum_ = 0.0, null_objective_ = 0.0, l1_level_ = 0.0, ridge_level_ = 0.0;
  double balance_ = 1.0, heavy_ = 0.0;
  bool warm_ = false, freeze_ = false;
  bool smooth_;  // neither kinks nor bounds
  DualState dual_;
  Vector dual_b_;
  PathPoint earlier_, latest_;  // the last two solutions of the path

  Columns set_, free_;
  std::vector<int> place_, stamp_;  // where a column stands in set_; the point at which its v is exact
  bool cools_;
  int point_ = 0;
  Screen screen_;
  Vector scratch_, direction_, saved_score_, quad_direction_, dual_e_, dual_v_, lengths_;
  mutable Vector landmark_factor_;

  InnerProblem inner_;
  GramDescent descent_;
  ResidualDescent residual_descent_;
  ConjugateGradients gradients_;
  RidgeSystem<Design> ridge_system_;
  Vector gram_, mean_, gram_h_, model_h_;  // gram_: the model's second derivatives in the set's coefficients
  int gram_count_ = 0, stride_ = 0;
  int stalled_ = 0;  // steps in a row that neither promised nor gained anything above rounding
  double best_violation_ = INFINITY, gain_ = INFINITY;  // gain_: what the last step took off the objective
  double gram_total_ = 0.0, gram_ridge_ = 0.0, contraction_ = 0.05, floor_ = 0.0, curved_share_ = 1.0;
  bool gram_fresh_ = false;
  bool crawls_ = false;  // descent on the residual: strongly correlated columns need second-order steps
};

}  // namespace clearning
