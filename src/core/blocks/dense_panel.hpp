// Rows of a dense block, gathered into columns that stay in the cache: centred, in double precision, in the plan's
// order.
#pragma once
#include "blocks/plan.hpp"
#include "blocks/score_set.hpp"
#include "linalg/blas.hpp"
#include "linalg/vector_loops.hpp"
#include "problem/dense.hpp"

namespace clearning::blocks {

// Rows that are turned into columns at a time: theirs and the columns' lines stay in the first-level cache.
inline constexpr int rows_at_once = 16;
// Scores of one product: many enough for BLAS, and few enough that short supports are not mixed with long ones.
inline constexpr int scores_at_once = 48;

// A block as it was given: by rows or by columns, in either precision.
template <class T>
struct DenseRows {
  const T* data;
  Index row_stride, column_stride;
  using Element = T;
};

template <class T>
class DensePanel {
 public:
  using Rows = DenseRows<T>;

  DensePanel(const Rows& rows, const Plan& plan, int most)
      : rows_(rows), plan_(plan), x_(static_cast<std::size_t>(most) * plan.columns()),
        weighted_(plan.knots() > 0 ? static_cast<std::size_t>(most) * plan.working : 0) {}

  void load(const Index* chosen, int count) {
    count_ = count;
    for (int first = 0; first < count; first += rows_at_once) {
      const int last = std::min(first + rows_at_once, count);
      for (int c = 0; c < plan_.columns(); ++c) {
        const T* from = rows_.data + rows_.column_stride * plan_.order[c];
        const double centre = plan_.centre.empty() ? 0.0 : plan_.centre[c];
        double* to = column(c);
        for (int i = first; i < last; ++i) to[i] = static_cast<double>(from[chosen[i] * rows_.row_stride]) - centre;
      }
    }
  }

  // out (rows by scores, a score's rows together) += X_W coef
  void scores(const ScoreSet& of, double* out) {
    for (int first = 0; first < of.scores(); first += scores_at_once) {
      const int count = std::min(scores_at_once, of.scores() - first), length = of.length(first);
      if (length == 0) return;
      product('N', 'T', count_, count, length, x_.data(), count_, of.coef(0, first), of.scores(),
              out + static_cast<std::size_t>(first) * count_, count_);
    }
  }

  // out (columns by `stride` scores, a column's scores together) += X'r
  void gradients(const double* r, int scores, double* out, int stride) {
    product('T', 'N', scores, plan_.columns(), count_, r, count_, x_.data(), count_, out, stride);
  }

  // gram (its lower triangle by rows) += X_W'diag(h)X_W and curved += X_W'h, by the rows that carry curvature
  void gram(const double* h, double* gram, double* curved) {
    const int k = plan_.working;
    carrying_.clear();
    root_.clear();
    for (int i = 0; i < count_; ++i)
      if (h[i] > 0.0) {
        carrying_.push_back(i);
        root_.push_back(std::sqrt(h[i]));
      }
    const int rows = static_cast<int>(carrying_.size());
    if (k == 0 || rows == 0) return;
    for (int c = 0; c < k; ++c) {
      const double* x = column(c);
      double* to = weighted_.data() + static_cast<std::size_t>(c) * rows;
      if (rows == count_) loops().multiply(root_.data(), x, 0.0, to, rows);
      else
        for (int i = 0; i < rows; ++i) to[i] = root_[i] * x[carrying_[i]];
      curved[c] += loops().dot(to, root_.data(), rows);
    }
    // By columns the upper triangle is by rows the lower one.
    accumulate_panel(weighted_.data(), rows, k, 0, gram, k);
  }

  void copy_column(int c, double* out) const { std::copy_n(column(c), count_, out); }

 private:
  double* column(int c) { return x_.data() + static_cast<std::size_t>(c) * count_; }
  const double* column(int c) const { return x_.data() + static_cast<std::size_t>(c) * count_; }

  // c (by columns) += op(a) op(b); BLAS takes no const.
  static void product(char ta, char tb, int m, int n, int k, const double* a, int lda, const double* b, int ldb,
                      double* c, int ldc) {
    double one = 1.0;
    blas::dgemm(&ta, &tb, &m, &n, &k, &one, const_cast<double*>(a), &lda, const_cast<double*>(b), &ldb, &one, c, &ldc);
  }

  const Rows rows_;
  const Plan& plan_;
  int count_ = 0;
  Vector x_, weighted_, root_;
  Columns carrying_;
};

}  // namespace clearning::blocks
