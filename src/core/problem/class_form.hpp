// What couples the coefficients of a class: level * tr(B'QB) / 2 beside the penalty that each coefficient or group has
// for itself. Either nothing does, or Q is a kernel's matrix. Coefficients are stored column by column, m numbers each;
// what an iterate carries is `form` = QB, for all columns.
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "linalg/blas.hpp"
#include "problem/class_penalty.hpp"
#include "problem/quadratic.hpp"
#include "tuning.hpp"

namespace clearning {

// A form along a step: what it is at a share of the way.
struct FormAlong {
  double start = 0.0, slope = 0.0, bend = 0.0;
  double at(double share) const { return start + share * (slope + 0.5 * share * bend); }
};

struct Uncoupled {
  static constexpr int largest_gram = tuning::largest_class_gram;
  // Whether columns are known to be so alike that sweeps crawl, and that curvature needs all its digits.
  static constexpr bool columns_are_alike = false;

  // Products with the part of Q among some columns, chosen as a panel's are.
  class Part {
   public:
    explicit Part(const Uncoupled&) {}
    void clear() {}
    void add(const Columns&) {}
    void take(const Part&, const Columns&) {}
    void product(double, const Vector&, int, Vector& out) { out.clear(); }
    void add_product(double, const Vector&, int, Vector&) {}
  };

  void apply(const Columns&, const Vector&, int, Vector& out) const { out.clear(); }
  void add_slopes(double, const Vector&, const Columns&, int, Vector&) const {}
  double value(double, const Vector&, const Columns&, const Vector&, int) const { return 0.0; }
  FormAlong along(double, const Vector&, const Columns&, const Vector&, const Vector&, double, int) const { return {}; }
  double inner(const Vector&, const Vector&, const Vector&) const { return 0.0; }
  void add_to_gram(const Columns&, int, double, double, double*, int) const {}
  void add_to_pairs(const Columns&, const Columns&, int, double, double, double*, int) const {}
  // Rows of coefficients are apart: each goes to where its penalty is least.
  template <class Pen>
  void settle_rows(const Pen& penalty, const Level& at, const Columns& features, const std::vector<char>& in,
                   Vector& b) const {
    penalty.settle_rows(at, features, in, b);
  }
  double rounding(double, const Columns&, const Vector&, int) const { return 0.0; }
  double forgiven(double forgiven, double) const { return forgiven; }
};

template <class T>
struct Coupled {
  // Columns of a kernel are too alike to do without a matrix.
  static constexpr int largest_gram = std::numeric_limits<int>::max();
  static constexpr bool columns_are_alike = true;
  KernelForm<T> kernel;

  class Part {
   public:
    explicit Part(const Coupled& of) : of_(of) {}
    void clear() {
      columns_.clear();
      is_packed_ = false;
    }
    void add(const Columns& columns) {
      columns_.insert(columns_.end(), columns.begin(), columns.end());
      is_packed_ = false;
    }
    void take(const Part& other, const Columns& places) {
      columns_.clear();
      for (int place : places) columns_.push_back(other.columns_[place]);
      is_packed_ = false;
    }
    // out = level Q_CC b
    void product(double level, const Vector& b, int m, Vector& out) {
      out.assign(b.size(), 0.0);
      add_product(level, b, m, out);
    }
    void add_product(double level, const Vector& b, int m, Vector& out) {
      int count = static_cast<int>(columns_.size());
      if (count == 0 || level == 0.0) return;
      pack();
      double one = 1.0;
      char plain = 'N';
      blas::dgemm(&plain, &plain, &m, &count, &count, &level, const_cast<double*>(b.data()), &m, packed_.data(), &count,
                  &one, out.data(), &m);
    }

   private:
    void pack() {
      if (std::exchange(is_packed_, true)) return;
      const std::size_t count = columns_.size();
      packed_.resize(count * count);
      for (std::size_t c = 0; c < count; ++c) {
        const T* from = of_.kernel.column(columns_[c]);
        for (std::size_t r = 0; r < count; ++r) packed_[c * count + r] = from[columns_[r]];
      }
    }

    const Coupled& of_;
    Columns columns_;
    Vector packed_;
    bool is_packed_ = false;
  };

