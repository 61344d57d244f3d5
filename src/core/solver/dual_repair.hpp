// How far a dual point is from one that neither the intercept nor a column without a penalty pulls at. Rounding leaves
// some pull, and coefficients that nothing holds could follow it for ever: no bound on them says what that is worth.
// But weights that are inside of their domain can be moved until the pull is gone. Where each has some room, moves of
// room times B t do that, the columns of B being a basis of what must not pull: B' diag(room) B t = pull. What such a
// move costs is known without making it.
#pragma once
#include "linalg/blas.hpp"
#include "solver/near_dependence.hpp"

namespace clearning {

// A sum of products as if it were added up in twice the precision.
inline double compensated_dot(const double* a, const double* b, std::size_t n) {
  double sum = 0.0, rest = 0.0;
  for (std::size_t i = 0; i < n; ++i) {
    const double product = a[i] * b[i], grown = sum + product, part = grown - sum;
    rest += ((sum - (grown - part)) + (product - part)) + std::fma(a[i], b[i], -product);
    sum = grown;
  }
  return sum + rest;
}

// Combinations of the intercept and columns without a penalty, and how far rounding may have put each entry off.
struct PullBasis {
  std::vector<Vector> columns, off;

  void add(Vector column, Vector error) {
    columns.push_back(std::move(column));
    off.push_back(std::move(error));
  }
  std::size_t count() const { return columns.size(); }
  // How strongly a residual pulls along one of them at most.
  double pull(std::size_t c, const double* residual) const {
    double hidden = 0.0;
    for (std::size_t i = 0; i < off[c].size(); ++i) hidden += off[c][i] * std::fabs(residual[i]);
    const double known = std::fabs(compensated_dot(columns[c].data(), residual, columns[c].size()));
    return known * (1.0 + tuning::rounding) + hidden;
  }
  // Adds B' diag(weight) B to a matrix whose columns are `stride` apart.
  void add_products(const Vector& weight, double* out, std::size_t stride) const {
    if (columns.empty()) return;
    const std::size_t n = weight.size();
    char transposed = 'T', plain = 'N';
    double one = 1.0;
    int size = static_cast<int>(count()), step = static_cast<int>(stride);
    Vector rows(tuning::rows_of_repair * count()), weighted(rows.size());
    for (std::size_t first = 0; first < n; first += tuning::rows_of_repair) {
      const std::size_t some = std::min(n - first, tuning::rows_of_repair);
      for (std::size_t c = 0; c < count(); ++c) {
        std::copy_n(columns[c].data() + first, some, rows.data() + c * some);
        loops().multiply(weight.data() + first, columns[c].data() + first, 0.0, weighted.data() + c * some, some);
      }
      int length = static_cast<int>(some);
      blas::dgemm(&transposed, &plain, &size, &size, &length, &one, rows.data(), &length, weighted.data(), &length,
                  &one, out, &step);
    }
  }
  // How far rounding may have put it off where there is room, by length.
  double blur(std::size_t c, const Vector& room) const {
    double square = 0.0;
    for (std::size_t i = 0; i < room.size(); ++i) square += room[i] * off[c][i] * off[c][i];
    return std::sqrt(square);
  }
  // The largest entry where there is room.
  double top(std::size_t c, const Vector& room) const {
    double most = 0.0;
    for (std::size_t i = 0; i < room.size(); ++i)
      if (room[i] > 0.0) most = std::max(most, std::fabs(columns[c][i]));
    return most;
  }
};

// The equations for moves: a matrix of which the upper triangle counts, and for each row of it how strongly it is
// pulled, how large a unit of its solution makes a sample's share, and how far off the basis may be, by length.
struct RepairSystem {
  Vector matrix, pulls, tops, blurs;

  explicit RepairSystem(std::size_t count) : matrix(count * count, 0.0), pulls(count), tops(count), blurs(count) {}

  void set(std::size_t row, double pull, double top, double blur) {
    pulls[row] = pull;
    tops[row] = top;
    blurs[row] = blur;
  }

  // The largest share of any sample; infinite where the matrix does not tell.
  double share() {
    const std::size_t count = pulls.size();
    if (count == 0) return 0.0;
    Vector root(count);
    for (std::size_t c = 0; c < count; ++c) {
      const double diagonal = matrix[c * count + c];
      if (!(diagonal > 0.0) || !std::isfinite(diagonal)) return INFINITY;
      root[c] = std::sqrt(diagonal);
    }
    double pull = 0.0, top = 0.0, blur = 0.0;
    for (std::size_t c = 0; c < count; ++c) {
      for (std::size_t r = 0; r <= c; ++r) matrix[c * count + r] /= root[r] * root[c];
      pull += std::pow(pulls[c] / root[c], 2);
      top += std::pow(tops[c] / root[c], 2);
      blur += std::pow(blurs[c] / root[c], 2);
    }
    const double least = smallest_value(static_cast<int>(count));
    // A basis that is off by as much as its least combination is long tells nothing of that.
    if (!(least > tuning::least_repair) || !(blur <= tuning::blur_of_repair * least)) return INFINITY;
    return std::sqrt(top) * std::sqrt(pull) * (tuning::caution_of_repair / least);
  }

