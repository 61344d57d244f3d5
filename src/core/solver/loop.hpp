// One penalty: choose columns, model the loss on them, step to the model's minimiser, search along the step, certify;
// until the duality gap is small.
#pragma once
#include "solver/certificate.hpp"
#include "solver/continuation.hpp"
#include "solver/curved_point.hpp"
#include "solver/rounding.hpp"

namespace clearning {

struct Outcome {
  double objective = 0.0, gap = INFINITY;
  int iterations = 0;
  bool converged = false;
};

enum class Verdict { go_on, again, stop };

// A course says what is solved beside the model, and when it is solved:
//   loss()                 the loss that is reported
//   samples_share(c, dual) its share of the gap at a dual point times c
//   look(out)              the gap as far as it is worth knowing before a step
//   before_step(out)       whether to step at all, or to do something else first
//   tighten()              how much less violation a step is to leave than the goal asks for
//   not_enough(out, worst) what to do when all violations are small and the gap is not
//   is_modelled            whether a step's model is of the loss that is reported, and its dual point a proof
//   after_failure()        whether something else can help when no step does
template <class P>
class Solver {
 public:
  Solver(const P& problem, Stage<P> stage)
      : problem_(problem), at_(std::move(stage)), x_(problem), set_(problem.p), screening_(problem), model_(problem),
        step_(problem), certificate_(problem, screening_) {}
  Solver(const Solver&) = delete;  // its parts know each other

  const P& problem() const { return problem_; }
  const Stage<P>& stage() const { return at_; }
  const Iterate& iterate() const { return x_; }
  Iterate& iterate() { return x_; }
  const WorkingSet& working_set() const { return set_; }
  WorkingSet& working_set() { return set_; }
  Model<P>& model() { return model_; }
  const Screening<P>& screening() const { return screening_; }
  double gain() const { return gain_; }  // of the last step; infinite if there was none at this loss

  void set_alpha(double alpha) { at_.alpha = alpha; }
  void set_claim(double gap) {
    at_.claim = gap;
    at_.goal = tuning::share_of_claim * gap;
  }
  void set_goal(double gap) { at_.goal = gap; }

  // The model without any coefficient, which is where a path begins.
  void settle_null() { settle(at_, x_); }
  void add_free() { set_.add(problem_.free); }
  // That the fit below may take: it is the unit of every tolerance.
  int steps_of_null() const { return std::max(problem_.settings.max_iter, tuning::steps_of_null); }
  // Fits the columns without a penalty, and no other.
  template <class Course>
  Outcome fit_free(Course& course) {
    add_free();
    fixed_ = true;
    progress_.begin();
    Outcome out;
    run(course, out);
    fixed_ = false;
    return out;
  }
  // Correlations of all columns with the null model: the first reference of the screening.
  void correlate_null() {
    correlate_all(problem_, x_);
    screening_.remember(x_.e, x_.v);
  }

  // From given coefficients, as far as the bounds allow; from the null model where that is better.
  void start_from(const double* b, double a, double alpha) {
    const Iterate null = x_;
    set_alpha(alpha);
    Columns moved;
    for (Index j = 0; j < problem_.p; ++j) {
      if (b[j] == 0.0) continue;
      x_.b[j] = std::clamp(b[j], at_.lower(j), at_.upper(j));
      moved.push_back(static_cast<int>(j));
    }
    set_.add(moved);
    if (problem_.settings.intercept) x_.a = a;
    recompute();
    if (!(x_.loss + at_.penalty(x_, set_.columns()) <= null.loss)) x_ = null;
    correlate_all(problem_, x_);
    was_given_ = true;
  }
  bool was_given() const { return was_given_; }

  // Computes the scores anew from the coefficients: what rounding has made of them goes.
  void recompute() {
    score_anew(problem_, set_.support(x_.b), x_);
    x_.drift = 0.0;
    settle(at_, x_);
    correlate(problem_, set_.columns(), x_.e, x_);
  }

  // Another loss from here on; the coefficients stay.
  void change_loss(Loss loss) {
    at_.loss = std::move(loss);
    progress_.begin();
    model_.restart();
    settle(at_, x_);
    correlate(problem_, set_.columns(), x_.e, x_);
    gain_ = INFINITY;
  }

