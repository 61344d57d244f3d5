// Many classes: the loops over samples, the penalties near a point, the joint Gram matrix, descent on a model that the
// test makes up, and dual points made feasible.
#include "parts.hpp"
#include "problem/class_penalty.hpp"
#include "problem/panel.hpp"
#include "solver/classes/certificate.hpp"
#include "solver/classes/descent.hpp"
#include "solver/classes/straight_lines.hpp"

namespace clearning::parts {

namespace {

struct HeldClasses {
  MultiCoherence loss;
  Vector label, weight, offset;
  int m;
  HeldClasses(double rho, double u, double kappa, const In& l, const In& w, int classes)
      : loss{rho, u, kappa}, label(copy(l)), weight(copy(w)), offset(l.size() * classes, 0.0), m(classes) {}
  ClassSamples view() const { return {label.data(), weight.data(), offset.data(), label.size(), m}; }
};

template <class Pen>
void bind_class_penalty(nb::class_<Pen>& bound) {
  const auto local = [](const Pen& pen, double l1, double ridge, const Columns& features, const In& z) {
    return typename Pen::Local{pen, Level{l1, ridge}, features, copy(z)};
  };
  bound
      .def("value", [](const Pen& pen, double l1, double ridge, const Columns& features,
                       const In& b) { return pen.value({l1, ridge}, features, copy(b)); })
      .def("violation",
           [](const Pen& pen, double l1, double ridge, const Columns& features, const In& b, const In& g) {
             return pen.violation({l1, ridge}, features, std::vector<char>(b.size(), 1), copy(b), copy(g));
           })
      .def("slope",
           [local](const Pen& pen, double l1, double ridge, const Columns& features, const In& z) {
             const auto near = local(pen, l1, ridge, features, z);
             Vector out(z.size());
             for (std::size_t t = 0; t < out.size(); ++t) out[t] = near.slope(t / pen.m, static_cast<int>(t % pen.m));
             return numpy(out);
           })
      .def("bend",
           [local](const Pen& pen, double l1, double ridge, const Columns& features, const In& z, const In& along) {
             Vector out(z.size(), 0.0);
             local(pen, l1, ridge, features, z).add_curvature(copy(along), out);
             return numpy(out);
           })
      .def("entry",
           [local](const Pen& pen, double l1, double ridge, const Columns& features, const In& z, int t, int o) {
             const auto near = local(pen, l1, ridge, features, z);
             return near.between(t / pen.m, t % pen.m, o / pen.m, o % pen.m) +
                    (t == o ? near.diagonal(t / pen.m, t % pen.m) : 0.0);
           })
      .def("confine",
           [local](const Pen& pen, double l1, const Columns& features, const In& z, const In& x) {
             Vector inside = copy(x);
             const bool any = local(pen, l1, 0.0, features, z).confine(inside);
             return nb::make_tuple(any, numpy(inside));
           })
      .def("room", [local](const Pen& pen, double l1, const Columns& features, const In& z,
                           const In& x) { return local(pen, l1, 0.0, features, z).room(copy(x)); })
      .def("feasible_scale",
           [](const Pen& pen, double l1, double ridge, const In& v, const In& length) {
             const Vector pulls = copy(v), lengths = copy(length);
             return pen.feasible_scale({l1, ridge}, {pulls, lengths, 0.0});
           })
      .def("gap",
           [](const Pen& pen, double l1, double ridge, const In& v, const In& length, double scale, const In& b) {
             const Vector pulls = copy(v), lengths = copy(length);
             return pen.gap({l1, ridge}, {pulls, lengths, 0.0}, scale, copy(b));
           });
}

// A model of which the test knows the matrix.
struct KnownModel {
  const double* matrix;
  Vector slopes;
  std::size_t size() const { return slopes.size(); }
  bool has(std::size_t) const { return true; }
  double slope(std::size_t t) const { return slopes[t]; }
  double bend(std::size_t t) const { return matrix[t * size() + t]; }
  double bend_within(std::size_t t, const Columns& group) const {
    const std::size_t m = size() / features;
    double sum = 0.0;
    for (int c : group)
      for (std::size_t k = 0; k < m; ++k) sum += std::fabs(matrix[t * size() + c * m + k]);
    return sum;
  }
  void move(std::size_t t, double by) {
    for (std::size_t o = 0; o < size(); ++o) slopes[o] += by * matrix[t * size() + o];
  }
  std::size_t features;
};

template <class Pen>
nb::object descend(const Pen& pen, const Matrix<double>& matrix, const In& slope, double l1, double ridge, int turns) {
  const Columns features = every_index(static_cast<Index>(slope.size()) / pen.m);
  Vector b(slope.size(), 0.0);
  KnownModel model{matrix.data(), copy(slope), features.size()};
  for (int turn = 0; turn < turns; ++turn) sweep(model, pen, {l1, ridge}, features, 0.0, b);
  return numpy(b);
}

Dense<double> dense(const Matrix<double>& x) {
  return {x.data(), static_cast<Index>(x.shape(0)), static_cast<Index>(x.shape(1))};
}
Sparse<double, std::int32_t> columns(const Flat<double>& data, const Flat<std::int32_t>& indices,
                                     const Flat<std::int32_t>& starts, Index rows) {
  return {data.data(), indices.data(), starts.data(), rows, static_cast<Index>(starts.size()) - 1};
}

template <class D>
nb::object joint_gram(const D& x, const Columns& place, const Columns& klass, int first, const In& s,
                      const In& weight) {
  Panel<D> panel(x);
  panel.add(every_index(x.p));
  const int count = static_cast<int>(place.size());
  Vector gram(static_cast<std::size_t>(count) * count, 0.0);
  const Vector shares = copy(s), weights = copy(weight);
  for (const int from : {0, first}) {
    std::fill(gram.begin() + static_cast<std::ptrdiff_t>(from) * count, gram.end(), 0.0);
    panel.joint_gram({place, klass}, from, {shares, weights}, gram.data(), count);
  }
  return numpy(gram);
}

template <class D>
nb::object class_cross(const D& x, const Columns& place, const Columns& klass, int first, const In& s, const In& weight,
                       int m) {
  Panel<D> panel(x);
  panel.add(every_index(x.p));
  Vector out((place.size() - first) * m);
  const Vector shares = copy(s), weights = copy(weight);
  panel.cross({place, klass}, first, {shares, weights}, m, out.data());
  return numpy(out);
}

// One matrix for all classes, less what the norms lack along the groups' own coefficients.
nb::object straight_solve(const Grouped& pen, double l1, const Columns& features, const In& z,
                          const Matrix<double>& gram, const In& rest) {
  const int p = static_cast<int>(features.size()), m = pen.m;
  const Grouped::Local local(pen, {l1, 0.0}, features, copy(z));
  std::vector<ClassFactor> factors(m);
  for (int k = 0; k < m; ++k)
    factors[k].build(
        p, [&](int i, int j) { return gram.data()[j * p + i] + (i == j ? local.diagonal(i, k) : 0.0); }, true);
  const std::vector<Columns> all(m, every_index(p));
  StraightLines<Grouped> straight;
  straight.build(local, all, all, factors);
  std::vector<Vector> x(m, Vector(p));
  for (int c = 0; c < p; ++c)
    for (int k = 0; k < m; ++k) x[k][c] = rest.data()[c * m + k];
  straight.solve(factors, x);
  Vector out(rest.size());
  for (int c = 0; c < p; ++c)
    for (int k = 0; k < m; ++k) out[c * m + k] = x[k][c];
  return numpy(out);
}

}  // namespace

void bind_classes(nb::module_& m) {
  nb::class_<HeldClasses>(m, "ClassSamples")
      .def(nb::init<double, double, double, const In&, const In&, int>())
      .def("evaluate",
           [](const HeldClasses& held, const In& score) {
             Vector s(score.size()), e(score.size());
             const double loss = class_loops().evaluate(held.loss, held.view(), score.data(), s.data(), e.data());
             return nb::make_tuple(loss, numpy(s), numpy(e));
           })
      .def("curve",
           [](const HeldClasses& held, const In& s, const In& along) {
             Vector out(s.size());
             class_loops().curve(held.loss, held.view(), s.data(), along.data(), out.data());
             return numpy(out);
           })
      .def("divergence",
           [](const HeldClasses& held, const In& score, const In& dual, double size) {
             Vector s(score.size()), e(score.size());
             class_loops().evaluate(held.loss, held.view(), score.data(), s.data(), e.data());
             return class_loops().divergence(held.loss, held.view(), score.data(), s.data(), dual.data(), size);
           })
      .def("feasible", [](const HeldClasses& held, const In& dual) {
        Vector r = copy(dual);
        bool changed = false;
        dual_point::confine(held.loss, held.view(), r, changed);
        if (!dual_point::is_even(held.loss, held.view(), r)) dual_point::balance(held.loss, held.view(), r);
        return nb::make_tuple(dual_point::is_even(held.loss, held.view(), r), numpy(r));
      });
  nb::class_<Elementwise> elementwise(m, "Elementwise");
  elementwise.def("__init__",
                  [](Elementwise* self, int classes, const In& l1, const In& l2, const In& lower, const In& upper) {
                    new (self) Elementwise{classes, 0.5, copy(l1), copy(l2), copy(lower), copy(upper)};
                  });
  bind_class_penalty(elementwise);
  nb::class_<Grouped> grouped(m, "Grouped");
  grouped.def("__init__",
              [](Grouped* self, int classes, const In& l1, const In& l2, const std::vector<Columns>& members,
                 const Columns& group_of) { new (self) Grouped{classes, 0.5, copy(l1), copy(l2), members, group_of}; });
  bind_class_penalty(grouped);
  m.def("class_descent", &descend<Elementwise>);
  m.def("class_descent", &descend<Grouped>);
  m.def("straight_solve", &straight_solve);
  m.def("joint_gram", [](const Matrix<double>& x, const Columns& place, const Columns& klass, int first, const In& s,
                         const In& weight) { return joint_gram(dense(x), place, klass, first, s, weight); });
  m.def("joint_gram",
        [](const Flat<double>& data, const Flat<std::int32_t>& indices, const Flat<std::int32_t>& starts, Index rows,
           const Columns& place, const Columns& klass, int first, const In& s, const In& weight) {
          return joint_gram(columns(data, indices, starts, rows), place, klass, first, s, weight);
        });
  m.def("class_cross",
        [](const Matrix<double>& x, const Columns& place, const Columns& klass, int first, const In& s,
           const In& weight, int m) { return class_cross(dense(x), place, klass, first, s, weight, m); });
  m.def("class_cross",
        [](const Flat<double>& data, const Flat<std::int32_t>& indices, const Flat<std::int32_t>& starts, Index rows,
           const Columns& place, const Columns& klass, int first, const In& s, const In& weight,
           int m) { return class_cross(columns(data, indices, starts, rows), place, klass, first, s, weight, m); });
}

}  // namespace clearning::parts
