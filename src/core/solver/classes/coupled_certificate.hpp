// The duality gap of many classes whose coefficients a kernel couples, from two dual points: a residual R and
// coefficients H, whose pulls are G = X'R + level QH, scaled until no pull exceeds its threshold; and R with the H at
// which no pull is left, which leaves the l1 penalty out.
#pragma once
#include "solver/classes/certificate.hpp"
#include "solver/inverse_form.hpp"

namespace clearning {

template <class P, class T>
class ClassCertificate<P, Coupled<T>> {
 public:
  explicit ClassCertificate(const P& problem)
      : problem_(problem), pulls_(problem.p * problem.m), one_(problem.p, 1.0),
        largest_(problem.form.kernel.largest()) {}

  // Pulls of all columns at the last pair that was looked at.
  const Vector& correlations() const { return pulls_; }
  void correlate(const ClassIterate& x, const Level& at) {
    correlate(x.e, pulls_);
    loops().axpy(at.ridge, x.form.data(), pulls_.data(), pulls_.size());
  }

  // The gap of the iterate at a pair whose residual is feasible for the samples.
  double gap(const ClassIterate& x, const Level& at, const ClassDual& dual, double) {
    correlate(dual.r, v_);
    problem_.form.apply(dual.features, dual.b, problem_.m, form_);
    pulls_ = v_;
    loops().axpy(at.ridge, form_.data(), pulls_.data(), pulls_.size());
    uneven_ = dual_point::uneven(problem_, x, dual.r, objective(x, at));
    const double scaled = gap_where_scaled(x, at, dual);
    return uneven_.cost + (at.ridge > 0.0 ? std::min(scaled, gap_without_l1(x, at, dual.r)) : scaled);
  }

 private:
  void correlate(const Vector& r, Vector& out) {
    out.resize(pulls_.size());
    Panel<typename P::DesignType>::all_dots(problem_.design, r.data(), problem_.m, out.data());
  }
  double objective(const ClassIterate& x, const Level& at) const {
    return x.loss + problem_.penalty.value({at.l1, 0.0}, every_index(problem_.p), x.b) +
           0.5 * at.ridge * loops().dot(x.b.data(), x.form.data(), x.b.size());
  }
  double samples(const ClassIterate& x, const Vector& r, double scale) const {
    return class_loops().divergence(problem_.loss, problem_.samples, x.score.data(), x.s.data(), r.data(), scale);
  }

  double gap_where_scaled(const ClassIterate& x, const Level& at, const ClassDual& dual) const {
    const int m = problem_.m;
    Vector h(pulls_.size(), 0.0);
    for (std::size_t c = 0; c < dual.features.size(); ++c)
      std::copy_n(dual.b.begin() + static_cast<std::ptrdiff_t>(c) * m, m,
                  h.begin() + static_cast<std::ptrdiff_t>(dual.features[c]) * m);
    const Vector of_b = sizes(x.b), of_h = sizes(h), noise = rounding_of_pulls(dual.r, at.ridge, of_h);
    const Correlations pulls{pulls_, one_, *std::max_element(noise.begin(), noise.end())};
    const double scale = problem_.penalty.feasible_scale(at, pulls);
    // ||B - scale H|| in the kernel's norm.
    double apart = 0.0, lost = 0.0;
    for (std::size_t t = 0; t < h.size(); ++t) apart += (x.b[t] - scale * h[t]) * (x.form[t] - scale * form_[t]);
    for (int k = 0; k < m; ++k)
      lost += noise[k] * of_b[k] + tuning::unit_rounding * largest_ * at.ridge * (of_b[k] + of_h[k]) * of_b[k];
    return std::max(problem_.penalty.gap(at, pulls, scale, x.b), 0.0) + 0.5 * at.ridge * std::max(apart, 0.0) + lost +
           samples(x, dual.r, scale);
  }

  // With level H = -R where the coefficients belong to the samples; in general G'Q^-1 G is what it costs, G being the
  // pulls at the iterate's own coefficients.
  double gap_without_l1(const ClassIterate& x, const Level& at, const Vector& r) {
    const int m = problem_.m;
    const Index n = problem_.n, p = problem_.p;
    const Vector of_b = sizes(x.b), noise = rounding_of_pulls(r, at.ridge, of_b);
    double apart = 0.0, lost = 0.0;
    for (int k = 0; k < m; ++k) {
      Vector pull(p);
      for (Index j = 0; j < p; ++j) pull[j] = v_[j * m + k] + at.ridge * x.form[j * m + k];
      double own = 0.0;
      if (problem_.form.kernel.is_design)
        for (Index j = 0; j < p; ++j) own += (r[k * n + j] + at.ridge * x.b[j * m + k]) * pull[j];
      else own = inverse_form_(problem_.form.kernel, std::move(pull));
      apart += std::max(own, 0.0);
      lost += noise[k] * noise[k] / (tuning::unit_rounding * std::max(largest_, tuning::tiny));
    }
    return problem_.penalty.value({at.l1, 0.0}, every_index(p), x.b) + samples(x, r, 1.0) +
           0.5 * (apart + lost) / at.ridge;
  }

  // Of each class: the sum of the coefficients' sizes, and what rounding makes of its pulls.
  Vector sizes(const Vector& b) const {
    Vector sum(problem_.m, 0.0);
    for (std::size_t t = 0; t < b.size(); ++t) sum[t % problem_.m] += std::fabs(b[t]);
    return sum;
  }
  Vector rounding_of_pulls(const Vector& r, double level, const Vector& of_h) const {
    Vector out(problem_.m);
    for (int k = 0; k < problem_.m; ++k) {
      double size = level * of_h[k];
      for (Index i = 0; i < problem_.n; ++i) size += std::fabs(r[k * problem_.n + i]);
      out[k] = (tuning::unit_rounding * size + uneven_.pull) * largest_;
    }
    return out;
  }

  const P& problem_;
  Vector v_, pulls_, form_;  // X'R, pulls and QH of the last pair
  const Vector one_;
  const double largest_;
  dual_point::Unevenness uneven_;
  InverseForm<T> inverse_form_;
};

}  // namespace clearning