  // Chooses the columns that this penalty starts with.
  void choose_columns(double previous_alpha) {
    progress_.begin();
    const bool near = !was_given_ && Screening<P>::is_near(at_.alpha, previous_alpha);
    was_given_ = false;
    const Columns wanted = near ? screening_.start(at_, previous_alpha, x_, set_) : screening_.cold_start(at_, x_);
    if (!model_.keeps_gram(set_, wanted)) {
      set_.replace(wanted);
      model_.forget_gram();
    }
    set_.add(wanted);
    freshen(problem_, set_.columns(), x_);
  }

  void remember(double position) {
    if (!fixed_) continuation_.remember(position, x_, set_, is_ahead_ ? move_ : Move(), along_);
  }
  void forget_path() { continuation_.forget(); }

  // Starts where the last two solutions point, if that is better.
  void extrapolate(double position) {
    if (fixed_) return;
    freshen(problem_, set_.columns(), x_);
    Direction along;
    const Move move = continuation_.foresee(at_, position, x_, set_, tuning::drift_of_start * at_.goal, along);
    if (!move.empty() && search(move, along, 1)) correlate(problem_, set_.columns(), x_.e, x_);
    gain_ = INFINITY;
  }

  // The feasible dual point that belongs to the iterate, up to scaling.
  const Vector& dual() { return certificate_.dual(at_, x_); }

  // Lets columns in that violate their threshold; returns how many.
  int admit() { return Screening<P>::admit(violators({dual(), x_.b, x_.form}), set_); }

  template <class Course>
  double gap(const Course& course, double enough = INFINITY) {
    return certificate_.gap(at_, x_, set_.columns(), enough,
                            [&](double scale, const Vector& dual) { return course.samples_share(scale, dual); });
  }

  template <class Course>
  double objective(const Course& course) const {
    return course.loss() + at_.penalty(x_, set_.columns());
  }

  Rounding rounding_parts(double objective) const {
    return rounding_of_objective(at_, x_, set_.columns(), screening_, std::fabs(objective));
  }
  double rounding(double objective) const { return rounding_parts(objective).total(); }

  template <class Course>
  void run(Course& course, Outcome& out) {
    double check_level = 1.0, best_dual = -INFINITY;
    bool foresees = Course::is_modelled;  // proofs come from steps, as long as these have one
    bool is_last_proof = false;           // what is proved, if too little, was looked into
    const int last_foreseen = out.iterations + tuning::foreseen_steps;
    Crawl crawl(out.iterations);
    out.converged = is_ahead_ = false;
    while (true) {
      problem_.settings.check_interrupt();
      if (is_next_to_nothing(course, out)) break;
      const bool by_step = foresees && out.iterations < last_foreseen && step_.may_prove(at_, set_, model_, is_near_);
      out.gap = by_step ? INFINITY : course.look(out);
      const Verdict first = course.before_step(out);
      if (first == Verdict::again) continue;
      if (first == Verdict::stop) break;
      if (!by_step && out.iterations >= last_foreseen) keep_better(course, out.gap, best_dual);
      crawl.watch(out.gap);
      if (crawl.is_due(out.iterations)) {
        recompute();  // what rounding makes of the scores is no progress
        const double now = objective(course);
        if (crawl.is_one(out.iterations, now, rounding(now))) break;
      }
      load(course.tighten());
      if (!by_step && (out.gap <= at_.goal || step_.worst() <= check_level)) {
        const double worst = step_.worst();
        if (admit() > 0) {
          load(course.tighten());
          check_level = std::max(1.0, tuning::check_again * step_.worst());
          model_.expect_contraction(tuning::contraction_after_entry);
        } else {
          if (out.gap > at_.goal) out.gap = gap(course);
          out.converged = out.gap <= at_.goal;
          if (out.converged) break;
          best_dual = std::max(best_dual, dual_value(course, out.gap));
          check_level = 1.0;
          const Verdict then = course.not_enough(out, worst);
          if (then == Verdict::again) continue;
          if (then == Verdict::stop) break;
          load(course.tighten());
        }
      }
      if (out.iterations >= (fixed_ ? steps_of_null() : problem_.settings.max_iter)) break;
      ++out.iterations;
      propose(by_step);
      const int held = set_.size();
      if (by_step && is_proved_by_step(course, is_last_proof, best_dual, out)) break;
      if (set_.size() > held) continue;
      const bool has_moved = advance();
      const bool ends = is_last_proof || !has_moved;
      if (is_proved_by(best_dual, course, out) && (ends || is_tight(course, best_dual, out))) break;
      is_last_proof = out.converged;
      if (has_moved) continue;
      if (!by_step && !course.after_failure()) break;
      if (by_step) progress_.begin();
      foresees = false;
    }
    conclude(course, best_dual, out);
  }

