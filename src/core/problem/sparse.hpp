// A sparse matrix by columns (CSC), each entry once, rows in any order.
#pragma once
#include <algorithm>
#include <cmath>
#include <vector>

#include "linalg/types.hpp"
#include "tuning.hpp"

namespace clearning {

template <class T, class I>
struct Sparse {
  // The columns whose rows were asked for last, row by row.
  struct Workspace {
    Columns columns, position;
    std::vector<Index> starts;
    std::vector<T> value;
  };
  const T* data;
  const I* indices;
  const I* starts;
  Index n, p;
  std::vector<Index> far;  // full columns whose mean is large beside their deviation

  Sparse(const T* data, const I* indices, const I* starts, Index n, Index p)
      : data(data), indices(indices), starts(starts), n(n), p(p) {
    for (Index j = 0; j < p; ++j)
      if (is_full(j) && has_far_mean(j)) far.push_back(j);
  }

  double entries(const Columns& columns) const {
    double sum = 0.0;
    for (int j : columns) sum += static_cast<double>(starts[j + 1] - starts[j]);
    return sum;
  }
  // Of a row with curvature only the pairs of its entries count.
  double gram_cost(double k, double entries, double curved_share) const {
    return entries * curved_share * (1.0 + entries / n) + tuning::gram_upkeep * k * k;
  }
  double pass_cost(double entries) const { return tuning::sparse_pass * entries + tuning::sample_cost * n; }
  double sweep_cost(double entries) const { return tuning::sparse_pass * entries; }
  // As many as hold two entries a sample.
  int first_columns() const {
    const double entries_a_column = std::max(static_cast<double>(starts[p]), 1.0) / p;
    const double covering = std::min(tuning::first_entries_per_sample * n / entries_a_column, static_cast<double>(p));
    return static_cast<int>(std::max<double>(tuning::first_columns, covering));
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
    return is_full(j) ? sum : sum + (total - stored) * mean * mean;
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
  void curved_product(const Columns& columns, const double* h, const double* v, Vector& out, Workspace& space) const {
    if (space.columns != columns) turn_into_rows(columns, space);
    out.assign(columns.size(), 0.0);
    for (Index i = 0; i < n; ++i) {
      if (!(h[i] > 0.0)) continue;
      const Index begin = space.starts[i], end = space.starts[i + 1];
      double along = 0.0;
      for (Index t = begin; t < end; ++t) along += space.value[t] * v[space.position[t]];
      along *= h[i];
      for (Index t = begin; t < end; ++t) out[space.position[t]] += along * space.value[t];
    }
  }
  // Row by row: the chosen columns are turned into rows, and each row with curvature adds an outer product. A few
  // columns that came after the others were turned are taken as they are.
  void centred_gram(const Columns& columns, int first, const double* h, double total, const double* mean, double* gram,
                    int stride, Workspace& space) const {
    const std::size_t turned = space.columns.size();
    const bool extends = turned > 0 && columns.size() >= turned &&
                         columns.size() - turned <= tuning::unturned_columns &&
                         std::equal(space.columns.begin(), space.columns.end(), columns.begin());
    if (!extends) turn_into_rows(columns, space);
    for (Index i = 0; i < n; ++i) {
      if (!(h[i] > 0.0)) continue;
      const Index begin = space.starts[i];
      for (Index t = space.starts[i + 1] - 1; t >= begin && space.position[t] >= first; --t) {
        double* target = gram + static_cast<std::size_t>(space.position[t]) * stride;
        const double scaled = h[i] * space.value[t];
        for (Index s = begin; s <= t; ++s) target[space.position[s]] += scaled * space.value[s];
      }
    }
    const int count = static_cast<int>(columns.size());
    Vector spread;
    for (int c = std::max(first, static_cast<int>(space.columns.size())); c < count; ++c) {
      spread.assign(n, 0.0);
      axpy_weighted(columns[c], 1.0, h, spread.data());
      double* target = gram + static_cast<std::size_t>(c) * stride;
      for (int r = 0; r <= c; ++r) target[r] += dot(columns[r], spread.data());
    }
    // Zeros must stay zeros, so the means come off afterwards; but for columns without any.
    for (int c = first; c < count; ++c) {
      double* target = gram + static_cast<std::size_t>(c) * stride;
      for (int r = 0; r <= c; ++r) target[r] -= total * mean[r] * mean[c];
      if (is_far(columns[c])) correlate_far(columns, c, h, mean, target);
    }
  }
  double rounded_square(Index j, double square) const {
    return (is_far(j) ? tuning::constant_share_dense : tuning::constant_share_sparse) * square;
  }

  const Workspace& rows(Workspace& space) const {
    const Columns all = every_index(p);
    if (space.columns != all) turn_into_rows(all, space);
    return space;
  }

 private:
  bool is_full(Index j) const { return static_cast<Index>(starts[j + 1] - starts[j]) == n; }
  bool has_far_mean(Index j) const {
    double mean = 0.0, square = 0.0;
    for (I k = starts[j]; k < starts[j + 1]; ++k) mean += data[k] / static_cast<double>(n);
    for (I k = starts[j]; k < starts[j + 1]; ++k) square += (data[k] - mean) * (data[k] - mean);
    return n * mean * mean > tuning::far_mean * square;
  }
  bool is_far(Index j) const { return std::binary_search(far.begin(), far.end(), j); }
  // target[:c + 1] of centred_gram; the column at c has no zeros, so its mean can come off first.
  void correlate_far(const Columns& columns, int c, const double* h, const double* mean, double* target) const {
    Vector spread(n);
    double sum = 0.0;
    for (I k = starts[columns[c]]; k < starts[columns[c] + 1]; ++k)
      sum += spread[indices[k]] = h[indices[k]] * (data[k] - mean[c]);
    for (int r = 0; r <= c; ++r) target[r] = dot(columns[r], spread.data()) - mean[r] * sum;
  }

  void turn_into_rows(const Columns& columns, Workspace& space) const {
    std::vector<Index> next(n + 1, 0);
    for (int j : columns)
      for (I k = starts[j]; k < starts[j + 1]; ++k) ++next[indices[k] + 1];
    for (Index i = 0; i < n; ++i) next[i + 1] += next[i];
    space.starts = next;
    space.position.resize(next[n]);
    space.value.resize(next[n]);
    for (std::size_t c = 0; c < columns.size(); ++c)
      for (I k = starts[columns[c]]; k < starts[columns[c] + 1]; ++k) {
        const Index slot = next[indices[k]]++;
        space.position[slot] = static_cast<int>(c);
        space.value[slot] = data[k];
      }
    space.columns = columns;
  }
};

}  // namespace clearning
