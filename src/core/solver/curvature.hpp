// The curvature of the quadratic model: the loss's own, lifted where it is too flat to be trusted.
#pragma once
#include <algorithm>

#include "solver/stage.hpp"

namespace clearning {

class Curvature {
 public:
  const Vector& h() const { return h_; }
  double curved_share() const { return curved_share_; }  // of the samples that carry curvature

  template <class P>
  void update(const Stage<P>& at, const Iterate& x) {
    const double negligible = tuning::negligible_curvature * *std::max_element(x.h.begin(), x.h.end());
    h_.resize(x.h.size());
    Index curved = 0;
    for (std::size_t i = 0; i < h_.size(); ++i) {
      h_[i] = x.h[i] > negligible ? x.h[i] : 0.0;
      curved += x.h[i] > negligible;
    }
    curved_share_ = static_cast<double>(curved) / static_cast<double>(h_.size());
    std::visit([&](const auto& phi) { lift(phi, at.problem.samples, x); }, at.loss);
  }

  // After a line search: a step that had to be cut off trusted the curvature too much.
  void respond(bool was_cut) {
    if (was_cut) lift_ = std::min(1.0, 4.0 * std::max(lift_, tuning::smallest_lift));
    else lift_ = lift_ < tuning::smallest_lift ? 0.0 : 0.25 * lift_;
  }

  // After a step that led nowhere; false if there is no more to lift.
  bool raise() {
    if (lift_ >= 1.0) return false;
    lift_ = std::min(1.0, 16.0 * std::max(lift_, tuning::smallest_raise));
    return true;
  }

 private:
  // Piecewise quadratic losses are flat in places, where a model without curvature has no minimum.
  template <class L>
  void lift(const L& phi, const Samples& samples, const Iterate& x) {
    const double share = std::max(lift_, L::least_lift);
    if (share <= 0.0) return;
    curved_share_ = 1.0;
    for (std::size_t i = 0; i < h_.size(); ++i)
      h_[i] = std::max(h_[i], share * samples.weight[i] * phi.majoriser(samples.y[i] * (x.score[i] + x.a)));
  }

  Vector h_;
  double lift_ = 0.0, curved_share_ = 1.0;
};

}  // namespace clearning