 private:
  void load(double tighten) {
    freshen(problem_, set_.columns(), x_);
    step_.load(at_, x_, set_, tighten, [&](int j) { return screening_.mean_size(j); });
  }

  // Losses and penalties are not negative: dual weights of zero are feasible, with a value of zero.
  template <class Course>
  bool is_next_to_nothing(const Course& course, Outcome& out) const {
    const double now = objective(course);
    out.converged = now <= at_.goal;
    if (out.converged) out.gap = now;
    return out.converged;
  }

  typename Screening<P>::Ranked violators(const DualPoint& dual) {
    if (fixed_) return {};
    return screening_.violators(at_, dual, x_, set_, certificate_.off());
  }

  // Many steps whose gaps go up and down leave the best of their dual points behind: those that no column outside of
  // the set violates.
  template <class Course>
  void keep_better(const Course& course, double found, double& best_dual) {
    if (!(found < tuning::better_gap * (objective(course) - best_dual))) return;
    if (violators({dual(), x_.b, x_.form}).empty()) best_dual = std::max(best_dual, dual_value(course, gap(course)));
  }

  // At a gap of the iterate, for others to be measured by: less what rounding may have made of this one's scores, which
  // may be far larger than theirs.
  template <class Course>
  double dual_value(const Course& course, double gap) const {
    const double now = objective(course);
    return now - gap - rounding(now);
  }

  // The next step, which is not taken yet. Where it is to be the proof its model is solved more exactly.
  void propose(bool is_proof) {
    before_ = step_.excess();
    move_ = step_.propose(at_, x_, set_, model_, before_, is_proof);
    along_ = direction_of(problem_, move_);
    promise_ = -0.5 * LineSearch<P>::promised(at_, move_, along_, x_);
    is_near_ = promise_ <= tuning::near_promise * at_.goal;
    const auto delta = [&](std::size_t c) { return move_.delta[c]; };
    along_.drift = tuning::unit_rounding * size_of_products(move_.columns, screening_, delta);
  }

  // Takes it. False if it led nowhere and nothing is left to try.
  bool advance() {
    if (move_.empty() || !search(move_, along_, tuning::halvings))
      return !progress_.is_stalled() && model_.reconsider();
    correlate(problem_, set_.columns(), x_.e, x_);
    const Excess after = step_.excess_now(at_, x_, set_);
    model_.learn(before_, after, step_.used_gram());
    contraction_ = after.worst() / before_.worst();
    progress_.watch(after.worst());
    return true;
  }

  // The gap at the dual point that the step foresees. Columns outside of the set that violate its constraints are
  // counted, and come in where they cost too much.
  template <class Course>
  double gap_of_step(const Course& course) {
    const Move finer = step_.beyond_digits(set_, model_, move_);
    return finer.empty() ? gap_of(course, move_, along_) : gap_of(course, finer, direction_of(problem_, finer));
  }

  template <class Course>
  double gap_of(const Course& course, const Move& move, const Direction& along) {
    if (move.empty() || !curved_.predict(at_, x_, move, along)) return INFINITY;
    const Vector* theta = certificate_.feasible(at_, x_, curved_.point().theta);
    if (theta == nullptr) return INFINITY;
    const DualPoint point{*theta, curved_.point().b, curved_.point().form};
    const auto outside = violators(point);
    Columns counted = set_.columns();
    for (const auto& violator : outside) counted.push_back(violator.second);
    const double gap = gap_of(course, move, point, counted);
    if (!(gap <= at_.goal)) Screening<P>::admit(outside, set_);
    return gap;
  }

