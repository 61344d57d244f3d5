#include "bindings/blocks.hpp"

#include <nanobind/stl/string.h>

#include <string>

#include "bindings/entries.hpp"
#include "bindings/solve.hpp"
#include "blocks/dense_panel.hpp"
#include "blocks/many_classes.hpp"
#include "blocks/pass.hpp"
#include "blocks/sparse_panel.hpp"
#include "blocks/two_classes.hpp"
#include "solver/gram_descent.hpp"
#include "solver/residual_descent.hpp"

namespace clearning {

namespace {

using blocks::BlockSamples;
using blocks::Plan;
using blocks::Sums;

template <class T>
using AnyMatrix = nb::ndarray<const T, nb::ndim<2>, nb::device::cpu>;
using Integers = Flat<std::int32_t>;

// Integers in [low, high).
Columns integers(const nb::dict& given, const char* name, Index low, Index high) {
  Integers array;
  if (!given.contains(name) || !nb::try_cast<Integers>(given[name], array, false))
    throw nb::value_error((std::string(name) + " must be a one-dimensional array of int32.").c_str());
  Columns out(array.data(), array.data() + array.size());
  for (int value : out)
    if (value < low || value >= high)
      throw nb::value_error((std::string(name) + " holds a number that is out of range.").c_str());
  return out;
}

Plan plan_of(const nb::dict& given, Index p) {
  Plan plan;
  plan.class_factors = vector_of(given, "class_factors", -1);
  if (plan.classes() < 2) throw nb::value_error("class_factors must hold a number a class.");
  const auto loss = nb::cast<nb::dict>(given["loss"]);
  if (plan.width() == 1) plan.loss = loss_of(loss);
  else plan.loss = MultiCoherence{positive(loss, "rho"), finite(loss, "u"), positive(loss, "kappa")};
  plan.order = integers(given, "order", 0, p);
  if (plan.columns() != p) throw nb::value_error("order must hold every column once.");
  plan.centre = vector_of(given, "centre", -1);
  if (!plan.centre.empty() && static_cast<Index>(plan.centre.size()) != p)
    throw nb::value_error("centre must be empty or hold one number a column.");
  plan.working = nb::cast<int>(given["working"]);
  plan.folds = nb::cast<int>(given["folds"]);
  plan.apart = nb::cast<bool>(given["apart"]);
  plan.thin = nb::cast<int>(given["thin"]);
  if (plan.working < 0 || plan.working > p || plan.folds < 1 || plan.thin < 1)
    throw nb::value_error("working must be at most the number of columns, folds and thin at least 1.");
  plan.part = integers(given, "part", -1, plan.folds);
  const Index tasks = plan.tasks();
  plan.parted = nb::cast<int>(given["parted"]);
  if (plan.parted < 0 || plan.parted > std::count(plan.part.begin(), plan.part.end(), -1) ||
      !std::is_sorted(plan.part.begin(), plan.part.end()))
    throw nb::value_error("part must be sorted, and parted at most the number of tasks on all rows.");
  const int width = plan.width();
  plan.coef = vector_of(given, "coef", tasks * plan.working * width);
  plan.intercept = vector_of(given, "intercept", tasks * width);
  plan.shrink = vector_of(given, "shrink", tasks);
  plan.line_task = integers(given, "line_task", 0, tasks);
  plan.line_coef = vector_of(given, "line_coef", static_cast<Index>(plan.lines()) * plan.working * width);
  plan.line_intercept = vector_of(given, "line_intercept", static_cast<Index>(plan.lines()) * width);
  plan.fractions = vector_of(given, "fractions", -1);
  plan.knot_task = integers(given, "knot_task", 0, tasks);
  plan.knot_lift = vector_of(given, "knot_lift", plan.knots());
  plan.free = integers(given, "free", 0, plan.working);
  plan.tested = integers(given, "tested", 0, tasks);
  return plan;
}

struct GivenSamples {
  Flat<double> label, weight, offset;
  Integers fold;

