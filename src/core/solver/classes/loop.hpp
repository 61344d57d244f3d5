// One penalty of a problem with many classes: choose coefficients, model the loss on them, step to the model's
// minimiser, search along the step, certify; until the duality gap is small.
#pragma once
#include "solver/classes/certificate.hpp"
#include "solver/classes/coupled_certificate.hpp"
#include "solver/classes/model.hpp"
#include "solver/progress.hpp"

namespace clearning {

struct ClassOutcome {
  double objective = 0.0, gap = INFINITY;
  int iterations = 0;
  bool converged = false;
};

template <class P>
class ClassSolver {
 public:
  explicit ClassSolver(const P& problem)
      : problem_(problem), set_(problem.p, problem.m), model_(problem), certificate_(problem),
        space_(class_block * problem.m) {
    const std::size_t cells = static_cast<std::size_t>(problem.n) * problem.m;
    x_.b.assign(static_cast<std::size_t>(problem.p) * problem.m, 0.0);
    problem.form.apply({}, {}, problem.m, x_.form);
    x_.a.assign(problem.m, 0.0);
    x_.score.assign(problem.samples.offset, problem.samples.offset + cells);
    x_.s.resize(cells);
    x_.e.resize(cells);
    evaluate();
  }
  ClassSolver(const ClassSolver&) = delete;

  const P& problem() const { return problem_; }
  const ClassIterate& iterate() const { return x_; }
  const ClassSet& set() const { return set_; }
  const Vector& correlations() const { return certificate_.correlations(); }

  // The model without penalised coefficients; returns its objective or, where the best one was not found, what is
  // proved of it: the scale of every tolerance.
  double fit_null() {
    const double floor = tuning::separable_null * x_.loss;
    for (int block : problem_.free)
      if (!is_idle(block)) admit(block);
    const Level none{};
    for (int step = 0; step < tuning::intercept_steps; ++step) {
      problem_.settings.check_interrupt();
      const double before = x_.loss;
      model_.make_fresh();
      model_.solve(x_, none, set_, 0.0, [](double) { return tuning::finest_class_model; });
      const bool stepped = search(none);
      if (!stepped && reconsider()) continue;
      if (!stepped || before - x_.loss <= tuning::rounding * before) break;
    }
    certificate_.correlate(x_, none);
    const double null_objective = std::max(floor, proved_of_null());
    claim_ = problem_.settings.tol * null_objective;
    goal_ = tuning::share_of_claim * claim_;
    was_given_ = false;
    return null_objective;
  }

  // Whether no intercept pulls: what a null model without free columns must be.
  bool is_even() const {
    if (!problem_.settings.intercept) return true;
    const Vector sums = class_sums(x_.e, problem_.n, problem_.m);
    return std::all_of(sums.begin(), sums.end(), [&](double sum) { return std::fabs(sum) <= tuning::uneven_null; });
  }

  // From given coefficients (p m) and intercepts; from where it is if that leads beyond a double's range, or their
  // objective is above `most`.
  void start_from(const double* b, const double* a, double alpha, double most = std::numeric_limits<double>::max()) {
    const ClassIterate here = x_;
    for (Index j = 0; j < problem_.p; ++j)
      for (int k = 0; k < problem_.m; ++k) x_.b[j * problem_.m + k] = b[j * problem_.m + k];
    if (problem_.settings.intercept) x_.a.assign(a, a + problem_.m);
    model_.forget();
    set_.clear();
    add_support();
    rescore();
    if (!(objective(problem_.level(alpha)) <= most)) x_ = here;
    was_given_ = true;
  }

  ClassOutcome solve_at(double alpha, double previous) {
    const Level at = problem_.level(alpha);
    choose(at, problem_.level(previous), alpha, previous);
    extrapolate(at, std::log(alpha));
    ClassOutcome out;
    run(at, out);
    remember(at, std::log(alpha));
    return prove(at, out);
  }

