// Lines through scores: logit t f + b, fitted to the labels of two classes, which are doubted a little.
#pragma once
#include <cmath>

#include "linalg/types.hpp"
#include "linalg/vector_loops.hpp"
#include "problem/loss_loops.hpp"

namespace clearning {

struct Line {
  double scale = 0.0, offset = 0.0;
};

// Minimises the sum of w (log(1 + exp z) - target z), z = t f + b, plus hold b^2 / 2, which is convex. The target of a
// sample's own class is (N + c) / (N + 2c): N is the weight of the class and c the doubt. A hold without end leaves no
// offset. Scores are at most one in size.
class LineFit {
 public:
  LineFit(const double* f, const Samples& samples, double doubt, double hold)
      : f_(f), samples_(samples), has_offset_(std::isfinite(hold)), hold_(has_offset_ ? hold : 0.0), z_(samples.n),
        e_(samples.n), h_(samples.n) {
    double mass = 0.0, sides = 0.0, sum = 0.0, difference = 0.0;
#pragma omp simd reduction(+ : mass, sides, sum, difference)
    for (std::size_t i = 0; i < samples.n; ++i) {
      const double w = samples.weight[i], wy = w * samples.y[i];
      mass += w;
      sides += wy;
      sum += w * f[i];
      difference += wy * f[i];
    }
    const double positive = 0.5 * (mass + sides), negative = 0.5 * (mass - sides);
    const double up = doubt / (positive + 2.0 * doubt), down = doubt / (negative + 2.0 * doubt);
    pull_ = {0.5 * (up * (sum + difference) - down * (sum - difference)), up * positive - down * negative};
    mean_target_ = (positive - pull_.offset) / mass;
  }

  // Newton's method from the rate alone; steps that do not descend are halved.
  Line find() {
    Line line{0.0, rate()};
    Point here = at(line);
    for (int k = 0; k < most_steps; ++k) {
      Line step = newton_step(here);
      if (is_last(line, step)) {
        line = moved(line, step);
        break;
      }
      Point there = at(moved(line, step));
      for (int halving = 0; there.value > here.value * (1.0 + rounding); ++halving) {
        if (halving == most_halvings) return usable(line);
        step = {0.5 * step.scale, 0.5 * step.offset};
        there = at(moved(line, step));
      }
      line = moved(line, step);
      here = there;
    }
    return usable(line);
  }

 private:
  struct Point {
    double value, g_t, g_b, h_tt, h_tb, h_bb;
  };

  // In units of the largest score: scores of which less is made than this say nothing.
  static constexpr double least_scale = 1e-3;
  // Newton's steps square the error: after a step of this share a millionth is left, and of the loss the square of it.
  static constexpr double last_step = 1e-3;
  static constexpr double rounding = 1e-12;
  static constexpr int most_steps = 100, most_halvings = 40;

  static Line moved(Line line, Line step) { return {line.scale + step.scale, line.offset + step.offset}; }
  static bool is_last(Line line, Line step) {
    return std::fabs(step.scale) <= last_step * (1.0 + std::fabs(line.scale)) &&
           std::fabs(step.offset) <= last_step * (1.0 + std::fabs(line.offset));
  }

  // The logistic loss of the labels, and the doubt, which is linear.
  Point at(Line line) {
    const std::size_t n = samples_.n;
    for (std::size_t i = 0; i < n; ++i) z_[i] = line.scale * f_[i];
    const LossSums sums = evaluate(logistic_, samples_, z_.data(), line.offset, e_.data(), h_.data());
    const double b = line.offset;
    Point p;
    p.value = sums.value + line.scale * pull_.scale + b * pull_.offset + 0.5 * hold_ * b * b;
    p.g_t = loops().dot(f_, e_.data(), n) + pull_.scale;
    p.g_b = sums.slope + pull_.offset + hold_ * b;
    loops().moments(f_, h_.data(), n, &p.h_tb, &p.h_tt);
    p.h_bb = sums.curvature + hold_;
    return p;
  }

  Line newton_step(const Point& p) const {
    // A trace of the identity: scores that are all alike leave the step without a direction.
    const double h_tt = p.h_tt + rounding * p.h_bb, h_bb = p.h_bb * (1.0 + rounding);
    if (!has_offset_) return {-p.g_t / h_tt, 0.0};
    const double determinant = h_tt * h_bb - p.h_tb * p.h_tb;
    return {(p.h_tb * p.g_b - h_bb * p.g_t) / determinant, (p.h_tb * p.g_t - h_tt * p.g_b) / determinant};
  }

  // Scores that point the wrong way say nothing, and the rate is all there is.
  Line usable(Line line) const { return line.scale >= least_scale ? line : Line{least_scale, rate()}; }
  double rate() const { return has_offset_ ? std::log(mean_target_) - std::log1p(-mean_target_) : 0.0; }

  const double* f_;
  Samples samples_;
  bool has_offset_;
  double hold_, mean_target_;
  Line pull_;
  Vector z_, e_, h_;
  Loss logistic_ = Coherence(LossParameters{.rho = 1.0, .u = 0.0});
};

}  // namespace clearning
