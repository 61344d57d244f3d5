// A dense matrix by columns, in either precision.
#pragma once
#include <algorithm>
#include <cmath>
#include <numeric>
#include <type_traits>
#include <vector>

#include "linalg/blas.hpp"
#include "linalg/types.hpp"
#include "linalg/vector_loops.hpp"
#include "tuning.hpp"

namespace clearning {

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

template <class T>
struct Dense {
  // A panel of weighted rows, with their places and roots of the weights: kept, so that it is not cleared each time.
  struct Workspace {
    std::vector<Index> picked;
    Vector root, panel;
  };
  const T* x;
  Index n, p;

  const T* column(Index j) const { return x + j * n; }
  std::vector<const T*> starts_of(const Columns& columns) const {
    std::vector<const T*> starts(columns.size());
    for (std::size_t c = 0; c < columns.size(); ++c) starts[c] = column(columns[c]);
    return starts;
  }
  double entries(const Columns& columns) const { return static_cast<double>(columns.size()) * n; }
  double gram_cost(double k, double entries, double curved_share) const {
    return entries * curved_share * k / tuning::blas_gain;
  }
  double pass_cost(double entries) const { return tuning::dense_pass * entries + tuning::sample_cost * n; }
  double sweep_cost(double entries) const { return tuning::dense_sweep * entries; }
  int first_columns() const { return tuning::first_columns; }

  double dot(Index j, const double* v) const {
    if constexpr (std::is_same_v<T, double>) return loops().dot(column(j), v, n);
    else return loops().dot_float(column(j), v, n);
  }
  void axpy(Index j, double c, double* v) const {
    if constexpr (std::is_same_v<T, double>) loops().axpy(c, column(j), v, n);
    else loops().axpy_float(c, column(j), v, n);
  }
  void dots(const Columns& columns, const double* v, double* out) const {
    if constexpr (std::is_same_v<T, double>) {
      loops().dots(starts_of(columns).data(), columns.size(), v, n, out);
    } else {
      for (std::size_t c = 0; c < columns.size(); ++c) out[c] = dot(columns[c], v);
    }
  }
  void all_dots(const double* v, double* out) const { dots(every_index(p), v, out); }
  void combine(const Columns& columns, const double* coefficients, double* acc) const {
    if constexpr (std::is_same_v<T, double>) {
      loops().combine(starts_of(columns).data(), columns.size(), coefficients, n, acc);
    } else {
      for (std::size_t c = 0; c < columns.size(); ++c) axpy(columns[c], coefficients[c], acc);
    }
  }
  void moments(Index j, const double* h, double& first, double& second) const {
    if constexpr (std::is_same_v<T, double>) {
      loops().moments(column(j), h, n, &first, &second);
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
      loops().axpy_weighted(c, column(j), h, out, n);
    } else {
      const T* xj = column(j);
      for (Index i = 0; i < n; ++i) out[i] += c * h[i] * xj[i];
    }
  }
  // out = X_C' diag(h) X_C v
  void curved_product(const Columns& columns, const double* h, const double* v, Vector& out, Workspace&) const {
    Vector along(n, 0.0);
    combine(columns, v, along.data());
    for (Index i = 0; i < n; ++i) along[i] *= h[i];
    out.resize(columns.size());
    dots(columns, along.data(), out.data());
  }
  // Rows without curvature (common at small temperature) are left out of the product.
  double rounded_square(Index, double square) const { return tuning::constant_share_dense * square; }
  void centred_gram(const Columns& columns, int first, const double* h, double total, const double* mean, double* gram,
                    int stride, Workspace& space) const {
    if constexpr (std::is_same_v<T, double>)
      if (thin_gram(columns, first, h, total, mean, gram, stride, space)) return;
    const int count = static_cast<int>(columns.size());
    const Index rows = std::min(n, tuning::panel_rows(count));
    auto& [picked, root, panel] = space;
    picked.resize(rows);
    root.resize(rows);
    panel.resize(static_cast<std::size_t>(rows) * count);
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
          if constexpr (std::is_same_v<T, double>) loops().multiply(root.data(), xj, mean[c], out, taken);
          else
            for (int r = 0; r < taken; ++r) out[r] = root[r] * (xj[r] - mean[c]);
        } else {
          for (int r = 0; r < taken; ++r) out[r] = root[r] * (xj[picked[r]] - mean[c]);
        }
      }
      accumulate_panel(panel.data(), taken, count, first, gram, stride);
    }
  }

 private:
  // The same where few columns are new. Only these are weighted and centred; the others are read as they are, once for
  // four of them, unless one would lose its digits by that. Returns whether it was done.
  bool thin_gram(const Columns& columns, int first, const double* h, double total, const double* mean, double* gram,
                 int stride, Workspace& space) const {
    const int count = static_cast<int>(columns.size()), fresh = count - first;
    if (first < fresh || fresh > tuning::few_columns) return false;
    Vector squares(count);
    for (int c = 0; c < count; ++c) {
      squares[c] = c < first ? gram[static_cast<std::size_t>(c) * (stride + 1)] : spread(columns[c], h, mean[c], total);
      if (total * mean[c] * mean[c] > tuning::far_from_zero * squares[c]) return false;
    }
    space.panel.resize(static_cast<std::size_t>(fresh * n));
    std::vector<const double*> weighted(fresh);
    for (int c = first; c < count; ++c) {
      double *out = space.panel.data() + (c - first) * n, *target = gram + static_cast<std::size_t>(c) * stride;
      loops().multiply(h, column(columns[c]), mean[c], out, n);
      weighted[c - first] = out;
      const double sum = std::accumulate(out, out + n, 0.0);  // nothing but rounding
      for (int r = 0; r < count; ++r) target[r] = -mean[r] * sum;
    }
    loops().cross(starts_of(columns).data(), columns.size(), weighted.data(), weighted.size(), n,
                  gram + static_cast<std::size_t>(first) * stride, stride);
    for (int c = first; c < count; ++c) gram[static_cast<std::size_t>(c) * (stride + 1)] = squares[c];
    return true;
  }
};

}  // namespace clearning
