// The ways to minimise a quadratic model plus the penalty, each on a model that the test makes up.
#include "parts.hpp"
#include "problem/dense.hpp"
#include "problem/quadratic.hpp"
#include "problem/sparse.hpp"
#include "solver/gram_descent.hpp"
#include "solver/kernel_ridge.hpp"
#include "solver/residual_descent.hpp"
#include "solver/ridge_descent.hpp"

namespace clearning::parts {

namespace {

InnerProblem inner(const In& b, const In& g, const In& l1, const In& ridge, const In& lower, const In& upper,
                   double allowed) {
  InnerProblem q;
  q.resize(static_cast<int>(b.size()));
  q.b = copy(b);
  q.g = copy(g);
  q.l1 = copy(l1);
  q.ridge = copy(ridge);
  q.lower = copy(lower);
  q.upper = copy(upper);
  q.allowed.assign(b.size(), allowed);
  return q;
}

Dense<double> dense(const Matrix<double>& x) {
  return {x.data(), static_cast<Index>(x.shape(0)), static_cast<Index>(x.shape(1))};
}

using SparseDesign = Sparse<double, std::int32_t>;
struct HeldSparse {
  Flat<double> data;
  Flat<std::int32_t> indices, starts;
  SparseDesign view;
  HeldSparse(Flat<double> d, Flat<std::int32_t> i, Flat<std::int32_t> s, Index rows)
      : data(std::move(d)), indices(std::move(i)), starts(std::move(s)),
        view(data.data(), indices.data(), starts.data(), rows, static_cast<Index>(starts.size()) - 1) {}
};

template <class D>
double descend_on_residual(const D& x, InnerProblem& q, const In& e, const In& h, bool intercept, double target) {
  ResidualDescent descent;
  descent.solve(q, x, every_index(x.p), copy(e), copy(h), intercept, target, tuning::most_sweeps);
  return descent.intercept_shift();
}

template <class D>
double descend_without_kinks(const D& x, InnerProblem& q, const In& h, bool intercept, double target) {
  RidgeDescent descent;
  typename D::Workspace space;
  descent.solve(q, x, every_index(x.p), copy(h), intercept, target, space);
  return descent.intercept_shift();
}

// The whole matrix if `first` is 0, otherwise its columns from there on, which is how it is extended.
template <class D>
nb::object gram_of(const D& x, const Columns& columns, int first, const In& h, const In& mean, double total) {
  const int count = static_cast<int>(columns.size());
  Vector gram(static_cast<std::size_t>(count) * count, 0.0);
  typename D::Workspace space;
  for (const int from : {0, first})
    weighted_gram(x, columns, from, h.data(), total, mean.data(), gram.data(), count, space);
  return numpy(gram);
}

nb::object kernel_ridge(const Matrix<double>& k, const In& form, const In& e, const In& h, double ridge,
                        bool intercept) {
  KernelRidgeStep<Dense<double>> step;
  Vector beta;
  double shift = 0.0;
  const auto kernel = dense(k);
  if (!step.solve(kernel, copy(form), copy(e), copy(h), ridge, intercept, beta, shift)) return nb::none();
  return nb::make_tuple(numpy(beta), shift);
}

}  // namespace

void bind_steps(nb::module_& m) {
  nb::class_<InnerProblem>(m, "InnerProblem")
      .def_prop_ro("b", [](const InnerProblem& q) { return numpy(q.b); })
      .def_prop_ro("g", [](const InnerProblem& q) { return numpy(q.g); })
      .def("worst", &InnerProblem::worst);
  m.def("inner_problem", &inner);
  nb::class_<HeldSparse>(m, "SparseDesign")
      .def(nb::init<Flat<double>, Flat<std::int32_t>, Flat<std::int32_t>, Index>());
  nb::class_<GramDescent>(m, "GramDescent")
      .def(nb::init<bool>(), nb::arg("crawls") = false)
      .def("invalidate", &GramDescent::invalidate)
      .def("solve", [](GramDescent& d, InnerProblem& q, const Matrix<double>& a, double target) {
        return d.solve(q, a.data(), static_cast<int>(a.shape(0)), target);
      });
  m.def("residual_descent", [](const Matrix<double>& x, InnerProblem& q, const In& e, const In& h, bool intercept,
                               double target) { return descend_on_residual(dense(x), q, e, h, intercept, target); });
  m.def("residual_descent", [](const HeldSparse& x, InnerProblem& q, const In& e, const In& h, bool intercept,
                               double target) { return descend_on_residual(x.view, q, e, h, intercept, target); });
  m.def("ridge_descent", [](const Matrix<double>& x, InnerProblem& q, const In& h, bool intercept, double target) {
    return descend_without_kinks(dense(x), q, h, intercept, target);
  });
  m.def("ridge_descent", [](const HeldSparse& x, InnerProblem& q, const In& h, bool intercept, double target) {
    return descend_without_kinks(x.view, q, h, intercept, target);
  });
  m.def("weighted_gram", [](const Matrix<double>& x, const Columns& columns, int first, const In& h, const In& mean,
                            double total) { return gram_of(dense(x), columns, first, h, mean, total); });
  m.def("weighted_gram", [](const HeldSparse& x, const Columns& columns, int first, const In& h, const In& mean,
                            double total) { return gram_of(x.view, columns, first, h, mean, total); });
  m.def("kernel_ridge_step", &kernel_ridge);
  m.def("extrapolate", [](const std::vector<Vector>& iterates) {
    Extrapolation limit;
    for (const Vector& b : iterates) limit.remember({b, b, b[0]});
    SweepState out;
    const bool found = limit.combine(out);
    return std::make_tuple(found, out.b, out.residual, out.shift);
  });
}

}  // namespace clearning::parts
