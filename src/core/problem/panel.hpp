// Some columns of a design, for products with a matrix that has a column a class.
// Coefficients and correlations are stored column by column, m numbers each; matrices of samples class by class.
#pragma once
#include <algorithm>
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
// the curvature between all pairs and those from `first` on, added to zeros.
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

}  // namespace detail

// A copy in double precision, unless it is the whole of a design that has it.
template <class T>
class Panel<Dense<T>> {
 public:
  explicit Panel(const Dense<T>& x) : x_(x) {}

  void clear() {
    count_ = 0;
    copy_.clear();
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

  // With F = sqrt(weight) s_k x and G_k = sqrt(weight s_k) x it is the G_k' G_k of each class less F' F.
  void joint_gram(const Pairs& pairs, int first, const ClassCurvature& at, double* gram, int stride) const {
    const int count = static_cast<int>(pairs.size());
    const Index n = x_.n, most = std::min(n, tuning::panel_rows(count));
    Vector rows(static_cast<std::size_t>(most) * count);
    for (Index begin = 0; begin < n; begin += most) {
      const Index taken = std::min(most, n - begin);
      fill_rows(pairs, begin, taken, at, rows.data(), [](double weight, double s) { return std::sqrt(weight) * s; });
      add_products(rows.data(), static_cast<int>(taken), count, first, -1.0, gram, stride);
    }
    const int m = *std::max_element(pairs.klass.begin(), pairs.klass.end()) + 1;
    for (int k = 0; k < m; ++k) add_class(pairs, k, first, at, gram, stride);
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
  template <class Root>
  void fill_rows(const Pairs& pairs, Index begin, Index taken, const ClassCurvature& at, double* out,
                 Root&& root) const {
    const Index n = x_.n;
    Vector factor(taken);
    int filled = -1;
    for (std::size_t t = 0; t < pairs.size(); ++t) {
      const int k = pairs.klass[t];
      if (k != filled)
        for (Index i = 0; i < taken; ++i) factor[i] = root(at.weight[begin + i], at.s[k * n + begin + i]);
      filled = k;
      const double* column = start() + pairs.place[t] * n + begin;
      loops().multiply(factor.data(), column, 0.0, out + static_cast<Index>(t) * taken, taken);
    }
  }
  // gram[:, first:] += sign * rows' rows[:, first:]
  static void add_products(double* rows, int taken, int count, int first, double sign, double* gram, int stride) {
    double one = 1.0;
    char upper = 'U', transposed = 'T', plain = 'N';
    if (first == 0) {
      blas::dsyrk(&upper, &transposed, &count, &taken, &sign, rows, &taken, &one, gram, &stride);
      return;
    }
    int fresh = count - first;
    double* right = rows + static_cast<Index>(first) * taken;
    double* target = gram + static_cast<Index>(first) * stride;
    blas::dgemm(&transposed, &plain, &count, &fresh, &taken, &sign, rows, &taken, right, &taken, &one, target, &stride);
  }
  void add_class(const Pairs& pairs, int k, int first, const ClassCurvature& at, double* gram, int stride) const {
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
    if (count == own_first) return;
    const Index n = x_.n, most = std::min(n, tuning::panel_rows(count));
    Vector rows(static_cast<std::size_t>(most) * count), block(static_cast<std::size_t>(count) * count, 0.0);
    for (Index begin = 0; begin < n; begin += most) {
      const Index taken = std::min(most, n - begin);
      fill_rows(own, begin, taken, at, rows.data(), [](double weight, double s) { return std::sqrt(weight * s); });
      add_products(rows.data(), static_cast<int>(taken), count, own_first, 1.0, block.data(), count);
    }
    for (int j = own_first; j < count; ++j)
      for (int i = 0; i <= j; ++i)
        gram[static_cast<Index>(where[j]) * stride + where[i]] += block[static_cast<Index>(j) * count + i];
  }
  void append(const T* column, Index n) { copy_.insert(copy_.end(), column, column + n); }

  const Dense<T>& x_;
  Index count_ = 0;
  bool in_place_ = std::is_same_v<T, double>;  // the columns are the design's first ones
  Vector copy_;
};

// Columns stay where they are. Matrices of samples are turned, so that an entry meets all classes at once.
template <class T, class I>
class Panel<Sparse<T, I>> {
 public:
  using Design = Sparse<T, I>;
  explicit Panel(const Design& x) : x_(x) {}

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
  void joint_gram(const Pairs& pairs, int first, const ClassCurvature& at, double* gram, int stride) const {
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
