// The compiled module: what Python may call, and no mathematics.
#include "bindings/blocks.hpp"
#include "bindings/class_solve.hpp"
#include "bindings/interrupt.hpp"
#include "bindings/logit_lines.hpp"
#include "bindings/scipy_blas.hpp"
#include "bindings/solve.hpp"
#include "linalg/instruction_set.hpp"

namespace clearning {

nb::dict to_dict(PathResult&& path) {
  nb::dict out;
  out["alphas"] = to_numpy(std::move(path.alphas));
  out["intercepts"] = to_numpy(std::move(path.intercepts));
  out["objectives"] = to_numpy(std::move(path.objectives));
  out["dual_gaps"] = to_numpy(std::move(path.gaps));
  out["n_iters"] = to_numpy(std::move(path.iterations));
  out["starts"] = to_numpy(std::move(path.starts));
  out["columns"] = to_numpy(std::move(path.columns));
  out["values"] = to_numpy(std::move(path.values));
  out["converged"] = to_numpy(std::vector<std::uint8_t>(path.converged.begin(), path.converged.end()));
  out["null_objective"] = path.null_objective;
  return out;
}

void check_size(std::size_t rows, std::size_t columns) {
  constexpr std::size_t most = std::numeric_limits<int>::max();
  if (rows == 0 || columns == 0 || rows > most || columns > most)
    throw nb::value_error("a design has between 1 and 2147483647 rows, and as many columns.");
}

namespace {

// The core's own loss, for the test that holds it to the Python one.
nb::dict evaluate_loss(const nb::dict& given, Flat<double> margins) {
  const std::size_t n = margins.size();
  const Loss loss = loss_of(given);
  const Vector one(n, 1.0), zero(n, 0.0);
  Vector e(n), h(n), value(n);
  evaluate(loss, {one.data(), one.data(), zero.data(), n}, margins.data(), 0.0, e.data(), h.data());
  for (std::size_t i = 0; i < n; ++i) {
    double first, second;
    value[i] = evaluate(loss, {one.data(), one.data(), zero.data(), 1}, margins.data() + i, 0.0, &first, &second).value;
  }
  nb::dict out;
  out["value"] = to_numpy(std::move(value));
  out["gradient"] = to_numpy(std::move(e));
  out["hessian"] = to_numpy(std::move(h));
  return out;
}

template <class T>
void bind_dense(nb::module_& m) {
  m.def("solve_dense", &solve_dense<T>, nb::arg("X").noconvert(), nb::arg("request"));
  m.def("solve_kernel", &solve_kernel<T>, nb::arg("K").noconvert(), nb::arg("penalty").noconvert(), nb::arg("request"));
  m.def("solve_dense_classes", &solve_dense_classes<T>, nb::arg("X").noconvert(), nb::arg("request"));
  m.def("solve_kernel_classes", &solve_kernel_classes<T>, nb::arg("K").noconvert(), nb::arg("penalty").noconvert(),
        nb::arg("request"));
}

template <class T, class I>
void bind_sparse(nb::module_& m) {
  m.def("solve_sparse", &solve_sparse<T, I>, nb::arg("data").noconvert(), nb::arg("indices").noconvert(),
        nb::arg("indptr").noconvert(), nb::arg("n_rows"), nb::arg("request"));
  m.def("solve_sparse_classes", &solve_sparse_classes<T, I>, nb::arg("data").noconvert(),
        nb::arg("indices").noconvert(), nb::arg("indptr").noconvert(), nb::arg("n_rows"), nb::arg("request"));
}

}  // namespace
}  // namespace clearning

NB_MODULE(_core, m) {
  using namespace clearning;
  m.doc() = "Compiled core of clearning.";
  m.attr("__version__") = "0.2.0";
  m.attr("simd") = name_of(instruction_set());
  load_blas();
  bind_dense<double>(m);
  bind_dense<float>(m);
  bind_sparse<double, std::int32_t>(m);
  bind_sparse<double, std::int64_t>(m);
  bind_sparse<float, std::int32_t>(m);
  bind_sparse<float, std::int64_t>(m);
  bind_blocks(m);
  bind_logit_lines(m);
  m.def("interrupt", &interrupt, "End every solve under way with KeyboardInterrupt.");
  m.def("evaluate_loss", &evaluate_loss, nb::arg("loss"), nb::arg("margins"));
}
