// One class's model of the loss: a weighted Gram matrix of its columns, less their means where there is an intercept;
// or, of more columns than that is worth, their squares alone.
#pragma once
#include "linalg/blas.hpp"
#include "linalg/vector_loops.hpp"
#include "problem/design.hpp"
#include "tuning.hpp"

namespace clearning {

// Lets a matrix whose first entries are to stay have room for count of them; memory once taken is kept.
inline void make_room(Vector& matrix, int& stride, int first, int count) {
  if (count <= stride) return;
  const int wider = tuning::with_room(count);
  Vector larger(first == 0 ? 0 : static_cast<std::size_t>(wider) * wider);
  for (int i = 0; i < first; ++i)
    std::copy_n(matrix.data() + static_cast<std::size_t>(i) * stride, first,
                larger.data() + static_cast<std::size_t>(i) * wider);
  if (first == 0) matrix.resize(static_cast<std::size_t>(wider) * wider);
  else matrix = std::move(larger);
  stride = wider;
}

template <class D>
class ClassGram {
 public:
  int size() const { return static_cast<int>(columns_.size()); }
  bool has_matrix() const { return has_matrix_; }
  double total() const { return total_; }
  double mean(int i) const { return mean_[i]; }
  double diagonal(int i) const { return square_[i]; }
  double plain(int i) const { return plain_[i]; }  // before the mean was taken off
  const double* column(int i) const { return gram_.data() + static_cast<std::size_t>(i) * stride_; }
  int stride() const { return stride_; }
  const Columns& columns() const { return columns_; }
  const Vector& weights() const { return h_; }

  // Made of these columns and weights.
  void build(const D& x, Columns columns, Vector h, bool intercept, int largest) {
    h_ = std::move(h);
    columns_.clear();
    mean_.clear();
    square_.clear();
    plain_.clear();
    total_ = sum_of(h_);
    largest_ = largest;
    coupled_ = 0;
    level_ = 0.0;
    has_matrix_ = static_cast<int>(columns.size()) <= largest_;
    extend(x, std::move(columns), intercept);
  }
  // The same weights, with more columns behind the first ones.
  void extend(const D& x, Columns columns, bool intercept) {
    const int first = size(), count = static_cast<int>(columns.size());
    if (count > largest_) has_matrix_ = false;
    columns_ = std::move(columns);
    mean_.resize(count);
    square_.resize(count);
    plain_.resize(count);
    for (int i = first; i < count; ++i) {
      double sum = 0.0, square = 0.0;
      x.moments(columns_[i], h_.data(), sum, square);
      plain_[i] = square;
      mean_[i] = intercept && total_ > 0.0 ? sum / total_ : 0.0;
      square_[i] = std::max(square - total_ * mean_[i] * mean_[i], 0.0);
    }
    if (!has_matrix_ || first == count) return;
    make_room(gram_, stride_, first, count);
    weighted_gram(x, columns_, first, h_.data(), total_, mean_.data(), gram_.data(), stride_, space_);
    for (int i = first; i < count; ++i) square_[i] = column(i)[i];
  }
  // Adds what a form has between the columns: all of it for new ones, for the others what the level has changed.
  template <class Form>
  void couple(const Form& form, double level) {
    form.add_to_gram(columns_, coupled_, level, level_, gram_.data(), stride_);
    coupled_ = size();
    level_ = level;
    if (has_matrix_)
      for (int i = 0; i < size(); ++i) square_[i] = column(i)[i];
  }

