// Some columns of a design, for products with a matrix that has a column a class.
// Coefficients and correlations are stored column by column, m numbers each; matrices of samples class by class.
#pragma once
#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "problem/dense.hpp"
#include "problem/sparse.hpp"

namespace clearning {

// Coefficients in some order: each one's column, by its place in a panel, and its class.
struct Pairs {
  Columns place, klass;
  std::size_t size() const { return place.size(); }
};

// Curvature of all classes together: weight_i (diag s_i - s_i s_i') for sample i, s class by class.
struct ClassCurvature {
  const Vector& s;
  const Vector& weight;
};

// Panel<D>: add(columns), take(other, places) some columns of another, clear(), combine(b, m, acc): acc += X_C b,
// dots(r, m, out): out = X_C' r, and joint_gram(pairs, first, curvature, gram, stride): the part above the diagonal of
// the curvature between all pairs and those from `first` on, which are zero before; cross(pairs, first, curvature, m,
// out): m numbers for each of these, the curvature between it and the intercepts. Both are of columns less their
// centres, which intercepts make up for: means, if the panel is told to take them off and can.
template <class D>
class Panel;

namespace detail {

// acc (n x m) += x (n x count) b'
inline void multiply_add(const double* x, Index n, Index count, const double* b, int m, double* acc) {
  if (m < tuning::classes_for_blas) return loops().combine_many(x, count, b, m, n, acc);
  int rows = static_cast<int>(n), columns = m, inner = static_cast<int>(count);
  double one = 1.0;
  char plain = 'N', transposed = 'T';
  blas::dgemm(&plain, &transposed, &rows, &columns, &inner, &one, const_cast<double*>(x), &rows, const_cast<double*>(b),
              &columns, &one, acc, &rows);
}

// out (m x count) = r' x
inline void correlate_block(const double* x, Index n, Index count, const double* r, int m, double* out) {
  if (m < tuning::classes_for_blas) return loops().dots_many(x, count, r, m, n, out);
  int rows = m, columns = static_cast<int>(count), inner = static_cast<int>(n);
  double one = 1.0, zero = 0.0;
  char plain = 'N', transposed = 'T';
  blas::dgemm(&transposed, &plain, &rows, &columns, &inner, &one, const_cast<double*>(r), &inner,
              const_cast<double*>(x), &inner, &zero, out, &rows);
}

// Curvature between a coefficient and all intercepts sums to zero: what its own class's must be.
inline void balance_classes(const Columns& klass, int m, double* cross) {
  for (std::size_t t = 0; t < klass.size(); ++t, cross += m) {
    cross[klass[t]] = 0.0;
    cross[klass[t]] = -std::accumulate(cross, cross + m, 0.0);
  }
}

}  // namespace detail

// A copy in double precision, unless it is the whole of a design that has it.
template <class T>
class Panel<Dense<T>> {
 public:
  explicit Panel(const Dense<T>& x, bool centred = false) : x_(x), centred_(centred) {}

  void clear() {
    count_ = 0;
    copy_.clear();
    centres_.clear();
    in_place_ = std::is_same_v<T, double>;
  }
  void add(const Columns& columns) {
    const Index n = x_.n;
    const bool follows = [&] {
      for (std::size_t c = 0; c < columns.size(); ++c)
        if (columns[c] != static_cast<int>(count_ + c)) return false;
      return in_place_;
    }();
    if (!follows && in_place_) {
      for (Index c = 0; c < count_; ++c) append(x_.column(c), n);
      in_place_ = false;
    }
    if (!follows)
      for (int j : columns) append(x_.column(j), n);
    for (int j : columns)
      centres_.push_back(centred_ ? std::accumulate(x_.column(j), x_.column(j) + n, 0.0) / static_cast<double>(n)
                                  : 0.0);
    count_ += static_cast<Index>(columns.size());
  }
  void take(const Panel& other, const Columns& places) {
    count_ = static_cast<Index>(places.size());
    in_place_ = false;
    copy_.resize(static_cast<std::size_t>(count_ * x_.n));
    for (std::size_t c = 0; c < places.size(); ++c)
      std::copy_n(other.start() + places[c] * x_.n, x_.n, copy_.begin() + static_cast<std::ptrdiff_t>(c) * x_.n);
  }
  void combine(const double* b, int m, double* acc) const {
    if (count_ > 0) detail::multiply_add(start(), x_.n, count_, b, m, acc);
  }
  void dots(const double* r, int m, double* out) const {
    if (count_ > 0) detail::correlate_block(start(), x_.n, count_, r, m, out);
  }