 private:
  void evaluate() {
    x_.loss = class_loops().evaluate(problem_.loss, problem_.samples, x_.score.data(), x_.s.data(), x_.e.data());
  }
  Vector rows() const {
    const int m = problem_.m;
    Vector b(set_.features().size() * m);
    for (std::size_t c = 0; c < set_.features().size(); ++c)
      std::copy_n(x_.b.begin() + static_cast<std::ptrdiff_t>(set_.features()[c]) * m, m,
                  b.begin() + static_cast<std::ptrdiff_t>(c) * m);
    return b;
  }
  // Scores from the coefficients, so that no rounding gathers in them; every coefficient is in the set.
  void rescore() {
    const double* offset = problem_.samples.offset;
    std::copy_n(offset, x_.score.size(), x_.score.begin());
    for (int k = 0; k < problem_.m; ++k)
      for (Index i = 0; i < problem_.n; ++i) x_.score[k * problem_.n + i] += x_.a[k];
    const Vector b = rows();
    model_.fill(set_);
    model_.panel().combine(b.data(), problem_.m, x_.score.data());
    problem_.form.apply(set_.features(), b, problem_.m, x_.form);
    evaluate();
  }
  double objective(const Level& at) const { return x_.loss + penalty(at); }
  double penalty(const Level& at) const {
    const Vector b = rows();
    return problem_.penalty.value(at, set_.features(), b) +
           problem_.form.value(at.ridge, x_.form, set_.features(), b, problem_.m);
  }

  // --- Choosing ---
  void admit(Index block) {
    problem_.penalty.each_coefficient(block, [&](int j, int k) { set_.add(j, k); });
  }
  bool has(Index block) const {
    bool inside = true;
    problem_.penalty.each_coefficient(block, [&](int j, int k) { inside = inside && set_.has(j, k); });
    return inside;
  }
  bool is_zero(Index block) const {
    bool zero = true;
    problem_.penalty.each_coefficient(
        block, [&](int j, int k) { zero = zero && x_.b[static_cast<std::size_t>(j) * problem_.m + k] == 0.0; });
    return zero;
  }
  bool is_idle(Index block) const {
    bool idle = true;
    problem_.penalty.each_coefficient(block, [&](int j, int) { idle = idle && problem_.idle[j]; });
    return idle;
  }
  void add_support() {
    for (Index g = 0; g < problem_.penalty.blocks(); ++g)
      if ((problem_.penalty.is_free(g) && !is_idle(g)) || !is_zero(g)) admit(g);
  }
  // Blocks that pull above a threshold, the strongest `most` of them.
  std::vector<Index> pulling(const Vector& v, double level, std::size_t most) const {
    std::vector<std::pair<double, Index>> found;
    for (Index g = 0; g < problem_.penalty.blocks(); ++g) {
      const double threshold = level * problem_.penalty.factor(g), pull = problem_.penalty.pull(v, g);
      if (pull >= threshold && !has(g) && !is_idle(g)) found.emplace_back(pull - threshold, g);
    }
    if (found.size() > most) {
      std::nth_element(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(most), found.end(),
                       [](const auto& one, const auto& other) { return one.first > other.first; });
      found.resize(most);
    }
    std::vector<Index> blocks;
    blocks.reserve(found.size());
    for (const auto& [pull, g] : found) blocks.push_back(g);
    std::sort(blocks.begin(), blocks.end());
    return blocks;
  }
  std::size_t most_at_once() const {
    return std::max<std::size_t>(tuning::first_class_pairs * static_cast<std::size_t>(problem_.m), set_.pairs());
  }
  // The sequential strong rule near the last penalty; far from it, the columns that pull most.
  void choose(const Level& at, const Level& before, double alpha, double previous) {
    progress_.begin();
    tighten_ = 1.0;
    if (lift_ >= 1.0) settle();
    if (was_given_) certificate_.correlate(x_, at);
    const double strong = 2.0 * at.l1 - before.l1;
    const bool near = !was_given_ && 2.0 * alpha - previous >= tuning::strong_rule_reach * alpha;
    was_given_ = false;
    std::size_t support = 0;
    for (Index g = 0; g < problem_.penalty.blocks(); ++g) support += !is_zero(g);
    const std::size_t everything = static_cast<std::size_t>(problem_.penalty.blocks());
    if (model_.is_stale() || set_.pairs() > 3 * support * (P::Penalty::is_separable ? 1 : problem_.m) +
                                                tuning::spare_columns * static_cast<std::size_t>(problem_.m)) {
      set_.clear();
      model_.forget();
      add_support();
    }
    if (near && can_foresee(at, before)) {
      for (Index g : pulling(foreseen_pulls(at, before), tuning::foreseen_share * at.l1, everything)) admit(g);
      return;
    }
    const std::size_t most = near || at.l1 == 0.0 ? everything : most_at_once();
    for (Index g : pulling(certificate_.correlations(), near ? std::max(strong, 0.0) : at.l1, most)) admit(g);
  }
  bool can_foresee(const Level& at, const Level& before) const {
    return at.l1 > 0.0 && !before_last_.v.empty() && before_last_.l1 > before.l1 && last_.l1 == before.l1;
  }
  // Correlations where the last two of the path point to: they are nearly linear in the penalty.
  Vector foreseen_pulls(const Level& at, const Level& before) const {
    const double ahead = (before.l1 - at.l1) / (before_last_.l1 - before.l1);
    Vector v = last_.v;
    for (std::size_t t = 0; t < v.size(); ++t) v[t] += ahead * (v[t] - before_last_.v[t]);
    return v;
  }
  int admit_violators(const Level& at) {
    const auto blocks = pulling(certificate_.correlations(), at.l1 * (1.0 + tuning::rounding_of_sums), most_at_once());
    for (Index g : blocks) admit(g);
    return static_cast<int>(blocks.size());
  }