  template <class Course>
  double gap_of(const Course& course, const Move& move, const DualPoint& point, const Columns& counted) {
    const auto share = [&](double scale, const Vector& dual) { return course.samples_share(scale, dual); };
    const auto length = [&](int j) { return screening_.length(j); };
    double off = 0.0;
    if (!problem_.free.empty() || !step_.foresee(x_, set_, model_, move, length, foreseen_, off))
      return certificate_.gap_at(at_, x_, counted, point, share);
    for (std::size_t c = set_.size(); c < counted.size(); ++c) foreseen_[counted[c]] = x_.v[counted[c]];
    return certificate_.gap_at(at_, x_, counted, point, {foreseen_, off + curved_.off()}, share);
  }

  // A step that promises no more than the goal need not be taken: its dual point tells how little it would gain. One
  // that promises somewhat more is taken, and its dual point proves where it leads; one whose proof is far above its
  // promise is taken too, for a better one.
  template <class Course>
  bool is_proved_by_step(const Course& course, bool is_last_proof, double& best_dual, Outcome& out) {
    if (!is_near_) return false;
    const double gap = std::min(gap_of_step(course), objective(course) - best_dual);
    const bool is_loose = !is_last_proof && gap > tuning::tight_proof * promise_;
    is_ahead_ = out.converged = gap <= at_.goal && !is_loose;
    if (out.converged) out.gap = gap;
    else best_dual = std::max(best_dual, dual_value(course, gap));
    return out.converged;
  }

  template <class Course>
  bool is_proved_by(double dual, const Course& course, Outcome& out) {
    const double gap = objective(course) - dual;
    out.converged = gap <= at_.goal;
    if (out.converged) out.gap = gap;
    return out.converged;
  }

  // Whether the gap proved is not far above what the step is likely to have left: its gain, by the square of what it
  // left of the violations. A dual point found with an old curvature may be; the iterate's own is better then, or that
  // of another step.
  template <class Course>
  bool is_tight(const Course& course, double& best_dual, Outcome& out) {
    const double tight = tuning::tight_proof * gain_ * contraction_ * contraction_;
    if (out.gap <= tight) return true;
    keep_better(course, gap(course), best_dual);
    out.gap = objective(course) - best_dual;
    return out.gap <= tight;
  }

  bool search(const Move& move, const Direction& along, int most) {
    const Descent descent = search_.descend(at_, move, along, most, set_, x_, progress_);
    if (!descent.accepted) return false;
    gain_ = descent.gain;
    model_.respond(descent.was_cut);
    return true;
  }

  // Any dual point bounds the optimum once no column outside of the set exceeds its threshold.
  template <class Course>
  void conclude(const Course& course, double best_dual, Outcome& out) {
    out.objective = objective(course);
    if (out.converged) return;
    while (admit() > 0) {
    }
    load(1.0);
    out.gap = std::min(gap(course), out.objective - best_dual);
    out.converged = out.gap <= at_.goal;
  }

  const P& problem_;
  Stage<P> at_;
  Iterate x_;
  WorkingSet set_;
  Screening<P> screening_;
  Model<P> model_;
  Step<P> step_;
  LineSearch<P> search_;
  Continuation<P> continuation_;
  Certificate<P> certificate_;
  CurvedPoint curved_;
  Progress progress_;
  Move move_;  // the step at hand, and where it leads
  Direction along_;
  Vector foreseen_;           // correlations of the set with the dual point that it foresees
  Excess before_{false, 0};   // the violations that it begins with
  double promise_ = 0.0;      // what it is likely to gain
  bool is_near_ = false;      // which is little
  bool is_ahead_ = false;     // it was not taken, and its end is nearer to the solution than the iterate
  double gain_ = INFINITY;    // of the last step
  double contraction_ = 1.0;  // of the worst violation by it
  bool fixed_ = false;        // no column comes in
  bool was_given_ = false;    // the start: no path leads to it
};

}  // namespace clearning
