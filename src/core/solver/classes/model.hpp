// The quadratic model of the loss at an iterate, all classes together, and its minimiser with the penalty: descent
// class by class to find which coefficients are zero, conjugate gradients for the others. Where the model ends is the
// residual that a Newton step foresees, the curved dual point.
#pragma once
#include "linalg/conjugate_gradients.hpp"
#include "solver/classes/block_curvature.hpp"
#include "solver/classes/joint_curvature.hpp"

namespace clearning {

template <class P>
class ClassModel {
 public:
  using D = typename P::DesignType;
  using Pen = typename P::Penalty;

  explicit ClassModel(const P& problem)
      : problem_(problem), panel_(problem.design, problem.settings.intercept), moving_(problem.design),
        coupling_(problem.form), moving_coupling_(problem.form), joint_(problem), blocks_(problem) {}

  Panel<D>& panel() { return panel_; }
  // The step's coefficients of the set (a row a feature), intercepts and scores, and the residual that it foresees.
  const Vector& b() const { return b_; }
  const Vector& shift() const { return shift_; }
  const Vector& along() const { return along_; }
  const Vector& foreseen() const { return foreseen_; }
  // The coefficients of the set that belong to that residual.
  const Vector& foreseen_b() const { return foreseen_b_; }
  // The second derivative of the form along the step.
  double form_bend() const { return problem_.form.inner(start_, b_, coupled_); }
  double worst() const { return worst_; }        // violation where the model began
  bool is_solved() const { return is_solved_; }  // the last one, in its rounds

  // The decrease of the loss and of the form along the step, to first order.
  double slope_along() const {
    double sum = 0.0;
    for (std::size_t t = 0; t < b_.size(); ++t) sum += first_slope_[t] * (b_[t] - start_[t]);
    for (int k = 0; k < problem_.m; ++k) sum += first_even_[k] * shift_[k];
    return sum;
  }

  // Lets the panel have all features of the set.
  void fill(const ClassSet& set) {
    const Columns& features = set.features();
    if (known_ == features.size()) return;
    const Columns fresh(features.begin() + static_cast<std::ptrdiff_t>(known_), features.end());
    panel_.add(fresh);
    coupling_.add(fresh);
    known_ = features.size();
  }
  void forget() {
    panel_.clear();
    coupling_.clear();
    known_ = 0;
    joint_.forget();
    blocks_.forget();
  }
  void make_fresh() { is_stale_ = true; }
  // Whether the next model is made anew, whatever the set.
  bool is_stale() const { return is_stale_; }
  // Curvatures of weights mixed with even ones, after a step that was too long.
  void lift(double share) { lift_ = share; }

  // Minimises the model on the set, to the violation allowed or a share of that which it begins with. Sets b, shift,
  // along and foreseen.
  template <class Share>
  void solve(const ClassIterate& x, const Level& at, const ClassSet& set, double allowed, Share&& share_of) {
    begin(x, at, set);
    const Columns& features = set.features();
    worst_ = std::max(problem_.penalty.violation(at, features, set.in(), b_, slope_), largest_size(even_));
    const double accuracy = std::max(allowed, share_of(worst_) * worst_);
    prepare(set);
    bool solved = false;
    for (int round = 0; round < tuning::class_rounds && !solved; ++round) {
      problem_.settings.check_interrupt();
      if (!problem_.is_smooth()) {
        const double worst = problem_.penalty.violation(at, features, set.in(), b_, slope_);
        const double enough = std::max(0.1 * accuracy, is_alike() ? 0.0 : tuning::class_descent * worst);
        if (!descend(x, at, set, enough) && round > 0) break;
      }
      const bool confined = polish({x, at, set, 0.5 * accuracy, tuning::class_rounds});
      solved = !confined && problem_.penalty.violation(at, features, set.in(), b_, slope_) <= accuracy;
    }
    is_solved_ = solved;
    if (!solved) give_up_on_sweeps();
    even_out(x);
  }