  double centre(int place) const { return centres_[place]; }

  // With F = sqrt(weight) s_k x it is -F' F between classes, and within one G' G with G = sqrt(weight s_k (1 - s_k)) x.
  // Large ones are made in single precision: they guide steps, which need no more, unless they say so.
  void joint_gram(const Pairs& pairs, int first, const ClassCurvature& at, double* gram, int stride,
                  bool in_double = false) const {
    const double count = static_cast<double>(pairs.size());
    if (in_double || static_cast<double>(x_.n) * count * (count - first) < tuning::products_in_double ||
        !fill_gram<float>(pairs, first, at, gram, stride))
      fill_gram<double>(pairs, first, at, gram, stride);
  }

  void cross(const Pairs& pairs, int first, const ClassCurvature& at, int m, double* out) const {
    int count = static_cast<int>(pairs.size()) - first;
    const Index n = x_.n, most = std::min(n, tuning::panel_rows(count));
    const Pairs fresh{{pairs.place.begin() + first, pairs.place.end()},
                      {pairs.klass.begin() + first, pairs.klass.end()}};
    Vector rows(static_cast<std::size_t>(most) * count);
    std::fill_n(out, static_cast<std::ptrdiff_t>(count) * m, 0.0);
    double minus = -1.0, one = 1.0;
    char transposed = 'T', plain = 'N';
    int stride = static_cast<int>(n);
    for (Index begin = 0; begin < n; begin += most) {
      int taken = static_cast<int>(std::min(most, n - begin));
      fill_rows(fresh, begin, taken, at, rows.data(), [](double weight, double s) { return weight * s; });
      blas::dgemm(&transposed, &plain, &m, &count, &taken, &minus, const_cast<double*>(at.s.data() + begin), &stride,
                  rows.data(), &taken, &one, out, &m);
    }
    detail::balance_classes(fresh.klass, m, out);
  }

  // out = X' r, for all columns.
  static void all_dots(const Dense<T>& x, const double* r, int m, double* out) {
    if constexpr (std::is_same_v<T, double>) {
      detail::correlate_block(x.x, x.n, x.p, r, m, out);
    } else {
      const Index width = std::max<Index>(1, tuning::converted_entries / x.n);
      Vector block;
      for (Index first = 0; first < x.p; first += width) {
        const Index count = std::min(width, x.p - first);
        block.assign(x.column(first), x.column(first) + count * x.n);
        detail::correlate_block(block.data(), x.n, count, r, m, out + first * m);
      }
    }
  }

