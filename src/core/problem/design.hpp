// Designs: what the solver may ask of the matrix whose columns carry the coefficients.
#pragma once
#include <algorithm>
#include <concepts>

#include "linalg/types.hpp"

namespace clearning {

// A design has n rows, p columns and, for what it wants to keep between two questions, a Workspace that its asker owns.
template <class D>
concept Design = requires(const D& x, const Columns& columns, const double* in, double* out, double& number, Vector& v,
                          Index j, int first, int stride, typename D::Workspace& space) {
  { x.n } -> std::convertible_to<Index>;
  { x.p } -> std::convertible_to<Index>;
  { x.entries(columns) } -> std::same_as<double>;                      // that a pass over these columns touches
  x.dots(columns, in, out);                                            // out = X_C' in
  x.all_dots(in, out);                                                 // out = X' in
  x.combine(columns, in, out);                                         // out += X_C in
  x.moments(j, in, number, number);                                    // sums of h x and h x^2
  { x.spread(j, in, number, number) } -> std::same_as<double>;         // sum of h (x - mean)^2
  x.curved_product(columns, in, in, v, space);                         // v = X_C' diag(h) X_C in
  x.centred_gram(columns, first, in, number, in, out, stride, space);  // see weighted_gram
  // A model that takes columns off a weighted residual one by one.
  requires std::constructible_from<typename D::Weighted, const D&, const Columns&, const Vector&, const Vector&>;
  // Costs, in ordinary multiply-adds: a Gram matrix of k columns, a pass over them, one sweep of descent.
  { x.gram_cost(number, number, number) } -> std::same_as<double>;
  { x.pass_cost(number) } -> std::same_as<double>;
  { x.sweep_cost(number) } -> std::same_as<double>;
  { x.first_columns() } -> std::same_as<int>;  // that a cold start takes
  // What rounding leaves of a constant column's square about its mean, given the mean's.
  { x.rounded_square(j, number) } -> std::same_as<double>;
};

// Copies the part of a Gram matrix above the diagonal to below it, for columns from `first` on.
inline void mirror(double* gram, int count, int first, int stride) {
  for (int j = first; j < count; ++j)
    for (int i = 0; i < j; ++i)
      gram[static_cast<std::size_t>(i) * stride + j] = gram[static_cast<std::size_t>(j) * stride + i];
}

// Weighted Gram matrix of some columns less their means: gram[:, first:] = Z' diag(h) Z[:, first:], Z = X_C - 1 mean',
// and its mirror image. The means are those by the weights h, which sum to `total`, or zero.
template <Design D>
void weighted_gram(const D& x, const Columns& columns, int first, const double* h, double total, const double* mean,
                   double* gram, int stride, typename D::Workspace& space) {
  const int count = static_cast<int>(columns.size());
  for (int j = first; j < count; ++j) std::fill_n(gram + static_cast<std::size_t>(j) * stride, count, 0.0);
  x.centred_gram(columns, first, h, total, mean, gram, stride, space);
  for (int j = first; j < count; ++j) {
    double& diagonal = gram[static_cast<std::size_t>(j) * stride + j];
    if (diagonal <= x.rounded_square(columns[j], total * mean[j] * mean[j])) diagonal = 0.0;
  }
  mirror(gram, count, first, stride);
}

}  // namespace clearning