  // --- Continuation ---
  void remember(const Level& at, double position) {
    before_last_ = std::move(last_);
    last_ = {position, at.l1, x_.b, x_.a, certificate_.correlations()};
  }
  // Starts where the last two solutions point, if that is better.
  void extrapolate(const Level& at, double position) {
    if (last_.b.empty() || before_last_.b.empty() || last_.position == before_last_.position) return;
    const double ahead = (position - last_.position) / (last_.position - before_last_.position);
    if (!(ahead > 0.0) || ahead > tuning::farthest_ahead) return;
    const ClassIterate kept = x_;
    const double here = objective(at);
    for (int j : set_.features())
      for (int k = 0; k < problem_.m; ++k) {
        const std::size_t t = static_cast<std::size_t>(j) * problem_.m + k;
        const double now = last_.b[t], then = before_last_.b[t];
        if (now * then > 0.0 && (now + ahead * (now - then)) * now > 0.0)
          x_.b[t] = bounded(t, now + ahead * (now - then));
      }
    for (int k = 0; k < problem_.m; ++k) x_.a[k] = last_.a[k] + ahead * (last_.a[k] - before_last_.a[k]);
    rescore();
    if (!(objective(at) < here)) x_ = kept;
  }
  double bounded(std::size_t t, double value) const {
    if constexpr (P::Penalty::is_separable)
      return std::clamp(value, problem_.penalty.lower[t], problem_.penalty.upper[t]);
    else return value;
  }

  // --- Steps ---
  // The violation whose cost is a small share of the goal: scaled away without a ridge, squared over it with one.
  double allowed(const Level& at) const {
    const double share = tighten_ * tuning::class_violation_share * goal_;
    const double scaled = std::max(penalty(at), 1e-2 * x_.loss);
    const double by_scale = share * at.l1 / std::max(scaled, tuning::tiny);
    const double by_ridge =
        std::sqrt(2.0 * share * at.ridge / std::max<double>(1.0, static_cast<double>(set_.pairs())));
    return std::max(by_scale, problem_.form.forgiven(by_ridge, at.l1));
  }

