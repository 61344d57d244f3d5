// From a design and a request to a path and back. Each instantiation is compiled in a file of its own.
#pragma once
#include "bindings/request.hpp"
#include "problem/dense.hpp"
#include "problem/quadratic.hpp"
#include "problem/sparse.hpp"
#include "solver/path.hpp"

namespace clearning {

nb::dict to_dict(PathResult&& path);

// Columns and rows are counted in ints.
void check_size(std::size_t rows, std::size_t columns);

// That no entry points outside the matrix.
template <class I>
void check_structure(const I* indices, const I* starts, std::size_t columns, std::size_t entries, Index rows) {
  bool ordered = starts[0] == 0 && static_cast<std::uint64_t>(starts[columns]) <= entries;
  for (std::size_t j = 0; j < columns && ordered; ++j) ordered = starts[j] <= starts[j + 1];
  if (!ordered) throw nb::value_error("indptr must rise from 0 to at most the number of entries.");
  const auto limit = static_cast<std::uint64_t>(rows);
  for (I k = 0; k < starts[columns]; ++k)
    if (static_cast<std::uint64_t>(indices[k]) >= limit)
      throw nb::value_error("indices must lie between 0 and the number of rows.");
}

template <class P>
nb::dict solve(const P& problem, const Request& request) {
  PathResult path;
  {
    nb::gil_scoped_release unlocked;
    path = solve_path(problem, request.grid, request.start);
  }
  return to_dict(std::move(path));
}

template <class T>
nb::dict solve_dense(Matrix<T> x, const nb::dict& given) {
  check_size(x.shape(0), x.shape(1));
  const Dense<T> design{x.data(), static_cast<Index>(x.shape(0)), static_cast<Index>(x.shape(1))};
  const Request request(given, design.n, design.p);
  return solve(Problem<Dense<T>, Diagonal>(design, request.loss, request.samples,
                                           request.penalty(Diagonal{request.l2_factor}), request.settings),
               request);
}

template <class T, class I>
nb::dict solve_sparse(Flat<T> data, Flat<I> indices, Flat<I> starts, Index n_rows, const nb::dict& given) {
  if (starts.size() == 0 || n_rows < 0)
    throw nb::value_error("indptr must hold one start more than there are columns.");
  check_size(static_cast<std::size_t>(n_rows), starts.size() - 1);
  check_structure(indices.data(), starts.data(), starts.size() - 1, std::min(indices.size(), data.size()), n_rows);
  const Sparse<T, I> design(data.data(), indices.data(), starts.data(), n_rows, static_cast<Index>(starts.size()) - 1);
  const Request request(given, design.n, design.p);
  return solve(Problem<Sparse<T, I>, Diagonal>(design, request.loss, request.samples,
                                               request.penalty(Diagonal{request.l2_factor}), request.settings),
               request);
}

// K between samples and themselves, where `penalty` is K too, or between samples and landmarks: its columns, and the
// form of their penalty.
template <class T>
std::pair<Dense<T>, KernelForm<T>> kernel_expansion(const Matrix<T>& k, const Matrix<T>& penalty) {
  check_size(k.shape(0), k.shape(1));
  if (penalty.shape(0) != k.shape(1) || penalty.shape(1) != k.shape(1))
    throw nb::value_error("penalty must be square, with a row for each column of K.");
  const Dense<T> design{k.data(), static_cast<Index>(k.shape(0)), static_cast<Index>(k.shape(1))};
  return {design, {penalty.data(), design.p, penalty.data() == k.data()}};
}

template <class T>
nb::dict solve_kernel(Matrix<T> k, Matrix<T> penalty, const nb::dict& given) {
  const auto [design, form] = kernel_expansion(k, penalty);
  const Request request(given, design.n, design.p);
  return solve(
      Problem<Dense<T>, KernelForm<T>>(design, request.loss, request.samples, request.penalty(form), request.settings),
      request);
}

extern template nb::dict solve_dense(Matrix<double>, const nb::dict&);
extern template nb::dict solve_dense(Matrix<float>, const nb::dict&);
extern template nb::dict solve_kernel(Matrix<double>, Matrix<double>, const nb::dict&);
extern template nb::dict solve_kernel(Matrix<float>, Matrix<float>, const nb::dict&);
extern template nb::dict solve_sparse(Flat<double>, Flat<std::int32_t>, Flat<std::int32_t>, Index, const nb::dict&);
extern template nb::dict solve_sparse(Flat<double>, Flat<std::int64_t>, Flat<std::int64_t>, Index, const nb::dict&);
extern template nb::dict solve_sparse(Flat<float>, Flat<std::int32_t>, Flat<std::int32_t>, Index, const nb::dict&);
extern template nb::dict solve_sparse(Flat<float>, Flat<std::int64_t>, Flat<std::int64_t>, Index, const nb::dict&);

}  // namespace clearning
