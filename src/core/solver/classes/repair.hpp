// How far dual weights of many classes have to move until neither an intercept nor a column without a penalty pulls. A
// sample's weights s move by (diag s - s s' / sum s) times what its classes are to move by, so that their sum stays. A
// class that never meets a column leaves no weight there: each class has equations of its own, of the rows in which it
// can move. Where all classes move alike nothing does, and nothing is pulled: so many equations follow from the others.
#pragma once
#include "solver/classes/problem.hpp"
#include "solver/dual_repair.hpp"

namespace clearning {

template <class P>
class ClassRepair {
 public:
  explicit ClassRepair(const P& problem) : problem_(problem), repair_(problem.design, problem.settings.intercept) {}

  // The share of its room that a weight has to lose or gain at most; infinite where room does not tell. The room is as
  // far as it is from the nearer end of its domain.
  double share(const Vector& r) {
    find_room(r);
    return equations(r).share;
  }
  const Vector& room() const { return room_; }

  // Makes the weights those that nothing pulls at, but for rounding; false where room does not tell, or an equation
  // that should follow from others does not.
  bool move(Vector& r) {
    find_room(r);
    Equations found = equations(r);
    if (!(found.share <= 1.0)) return false;
    const Index n = problem_.n;
    const Vector pulls = pulls_of(found.bases, r);
    const Vector along = found.system.solve(pulls);
    std::vector<Vector> by(problem_.m, Vector(n, 0.0));
    std::size_t row = 0;
    for (int k = 0; k < problem_.m; ++k)
      for (const Vector& column : found.bases[k].columns) loops().axpy(along[row++], column.data(), by[k].data(), n);
    Vector mean(n, 0.0);
    for (int k = 0; k < problem_.m; ++k)
      for (Index i = 0; i < n; ++i)
        if (found.moving.total[i] > 0.0) mean[i] += found.moving.weight[k][i] / found.moving.total[i] * by[k][i];
    for (int k = 0; k < problem_.m; ++k)
      for (Index i = 0; i < n; ++i) r[k * n + i] -= found.moving.weight[k][i] * (by[k][i] - mean[i]);
    const Vector after = pulls_of(found.bases, r), size = sizes_of(found.bases, r);
    for (std::size_t row = 0; row < after.size(); ++row)
      if (!(std::fabs(after[row]) <=
            tuning::left_of_pull * std::fabs(pulls[row]) + tuning::rounding_of_sums * size[row]))
        return false;
    return true;
  }

 private:
  // Weights that have room, class by class, and their sums.
  struct Moving {
    std::vector<Vector> weight;
    Vector total;

    // What class l moves by where class k is to.
    Vector between(int k, int l) const {
      Vector out(total.size(), 0.0);
      for (std::size_t i = 0; i < out.size(); ++i) {
        if (total[i] <= 0.0) continue;
        const double to = k == l ? others(k, i) : -weight[l][i];
        out[i] = weight[k][i] * (to / total[i]);
      }
      return out;
    }
    // Added up, because a sample's own weight is nearly all of the total.
    double others(int k, std::size_t i) const {
      double sum = 0.0;
      for (std::size_t l = 0; l < weight.size(); ++l)
        if (static_cast<int>(l) != k) sum += weight[l][i];
      return sum;
    }
  };
  struct Equations {
    std::vector<PullBasis> bases;  // a class
    Moving moving;
    RepairSystem system;
    double share;
  };

  Vector pulls_of(const std::vector<PullBasis>& bases, const Vector& r) const {
    Vector out;
    for (int k = 0; k < problem_.m; ++k)
      for (const Vector& column : bases[k].columns)
        out.push_back(compensated_dot(column.data(), r.data() + k * problem_.n, problem_.n));
    return out;
  }
  // What is added up in them.
  Vector sizes_of(const std::vector<PullBasis>& bases, const Vector& r) const {
    Vector out;
    for (int k = 0; k < problem_.m; ++k)
      for (const Vector& column : bases[k].columns) {
        double size = 0.0;
        for (Index i = 0; i < problem_.n; ++i) size += std::fabs(column[i] * r[k * problem_.n + i]);
        out.push_back(size);
      }
    return out;
  }

  void find_room(const Vector& r) {
    room_.assign(r.size(), 0.0);
    for (int k = 0; k < problem_.m; ++k)
      for (Index i = 0; i < problem_.n; ++i) {
        const double up = up_to(r, i, k, 1), down = up_to(r, i, k, 0);
        room_[k * problem_.n + i] = std::max(std::min(up, down), 0.0);
      }
  }
  // A weight's way to an end of its domain. What a sample's own lacks is known by its own digits.
  double up_to(const Vector& r, Index i, int k, int end) const {
    const double unit = problem_.loss.kappa * problem_.samples.weight[i], at = r[k * problem_.n + i];
    const bool is_own = static_cast<int>(problem_.samples.label[i]) == k;
    return end == 1 ? (is_own ? -at : unit - at) : (is_own ? unit + at : at);
  }

