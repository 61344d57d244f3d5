// The Python face of the core: one file, no mathematics.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "path.hpp"

namespace nb = nanobind;
using namespace clearning;

namespace {

using Array = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Matrix = nb::ndarray<const T, nb::ndim<2>, nb::f_contig, nb::device::cpu>;
template <class T>
using Flat = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <class T>
nb::object to_numpy(std::vector<T>&& values) {
  auto* owned = new std::vector<T>(std::move(values));
  nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return nb::cast(nb::ndarray<nb::numpy, T, nb::ndim<1>>(owned->data(), {owned->size()}, owner));
}

// Everything about a problem but its design.
struct Request {
  Loss loss;
  Samples samples;
  const double* offset;
  Penalty penalty;
  Settings settings;
  Grid grid;
  const double* start = nullptr;
  double start_intercept = 0.0;
};

Vector vector_of(nb::handle h) {
  const auto a = nb::cast<Array>(h);
  return Vector(a.data(), a.data() + a.size());
}

Loss loss_of(const nb::dict& d) {
  Loss loss;
  const auto kind = nb::cast<std::string>(d["kind"]);
  loss.kind = kind == "huberized_hinge" ? LossKind::huberized_hinge
              : kind == "squared_hinge" ? LossKind::squared_hinge
              : kind == "hinge"         ? LossKind::hinge
                                        : LossKind::coherence;
  loss.rho = nb::cast<double>(d["rho"]);
  loss.u = nb::cast<double>(d["u"]);
  loss.delta = nb::cast<double>(d["delta"]);
  loss.kappa = nb::cast<double>(d["kappa"]);
  return loss;
}

// Raised by interrupt(); a solve that began before it ends. Signals reach the main thread only, so this is
// how the others hear of them.
std::atomic<unsigned> epoch{0};

// Ctrl-C is looked for a few times a second, with the interpreter's lock held only for the look.
std::function<void()> interrupt_check() {
  const unsigned mine = epoch;
  auto last = std::make_shared<std::chrono::steady_clock::time_point>(std::chrono::steady_clock::now());
  return [last, mine] {
    if (epoch != mine) {
      nb::gil_scoped_acquire lock;
      PyErr_SetNone(PyExc_KeyboardInterrupt);
      throw nb::python_error();
    }
    const auto now = std::chrono::steady_clock::now();
    if (now - *last < std::chrono::milliseconds(100)) return;
    *last = now;
    nb::gil_scoped_acquire lock;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
  };
}

Request request_of(const nb::dict& d) {
  Request r;
  r.loss = loss_of(nb::cast<nb::dict>(d["loss"]));
  const auto y = nb::cast<Array>(d["y"]);
  r.samples = {y.data(), nb::cast<Array>(d["weight"]).data(), y.size()};
  r.offset = nb::cast<Array>(d["offset"]).data();
  r.penalty.l1_factor = vector_of(d["l1_factor"]);
  r.penalty.l2_factor = vector_of(d["l2_factor"]);
  r.penalty.lower = vector_of(d["lower"]);
  r.penalty.upper = vector_of(d["upper"]);
  r.penalty.l1_ratio = nb::cast<double>(d["l1_ratio"]);
  r.settings.tol = nb::cast<double>(d["tol"]);
  r.settings.max_iter = nb::cast<int>(d["max_iter"]);
  r.settings.intercept = nb::cast<bool>(d["fit_intercept"]);
  r.settings.check_interrupt = interrupt_check();
  if (!d["alphas"].is_none()) r.grid.alphas = vector_of(d["alphas"]);
  r.grid.count = nb::cast<int>(d["n_alphas"]);
  r.grid.min_ratio = nb::cast<double>(d["alpha_min_ratio"]);
  if (!d["coef_init"].is_none()) {
    r.start = nb::cast<Array>(d["coef_init"]).data();
    r.start_intercept = nb::cast<double>(d["intercept_init"]);
  }
  return r;
}

template <class Design>
nb::dict solve(const Design& x, const nb::dict& description) {
  const Request r = request_of(description);
  PathResult path;
  {
    nb::gil_scoped_release unlocked;
    path = solve_path(x, r.loss, r.samples, r.offset, r.penalty, r.settings, r.grid, r.start, r.start_intercept);
  }
  nb::dict out;
  out["alphas"] = to_numpy(std::move(path.alphas));
  out["intercepts"] = to_numpy(std::move(path.intercepts));
  out["objectives"] = to_numpy(std::move(path.objectives));
  out["dual_gaps"] = to_numpy(std::move(path.gaps));
  out["n_iters"] = to_numpy(std::move(path.iterations));
  out["starts"] = to_numpy(std::move(path.starts));
  out["columns"] = to_numpy(std::move(path.columns));
  out["values"] = to_numpy(std::move(path.values));
  std::vector<std::uint8_t> converged(path.converged.begin(), path.converged.end());
  out["converged"] = to_numpy(std::move(converged));
  out["null_objective"] = path.null_objective;
  return out;
}

template <class T>
nb::dict solve_dense(Matrix<T> x, nb::dict request) {
  return solve(Dense<T>{x.data(), static_cast<Index>(x.shape(0)), static_cast<Index>(x.shape(1))}, request);
}

template <class T, class I>
nb::dict solve_sparse(Flat<T> data, Flat<I> indices, Flat<I> starts, Index n_rows, nb::dict request) {
  return solve(Sparse<T, I>{data.data(), indices.data(), starts.data(), n_rows, static_cast<Index>(starts.size()) - 1},
               request);
}

template <class T>
nb::dict solve_kernel(Matrix<T> k, Matrix<T> penalty, nb::dict request) {
  Kernel<T> x;
  x.x = k.data();
  x.n = static_cast<Index>(k.shape(0));
  x.p = static_cast<Index>(k.shape(1));
  x.penalty = penalty.data();
  return solve(x, request);
}

template <class Pointer>
void take(Pointer& target, const nb::dict& functions, const char* name) {
  const auto capsule = nb::cast<nb::capsule>(functions[name]);
  target = reinterpret_cast<Pointer>(PyCapsule_GetPointer(capsule.ptr(), PyCapsule_GetName(capsule.ptr())));
}

void load_blas() {
  const auto of = [](const char* module) {
    return nb::cast<nb::dict>(nb::module_::import_(module).attr("__pyx_capi__"));
  };
  const nb::dict b = of("scipy.linalg.cython_blas"), l = of("scipy.linalg.cython_lapack");
  take(blas::dsyrk, b, "dsyrk");
  take(blas::dgemm, b, "dgemm");
  take(blas::dtrsv, b, "dtrsv");
  take(blas::ssyrk, b, "ssyrk");
  take(blas::sgemm, b, "sgemm");
  take(blas::sgemv, b, "sgemv");
  take(blas::strsm, b, "strsm");
  take(blas::strsv, b, "strsv");
  take(blas::spotrf, l, "spotrf");
  take(blas::dpotrf, l, "dpotrf");
  take(blas::dpotrs, l, "dpotrs");
}

// The core's own loss, for the test that holds it to the Python one.
nb::dict evaluate_loss(const nb::dict& loss, Array margins) {
  const std::size_t n = margins.size();
  Vector one(n, 1.0), e(n), h(n), value(n);
  const Loss l = loss_of(loss);
  const Samples samples{one.data(), one.data(), n};
  kernels().evaluate(l, samples, margins.data(), 0.0, e.data(), h.data());
  for (std::size_t i = 0; i < n; ++i) {
    double first, second;
    value[i] = kernels().evaluate(l, {one.data(), one.data(), 1}, margins.data() + i, 0.0, &first, &second).value;
  }
  nb::dict out;
  out["value"] = to_numpy(std::move(value));
  out["gradient"] = to_numpy(std::move(e));
  out["hessian"] = to_numpy(std::move(h));
  return out;
}

}  // namespace

