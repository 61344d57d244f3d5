// Whether steps still lead anywhere.
#pragma once
#include <cmath>

#include "tuning.hpp"

namespace clearning {

class Progress {
 public:
  void begin() {
    stalled_ = broken_ = 0;
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
  // A step promises something; too many that did not keep it are no longer believed.
  void hear_promise() {
    if (broken_ < tuning::patience_with_promises) stalled_ = 0;
  }
  void keep_promise(bool kept) { broken_ = kept ? 0 : broken_ + 1; }
  bool is_stalled() const { return stalled_ > tuning::patience; }

 private:
  int stalled_ = 0;  // steps in a row that neither promised nor gained anything above rounding
  int broken_ = 0;   // steps in a row whose gain was none, whatever they promised
  double best_ = INFINITY;
};

}  // namespace clearning
