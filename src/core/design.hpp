// Designs: what a solver may ask of the matrix whose columns carry the coefficients.
// Dense, sparse and kernel problems differ here and nowhere else.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "blas.hpp"
#include "kernels.hpp"

namespace clearning {

using Index = std::int64_t;
using Columns = std::vector<int>;
using Vector = std::vector<double>;

inline Columns every_index(Index count) {
  Columns indices(count);
  std::iota(indices.begin(), indices.end(), 0);
  return indices;
}

// Adds panel' * panel (rows x count, column-major) into the upper part of gram from column `first` on.
inline void accumulate_panel(double* panel, int rows, int count, int first, double* gram, int stride) {
  double one = 1.0;
  char upper = 'U', transposed = 'T', plain = 'N';
  if (first == 0) {
    blas::dsyrk(&upper, &transposed, &count, &rows, &one, panel, &rows, &one, gram, &stride);
    return;
  }
  int fresh = count - first;
  double* right = panel + static_cast<std::size_t>(first) * rows;
  double* target = gram + static_cast<std::size_t>(first) * stride;
  blas::dgemm(&transposed, &plain, &count, &fresh, &rows, &one, panel, &rows, right, &rows, &one, target, &stride);
}

// Copies the part of a Gram matrix above the diagonal to below it, for columns from `first` on.
inline void mirror(double* gram, int count, int first, int stride) {
  for (int j = first; j < count; ++j)
    for (int i = 0; i < j; ++i)
      gram[static_cast<std::size_t>(i) * stride + j] = gram[static_cast<std::size_t>(j) * stride + i];
}

// Weighted Gram matrix of some columns less their means: gram[:, first:] = Z' diag(h) Z[:, first:], Z = X_C - 1 mean',
// and its mirror image. The means are those by the weights h, which sum to `total`, or zero.
template <class Design>
void weighted_gram(const Design& x, const Columns& columns, int first, const double* h, double total,
                   const double* mean, double* gram, int stride) {
  const int count = static_cast<int>(columns.size());
  for (int j = first; j < count; ++j)
    std::fill_n(gram + static_cast<std::size_t>(j) * stride, count, 0.0);
  x.add_gram(columns, first, h, mean, gram, stride);
  for (int j = first; j < count; ++j) {
    double* target = gram + static_cast<std::size_t>(j) * stride;
    const double size = total * mean[j] * mean[j];
    if constexpr (Design::is_sparse)  // zeros must stay zeros, so the means come off afterwards
      for (int i = 0; i <= j; ++i) target[i] -= total * mean[i] * mean[j];
    // What is left of a constant column is rounding.
    if (target[j] <= (Design::is_sparse ? 1e-12 : 1e-24) * size) target[j] = 0.0;
  }
  mirror(gram, count, first, stride);
}

template <class T>
struct Dense {
  static constexpr bool is_kernel = false;
  static constexpr bool is_sparse = false;
  const T* x;
  Index n, p;

  const T* column(Index j) const { return x + j * n; }
  double entries(const Columns& columns) const { return static_cast<double>(columns.size()) * n; }

