// The dual point that a Newton step predicts: the loss's gradient where the step's model has its minimum. On the
// columns of the step its constraints hold with equality, so that only second-order terms of the error remain in its
// gap.
#pragma once
#include "solver/line_search.hpp"

namespace clearning {

class CurvedPoint {
 public:
  DualPoint point() const { return {theta_, b_, form_}; }

  // From the iterate that the step leaves: e + H (X d + shift), with the curvature of the step's model.
  void predict(const Iterate& x, const Move& move, const Direction& along) {
    const Vector& h = *move.curvature;
    theta_.resize(x.e.size());
    for (std::size_t i = 0; i < theta_.size(); ++i) theta_[i] = x.e[i] + h[i] * (along.score[i] + move.shift);
    form_ = x.form;
    if (form_.empty()) return;
    loops().axpy(1.0, along.form.data(), form_.data(), form_.size());
    b_ = x.b;
    for (std::size_t c = 0; c < move.columns.size(); ++c) b_[move.columns[c]] = move.target[c];
  }

  // Puts weights back into the loss's domain and evens the classes out, as the intercept asks. False if no weight is
  // left.
  template <class P>
  bool make_feasible(const Stage<P>& at) {
    const Samples& samples = at.problem.samples;
    const double limit = std::visit([](const auto& phi) { return phi.weight_limit(); }, at.loss);
    double positive = 0.0, negative = 0.0;
    for (std::size_t i = 0; i < samples.n; ++i) {
      const double most = samples.weight[i] > 0.0 ? limit * samples.weight[i] : 0.0;
      const double s = std::clamp(-theta_[i] * samples.y[i], 0.0, most);
      theta_[i] = -s * samples.y[i];
      (samples.y[i] > 0.0 ? positive : negative) += s;
    }
    if (!at.problem.settings.intercept) return true;
    if (!(positive > 0.0 && negative > 0.0)) return false;
    const double heavy = positive > negative ? 1.0 : -1.0;
    const double share = std::min(positive, negative) / std::max(positive, negative);
    loops().scale_class(samples.y, heavy, share, theta_.data(), samples.n);
    return true;
  }

 private:
  Vector theta_;
  Vector b_, form_;  // where the step leads, for a penalty that asks for it
};

}  // namespace clearning