NB_MODULE(_core, m) {
  m.doc() = "Compiled core of clearning.";
  m.attr("__version__") = "0.1.0";
  load_blas();
  m.attr("simd") = kernels().name;
  m.def("solve_dense", &solve_dense<double>, nb::arg("X").noconvert(), nb::arg("request"));
  m.def("solve_dense", &solve_dense<float>, nb::arg("X").noconvert(), nb::arg("request"));
  m.def("solve_kernel", &solve_kernel<double>, nb::arg("K").noconvert(), nb::arg("penalty").noconvert(),
        nb::arg("request"));
  m.def("solve_kernel", &solve_kernel<float>, nb::arg("K").noconvert(), nb::arg("penalty").noconvert(),
        nb::arg("request"));
  const auto sparse = [&](auto function) {
    m.def("solve_sparse", function, nb::arg("data").noconvert(), nb::arg("indices").noconvert(),
          nb::arg("indptr").noconvert(), nb::arg("n_rows"), nb::arg("request"));
  };
  sparse(&solve_sparse<double, std::int32_t>);
  sparse(&solve_sparse<double, std::int64_t>);
  sparse(&solve_sparse<float, std::int32_t>);
  sparse(&solve_sparse<float, std::int64_t>);
  m.def("interrupt", [] { ++epoch; }, "End every solve under way with KeyboardInterrupt.");
  m.def("evaluate_loss", &evaluate_loss, nb::arg("loss"), nb::arg("margins"));
}
