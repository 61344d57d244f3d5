// Where the hinge's problem is solved on its dual: a ridge alone makes that a box in the samples' weights, where ascent
// needs no temperature. It pays where second-order steps are dear.
#pragma once
#include "problem/dense.hpp"
#include "problem/quadratic.hpp"
#include "problem/sparse.hpp"
#include "solver/block_ascent.hpp"
#include "solver/model.hpp"
#include "solver/row_ascent.hpp"

namespace clearning {

// No way but cooling.
template <class P>
class HingeAscent {
 public:
  explicit HingeAscent(const P&) {}
  static bool pays(Model<P>&, WorkingSet&) { return false; }
  template <class Pause>
  void solve(const Stage<P>&, Model<P>&, int&, Pause&&) {}
  double gap() const { return INFINITY; }
  void write_to(const Stage<P>&, Iterate&) const {}
};

// What both kinds of ascent share: from dual weights to an iterate.
template <class P>
class AscentBase {
 public:
  explicit AscentBase(const P& problem) : problem_(problem) { state_.start(problem.samples); }
  double gap() const { return state_.gap < 0.0 ? 0.0 : state_.gap; }

 protected:
  // Sets all of the iterate but b and h: e and v belong to the dual weights.
  void write_scores(const Stage<P>& at, Iterate& x) const {
    ++x.point;
    Columns support;
    for (Index j = 0; j < problem_.p; ++j)
      if (x.b[j] != 0.0) support.push_back(static_cast<int>(j));
    score_anew(problem_, support, x);
    x.drift = 0.0;
    for (Index i = 0; i < problem_.n; ++i) {
      // The gap was found with scores that were carried along.
      x.drift = std::max(x.drift, std::fabs(x.score[i] - state_.residual[i] - problem_.samples.y[i]));
      x.e[i] = -state_.s[i];
    }
    for (Index j = 0; j < problem_.p; ++j) {
      x.v[j] = -problem_.penalty.quadratic.gradient(x.b, x.form, j, at.ridge_level());
      x.stamp[j] = x.point;
    }
    x.a = state_.intercept;
  }

  const P& problem_;
  DualState state_;
};

template <class T>
class HingeAscent<Problem<Dense<T>, KernelForm<T>>> : public AscentBase<Problem<Dense<T>, KernelForm<T>>> {
 public:
  using P = Problem<Dense<T>, KernelForm<T>>;
  using AscentBase<P>::AscentBase;

  bool pays(Model<P>&, WorkingSet&) const { return this->problem_.penalty.quadratic.is_design; }

  template <class Pause>
  void solve(const Stage<P>& at, Model<P>&, int& rounds, Pause&& pause) {
    const Settings& how = this->problem_.settings;
    BlockAscent<Dense<T>>(this->problem_.design, this->problem_.samples, how.intercept)
        .solve(this->state_, at.ridge_level(), at.goal, how.max_iter / 2, rounds, pause);
  }

  void write_to(const Stage<P>& at, Iterate& x) const {
    for (Index i = 0; i < this->problem_.n; ++i) x.b[i] = this->state_.s[i] / at.ridge_level();
    this->write_scores(at, x);
  }
};

template <class T, class I>
class HingeAscent<Problem<Sparse<T, I>, Diagonal>> : public AscentBase<Problem<Sparse<T, I>, Diagonal>> {
 public:
  using P = Problem<Sparse<T, I>, Diagonal>;
  using AscentBase<P>::AscentBase;

  bool pays(Model<P>& model, WorkingSet& set) const {
    set.add(every_index(this->problem_.p));
    return !model.wants_gram(set);
  }

  template <class Pause>
  void solve(const Stage<P>& at, Model<P>& model, int& rounds, Pause&& pause) {
    const Settings& how = this->problem_.settings;
    const auto& rows = this->problem_.design.rows(model.workspace());
    RowAscent(rows, this->problem_.samples, how.intercept)
        .solve(this->state_, b_, at.ridge_level(), this->problem_.penalty.quadratic.factor, at.goal, how.max_iter / 2,
               rounds, pause);
  }

  void write_to(const Stage<P>& at, Iterate& x) const {
    x.b = b_;
    this->write_scores(at, x);
  }

 private:
  Vector b_;
};

}  // namespace clearning