 private:
  void begin(const ClassIterate& x, const Level& at, const ClassSet& set) {
    const Columns& features = set.features();
    const int m = problem_.m;
    fill(set);
    open_.clear();
    for (int j : problem_.open)
      if (set.has(j, 0)) open_.push_back(set.place(j));
    b_.resize(features.size() * m);
    for (std::size_t c = 0; c < features.size(); ++c)
      std::copy_n(x.b.begin() + static_cast<std::ptrdiff_t>(features[c]) * m, m,
                  b_.begin() + static_cast<std::ptrdiff_t>(c) * m);
    start_ = b_;
    foreseen_b_ = b_;
    ridge_ = at.ridge;
    coupled_.assign(b_.size(), 0.0);
    shift_.assign(m, 0.0);
    slope_.resize(b_.size());
    panel_.dots(x.e.data(), m, slope_.data());
    problem_.form.add_slopes(ridge_, x.form, features, m, slope_);
    first_slope_ = slope_;
    even_ = problem_.settings.intercept ? class_sums(x.e, problem_.n, m) : Vector(m, 0.0);
    first_even_ = even_;
    along_.assign(x.e.size(), 0.0);
    bent_.assign(x.e.size(), 0.0);
    foreseen_ = x.e;
    curvature_ = x.s;
    const double lift = is_flat(x) ? std::max(lift_, tuning::smallest_raise) : lift_;
    if (lift > 0.0)
      for (double& s : curvature_) s = (1.0 - lift) * s + lift / m;
  }
  // Whether no sample is between classes: far from any of the loss's bends a model says nothing of where a step ends.
  bool is_flat(const ClassIterate& x) const {
    double bend = 0.0;
    for (int k = 0; k < problem_.m; ++k)
      for (Index i = 0; i < problem_.n; ++i) {
        const double s = x.s[k * problem_.n + i];
        bend += problem_.samples.weight[i] * s * (1.0 - s);
        if (!(bend < tuning::flat_bend)) return false;
      }
    return true;
  }

  bool is_alike() const { return P::Form::columns_are_alike || crawls_; }
  // A model that all rounds have not solved has columns so alike that sweeps and conjugate gradients bring back in turn
  // what the other has put out.
  void give_up_on_sweeps() {
    crawls_ = true;
    is_stale_ = true;
  }

  // A matrix for descent and conjugate gradients, neither of which needs it exact.
  void prepare(const ClassSet& set) {
    is_joint_ = joint_.fits(set, crawls_);
    const bool empty = is_joint_ ? joint_.is_empty() : blocks_.is_empty();
    if (is_stale_ || empty) {
      fresh_steps_ = -1;
      lost_steps_ = 0;
    }
    if (is_joint_) joint_.prepare(panel_, set, curvature_, is_stale_, ridge_, is_alike());
    else blocks_.prepare(set, curvature_, is_stale_, ridge_, is_alike());
    is_stale_ = false;
  }
  // Finds which coefficients are zero; returns whether anything moved. An old matrix may lead anywhere where columns
  // are alike: what has raised the model is taken back, and the matrix made anew.
  bool descend(const ClassIterate& x, const Level& at, const ClassSet& set, double tolerance) {
    const Point before{b_, shift_, quadratic()};
    const double worth = value(at, set.features());
    const bool moved = descend_on_matrix(x, at, set, tolerance);
    problem_.form.settle_rows(problem_.penalty, at, set.features(), set.in(), b_);
    refresh();
    if (!SetDescent<Pen>::believes_matrix || !is_alike() || !moved || value(at, set.features()) <= worth) return moved;
    go(before, before, 0.0);
    refresh();
    is_stale_ = true;
    prepare(set);
    return true;
  }
  bool descend_on_matrix(const ClassIterate& x, const Level& at, const ClassSet& set, double tolerance) {
    if (is_joint_) return joint_.descend(at, set, slope_, even_, tolerance, is_alike(), b_, shift_);
    Vector residual = x.e;
    loops().axpy(1.0, bent_.data(), residual.data(), residual.size());
    return blocks_.descend(at, set, slope_, even_, residual, tolerance, is_alike(), b_, shift_);
  }

  Vector step() const {
    Vector out(b_.size());
    for (std::size_t t = 0; t < out.size(); ++t) out[t] = b_[t] - start_[t];
    return out;
  }
  // Scores, residual and slopes of the model at b and shift, computed anew.
  void refresh() {
    const Vector taken = step();
    product(panel_, taken, shift_, along_, bent_, slope_, even_);
    couple(taken);
    for (std::size_t t = 0; t < taken.size(); ++t) slope_[t] += first_slope_[t];
    for (int k = 0; k < problem_.m; ++k) even_[k] += first_even_[k];
  }
  // What the form adds to the slopes of a step. Sets what it is.
  void couple(const Vector& step) {
    coupling_.product(ridge_, step, problem_.m, coupled_);
    loops().axpy(1.0, coupled_.data(), slope_.data(), coupled_.size());
  }
  // The model at b and shift, less the loss where it began; then with the penalty.
  double quadratic() const {
    return slope_along() + 0.5 * loops().dot(along_.data(), bent_.data(), along_.size()) + 0.5 * form_bend();
  }
  double value(const Level& at, const Columns& features) const {
    return quadratic() + problem_.penalty.value(at, features, b_);
  }