  // By columns, or where these do not tell by what an elimination leaves of them.
  Equations equations(const Vector& r) const {
    const auto& near = problem_.near;
    const bool intercept = problem_.settings.intercept;
    Columns all = near.independent();
    const std::size_t common = all.size() + near.differences().size() + (intercept ? 1 : 0);
    std::vector<Vector> room = curvatures(moving(r, parts(room_)));
    std::vector<PullBasis> bases(problem_.m);
    for (int k = 0; k < problem_.m; ++k) bases[k] = repair_.by_columns(near, near.independent(), room[k]);
    Equations known = solve(r, bases, room, common);
    if (!near.is_whole()) known.share = INFINITY;
    all.insert(all.end(), near.dependent().begin(), near.dependent().end());
    if (repair_.is_enough(known.share, all)) return known;
    const std::vector<Vector> carried = parts(r);
    Vector anywhere(problem_.n, 0.0);
    for (int k = 0; k < problem_.m; ++k) {
      if (!repair_.by_elimination(all, carried[k], room[k], bases[k])) return known;
      loops().axpy(1.0, room[k].data(), anywhere.data(), problem_.n);
    }
    Equations told = solve(r, bases, room, repair_.rank(all, anywhere));
    return told.share < known.share ? std::move(told) : std::move(known);
  }
  Equations solve(const Vector& r, const std::vector<PullBasis>& bases, const std::vector<Vector>& room,
                  std::size_t common) const {
    Columns first(1, 0);
    for (const PullBasis& basis : bases) first.push_back(first.back() + static_cast<int>(basis.count()));
    const std::size_t count = static_cast<std::size_t>(first.back());
    Equations of{bases, moving(r, room), RepairSystem(count <= tuning::most_repaired ? count : 0), INFINITY};
    if (count > tuning::most_repaired) return of;
    RepairSystem& system = of.system;
    for (int k = 0; k < problem_.m; ++k)
      for (int l = 0; l <= k; ++l)
        of.bases[l].add_products(of.bases[k], of.moving.between(k, l),
                                 system.matrix.data() + static_cast<std::size_t>(first[k]) * count + first[l], count);
    const std::vector<Vector> bends = curvatures(of.moving);
    const Vector uneven = uneven_rows(r);
    for (int k = 0; k < problem_.m; ++k)
      for (std::size_t c = 0; c < of.bases[k].count(); ++c) {
        double hidden = 0.0;
        for (Index i = 0; i < problem_.n; ++i)
          if (static_cast<int>(problem_.samples.label[i]) == k)
            hidden += uneven[i] * std::fabs(of.bases[k].columns[c][i]);
        system.set(first[k] + c, of.bases[k].pull(c, r.data() + k * problem_.n) + hidden,
                   2.0 * of.bases[k].top(c, bends[k]), of.bases[k].blur(c, bends[k]));
      }
    of.share = system.share(common);
    return of;
  }

  // Each class's part of a matrix.
  std::vector<Vector> parts(const Vector& matrix) const {
    std::vector<Vector> out;
    out.reserve(problem_.m);
    for (int k = 0; k < problem_.m; ++k)
      out.emplace_back(matrix.begin() + k * problem_.n, matrix.begin() + (k + 1) * problem_.n);
    return out;
  }
  Moving moving(const Vector& r, const std::vector<Vector>& room) const {
    Moving of{std::vector<Vector>(problem_.m, Vector(problem_.n, 0.0)), Vector(problem_.n, 0.0)};
    for (int k = 0; k < problem_.m; ++k)
      for (Index i = 0; i < problem_.n; ++i) {
        if (!(room[k][i] > 0.0)) continue;
        of.weight[k][i] = up_to(r, i, k, 0);
        of.total[i] += of.weight[k][i];
      }
    return of;
  }
  // How much each class moves where it is to: none in a row in which no other class can.
  std::vector<Vector> curvatures(const Moving& of) const {
    std::vector<Vector> out;
    out.reserve(problem_.m);
    for (int k = 0; k < problem_.m; ++k) out.push_back(of.between(k, k));
    return out;
  }
  // How far rounding may have put each sample's own weight off from what the others leave of it.
  Vector uneven_rows(const Vector& r) const {
    Vector sum(problem_.n, 0.0), size(problem_.n, 0.0);
    for (int k = 0; k < problem_.m; ++k)
      for (Index i = 0; i < problem_.n; ++i) {
        sum[i] += r[k * problem_.n + i];
        size[i] += std::fabs(r[k * problem_.n + i]);
      }
    for (Index i = 0; i < problem_.n; ++i) sum[i] = std::fabs(sum[i]) + problem_.m * tuning::unit_rounding * size[i];
    return sum;
  }

  const P& problem_;
  const DualRepair<typename P::DesignType> repair_;
  Vector room_;
};

}  // namespace clearning