  double dot(Index j, const double* v) const {
    if constexpr (std::is_same_v<T, double>) return kernels().dot(column(j), v, n);
    else return kernels().dot_float(column(j), v, n);
  }
  void axpy(Index j, double c, double* v) const {
    if constexpr (std::is_same_v<T, double>) kernels().axpy(c, column(j), v, n);
    else kernels().axpy_float(c, column(j), v, n);
  }
  void dots(const Columns& columns, const double* v, double* out) const {
    if constexpr (std::is_same_v<T, double>) {
      std::vector<const double*> pointers(columns.size());
      for (std::size_t c = 0; c < columns.size(); ++c) pointers[c] = column(columns[c]);
      kernels().dots(pointers.data(), columns.size(), v, n, out);
    } else {
      for (std::size_t c = 0; c < columns.size(); ++c) out[c] = dot(columns[c], v);
    }
  }
  void all_dots(const double* v, double* out) const {
    dots(every_index(p), v, out);
  }
  void combine(const Columns& columns, const double* coefficients, double* acc) const {
    if constexpr (std::is_same_v<T, double>) {
      std::vector<const double*> pointers(columns.size());
      for (std::size_t c = 0; c < columns.size(); ++c) pointers[c] = column(columns[c]);
      kernels().combine(pointers.data(), columns.size(), coefficients, n, acc);
    } else {
      for (std::size_t c = 0; c < columns.size(); ++c) axpy(columns[c], coefficients[c], acc);
    }
  }
  void moments(Index j, const double* h, double& first, double& second) const {
    if constexpr (std::is_same_v<T, double>) {
      kernels().moments(column(j), h, n, &first, &second);
    } else {
      const T* xj = column(j);
      first = second = 0.0;
      for (Index i = 0; i < n; ++i) {
        first += h[i] * xj[i];
        second += h[i] * xj[i] * xj[i];
      }
    }
  }
  // Sum of h (x - mean)^2.
  double spread(Index j, const double* h, double mean, double) const {
    const T* xj = column(j);
    double sum = 0.0;
    for (Index i = 0; i < n; ++i) sum += h[i] * (xj[i] - mean) * (xj[i] - mean);
    return sum;
  }
  // Columns under weights h, and a residual that is carried along when one of them is taken off: r - c h x.
  struct Weighted {
    const Dense& x;
    const Columns& columns;
    const double* h;
    Vector residual;

    Weighted(const Dense& x, const Columns& columns, const Vector& h, const Vector& start)
        : x(x), columns(columns), h(h.data()), residual(start) {}
    void moments(int c, double& first, double& second) const { x.moments(columns[c], h, first, second); }
    double dot(int c) const { return x.dot(columns[c], residual.data()); }
    void take_off(int c, double amount) { x.axpy_weighted(columns[c], -amount, h, residual.data()); }
  };
  void axpy_weighted(Index j, double c, const double* h, double* out) const {
    if constexpr (std::is_same_v<T, double>) {
      kernels().axpy_weighted(c, column(j), h, out, n);
    } else {
      const T* xj = column(j);
      for (Index i = 0; i < n; ++i) out[i] += c * h[i] * xj[i];
    }
  }
  // out = X_C' diag(h) X_C v
  void curved_product(const Columns& columns, const double* h, const double* v, Vector& out) const {
    Vector along(n, 0.0);
    combine(columns, v, along.data());
    for (Index i = 0; i < n; ++i) along[i] *= h[i];
    out.resize(columns.size());
    dots(columns, along.data(), out.data());
  }
  // Rows without curvature (common at small temperature) are left out of the product.
  void add_gram(const Columns& columns, int first, const double* h, const double* mean, double* gram,
                int stride) const {
    const int count = static_cast<int>(columns.size());
    // A panel that stays in the second-level cache, but with runs long enough to stream.
    const Index rows = std::min(n, std::clamp<Index>(131072 / count, 192, 2048));
    std::vector<Index> picked(rows);
    Vector root(rows), panel(static_cast<std::size_t>(rows) * count);
    Index i = 0;
    while (i < n) {
      int taken = 0;
      for (; i < n && taken < rows; ++i)
        if (h[i] > 0.0) {
          picked[taken] = i;
          root[taken++] = std::sqrt(h[i]);
        }
      if (taken == 0) break;
      const bool contiguous = picked[taken - 1] - picked[0] == taken - 1;
      for (int c = 0; c < count; ++c) {
        const T* xj = column(columns[c]);
        double* out = panel.data() + static_cast<std::size_t>(c) * taken;
        if (contiguous) {
          xj += picked[0];
          if constexpr (std::is_same_v<T, double>) kernels().multiply(root.data(), xj, mean[c], out, taken);
          else for (int r = 0; r < taken; ++r) out[r] = root[r] * (xj[r] - mean[c]);
        } else {
          for (int r = 0; r < taken; ++r) out[r] = root[r] * (xj[picked[r]] - mean[c]);
        }
      }
      accumulate_panel(panel.data(), taken, count, first, gram, stride);
    }
  }
};

template <class T, class I>
struct Sparse {
  static constexpr bool is_kernel = false;
  static constexpr bool is_sparse = true;
  const T* data;
  const I* indices;
  const I* starts;
  Index n, p;

