// A problem on a bench: an iterate that the test puts somewhere, and the parts that look at it or move it.
#include "parts.hpp"
#include "problem/dense.hpp"
#include "problem/quadratic.hpp"
#include "solver/certificate.hpp"
#include "solver/line_search.hpp"

namespace clearning::parts {

namespace {

template <class Q>
class Bench {
 public:
  using P = Problem<Dense<double>, Q>;

  Bench(Matrix<double> x, Q quadratic, const In& y, const In& weight, const nb::dict& given)
      : x_(std::move(x)), samples_(hold(y, weight, nb::cast<In>(given["offset"]))),
        problem_({x_.data(), static_cast<Index>(x_.shape(0)), static_cast<Index>(x_.shape(1))},
                 nb::cast<Loss>(given["loss"]), samples_.view(),
                 {nb::cast<double>(given["l1_ratio"]), copy(nb::cast<In>(given["l1_factor"])),
                  copy(nb::cast<In>(given["lower"])), copy(nb::cast<In>(given["upper"])), std::move(quadratic)},
                 {1e-6, 1000, nb::cast<bool>(given["intercept"]), [] {}}),
        at_{.problem = problem_,
            .loss = problem_.loss,
            .alpha = nb::cast<double>(given["alpha"]),
            .claim = 1e-6,
            .goal = 1e-6,
            .evenness = tuning::even_enough,
            .first_columns = tuning::first_columns},
        iterate_(problem_), set_(problem_.p), screening_(problem_), projection_(problem_), model_(problem_),
        step_(problem_) {}
  Bench(const Bench&) = delete;  // its parts know each other

  void place(const In& b, double a) {
    Move move;
    for (Index j = 0; j < problem_.p; ++j)
      if (b(j) != iterate_.b[j]) move.add(static_cast<int>(j), iterate_.b[j], b(j));
    const Direction along = direction_of(problem_, move);
    iterate_.b = copy(b);
    loops().axpy(1.0, along.score.data(), iterate_.score.data(), iterate_.score.size());
    loops().axpy(1.0, along.form.data(), iterate_.form.data(), iterate_.form.size());
    iterate_.a = a;
    settle(at_, iterate_);
    correlate_all(problem_, iterate_);
  }

  void forget_correlations() { std::fill(iterate_.v.begin(), iterate_.v.end(), NAN); }
  void remember() { screening_.remember(iterate_.e, iterate_.v); }
  void add(const Columns& columns) { set_.add(columns); }
  Columns start(double previous_alpha) const { return screening_.start(at_, previous_alpha, iterate_, set_); }
  Columns cold_start() const { return screening_.cold_start(at_, iterate_); }
  int admit() {
    const DualPoint dual{iterate_.e, iterate_.b, iterate_.form};
    return Screening<P>::admit(screening_.violators(at_, dual, iterate_, set_), set_);
  }
  Columns columns() const { return set_.columns(); }

  nb::dict propose() {
    step_.load(at_, iterate_, set_, 1.0, [&](int j) { return screening_.mean_size(j); });
    Excess one(false, 1);
    one.add(1.0);
    const Move move = step_.propose(at_, iterate_, set_, model_, one, false);
    nb::dict out;
    out["columns"] = move.columns;
    out["delta"] = numpy(move.delta);
    out["shift"] = move.shift;
    out["curvature"] = numpy(*move.curvature);
    return out;
  }

  nb::dict descend(const Columns& columns, const In& target, double shift, int most) {
    Move move;
    for (std::size_t c = 0; c < columns.size(); ++c) move.add(columns[c], iterate_.b[columns[c]], target(c));
    move.shift = shift;
    Progress progress;
    LineSearch<P> search;
    const Descent found = search.descend(at_, move, direction_of(problem_, move), most, set_, iterate_, progress);
    nb::dict out;
    out["accepted"] = found.accepted;
    out["was_cut"] = found.was_cut;
    out["gain"] = found.gain;
    return out;
  }

  nb::object project(const Columns& columns) {
    if (!projection_.project(at_, iterate_.e, iterate_.h, columns)) return nb::none();
    return numpy(projection_.dual());
  }

  nb::dict state() const {
    nb::dict out;
    out["a"] = iterate_.a;
    out["loss"] = iterate_.loss;
    out["b"] = numpy(iterate_.b);
    out["score"] = numpy(iterate_.score);
    out["form"] = numpy(iterate_.form);
    out["e"] = numpy(iterate_.e);
    out["h"] = numpy(iterate_.h);
    out["v"] = numpy(iterate_.v);
    return out;
  }

 private:
  Matrix<double> x_;
  HeldSamples samples_;
  P problem_;
  Stage<P> at_;
  Iterate iterate_;
  WorkingSet set_;
  Screening<P> screening_;
  DualProjection<P> projection_;
  Model<P> model_;
  Step<P> step_;
};

template <class B>
nb::class_<B> bind(nb::module_& m, const char* name) {
  return nb::class_<B>(m, name)
      .def("place", &B::place)
      .def("forget_correlations", &B::forget_correlations)
      .def("remember", &B::remember)
      .def("add", &B::add)
      .def("start", &B::start)
      .def("cold_start", &B::cold_start)
      .def("admit", &B::admit)
      .def("columns", &B::columns)
      .def("propose", &B::propose)
      .def("descend", &B::descend)
      .def("project", &B::project)
      .def("state", &B::state);
}

}  // namespace

void bind_bench(nb::module_& m) {
  using Linear = Bench<Diagonal>;
  using Kernel = Bench<KernelForm<double>>;
  bind<Linear>(m, "Bench")
      .def("__init__",
           [](Linear* at, Matrix<double> x, const In& l2_factor, const In& y, const In& weight, const nb::dict& given) {
             new (at) Linear(std::move(x), Diagonal{copy(l2_factor)}, y, weight, given);
           });
  bind<Kernel>(m, "KernelBench")
      .def("__init__", [](Kernel* at, Matrix<double> k, const In& y, const In& weight, const nb::dict& given) {
        const KernelForm<double> form{k.data(), static_cast<Index>(k.shape(1)), true};
        new (at) Kernel(std::move(k), form, y, weight, given);
      });
}

}  // namespace clearning::parts