  // scores = X step + shift, bent = H scores, slopes = X' bent, sums = 1' bent, X being a panel's columns
  void product(Panel<D>& panel, const Vector& step, const Vector& shift, Vector& scores, Vector& bent, Vector& slopes,
               Vector& sums) {
    const Index n = problem_.n;
    for (int k = 0; k < problem_.m; ++k) std::fill_n(scores.begin() + k * n, n, shift[k]);
    panel.combine(step.data(), problem_.m, scores.data());
    class_loops().curve(problem_.loss, problem_.samples, curvature_.data(), scores.data(), bent.data());
    panel.dots(bent.data(), problem_.m, slopes.data());
    if (problem_.settings.intercept) sums = class_sums(bent, n, problem_.m);
    else sums.assign(problem_.m, 0.0);
  }

  // Rows of the set with a coefficient that moves.
  Columns live_rows(const std::vector<char>& live) const {
    Columns rows;
    const int m = problem_.m;
    for (std::size_t c = 0; c * m < live.size(); ++c)
      if (std::any_of(live.begin() + static_cast<std::ptrdiff_t>(c) * m,
                      live.begin() + static_cast<std::ptrdiff_t>(c + 1) * m, [](char is) { return is != 0; }))
        rows.push_back(static_cast<int>(c));
    return rows;
  }

  struct Point {
    Vector b, shift;
    double quadratic;
  };

  // What is solved: where, how exactly, and how many more times coefficients may be left out.
  struct Within {
    const ClassIterate& x;
    const Level& at;
    const ClassSet& set;
    double tolerance;
    int left;
  };

  // Conjugate gradients on the coefficients whose penalty is smooth where they are. Changes b, shift, along, bent and
  // the slopes, and sets foreseen; returns whether coefficients had to be put back.
  bool polish(const Within& within) {
    const auto& [x, at, set, tolerance, left] = within;
    const Columns& features = set.features();
    std::vector<char> live = set.in();
    problem_.penalty.mark_live(at, features, b_, live);
    const typename Pen::Local local{problem_.penalty, at, features, b_};
    if (is_joint_) joint_.factorise(local, live);
    else blocks_.factorise(local, live);
    const Point before{b_, shift_, quadratic()};
    Vector rest = rest_of(local, live);
    const double enough = problem_.free.empty() ? tolerance : std::min(tolerance, tuning::orthogonal * pull(x));
    const int taken = largest_size(rest) > enough ? follow_gradients(local, live, enough, rest) : 0;
    learn(taken);
    if (taken > 0) {
      panel_.dots(bent_.data(), problem_.m, slope_.data());
      couple(step());
      loops().axpy(1.0, first_slope_.data(), slope_.data(), b_.size());
    }
    foreseen_b_ = b_;
    foreseen_ = x.e;
    loops().axpy(1.0, bent_.data(), foreseen_.data(), foreseen_.size());
    const Point end{b_, shift_, quadratic()};
    if (!local.confine(b_)) return false;
    put_back(within, local, before, end);
    return true;
  }

  // The slopes that are left, downhill: of the coefficients, then of the intercepts.
  Vector rest_of(const typename Pen::Local& local, const std::vector<char>& live) const {
    const std::size_t count = b_.size(), m = even_.size();
    Vector rest(count + m);
    for (std::size_t t = 0; t < count; ++t)
      if (live[t]) rest[t] = -(slope_[t] + local.slope(t / m, static_cast<int>(t % m)));
    for (std::size_t k = 0; k < m; ++k) rest[count + k] = -even_[k];
    return rest;
  }

  // What a direction makes of scores and slopes; coefficients of the moving rows only.
  struct Bend {
    Columns rows;
    Vector step, slopes, sums, shift, scores, bent;
  };