  Sparse(const T* data, const I* indices, const I* starts, Index n, Index p)
      : data(data), indices(indices), starts(starts), n(n), p(p) {}

  double entries(const Columns& columns) const {
    double sum = 0.0;
    for (int j : columns) sum += static_cast<double>(starts[j + 1] - starts[j]);
    return sum;
  }
  double dot(Index j, const double* v) const {
    double even = 0.0, odd = 0.0;
    I k = starts[j];
    const I end = starts[j + 1];
    for (; k + 2 <= end; k += 2) {
      even += static_cast<double>(data[k]) * v[indices[k]];
      odd += static_cast<double>(data[k + 1]) * v[indices[k + 1]];
    }
    if (k < end) even += static_cast<double>(data[k]) * v[indices[k]];
    return even + odd;
  }
  void axpy(Index j, double c, double* v) const {
    for (I k = starts[j]; k < starts[j + 1]; ++k) v[indices[k]] += c * static_cast<double>(data[k]);
  }
  void dots(const Columns& columns, const double* v, double* out) const {
    for (std::size_t c = 0; c < columns.size(); ++c) out[c] = dot(columns[c], v);
  }
  void all_dots(const double* v, double* out) const {
    for (Index j = 0; j < p; ++j) out[j] = dot(j, v);
  }
  void combine(const Columns& columns, const double* coefficients, double* acc) const {
    for (std::size_t c = 0; c < columns.size(); ++c) axpy(columns[c], coefficients[c], acc);
  }
  void moments(Index j, const double* h, double& first, double& second) const {
    first = second = 0.0;
    for (I k = starts[j]; k < starts[j + 1]; ++k) {
      const double x = data[k], hx = h[indices[k]] * x;
      first += hx;
      second += hx * x;
    }
  }
  double spread(Index j, const double* h, double mean, double total) const {
    double sum = 0.0, stored = 0.0;
    for (I k = starts[j]; k < starts[j + 1]; ++k) {
      const double x = data[k] - mean;
      sum += h[indices[k]] * x * x;
      stored += h[indices[k]];
    }
    return starts[j + 1] - starts[j] == n ? sum : sum + (total - stored) * mean * mean;
  }
  // The same with columns and residual scaled by the weights' roots, so that weights need not be looked up. Samples
  // without weight never change: what they add to a product is kept.
  struct Weighted {
    Vector residual, value, constant, first, second;
    std::vector<I> index;
    std::vector<std::size_t> starts{0};

