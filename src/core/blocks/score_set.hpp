// The scores that the rows of one fold are given.
#pragma once
#include <algorithm>
#include <utility>
#include <vector>

#include "linalg/types.hpp"

namespace clearning::blocks {

// Coefficients of some points, those with the longest support first: products stop where it ends. Columns are ordered
// so that those of many points come first, and most of a path's points have a short support.
class ScoreSet {
 public:
  ScoreSet() = default;
  // `coef` has a row for each of `working` columns with the `width` scores of every point together.
  ScoreSet(const Vector& coef, int points, const Columns& chosen, int working, int width)
      : scores_(static_cast<int>(chosen.size()) * width), place_(points, -1) {
    const auto given = [&](int point, int c) {
      return coef.data() + (static_cast<std::size_t>(c) * points + point) * width;
    };
    const auto length = [&](int point) {
      int c = working;
      while (c > 0 && std::all_of(given(point, c - 1), given(point, c - 1) + width, [](double b) { return b == 0.0; }))
        --c;
      return c;
    };
    std::vector<std::pair<int, int>> order;
    for (int point : chosen) order.emplace_back(-length(point), point);
    std::sort(order.begin(), order.end());
    coef_.resize(static_cast<std::size_t>(working) * scores_);
    for (std::size_t at = 0; at < order.size(); ++at) {
      const int point = order[at].second;
      place_[point] = static_cast<int>(at);
      length_.insert(length_.end(), width, -order[at].first);
      for (int c = 0; c < working; ++c) std::copy_n(given(point, c), width, coef_.data() + row(c) + at * width);
    }
    reach_.resize(working);
    for (int c = 0, reach = scores_; c < working; ++c) {
      while (reach > 0 && length_[reach - 1] <= c) --reach;
      reach_[c] = reach;
    }
  }

  int scores() const { return scores_; }
  // Where a point stands among those chosen; -1 if it is none of them.
  int place(int point) const { return place_[point]; }
  // A column's coefficients, from some score on, and how many scores from the first have one.
  const double* coef(int c, int score = 0) const { return coef_.data() + row(c) + score; }
  int reach(int c) const { return reach_[c]; }
  // How many columns a score has, and those after it.
  int length(int score) const { return length_[score]; }

 private:
  std::size_t row(int c) const { return static_cast<std::size_t>(c) * scores_; }

  int scores_ = 0;
  Columns place_, length_, reach_;
  Vector coef_;
};

}  // namespace clearning::blocks
