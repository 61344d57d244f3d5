// The dual point that a Newton step predicts: the loss's gradient where the step's model has its minimum. On the
// columns of the step its constraints hold with equality, so that only second-order terms of the error remain in its
// gap.
#pragma once
#include "solver/line_search.hpp"

namespace clearning {

class CurvedPoint {
 public:
  DualPoint point() const { return {theta_, b_, form_}; }

  // How far the point may be off what the step's model says of it: put back, evened out and rounded.
  double off() const { return off_; }

  // From the iterate that the step leaves: e + H (X d + shift), with the curvature of the step's model, put back into
  // the loss's domain and evened out between the classes, as the intercept asks. False if no weight is left.
  template <class P>
  bool predict(const Stage<P>& at, const Iterate& x, const Move& move, const Direction& along) {
    const Samples& samples = at.problem.samples;
    const double limit = std::visit([](const auto& phi) { return phi.weight_limit(); }, at.loss);
    theta_.resize(samples.n);
    const WeightSums sums = loops().foresee(x.e.data(), move.curvature->data(), along.score.data(), move.shift,
                                            move.unit, samples.y, samples.weight, limit, theta_.data(), samples.n);
    off_ = std::sqrt(sums.put_back) + tuning::unit_rounding * std::sqrt(sums.positive_square + sums.negative_square);
    form_ = x.form;
    if (!form_.empty()) answer(x, move, along);
    return !at.problem.settings.intercept || even_out(samples, sums);
  }

 private:
  // The coefficients, with their Qb, by which the point answers a kernel's penalty.
  void answer(const Iterate& x, const Move& move, const Direction& along) {
    loops().axpy(1.0, along.form.data(), form_.data(), form_.size());
    b_ = x.b;
    for (std::size_t c = 0; c < move.columns.size(); ++c) b_[move.columns[c]] = move.target[c];
  }

  bool even_out(const Samples& samples, const WeightSums& sums) {
    if (!(sums.positive > 0.0 && sums.negative > 0.0)) return false;
    const bool is_positive = sums.positive > sums.negative;
    const double share = std::min(sums.positive, sums.negative) / std::max(sums.positive, sums.negative);
    loops().scale_class(samples.y, is_positive ? 1.0 : -1.0, share, theta_.data(), samples.n);
    off_ += (1.0 - share) * std::sqrt(is_positive ? sums.positive_square : sums.negative_square);
    return true;
  }

  Vector theta_;
  double off_ = 0.0;
  Vector b_, form_;  // where the step leads, for a penalty that asks for it
};

}  // namespace clearning
