// Factors and conjugate gradients.
#include "linalg/block_factor.hpp"
#include "linalg/conjugate_gradients.hpp"
#include "linalg/packed_factor.hpp"
#include "parts.hpp"

namespace clearning::parts {

namespace {

nb::object solve_packed(const Matrix<double>& a, const In& right) {
  PackedFactor factor;
  const std::size_t size = right.size();
  if (!factor.build(static_cast<int>(size), [&](int r, int c) { return a(r, c); })) return nb::none();
  std::vector<float> x(right.data(), right.data() + size);
  factor.solve(x.data());
  return to_numpy(std::move(x));
}

// A x = right behind a diagonal preconditioner, until the rest is shorter than `enough`.
nb::tuple solve_by_gradients(const Matrix<double>& a, const In& right, const In& diagonal, int most, double enough) {
  const std::size_t size = right.size();
  Vector x(size, 0.0), rest = copy(right);
  const auto product_of = [&](const Vector& left, const Vector& with) {
    return loops().dot(left.data(), with.data(), size);
  };
  const auto precondition = [&](Vector& out) {
    for (std::size_t i = 0; i < size; ++i) out[i] = rest[i] / diagonal(i);
    return product_of(rest, out);
  };
  const auto apply = [&](const Vector& along, Vector& out) {
    for (std::size_t i = 0; i < size; ++i) out[i] = loops().dot(a.data() + i * size, along.data(), size);
    return product_of(along, out);
  };
  const auto advance = [&](double step, const Vector& along, const Vector& product) {
    loops().axpy(step, along.data(), x.data(), size);
    loops().axpy(-step, product.data(), rest.data(), size);
    return product_of(rest, rest) > enough * enough;
  };
  const int steps = conjugate_gradients(size, most, precondition, apply, advance);
  return nb::make_tuple(numpy(x), steps);
}

}  // namespace

void bind_linalg(nb::module_& m) {
  nb::class_<BlockFactor>(m, "BlockFactor")
      .def(nb::init<>())
      .def("match",
           [](BlockFactor& f, const Columns& wanted, const Matrix<double>& a, const In& ridge) {
             return f.match(wanted, a.data(), static_cast<int>(a.shape(0)), copy(ridge));
           })
      .def("order", &BlockFactor::order)
      .def("invalidate", &BlockFactor::invalidate)
      .def("solve", [](BlockFactor& f, const In& right) {
        Vector x = copy(right);
        f.solve(x.data());
        return numpy(x);
      });
  m.def("solve_packed", &solve_packed);
  m.def("solve_by_gradients", &solve_by_gradients);
}

}  // namespace clearning::parts
