// Rows of a dense block, gathered into columns that stay in the cache: centred, in double precision, in the plan's
// order.
#pragma once
#include "blocks/plan.hpp"
#include "linalg/blas.hpp"
#include "linalg/vector_loops.hpp"
#include "problem/dense.hpp"

namespace clearning::blocks {

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
    for (int c = 0; c < plan_.columns(); ++c) {
      const T* from = rows_.data + rows_.column_stride * plan_.order[c];
      const double centre = plan_.centre.empty() ? 0.0 : plan_.centre[c];
      double* to = column(c);
      for (int i = 0; i < count; ++i) to[i] = static_cast<double>(from[chosen[i] * rows_.row_stride]) - centre;
    }
  }

  // out (rows by tasks, a task's rows together) += X_W coef (working by tasks, a column's tasks together)
  void scores(const Vector& coef, int tasks, double* out) {
    if (tasks == 0 || plan_.working == 0) return;
    product('N', 'T', count_, tasks, plan_.working, x_.data(), count_, coef.data(), tasks, out, count_);
  }

  // out (columns by tasks, a column's tasks together) += X'r
  void gradients(const Vector& r, int tasks, Vector& out) {
    if (tasks == 0) return;
    product('T', 'N', tasks, plan_.columns(), count_, r.data(), count_, x_.data(), count_, out.data(), tasks);
  }

  // gram (its lower triangle by rows) += X_W'diag(h)X_W and curved += X_W'h
  void gram(const double* h, double* gram, double* curved) {
    const int k = plan_.working;
    if (k == 0) return;
    root_.resize(count_);
    for (int i = 0; i < count_; ++i) root_[i] = std::sqrt(h[i]);
    for (int c = 0; c < k; ++c) {
      loops().multiply(root_.data(), column(c), 0.0, weighted_.data() + static_cast<std::size_t>(c) * count_, count_);
      curved[c] += loops().dot(column(c), h, count_);
    }
    // By columns the upper triangle is by rows the lower one.
    accumulate_panel(weighted_.data(), count_, k, 0, gram, k);
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
};

}  // namespace clearning::blocks