 private:
  // By inverse iteration; zero where there is no factor.
  double smallest_value(int count) {
    int info = 0, one = 1;
    char upper = 'U';
    blas::dpotrf(&upper, &count, matrix.data(), &count, &info);
    if (info != 0) return 0.0;
    Vector x(count);
    for (int c = 0; c < count; ++c) x[c] = 1.0 + 0.5 * std::sin(static_cast<double>(c + 1));
    double grown = 1.0;
    for (int step = 0; step < tuning::inverse_iterations; ++step) {
      const double size = std::sqrt(loops().dot(x.data(), x.data(), x.size()));
      for (double& value : x) value /= size;
      blas::dpotrs(&upper, &count, &one, matrix.data(), &count, x.data(), &count, &info);
      grown = std::sqrt(loops().dot(x.data(), x.data(), x.size()));
    }
    return 1.0 / grown;
  }
};

template <Design D>
class DualRepair {
 public:
  DualRepair(const D& design, bool intercept) : design_(design), intercept_(intercept) {}

  // The smallest share of their room that share_of(basis, room) finds for a basis of the columns that `near` is about,
  // of which must_not(j) tells which are in it; infinite where none tells. Rows that are far out lose their room.
  // carried: what dual weight each row has; none pulls at anything.
  template <class MustNot, class Share>
  double share(const NearDependence<D>& near, const Vector& carried, Vector& room, MustNot&& must_not,
               Share&& share_of) const {
    Columns columns;
    for (int j : near.independent())
      if (must_not(j)) columns.push_back(j);
    Columns all(columns);
    all.insert(all.end(), near.dependent().begin(), near.dependent().end());
    for (int j : columns) keep_near(column(j), intercept_, room);
    for (const Difference& difference : near.differences()) keep_near(difference.direction, intercept_, room);
    const double by_columns = share_of(of_columns(near, columns, room), room);
    if (by_columns <= tuning::little_room || all.size() > tuning::most_eliminated) return by_columns;
    // Columns that only rows far out tell apart are small where there is room, once one after the other is eliminated.
    // One of which nothing is left there must be nothing where there is any weight: no room would make up for its pull.
    PullBasis basis;
    if (!eliminate(all, carried, room, basis)) return by_columns;
    for (const Vector& away : basis.columns) keep_near(away, false, room);
    return eliminate(all, carried, room, basis) ? std::min(by_columns, share_of(basis, room)) : by_columns;
  }

 private:
  Vector column(int j) const {
    const double one = 1.0;
    Vector out(design_.n, 0.0);
    design_.combine({j}, &one, out.data());
    return out;
  }

  // Takes the room of rows that are far from the others, or from their mean.
  static void keep_near(const Vector& away, bool from_mean, Vector& room) {
    const double total = sum_of(room);
    if (!(total > 0.0)) return;
    const double mean = from_mean ? loops().dot(away.data(), room.data(), away.size()) / total : 0.0;
    double square = 0.0;
    for (std::size_t i = 0; i < room.size(); ++i) square += room[i] * (away[i] - mean) * (away[i] - mean);
    const double farthest = tuning::far_out * std::sqrt(square / total);
    for (std::size_t i = 0; i < room.size(); ++i)
      if (room[i] > 0.0 && std::fabs(away[i] - mean) > farthest) room[i] = 0.0;
  }

  // The intercept, columns about their mean, and differences of the others.
  PullBasis of_columns(const NearDependence<D>& near, const Columns& columns, const Vector& room) const {
    PullBasis basis;
    if (intercept_) basis.add(Vector(design_.n, 1.0), Vector(design_.n, 0.0));
    const double total = intercept_ ? sum_of(room) : 0.0;
    const auto add = [&](Vector away, Vector off) {
      const double mean = total > 0.0 ? loops().dot(away.data(), room.data(), away.size()) / total : 0.0;
      for (std::size_t i = 0; i < away.size() && mean != 0.0; ++i) {
        away[i] -= mean;
        off[i] += tuning::unit_rounding * std::fabs(away[i]);
      }
      basis.add(std::move(away), std::move(off));
    };
    for (int j : columns) add(column(j), Vector(design_.n, 0.0));
    for (const Difference& difference : near.differences()) add(difference.direction, difference.off);
    return basis;
  }

  // Sets the basis that is left one after the other where there is room; false if it is not all.
  bool eliminate(const Columns& columns, const Vector& carried, const Vector& room, PullBasis& basis) const {
    Elimination elimination(room.data(), design_.n);
    if (intercept_) elimination.add(Vector(design_.n, 1.0));
    for (int j : columns) add_to(elimination, design_, j, room.data(), intercept_);
    basis = PullBasis();
    while (elimination.step())
      basis.add(elimination.last().value, multiple(elimination.last().size, tuning::unit_rounding));
    return elimination.is_nothing_left(carried);
  }
  static Vector multiple(Vector of, double by) {
    for (double& value : of) value *= by;
    return of;
  }
  const D& design_;
  const bool intercept_;
};

// Of samples with one score each.
inline double share_of_room(const PullBasis& basis, const double* residual, const Vector& room) {
  const std::size_t count = basis.count();
  RepairSystem system(count);
  basis.add_products(room, system.matrix.data(), count);
  for (std::size_t c = 0; c < count; ++c)
    system.set(c, basis.pull(c, residual), basis.top(c, room), basis.blur(c, room));
  return system.share();
}

}  // namespace clearning