  // Until no rest exceeds `enough`, or the rest has long not fallen: where the curvature is singular and the penalty
  // pulls along what it leaves out, it never will. Returns the steps taken. Changes b, shift, along, bent, even and
  // rest.
  int follow_gradients(const typename Pen::Local& local, const std::vector<char>& live, double enough, Vector& rest) {
    const int m = problem_.m;
    const std::size_t count = b_.size();
    Bend bend{live_rows(live), {}, {}, Vector(m), Vector(m), Vector(along_.size()), Vector(along_.size())};
    bend.step.resize(bend.rows.size() * m);
    bend.slopes.resize(bend.rows.size() * m);
    moving_.take(panel_, bend.rows);
    moving_coupling_.take(coupling_, bend.rows);
    double half = 0.5 * largest_size(rest);
    int patience = tuning::class_gradients_patience;
    return conjugate_gradients(
        rest.size(), tuning::most_class_gradients, [&](Vector& out) { return precondition(rest, out); },
        [&](const Vector& along, Vector& out) { return curvature_along(local, live, along, bend, out); },
        [&](double size, const Vector& along, const Vector& out) {
          loops().axpy(size, along.data(), b_.data(), count);
          loops().axpy(size, along.data() + count, shift_.data(), m);
          loops().axpy(-size, out.data(), rest.data(), rest.size());
          loops().axpy(size, bend.scores.data(), along_.data(), along_.size());
          loops().axpy(size, bend.bent.data(), bent_.data(), bent_.size());
          loops().axpy(size, bend.sums.data(), even_.data(), m);
          const double left = largest_size(rest);
          if (left < half) {
            half = 0.5 * left;
            patience = tuning::class_gradients_patience;
          }
          return left > enough && --patience > 0;
        });
  }

  // Sets `out` to the curvature times a direction, and what it makes of the rest; returns their product.
  double curvature_along(const typename Pen::Local& local, const std::vector<char>& live, const Vector& along,
                         Bend& bend, Vector& out) {
    const auto m = static_cast<std::ptrdiff_t>(problem_.m), rows = static_cast<std::ptrdiff_t>(bend.rows.size());
    const auto count = static_cast<std::ptrdiff_t>(b_.size());
    for (std::ptrdiff_t c = 0; c < rows; ++c)
      std::copy_n(along.begin() + bend.rows[c] * m, m, bend.step.begin() + c * m);
    std::copy_n(along.begin() + count, m, bend.shift.begin());
    product(moving_, bend.step, bend.shift, bend.scores, bend.bent, bend.slopes, bend.sums);
    moving_coupling_.add_product(ridge_, bend.step, problem_.m, bend.slopes);
    for (std::ptrdiff_t c = 0; c < rows; ++c)
      std::copy_n(bend.slopes.begin() + c * m, m, out.begin() + bend.rows[c] * m);
    std::copy(bend.sums.begin(), bend.sums.end(), out.begin() + count);
    local.add_curvature(along, out);
    for (std::size_t t = 0; t < b_.size(); ++t)
      if (!live[t]) out[t] = 0.0;
    return loops().dot(along.data(), out.data(), along.size());
  }

  // A step that left the coefficients' sides is put back to them, and cut until the model is no worse than before. If
  // that does not help, those that would leave are out from the start, or it goes straight on while the model falls.
  void put_back(const Within& within, const typename Pen::Local& local, const Point& before, const Point& end) {
    const Columns& features = within.set.features();
    const double enough = before.quadratic + problem_.penalty.value(within.at, features, before.b);
    for (double size = 1.0; size > tuning::shortest_put_back; size *= 0.5) {
      go(before, end, size);
      local.confine(b_);
      refresh();
      if (value(within.at, features) <= enough) return;
    }
    if (leave_out(within, local, before, end) && value(within.at, features) <= enough) return;
    go(before, end, falling_share(within.at, features, before, end, local.room(end.b)));
    local.arrive(b_);
    refresh();
    if (value(within.at, features) <= enough) return;
    go(before, end, 0.0);
    refresh();
  }
  // Starts anew without the coefficients that would leave their sides; returns whether there were any.
  bool leave_out(const Within& within, const typename Pen::Local& local, const Point& before, const Point& end) {
    Vector stayed = end.b;
    local.confine(stayed);
    go(before, end, 0.0);
    bool any = false;
    for (std::size_t t = 0; t < b_.size(); ++t)
      if (stayed[t] == 0.0 && b_[t] != 0.0) {
        b_[t] = 0.0;
        any = true;
      }
    if (!any || within.left == 0) return false;
    refresh();
    Within fewer = within;
    --fewer.left;
    polish(fewer);
    return true;
  }
  // Part of the way from one point to another. Sets b and shift.
  void go(const Point& before, const Point& end, double size) {
    for (std::size_t t = 0; t < b_.size(); ++t) b_[t] = before.b[t] + size * (end.b[t] - before.b[t]);
    for (std::size_t k = 0; k < shift_.size(); ++k)
      shift_[k] = before.shift[k] + size * (end.shift[k] - before.shift[k]);
  }
  // How far the model and the penalty, which are convex, fall on the straight way within `room`.
  double falling_share(const Level& at, const Columns& features, const Point& before, const Point& end, double room) {
    go(before, end, 0.5);
    refresh();
    const double bend = 2.0 * (before.quadratic - 2.0 * quadratic() + end.quadratic);
    const double slope = end.quadratic - before.quadratic - bend;
    const auto at_size = [&](double size) {
      go(before, end, size);
      return size * (slope + size * bend) + problem_.penalty.value(at, features, b_);
    };
    double low = 0.0, high = room;
    for (int cut = 0; cut < tuning::cuts_of_put_back; ++cut) {
      const double third = (high - low) / 3.0;
      if (at_size(low + third) <= at_size(high - third)) high -= third;
      else low += third;
    }
    return high == room ? room : low;
  }

