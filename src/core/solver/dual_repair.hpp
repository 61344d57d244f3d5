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
  // Adds B' diag(weight) C to a matrix whose columns are `stride` apart, C being another basis.
  void add_products(const PullBasis& other, const Vector& weight, double* out, std::size_t stride) const {
    if (columns.empty() || other.columns.empty()) return;
    const std::size_t n = weight.size();
    char transposed = 'T', plain = 'N';
    double one = 1.0;
    int size = static_cast<int>(count()), wide = static_cast<int>(other.count()), step = static_cast<int>(stride);
    Vector rows(tuning::rows_of_repair * count()), weighted(tuning::rows_of_repair * other.count());
    for (std::size_t first = 0; first < n; first += tuning::rows_of_repair) {
      const std::size_t some = std::min(n - first, tuning::rows_of_repair);
      for (std::size_t c = 0; c < count(); ++c) std::copy_n(columns[c].data() + first, some, rows.data() + c * some);
      for (std::size_t c = 0; c < other.count(); ++c)
        loops().multiply(weight.data() + first, other.columns[c].data() + first, 0.0, weighted.data() + c * some, some);
      int length = static_cast<int>(some);
      blas::dgemm(&transposed, &plain, &size, &wide, &length, &one, rows.data(), &length, weighted.data(), &length,
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
class RepairSystem {
 public:
  Vector matrix;

  explicit RepairSystem(std::size_t count = 0)
      : matrix(count * count, 0.0), pulls_(count), tops_(count), blurs_(count) {}

  void set(std::size_t row, double pull, double top, double blur) {
    pulls_[row] = pull;
    tops_[row] = top;
    blurs_[row] = blur;
  }

  // The largest share of any sample; infinite where the matrix does not tell. So many equations follow from the others.
  double share(std::size_t redundant = 0) {
    const std::size_t count = pulls_.size();
    if (count == 0) return 0.0;
    if (count <= redundant) return INFINITY;
    root_.resize(count);
    for (std::size_t c = 0; c < count; ++c) {
      const double diagonal = matrix[c * count + c];
      if (!(diagonal > 0.0) || !std::isfinite(diagonal)) return INFINITY;
      root_[c] = std::sqrt(diagonal);
    }
    for (std::size_t c = 0; c < count; ++c)
      for (std::size_t r = 0; r <= c; ++r) matrix[c * count + r] /= root_[r] * root_[c];
    kept_ = every_index(static_cast<Index>(count));
    if (redundant > 0 && !keep_independent(count - redundant)) return INFINITY;
    double pull = 0.0, top = 0.0, blur = 0.0;
    for (std::size_t c = 0; c < count; ++c) {
      pull += std::pow(pulls_[c] / root_[c], 2);
      top += std::pow(tops_[c] / root_[c], 2);
      blur += std::pow(blurs_[c] / root_[c], 2);
    }
    const double least = smallest_value();
    // A basis that is off by as much as its least combination is long tells nothing of that.
    if (!(least > tuning::least_repair) || !(blur <= tuning::blur_of_repair * least)) return INFINITY;
    return std::sqrt(top) * std::sqrt(pull) * (tuning::caution_of_repair / least);
  }

  // What answers that right side, once the share is finite.
  Vector solve(const Vector& right) {
    Vector some(kept_.size()), out(pulls_.size(), 0.0);
    if (kept_.empty()) return out;
    for (std::size_t c = 0; c < some.size(); ++c) some[c] = right[kept_[c]] / root_[kept_[c]];
    solve_kept(some);
    for (std::size_t c = 0; c < some.size(); ++c) out[kept_[c]] = some[c] / root_[kept_[c]];
    return out;
  }

 private:
  // Sets the equations that are kept, by pivots, and makes the matrix theirs; false if their number is not what it must
  // be.
  bool keep_independent(std::size_t number) {
    const std::size_t all = pulls_.size();
    int count = static_cast<int>(all), rank = 0, info = 0;
    char upper = 'U';
    double least = tuning::least_repair;
    Vector factor = matrix, space(2 * all);
    Columns order(all);
    blas::dpstrf(&upper, &count, factor.data(), &count, order.data(), &rank, &least, space.data(), &info);
    if (static_cast<std::size_t>(rank) != number) return false;
    kept_.assign(order.begin(), order.begin() + rank);
    for (int& c : kept_) --c;  // Fortran's
    std::sort(kept_.begin(), kept_.end());
    Vector some(number * number);
    for (std::size_t c = 0; c < number; ++c)
      for (std::size_t r = 0; r <= c; ++r)
        some[c * number + r] = matrix[static_cast<std::size_t>(kept_[c]) * all + kept_[r]];
    matrix = std::move(some);
    return true;
  }

  // By inverse iteration; zero where there is no factor. Leaves the factor in place of the matrix.
  double smallest_value() {
    int count = static_cast<int>(kept_.size()), info = 0;
    char upper = 'U';
    blas::dpotrf(&upper, &count, matrix.data(), &count, &info);
    if (info != 0) return 0.0;
    Vector x(count);
    for (int c = 0; c < count; ++c) x[c] = 1.0 + 0.5 * std::sin(static_cast<double>(c + 1));
    double grown = 1.0;
    for (int step = 0; step < tuning::inverse_iterations; ++step) {
      const double size = std::sqrt(loops().dot(x.data(), x.data(), x.size()));
      for (double& value : x) value /= size;
      solve_kept(x);
      grown = std::sqrt(loops().dot(x.data(), x.data(), x.size()));
    }
    return 1.0 / grown;
  }
  void solve_kept(Vector& right) {
    int count = static_cast<int>(right.size()), one = 1, info = 0;
    char upper = 'U';
    blas::dpotrs(&upper, &count, &one, matrix.data(), &count, right.data(), &count, &info);
  }

  Vector pulls_, tops_, blurs_;
  Vector root_;   // of the matrix's diagonal
  Columns kept_;  // equations that do not follow from others
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
    const double known = near.is_whole() ? share_of(by_columns(near, columns, room), room) : INFINITY;
    columns.insert(columns.end(), near.dependent().begin(), near.dependent().end());
    if (is_enough(known, columns)) return known;
    PullBasis basis;
    return by_elimination(columns, carried, room, basis) ? std::min(known, share_of(basis, room)) : known;
  }
  // Whether no elimination of all columns has to be asked, or may be.
  static bool is_enough(double share, const Columns& all) {
    return share <= tuning::little_room || all.size() > tuning::most_eliminated;
  }

  // The intercept, columns about their mean, and differences of the others.
  PullBasis by_columns(const NearDependence<D>& near, const Columns& columns, Vector& room) const {
    for (int j : columns) keep_near(column(j), intercept_, room);
    for (const Difference& difference : near.differences()) keep_near(difference.direction, intercept_, room);
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
  // Columns that only rows far out tell apart are small where there is room, once one after the other is eliminated.
  // One of which nothing is left there must be nothing where there is any weight: no room would make up for its pull.
  // False if it is not.
  bool by_elimination(const Columns& all, const Vector& carried, Vector& room, PullBasis& basis) const {
    if (!eliminate(all, carried, room, basis)) return false;
    const Vector before = room;
    for (const Vector& away : basis.columns) keep_near(away, false, room);
    return room == before || eliminate(all, carried, room, basis);
  }
  // How many of the intercept and the columns do not depend on others where there is room.
  std::size_t rank(const Columns& columns, const Vector& room) const {
    PullBasis basis;
    eliminate(columns, Vector(design_.n, 0.0), room, basis);
    return basis.count();
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
  basis.add_products(basis, room, system.matrix.data(), count);
  for (std::size_t c = 0; c < count; ++c)
    system.set(c, basis.pull(c, residual), basis.top(c, room), basis.blur(c, room));
  return system.share();
}

}  // namespace clearning