  GivenSamples(const nb::dict& given, Index n, const Plan& plan)
      : label(flat(given, "label", n)), weight(flat(given, "weight", n)),
        offset(flat(given, "offset", n * plan.width())), fold(nb::cast<Integers>(given["fold"])) {
    if (static_cast<Index>(fold.size()) != n) throw nb::value_error("fold must hold one number a row.");
    for (Index i = 0; i < n; ++i) {
      if (fold.data()[i] < 0 || fold.data()[i] >= plan.folds)
        throw nb::value_error("fold holds a number that is out of range.");
      const double number = label.data()[i];
      if (!(number >= 0.0 && number < plan.classes()) || number != std::floor(number))
        throw nb::value_error("label must hold the numbers of classes.");
    }
  }
  BlockSamples view(Index n) const { return {label.data(), weight.data(), offset.data(), fold.data(), n}; }
};

nb::dict to_dict(Sums&& sums) {
  nb::dict out;
  out["value"] = to_numpy(std::move(sums.value));
  out["gradient"] = to_numpy(std::move(sums.gradient));
  out["slope"] = to_numpy(std::move(sums.slope));
  out["energy"] = to_numpy(std::move(sums.energy));
  out["shrunk"] = to_numpy(std::move(sums.shrunk));
  out["border"] = to_numpy(std::move(sums.border));
  out["line"] = to_numpy(std::move(sums.line));
  out["gram"] = to_numpy(std::move(sums.gram));
  out["curved"] = to_numpy(std::move(sums.curved));
  out["total"] = to_numpy(std::move(sums.total));
  out["test"] = to_numpy(std::move(sums.test));
  return out;
}

template <class Panel>
nb::dict run(const typename Panel::Rows& rows, Index n, Index p, const nb::dict& samples, const nb::dict& given) {
  const Plan plan = plan_of(given, p);
  const GivenSamples kept(samples, n, plan);
  const BlockSamples view = kept.view(n);
  Sums sums(plan);
  {
    nb::gil_scoped_release unlocked;
    sums = plan.width() == 1 ? blocks::Pass<Panel, blocks::TwoClasses>(plan, rows, view).run()
                             : blocks::Pass<Panel, blocks::ManyClasses>(plan, rows, view).run();
  }
  return to_dict(std::move(sums));
}

template <class T>
nb::dict dense_block(AnyMatrix<T> x, const nb::dict& samples, const nb::dict& plan) {
  return run<blocks::DensePanel<T>>({x.data(), x.stride(0), x.stride(1)}, static_cast<Index>(x.shape(0)),
                                    static_cast<Index>(x.shape(1)), samples, plan);
}

template <class I>
nb::dict sparse_block(Flat<double> data, Flat<I> indices, Flat<I> starts, Index n_columns, const nb::dict& samples,
                      const nb::dict& plan) {
  if (starts.size() == 0) throw nb::value_error("indptr must hold one start more than there are rows.");
  const Index n = static_cast<Index>(starts.size()) - 1;
  check_structure(indices.data(), starts.data(), static_cast<std::size_t>(n), std::min(indices.size(), data.size()),
                  n_columns);
  return run<blocks::SparsePanel<double, I>>({data.data(), indices.data(), starts.data()}, n, n_columns, samples, plan);
}

InnerProblem inner_problem(const nb::dict& given) {
  InnerProblem q;
  q.b = vector_of(given, "coef", -1);
  q.count = static_cast<int>(q.b.size());
  q.g = vector_of(given, "gradient", q.count);
  q.l1 = vector_of(given, "l1", q.count);
  q.ridge = vector_of(given, "ridge", q.count);
  q.lower = vector_of(given, "lower", q.count);
  q.upper = vector_of(given, "upper", q.count);
  q.allowed = vector_of(given, "allowed", q.count);
  return q;
}

// Minimises a quadratic model plus the elastic net; see InnerProblem. Returns the coefficients.
nb::object descend(Flat<double> gram, const nb::dict& given) {
  InnerProblem q = inner_problem(given);
  if (gram.size() != static_cast<std::size_t>(q.count) * q.count)
    throw nb::value_error("gram must hold the square of the number of coefficients.");
  {
    nb::gil_scoped_release unlocked;
    GramDescent().solve(q, gram.data(), q.count, 1.0);
  }
  return to_numpy(std::move(q.b));
}

// The same with the second derivatives X'diag(h)X known by the rows of X alone, a sparse matrix by columns. Its last
// row has no curvature and holds the gradient. Returns the coefficients and what the intercept gains by them.
nb::tuple descend_by_rows(Flat<double> data, Flat<std::int32_t> indices, Flat<std::int32_t> starts, Flat<double> h,
                          bool intercept, const nb::dict& given) {
  InnerProblem q = inner_problem(given);
  const auto n = static_cast<Index>(h.size());
  if (static_cast<Index>(starts.size()) != q.count + 1 || n == 0)
    throw nb::value_error("indptr must hold one start more than there are coefficients.");
  check_structure(indices.data(), starts.data(), static_cast<std::size_t>(q.count),
                  std::min(indices.size(), data.size()), n);
  ResidualDescent descent;
  {
    nb::gil_scoped_release unlocked;
    const Sparse<double, std::int32_t> x(data.data(), indices.data(), starts.data(), n, q.count);
    Vector e(n, 0.0);
    e[n - 1] = 1.0;
    descent.solve(q, x, every_index(q.count), e, Vector(h.data(), h.data() + n), intercept, 1.0,
                  tuning::most_sweeps_of_proof);
  }
  return nb::make_tuple(to_numpy(std::move(q.b)), descent.intercept_shift());
}

}  // namespace

void bind_blocks(nb::module_& m) {
  m.def("dense_block", &dense_block<double>, nb::arg("X").noconvert(), nb::arg("samples"), nb::arg("plan"));
  m.def("dense_block", &dense_block<float>, nb::arg("X").noconvert(), nb::arg("samples"), nb::arg("plan"));
  m.def("sparse_block", &sparse_block<std::int32_t>, nb::arg("data").noconvert(), nb::arg("indices").noconvert(),
        nb::arg("indptr").noconvert(), nb::arg("n_columns"), nb::arg("samples"), nb::arg("plan"));
  m.def("sparse_block", &sparse_block<std::int64_t>, nb::arg("data").noconvert(), nb::arg("indices").noconvert(),
        nb::arg("indptr").noconvert(), nb::arg("n_columns"), nb::arg("samples"), nb::arg("plan"));
  m.def("descend_by_rows", &descend_by_rows, nb::arg("data").noconvert(), nb::arg("indices").noconvert(),
        nb::arg("indptr").noconvert(), nb::arg("h").noconvert(), nb::arg("intercept"), nb::arg("model"));
  m.def("descend", &descend, nb::arg("gram").noconvert(), nb::arg("model"));
}

}  // namespace clearning