  // Goes along the model's step as far as the objective falls, also where it is computed anew: long steps along what is
  // next to nothing lead anywhere. Sets the iterate.
  bool search(const Level& at) {
    const Vector start = rows();
    const Vector& end = model_.b();
    const FormAlong form =
        problem_.form.along(at.ridge, x_.form, set_.features(), start, end, model_.form_bend(), problem_.m);
    const double penalty = problem_.penalty.value(at, set_.features(), start);
    const double here = x_.loss + penalty + form.at(0.0);
    const double slope = model_.slope_along() + problem_.penalty.value(at, set_.features(), end) - penalty;
    if (!(slope < 0.0)) return false;
    const Vector intercepts = x_.a;
    Vector trial(start.size());
    double size = 1.0;
    for (int cut = 0; cut < tuning::halvings; ++cut, size *= 0.5) {
      for (std::size_t t = 0; t < trial.size(); ++t) trial[t] = start[t] + size * (end[t] - start[t]);
      const double there = class_loops().value(problem_.loss, problem_.samples, x_.score.data(), size,
                                               model_.along().data(), space_.data()) +
                           problem_.penalty.value(at, set_.features(), trial) + form.at(size);
      if (!(there <= here + tuning::armijo * size * slope + tuning::armijo_slack * std::fabs(here))) continue;
      if (size == 1.0) trial = end;
      take(trial, size);
      if (objective(at) <= here + tuning::armijo_slack * std::fabs(here)) {
        adapt(size < 1.0);
        return true;
      }
      x_.a = intercepts;
      put(start);
    }
    return false;
  }
  void take(const Vector& b, double size) {
    if (problem_.settings.intercept) {
      for (int k = 0; k < problem_.m; ++k) x_.a[k] += size * model_.shift()[k];
      centre(x_.a.begin());
    }
    put(b);
  }
  void put(const Vector& b) {
    const int m = problem_.m;
    for (std::size_t c = 0; c < set_.features().size(); ++c)
      std::copy_n(b.begin() + static_cast<std::ptrdiff_t>(c) * m, m,
                  x_.b.begin() + static_cast<std::ptrdiff_t>(set_.features()[c]) * m);
    for (int j : problem_.open) centre(x_.b.begin() + static_cast<std::ptrdiff_t>(j) * m);
    rescore();
  }
  // The loss sees differences between the classes only: without a penalty they may as well sum to zero.
  void centre(Vector::iterator row) const {
    const double mean = std::accumulate(row, row + problem_.m, 0.0) / problem_.m;
    std::for_each(row, row + problem_.m, [mean](double& value) { value -= mean; });
  }
  void adapt(bool was_cut) {
    if (was_cut) lift_ = std::min(1.0, std::max(4.0 * lift_, tuning::smallest_raise));
    else lift_ = lift_ > tuning::smallest_lift ? 0.25 * lift_ : 0.0;
    model_.lift(lift_);
  }

  // To which share of the violation it begins with a model is worth solving: as far as the last has turned out to
  // describe the loss, of whose violation so much was left. The first at a penalty is about as good as the first at the
  // one before.
  double worth_solving(int model, double left) {
    if (model == 0) return first_share_;
    const double share =
        std::clamp(tuning::class_accuracy * left, tuning::finest_class_model, tuning::coarsest_class_model);
    if (model == 1) first_share_ = share;
    return share;
  }

  // The curvature that the last penalty ended with in vain says nothing of the next.
  void settle() {
    lift_ = 0.0;
    model_.lift(lift_);
  }

  void run(const Level& at, ClassOutcome& out) {
    double best_dual = -INFINITY;
    int work = 0;
    Crawl crawl(work);
    for (int model = 0;; ++model) {
      problem_.settings.check_interrupt();
      const double forgiven = allowed(at), last_worst = model_.worst();
      model_.solve(x_, at, set_, forgiven, [&](double worst) { return worth_solving(model, worst / last_worst); });
      const double before = objective(at);
      const bool stepped = out.iterations < problem_.settings.max_iter && search(at);
      out.iterations += stepped;
      out.objective = objective(at);
      if (out.objective <= goal_) break;  // no optimum is below zero
      const bool looked = look(at, out, best_dual);
      if (out.gap <= goal_) break;
      if (!stepped && !looked) look_at(at, out, best_dual);
      if (out.gap <= goal_ || out.iterations >= problem_.settings.max_iter) break;
      const bool admitted = looked && admit_violators(at) > 0;
      if (admitted) progress_.begin();
      else if (!stepped && !reconsider()) break;
      if (model_.worst() <= 3.0 * forgiven) tighten_ *= 0.1;
      if (before - out.objective > tuning::worthwhile * goal_) progress_.begin();
      else progress_.watch(1.0);
      if (out.iterations >= tuning::steps_beyond_rounding && rounding(at, out.objective) > claim_) break;
      crawl.watch(out.gap);
      if (progress_.is_stalled()) break;
      // A model that all its rounds have not solved, for next to nothing, has cost as much as many that were.
      const bool in_vain = !model_.is_solved() && before - out.objective < tuning::gain_of_a_crawl * goal_;
      work += in_vain ? tuning::class_rounds : 1;
      if (crawl.is_due(work) && crawl.is_one(work, out.objective, rounding(at, out.objective))) break;
    }
    if (best_dual == -INFINITY) look_at(at, out, best_dual);
  }
  // The dual point that the last step foresaw; in full only where the samples' share alone does not exceed the goal.
  bool look(const Level& at, ClassOutcome& out, double& best_dual) {
    Vector r = model_.foreseen();
    if (dual_point::samples_share(problem_, x_, r) > goal_) return false;
    measure(at, {r, set_.features(), model_.foreseen_b()}, out, best_dual);
    return true;
  }
  // That of the iterate itself.
  void look_at(const Level& at, ClassOutcome& out, double& best_dual) {
    Vector r = x_.e;
    if (dual_point::samples_share(problem_, x_, r) < INFINITY)
      measure(at, {r, set_.features(), rows()}, out, best_dual);
  }
  void measure(const Level& at, const ClassDual& dual, ClassOutcome& out, double& best_dual) {
    const double gap = certificate_.gap(x_, at, dual, goal_);
    out.gap = std::min(gap, out.objective - best_dual);
    // For other iterates, less what rounding may have made of this one's scores.
    best_dual = std::max(best_dual, out.objective - gap - rounding(at, out.objective));
  }
  // The null model is that of a penalty at which no coefficient pays. Intercepts alone are always found.
  double proved_of_null() {
    Vector r = x_.e;
    if (problem_.free.empty()) return x_.loss;
    if (dual_point::samples_share(problem_, x_, r) == INFINITY) return 0.0;
    const double goal = tuning::null_accuracy * x_.loss;
    const double gap = certificate_.gap(x_, {tuning::above_all_pulls, 0.0}, {r, set_.features(), rows()}, goal);
    return gap <= goal ? x_.loss : x_.loss - gap;
  }
  // After a step that led nowhere: a fresh matrix, more curvature.
  bool reconsider() {
    if (lift_ >= 1.0 || tighten_ < tuning::tightest) return false;
    adapt(true);
    model_.make_fresh();
    return true;
  }