 private:
  Columns columns_;
  Vector h_, mean_, square_, plain_, gram_;
  double total_ = 0.0, level_ = 0.0;
  int stride_ = 0, largest_ = 0, coupled_ = 0;
  bool has_matrix_ = false;
  typename D::Workspace space_;
};

// The Cholesky factor of one class's matrix on some of its columns: a preconditioner with the intercept taken out.
class ClassFactor {
 public:
  // entry(i, j) of the matrix. Coefficients that nothing but their curvature holds back stay where the ones before
  // leave no more than least(i) of it, which is rounding: following it leads anywhere. It is negative for the others.
  template <class Entry, class Least>
  void build(int size, Entry&& entry, bool full, Least&& least) {
    size_ = size;
    full_ = full;
    stays_.assign(size, 0);
    if (!full) {
      values_.resize(size);
      for (int i = 0; i < size; ++i) values_[i] = std::max(entry(i, i), tuning::tiny);
      return;
    }
    values_.resize(static_cast<std::size_t>(size) * size);
    for (double jitter = tuning::class_jitter; jitter <= 1.0; jitter *= 100.0) {
      for (int j = 0; j < size; ++j)
        for (int i = 0; i <= j; ++i) at(i, j) = entry(i, j);
      double largest = tuning::tiny;
      for (int j = 0; j < size; ++j) largest = std::max(largest, at(j, j));
      bool any_loose = false;
      for (int j = 0; j < size; ++j) {
        if (least(j) >= 0.0) any_loose = true;
        else at(j, j) += jitter * std::max(at(j, j), tuning::class_jitter * largest);
      }
      if (any_loose ? factorise_above(least) : factorise()) return;
    }
    build(size, entry, false, least);
  }
  template <class Entry>
  void build(int size, Entry&& entry, bool full) {
    build(size, entry, full, [](int) { return -1.0; });
  }
  void solve(double* x) {
    if (!full_) {
      for (int i = 0; i < size_; ++i) x[i] /= values_[i];
      return;
    }
    char upper = 'U', transposed = 'T', plain = 'N';
    int one = 1;
    if (size_ == 0) return;
    for (int i = 0; i < size_; ++i)
      if (stays_[i]) x[i] = 0.0;
    blas::dtrsv(&upper, &transposed, &plain, &size_, values_.data(), &size_, x, &one);
    blas::dtrsv(&upper, &plain, &plain, &size_, values_.data(), &size_, x, &one);
  }
  bool is_full() const { return full_; }
  // Calls visit(i, j, value) for the entries of the inverse, each pair once.
  template <class Visit>
  void each_of_inverse(Visit&& visit) const {
    if (!full_) {
      for (int i = 0; i < size_; ++i) visit(i, i, 1.0 / values_[i]);
      return;
    }
    Vector inverse = values_;
    char upper = 'U';
    int size = size_, info = 0;
    if (size > 0) blas::dpotri(&upper, &size, inverse.data(), &size, &info);
    for (int j = 0; j < size; ++j)
      for (int i = 0; i <= j; ++i)
        visit(i, j, stays_[i] || stays_[j] ? 0.0 : inverse[static_cast<std::size_t>(j) * size + i]);
  }

 private:
  double& at(int i, int j) { return values_[static_cast<std::size_t>(j) * size_ + i]; }
  bool factorise() {
    char upper = 'U';
    int info = 0;
    if (size_ > 0) blas::dpotrf(&upper, &size_, values_.data(), &size_, &info);
    return info == 0;
  }
  // Column by column; one that stays has a row and a column of the identity.
  template <class Least>
  bool factorise_above(Least&& least) {
    for (int j = 0; j < size_; ++j) {
      double* column = &at(0, j);
      for (int i = 0; i < j; ++i)
        column[i] = stays_[i] ? 0.0 : (column[i] - loops().dot(&at(0, i), column, i)) / at(i, i);
      const double pivot = column[j] - loops().dot(column, column, j);
      stays_[j] = least(j) >= 0.0 && !(pivot > least(j));
      if (!stays_[j] && !(pivot > 0.0)) return false;
      if (stays_[j]) std::fill_n(column, j, 0.0);
      column[j] = stays_[j] ? 1.0 : std::sqrt(pivot);
    }
    return true;
  }

  int size_ = 0;
  bool full_ = false;
  Vector values_;
  std::vector<char> stays_;
};

}  // namespace clearning
