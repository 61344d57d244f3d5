// Without kinks (no l1 penalty, no bounds) and without a matrix, the model is solved by conjugate gradients,
// preconditioned by its diagonal. The intercept is profiled out.
#pragma once
#include "linalg/conjugate_gradients.hpp"
#include "solver/inner_problem.hpp"

namespace clearning {

class RidgeDescent {
 public:
  template <Design D>
  void solve(InnerProblem& q, const D& x, const Columns& columns, const Vector& h, bool intercept, double target,
             typename D::Workspace& space) {
    measure(q, x, columns, h, intercept);
    shift_ = 0.0;
    if (!(left(q) > target)) return;
    double centre = 0.0;
    const auto precondition = [&](Vector& out) {
      double length = 0.0;
      for (int j = 0; j < q.count; ++j) {
        length += q.g[j] * q.g[j] / diagonal_[j];
        out[j] = -q.g[j] / diagonal_[j];
      }
      return length;
    };
    const auto apply = [&](const Vector& along, Vector& product) {
      x.curved_product(columns, h.data(), along.data(), product, space);
      double bend = 0.0;
      centre = 0.0;
      for (int j = 0; j < q.count; ++j) centre += mean_[j] * along[j];
      for (int j = 0; j < q.count; ++j) {
        product[j] += q.ridge[j] * along[j] - total_ * centre * mean_[j];
        bend += along[j] * product[j];
      }
      return bend;
    };
    const auto advance = [&](double size, const Vector& along, const Vector& product) {
      for (int j = 0; j < q.count; ++j) {
        q.b[j] += size * along[j];
        q.g[j] += size * product[j];
      }
      shift_ -= size * centre;
      return left(q) > target;
    };
    conjugate_gradients(q.count, tuning::most_gradients, precondition, apply, advance);
  }

  double intercept_shift() const { return shift_; }

 private:
  template <class D>
  void measure(const InnerProblem& q, const D& x, const Columns& columns, const Vector& h, bool intercept) {
    total_ = sum_of(h);
    mean_.assign(q.count, 0.0);
    diagonal_.resize(q.count);
    for (int j = 0; j < q.count; ++j) {
      double first, second;
      x.moments(columns[j], h.data(), first, second);
      if (intercept && total_ > 0.0) mean_[j] = first / total_;
      diagonal_[j] = std::max(second - first * mean_[j], 0.0) + q.ridge[j];
      if (!(diagonal_[j] > 0.0)) diagonal_[j] = 1.0;
    }
  }

  static double left(const InnerProblem& q) {
    Excess left(q.adds_up, q.count);
    for (int j = 0; j < q.count; ++j) left.add(std::fabs(q.g[j]) / q.allowed[j]);
    return left.total();
  }

  Vector mean_, diagonal_;
  double total_ = 0.0, shift_ = 0.0;
};

}  // namespace clearning