  // What is claimed: an objective at the coefficients that are returned, the value of a feasible dual point below it,
  // and what rounding may have added to either.
  ClassOutcome prove(const Level& at, const ClassOutcome& out) const {
    ClassOutcome proved = out;
    proved.objective = objective(at);
    const double dual = out.objective - out.gap, lost = rounding(at, proved.objective);
    proved.gap = std::max(proved.objective - dual, 0.0) + lost;
    // A dual value above the objective is none.
    if (dual - proved.objective > lost + tuning::contradiction * proved.objective) proved.gap = INFINITY;
    // Losses and penalties are not negative: dual weights of zero are feasible, with a value of zero.
    proved.gap = std::min(proved.gap, proved.objective);
    if (!std::isfinite(proved.objective) || !(proved.gap >= 0.0)) proved.gap = INFINITY;
    proved.converged = std::isfinite(proved.gap) && proved.gap <= claim_;
    return proved;
  }
  double rounding(const Level& at, double objective) const {
    const ClassSamples& samples = problem_.samples;
    const double spread = std::sqrt(*std::max_element(samples.weight, samples.weight + samples.n));
    double size = 0.0;
    for (double a : x_.a) size = std::max(size, std::fabs(a));
    for (int j : set_.features()) {
      double row = 0.0;
      for (int k = 0; k < problem_.m; ++k)
        row = std::max(row, std::fabs(x_.b[static_cast<std::size_t>(j) * problem_.m + k]));
      size += row * spread * problem_.length[j];
    }
    for (int k = 0; k < problem_.m; ++k)
      for (std::size_t i = 0; i < samples.n; ++i)
        size += samples.weight[i] * std::fabs(samples.offset[k * samples.n + i]) / problem_.m;
    // A loss falls with one score and rises with others, by kappa at most: twice over all classes.
    return tuning::unit_rounding * (std::fabs(objective) + 2.0 * problem_.loss.kappa * size) +
           problem_.form.rounding(at.ridge, set_.features(), rows(), problem_.m);
  }

  struct Solution {
    double position = 0.0, l1 = 0.0;
    Vector b, a, v;
  };

  const P& problem_;
  ClassIterate x_;
  ClassSet set_;
  ClassModel<P> model_;
  ClassCertificate<P> certificate_;
  Progress progress_;
  Solution last_, before_last_;
  Vector space_;
  double claim_ = 0.0, goal_ = 0.0, tighten_ = 1.0, lift_ = 0.0, first_share_ = tuning::finest_class_model;
  bool was_given_ = false;
};

}  // namespace clearning