  // out = Q_C rows, for all columns.
  void apply(const Columns& columns, const Vector& rows, int m, Vector& out) const {
    const Index p = kernel.m;
    out.assign(static_cast<std::size_t>(p) * m, 0.0);
    const auto width = static_cast<std::size_t>(std::max<Index>(1, tuning::converted_entries / p));
    Vector block, b;
    int count = 0, wide = static_cast<int>(p);
    const auto add = [&] {
      double one = 1.0;
      char plain = 'N', transposed = 'T';
      if (count > 0)
        blas::dgemm(&plain, &transposed, &m, &wide, &count, &one, b.data(), &m, block.data(), &wide, &one, out.data(),
                    &m);
      block.clear();
      b.clear();
      count = 0;
    };
    for (std::size_t c = 0; c < columns.size(); ++c) {
      const auto row = rows.begin() + static_cast<std::ptrdiff_t>(c) * m;
      if (std::all_of(row, row + m, [](double x) { return x == 0.0; })) continue;
      b.insert(b.end(), row, row + m);
      block.insert(block.end(), kernel.column(columns[c]), kernel.column(columns[c]) + p);
      if (static_cast<std::size_t>(++count) == width) add();
    }
    add();
  }
  // Adds level QB, of the chosen columns.
  void add_slopes(double level, const Vector& form, const Columns& columns, int m, Vector& slopes) const {
    for (std::size_t c = 0; c < columns.size(); ++c)
      for (int k = 0; k < m; ++k) slopes[c * m + k] += level * form[static_cast<std::size_t>(columns[c]) * m + k];
  }
  double value(double level, const Vector& form, const Columns& columns, const Vector& rows, int m) const {
    return 0.5 * level * inner(form, columns, rows, m);
  }
  // From rows of coefficients to others, along which `bend` is the second derivative.
  FormAlong along(double level, const Vector& form, const Columns& columns, const Vector& from, const Vector& to,
                  double bend, int m) const {
    const double start = level * inner(form, columns, from, m);
    return {0.5 * start, level * inner(form, columns, to, m) - start, bend};
  }
  // The product of a step's two ends with what a part made of it.
  double inner(const Vector& from, const Vector& to, const Vector& product) const {
    double sum = 0.0;
    for (std::size_t t = 0; t < product.size(); ++t) sum += (to[t] - from[t]) * product[t];
    return sum;
  }
  void add_to_gram(const Columns& columns, int kept, double level, double level_before, double* gram,
                   int stride) const {
    kernel.add_to_gram(columns, kept, level, level_before, gram, stride);
  }
  // The same for coefficients of several classes, which are coupled within each.
  void add_to_pairs(const Columns& column, const Columns& klass, int kept, double level, double level_before,
                    double* gram, int stride) const {
    const int count = static_cast<int>(column.size());
    if (kept == count && level == level_before) return;
    for (int c = 0; c < count; ++c) {
      double* target = gram + static_cast<std::size_t>(c) * stride;
      const T* from = kernel.column(column[c]);
      for (int r = 0; r < count; ++r)
        if (klass[r] == klass[c]) target[r] += (c < kept && r < kept ? level - level_before : level) * from[column[r]];
    }
  }
  // No row moves without the others.
  template <class Pen>
  void settle_rows(const Pen&, const Level&, const Columns&, const std::vector<char>&, Vector&) const {}
  // Of the form's value.
  double rounding(double level, const Columns& columns, const Vector& rows, int m) const {
    Vector size(m, 0.0);
    for (std::size_t t = 0; t < columns.size() * m; ++t) size[t % m] += std::fabs(rows[t]);
    return 0.5 * tuning::unit_rounding * level * kernel.largest() * loops().dot(size.data(), size.data(), m);
  }
  // What violations may be where a ridge on each coefficient would forgive so much: the kernel forgives it where
  // nothing has to be scaled away.
  double forgiven(double forgiven, double l1) const { return l1 > 0.0 ? 0.0 : forgiven; }

 private:
  double inner(const Vector& form, const Columns& columns, const Vector& rows, int m) const {
    double sum = 0.0;
    for (std::size_t c = 0; c < columns.size(); ++c)
      for (int k = 0; k < m; ++k) sum += rows[c * m + k] * form[static_cast<std::size_t>(columns[c]) * m + k];
    return sum;
  }
};

}  // namespace clearning