  // How many steps a fresh preconditioner takes, and whether this one is still worth keeping.
  void learn(int taken) {
    if (fresh_steps_ < 0) fresh_steps_ = taken;
    lost_steps_ += std::max(taken - fresh_steps_, 0);
    if (taken > fresh_steps_ + tuning::steps_for_factor) is_joint_ ? joint_.drop_factor() : blocks_.drop_factor();
    if (lost_steps_ > (is_joint_ ? joint_.worth() : blocks_.worth())) is_stale_ = true;
  }
  // out = M^-1 rest; returns rest' out.
  double precondition(const Vector& rest, Vector& out) {
    std::fill(out.begin(), out.end(), 0.0);
    if (is_joint_) joint_.precondition(rest, out);
    else blocks_.precondition(rest, out);
    // Along rows that all classes share, and no penalty, there is nothing to solve.
    const auto centre = [&](std::size_t first) {
      const auto row = out.begin() + static_cast<std::ptrdiff_t>(first);
      const double mean = std::accumulate(row, row + problem_.m, 0.0) / problem_.m;
      std::for_each(row, row + problem_.m, [mean](double& value) { value -= mean; });
    };
    for (int c : open_) centre(static_cast<std::size_t>(c) * problem_.m);
    if (problem_.settings.intercept) centre(rest.size() - problem_.m);
    return loops().dot(rest.data(), out.data(), rest.size());
  }

  // Lets the foreseen residual's classes sum to zero, by a last step of the intercepts alone.
  void even_out(const ClassIterate&) {
    if (!problem_.settings.intercept) return;
    const int m = problem_.m;
    const Index n = problem_.n;
    Vector matrix(static_cast<std::size_t>(m) * m);
    const double factor = problem_.loss.kappa / problem_.loss.rho;
    for (int k = 0; k < m; ++k) {
      Vector weighted(n);
      for (Index i = 0; i < n; ++i) weighted[i] = factor * problem_.samples.weight[i] * curvature_[k * n + i];
      for (int l = 0; l < m; ++l)
        matrix[static_cast<std::size_t>(k) * m + l] =
            (k == l ? sum_of(weighted) : 0.0) - loops().dot(weighted.data(), curvature_.data() + l * n, n);
    }
    const double ridge = *std::max_element(matrix.begin(), matrix.end());
    if (!(ridge > tuning::tiny)) return;
    ClassFactor factored;
    // Even intercepts change nothing: along them the matrix is filled up.
    factored.build(m, [&](int k, int l) { return matrix[static_cast<std::size_t>(k) * m + l] + ridge / m; }, true);
    Vector scores(foreseen_.size()), bent(foreseen_.size());
    for (int step = 0; step < 3; ++step) {
      Vector sums = class_sums(foreseen_, n, m);
      factored.solve(sums.data());
      for (int k = 0; k < m; ++k) std::fill_n(scores.begin() + k * n, n, -sums[k]);
      class_loops().curve(problem_.loss, problem_.samples, curvature_.data(), scores.data(), bent.data());
      loops().axpy(1.0, bent.data(), foreseen_.data(), foreseen_.size());
    }
  }

  static double pull(const ClassIterate& x) { return std::sqrt(loops().dot(x.e.data(), x.e.data(), x.e.size())); }

  const P& problem_;
  Panel<D> panel_, moving_;                            // the set's columns, and those that conjugate gradients move
  typename P::Form::Part coupling_, moving_coupling_;  // of the form among them
  std::size_t known_ = 0;                              // features that the panel has
  JointCurvature<P> joint_;
  BlockCurvature<P> blocks_;
  Vector b_, start_, shift_, slope_, first_slope_, even_, first_even_;
  Vector along_, bent_, foreseen_, foreseen_b_, curvature_;
  Vector coupled_;  // level Q (b - start) of the set
  Columns open_;    // places of the features without a penalty
  double worst_ = 0.0, lift_ = 0.0, ridge_ = 0.0;
  int fresh_steps_ = -1, lost_steps_ = 0;
  bool is_stale_ = true, is_joint_ = true;
  bool is_solved_ = true;
  bool crawls_ = false;  // a model was not solved
};

}  // namespace clearning
