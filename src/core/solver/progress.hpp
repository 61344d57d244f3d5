// Whether steps still lead anywhere.
#pragma once
#include <cmath>

#include "tuning.hpp"

namespace clearning {

class Progress {
 public:
  void begin() {
    stalled_ = 0;
    best_ = INFINITY;
  }
  void watch(double violation) {
    if (violation < tuning::better_violation * best_) {
      best_ = violation;
      stalled_ = 0;
    } else {
      ++stalled_;
    }
  }
  void encourage() { stalled_ = 0; }
  bool is_stalled() const { return stalled_ > tuning::patience; }

 private:
  int stalled_ = 0;  // steps in a row that neither promised nor gained anything above rounding
  double best_ = INFINITY;
};

}  // namespace clearning