    Weighted(const Sparse& x, const Columns& columns, const Vector& h, const Vector& start)
        : residual(x.n), constant(columns.size(), 0.0), first(columns.size(), 0.0), second(columns.size(), 0.0) {
      Vector root(x.n);
      for (Index i = 0; i < x.n; ++i) {
        root[i] = std::sqrt(h[i]);
        residual[i] = h[i] > 0.0 ? start[i] / root[i] : 0.0;
      }
      const auto size = static_cast<std::size_t>(x.entries(columns));
      value.resize(size);
      index.resize(size);
      std::size_t t = 0;
      for (std::size_t c = 0; c < columns.size(); ++c) {
        for (I k = x.starts[columns[c]]; k < x.starts[columns[c] + 1]; ++k, ++t) {
          const I i = x.indices[k];
          index[t] = i;
          value[t] = root[i] * x.data[k];
          first[c] += root[i] * value[t];
          second[c] += value[t] * value[t];
          if (root[i] == 0.0) constant[c] += start[i] * x.data[k];
        }
        starts.push_back(t);
      }
    }
    void moments(int c, double& a, double& b) const {
      a = first[c];
      b = second[c];
    }
    double dot(int c) const {
      double sum = constant[c];
      for (std::size_t t = starts[c]; t < starts[c + 1]; ++t) sum += value[t] * residual[index[t]];
      return sum;
    }
    void take_off(int c, double amount) {
      for (std::size_t t = starts[c]; t < starts[c + 1]; ++t) residual[index[t]] -= amount * value[t];
    }
  };
  void axpy_weighted(Index j, double c, const double* h, double* out) const {
    for (I k = starts[j]; k < starts[j + 1]; ++k) out[indices[k]] += c * h[indices[k]] * static_cast<double>(data[k]);
  }
  void curved_product(const Columns& columns, const double* h, const double* v, Vector& out) const {
    if (rows_.columns != columns) turn_into_rows(columns);
    out.assign(columns.size(), 0.0);
    for (Index i = 0; i < n; ++i) {
      if (!(h[i] > 0.0)) continue;
      const Index begin = rows_.starts[i], end = rows_.starts[i + 1];
      double along = 0.0;
      for (Index t = begin; t < end; ++t) along += rows_.value[t] * v[rows_.position[t]];
      along *= h[i];
      for (Index t = begin; t < end; ++t) out[rows_.position[t]] += along * rows_.value[t];
    }
  }
  // Row by row: the chosen columns are turned into rows, and each row with curvature adds an outer product. A few
  // columns that came after the others were turned are taken as they are.
  void add_gram(const Columns& columns, int first, const double* h, const double*, double* gram, int stride) const {
    constexpr std::size_t few = 12;
    const std::size_t turned = rows_.columns.size();
    const bool extends = turned > 0 && columns.size() >= turned && columns.size() - turned <= few &&
                         std::equal(rows_.columns.begin(), rows_.columns.end(), columns.begin());
    if (!extends) turn_into_rows(columns);
    for (Index i = 0; i < n; ++i) {
      if (!(h[i] > 0.0)) continue;
      const Index begin = rows_.starts[i];
      for (Index t = rows_.starts[i + 1] - 1; t >= begin && rows_.position[t] >= first; --t) {
        double* target = gram + static_cast<std::size_t>(rows_.position[t]) * stride;
        const double scaled = h[i] * rows_.value[t];
        for (Index s = begin; s <= t; ++s) target[rows_.position[s]] += scaled * rows_.value[s];
      }
    }
    const int count = static_cast<int>(columns.size());
    Vector spread;
    for (int c = std::max(first, static_cast<int>(rows_.columns.size())); c < count; ++c) {
      spread.assign(n, 0.0);
      axpy_weighted(columns[c], 1.0, h, spread.data());
      double* target = gram + static_cast<std::size_t>(c) * stride;
      for (int r = 0; r <= c; ++r) target[r] += dot(columns[r], spread.data());
    }
  }

  struct Rows {
    Columns columns, position;
    std::vector<Index> starts;
    std::vector<T> value;
  };
  const Rows& rows() const {
    const Columns all = every_index(p);
    if (rows_.columns != all) turn_into_rows(all);
    return rows_;
  }

 private:
  mutable Rows rows_;  // of the columns whose Gram matrix was asked for last

  void turn_into_rows(const Columns& columns) const {
    std::vector<Index> next(n + 1, 0);
    for (int j : columns)
      for (I k = starts[j]; k < starts[j + 1]; ++k) ++next[indices[k] + 1];
    for (Index i = 0; i < n; ++i) next[i + 1] += next[i];
    rows_.starts = next;
    rows_.position.resize(next[n]);
    rows_.value.resize(next[n]);
    for (std::size_t c = 0; c < columns.size(); ++c)
      for (I k = starts[columns[c]]; k < starts[columns[c] + 1]; ++k) {
        const Index slot = next[indices[k]]++;
        rows_.position[slot] = static_cast<int>(c);
        rows_.value[slot] = data[k];
      }
    rows_.columns = columns;
  }
};

// Columns of a kernel matrix, between the samples and themselves or m landmarks; `penalty` is the m x m
// kernel matrix of the quadratic penalty (the same matrix when every sample is a landmark).
template <class T>
struct Kernel : Dense<T> {
  static constexpr bool is_kernel = true;
  const T* penalty;
  bool square() const { return penalty == this->x; }
  const T* penalty_column(Index j) const { return penalty + j * this->p; }
};

}  // namespace clearning
