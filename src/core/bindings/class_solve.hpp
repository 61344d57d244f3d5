// From a design and a request of many classes to a path and back. Each instantiation is compiled in a file of its own.
#pragma once
#include "bindings/class_request.hpp"
#include "bindings/solve.hpp"

namespace clearning {

template <class D, class Pen, class Form = Uncoupled>
nb::dict solve_classes_with(const D& design, const ClassRequest& request, Pen penalty, Form form = {}) {
  PathResult path;
  {
    nb::gil_scoped_release unlocked;
    const ClassProblem<D, Pen, Form> problem(design, request.loss, request.samples, std::move(penalty),
                                             request.settings, form);
    path = solve_class_path(problem, request.grid, request.start);
  }
  return to_dict(std::move(path));
}

template <class D>
nb::dict solve_classes(const D& design, const nb::dict& given) {
  const ClassRequest request(given, design.n, design.p);
  if (request.is_grouped()) return solve_classes_with(design, request, request.grouped());
  return solve_classes_with(design, request, request.elementwise());
}

template <class T>
nb::dict solve_dense_classes(Matrix<T> x, const nb::dict& given) {
  check_size(x.shape(0), x.shape(1));
  return solve_classes(Dense<T>{x.data(), static_cast<Index>(x.shape(0)), static_cast<Index>(x.shape(1))}, given);
}

template <class T, class I>
nb::dict solve_sparse_classes(Flat<T> data, Flat<I> indices, Flat<I> starts, Index n_rows, const nb::dict& given) {
  if (starts.size() == 0 || n_rows < 0)
    throw nb::value_error("indptr must hold one start more than there are columns.");
  check_size(static_cast<std::size_t>(n_rows), starts.size() - 1);
  check_structure(indices.data(), starts.data(), starts.size() - 1, std::min(indices.size(), data.size()), n_rows);
  return solve_classes(
      Sparse<T, I>(data.data(), indices.data(), starts.data(), n_rows, static_cast<Index>(starts.size()) - 1), given);
}

// K between samples and themselves, where `penalty` is K too, or between samples and landmarks. The quadratic part is
// the kernel's alone.
template <class T>
nb::dict solve_kernel_classes(Matrix<T> k, Matrix<T> penalty, const nb::dict& given) {
  const auto [design, form] = kernel_expansion(k, penalty);
  const ClassRequest request(given, design.n, design.p);
  const auto solve = [&, &design = design, &form = form](auto net) {
    std::fill(net.l2_factor.begin(), net.l2_factor.end(), 0.0);
    return solve_classes_with(design, request, std::move(net), Coupled<T>{form});
  };
  return request.is_grouped() ? solve(request.grouped()) : solve(request.elementwise());
}

extern template nb::dict solve_kernel_classes(Matrix<double>, Matrix<double>, const nb::dict&);
extern template nb::dict solve_kernel_classes(Matrix<float>, Matrix<float>, const nb::dict&);
extern template nb::dict solve_dense_classes(Matrix<double>, const nb::dict&);
extern template nb::dict solve_dense_classes(Matrix<float>, const nb::dict&);
extern template nb::dict solve_sparse_classes(Flat<double>, Flat<std::int32_t>, Flat<std::int32_t>, Index,
                                              const nb::dict&);
extern template nb::dict solve_sparse_classes(Flat<double>, Flat<std::int64_t>, Flat<std::int64_t>, Index,
                                              const nb::dict&);
extern template nb::dict solve_sparse_classes(Flat<float>, Flat<std::int32_t>, Flat<std::int32_t>, Index,
                                              const nb::dict&);
extern template nb::dict solve_sparse_classes(Flat<float>, Flat<std::int64_t>, Flat<std::int64_t>, Index,
                                              const nb::dict&);

}  // namespace clearning