 private:
  const double* start() const {
    if constexpr (std::is_same_v<T, double>)
      if (in_place_) return x_.x;
    return copy_.data();
  }
  // Sets the columns from `first` on; returns whether the precision was enough.
  template <class R>
  bool fill_gram(const Pairs& pairs, int first, const ClassCurvature& at, double* gram, int stride) const {
    const int count = static_cast<int>(pairs.size());
    const std::vector<R> between =
        products<R>(pairs, first, at, [](double weight, double s) { return std::sqrt(weight) * s; });
    for (int j = first; j < count; ++j)
      for (int i = 0; i <= j; ++i)
        gram[static_cast<Index>(j) * stride + i] = -static_cast<double>(between[static_cast<Index>(j) * count + i]);
    bool enough = true;
    const int m = *std::max_element(pairs.klass.begin(), pairs.klass.end()) + 1;
    for (int k = 0; k < m; ++k) enough = fill_class<R>(pairs, k, first, at, gram, stride) && enough;
    return enough;
  }
  template <class R>
  bool fill_class(const Pairs& pairs, int k, int first, const ClassCurvature& at, double* gram, int stride) const {
    Pairs own;
    Columns where;
    int own_first = 0;
    for (std::size_t t = 0; t < pairs.size(); ++t) {
      if (pairs.klass[t] != k) continue;
      own_first += static_cast<int>(t) < first;
      own.place.push_back(pairs.place[t]);
      own.klass.push_back(k);
      where.push_back(static_cast<int>(t));
    }
    const int count = static_cast<int>(own.size());
    if (count == own_first) return true;
    const std::vector<R> within =
        products<R>(own, own_first, at, [](double weight, double s) { return std::sqrt(weight * s * (1.0 - s)); });
    bool enough = true;
    for (int j = own_first; j < count; ++j) {
      for (int i = 0; i <= j; ++i)
        gram[static_cast<Index>(where[j]) * stride + where[i]] = within[static_cast<Index>(j) * count + i];
      const double own_bend = within[static_cast<Index>(j) * count + j];
      enough = enough && own_bend > tuning::least_single && own_bend < tuning::largest_single;
    }
    return enough;
  }
  // The part above the diagonal of rows' rows from column `first` on, rows being root(weight, s_k) x.
  template <class R, class Root>
  std::vector<R> products(const Pairs& pairs, int first, const ClassCurvature& at, Root&& root) const {
    const int count = static_cast<int>(pairs.size());
    const Index n = x_.n, most = std::min(n, tuning::panel_rows(count));
    std::vector<R> rows(static_cast<std::size_t>(most) * count), sums(static_cast<std::size_t>(count) * count);
    for (Index begin = 0; begin < n; begin += most) {
      const Index taken = std::min(most, n - begin);
      fill_rows(pairs, begin, taken, at, rows.data(), root);
      add_products(rows.data(), static_cast<int>(taken), count, first, sums.data());
    }
    return sums;
  }
  template <class R, class Root>
  void fill_rows(const Pairs& pairs, Index begin, Index taken, const ClassCurvature& at, R* out, Root&& root) const {
    const Index n = x_.n;
    std::vector<std::vector<R>> factor(*std::max_element(pairs.klass.begin(), pairs.klass.end()) + 1);
    for (std::size_t t = 0; t < pairs.size(); ++t) {
      const int k = pairs.klass[t];
      if (factor[k].empty())
        for (Index i = begin; i < begin + taken; ++i)
          factor[k].push_back(static_cast<R>(root(at.weight[i], at.s[k * n + i])));
      const double* column = start() + pairs.place[t] * n + begin;
      const double centre = centres_[pairs.place[t]];
      R* row = out + static_cast<Index>(t) * taken;
      for (Index i = 0; i < taken; ++i) row[i] = factor[k][i] * static_cast<R>(column[i] - centre);
    }
  }
  // sums[:, first:] += rows' rows[:, first:]
  template <class R>
  static void add_products(R* rows, int taken, int count, int first, R* sums) {
    R one = 1;
    char upper = 'U', transposed = 'T', plain = 'N';
    if (first == 0) return blas::syrk(&upper, &transposed, &count, &taken, &one, rows, &taken, &one, sums, &count);
    int fresh = count - first;
    R* right = rows + static_cast<Index>(first) * taken;
    R* target = sums + static_cast<Index>(first) * count;
    blas::gemm(&transposed, &plain, &count, &fresh, &taken, &one, rows, &taken, right, &taken, &one, target, &count);
  }
  void append(const T* column, Index n) { copy_.insert(copy_.end(), column, column + n); }

  const Dense<T>& x_;
  const bool centred_;
  Index count_ = 0;
  bool in_place_ = std::is_same_v<T, double>;  // the columns are the design's first ones
  Vector copy_, centres_;
};

// Columns stay where they are. Matrices of samples are turned, so that an entry meets all classes at once.
template <class T, class I>
class Panel<Sparse<T, I>> {
 public:
  using Design = Sparse<T, I>;
  explicit Panel(const Design& x, bool = false) : x_(x) {}

  // Zeros would be lost.
  double centre(int) const { return 0.0; }

