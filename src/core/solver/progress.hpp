// Whether steps still lead anywhere.
#pragma once
#include <algorithm>
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

// Whether many steps together lead anywhere: the objective falls by a share of the gap, or the gap itself does. A step
// that takes the work of several counts as so many.
class Crawl {
 public:
  explicit Crawl(int step) : first_(step), from_(step) {}
  void watch(double gap) { least_ = std::min(least_, gap); }
  bool is_due(int step) const { return step >= from_ + tuning::steps_of_a_crawl; }
  // Asked whenever it is due; what an objective falls by must be more than its rounding.
  bool is_one(int step, double objective, double rounding) {
    const double gap = std::min(least_, objective), share = share_at(step);
    const bool is = objective_ - objective < std::max(share * gap, rounding) && gap > (1.0 - share) * gap_;
    from_ = step;
    objective_ = objective;
    gap_ = gap;
    return is;
  }

 private:
  double share_at(int step) const {
    const double times = std::max(1.0, (step - first_) / tuning::steps_of_a_long_way);
    return std::min(times * tuning::share_of_a_crawl, tuning::largest_share_of_a_crawl);
  }

  int first_, from_;
  double objective_ = INFINITY, gap_ = INFINITY, least_ = INFINITY;
};

}  // namespace clearning