  void clear() { columns_.clear(); }
  void add(const Columns& columns) { columns_.insert(columns_.end(), columns.begin(), columns.end()); }
  void take(const Panel& other, const Columns& places) {
    columns_.clear();
    for (int place : places) columns_.push_back(other.columns_[place]);
  }
  void combine(const double* b, int m, double* acc) {
    turned_.assign(static_cast<std::size_t>(x_.n) * m, 0.0);
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      const double* row = b + c * m;
      if (std::all_of(row, row + m, [](double v) { return v == 0.0; })) continue;
      for (I t = x_.starts[columns_[c]]; t < x_.starts[columns_[c] + 1]; ++t) {
        double* to = turned_.data() + static_cast<std::size_t>(x_.indices[t]) * m;
        const double value = x_.data[t];
        for (int k = 0; k < m; ++k) to[k] += value * row[k];
      }
    }
    for (int k = 0; k < m; ++k)
      for (Index i = 0; i < x_.n; ++i) acc[k * x_.n + i] += turned_[i * m + k];
  }
  void dots(const double* r, int m, double* out) { correlate(x_, columns_, r, m, turned_, out); }

  // Row by row: each adds the products of the coefficients whose columns have an entry in it.
  void joint_gram(const Pairs& pairs, int first, const ClassCurvature& at, double* gram, int stride,
                  bool = false) const {
    std::vector<std::vector<std::pair<int, T>>> rows(x_.n);
    for (std::size_t t = 0; t < pairs.size(); ++t) {
      const int j = columns_[pairs.place[t]];
      for (I e = x_.starts[j]; e < x_.starts[j + 1]; ++e)
        rows[x_.indices[e]].emplace_back(static_cast<int>(t), x_.data[e]);
    }
    for (Index i = 0; i < x_.n; ++i)
      for (const auto& [t, value] : rows[i]) {
        if (t < first) continue;
        const int k = pairs.klass[t];
        const double own = at.weight[i] * at.s[k * x_.n + i] * value;
        double* target = gram + static_cast<Index>(t) * stride;
        for (const auto& [other, factor] : rows[i]) {
          if (other > t) break;
          const int l = pairs.klass[other];
          target[other] += own * factor * ((k == l ? 1.0 : 0.0) - at.s[l * x_.n + i]);
        }
      }
  }

  void cross(const Pairs& pairs, int first, const ClassCurvature& at, int m, double* out) const {
    const Columns klass(pairs.klass.begin() + first, pairs.klass.end());
    std::fill_n(out, static_cast<std::ptrdiff_t>(klass.size()) * m, 0.0);
    for (std::size_t t = 0; t < klass.size(); ++t) {
      const int j = columns_[pairs.place[first + t]];
      double* to = out + static_cast<std::ptrdiff_t>(t) * m;
      for (I e = x_.starts[j]; e < x_.starts[j + 1]; ++e) {
        const Index i = x_.indices[e];
        const double own = at.weight[i] * at.s[klass[t] * x_.n + i] * x_.data[e];
        for (int l = 0; l < m; ++l) to[l] -= own * at.s[l * x_.n + i];
      }
    }
    detail::balance_classes(klass, m, out);
  }

  static void all_dots(const Design& x, const double* r, int m, double* out) {
    Vector turned;
    correlate(x, every_index(x.p), r, m, turned, out);
  }

 private:
  static void correlate(const Design& x, const Columns& columns, const double* r, int m, Vector& turned, double* out) {
    turned.resize(static_cast<std::size_t>(x.n) * m);
    for (Index i = 0; i < x.n; ++i)
      for (int k = 0; k < m; ++k) turned[i * m + k] = r[k * x.n + i];
    for (std::size_t c = 0; c < columns.size(); ++c) {
      double* to = out + c * m;
      std::fill_n(to, m, 0.0);
      for (I t = x.starts[columns[c]]; t < x.starts[columns[c] + 1]; ++t) {
        const double* row = turned.data() + static_cast<std::size_t>(x.indices[t]) * m;
        const double value = x.data[t];
        for (int k = 0; k < m; ++k) to[k] += value * row[k];
      }
    }
  }

  const Design& x_;
  Columns columns_;
  Vector turned_;  // a row a sample
};

}  // namespace clearning
