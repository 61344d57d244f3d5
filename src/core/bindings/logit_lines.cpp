#include "bindings/logit_lines.hpp"

#include "bindings/entries.hpp"
#include "problem/logit_line.hpp"

namespace clearning {

namespace {

// Scales and offsets, a row for each part and a column for each column of scores.
nb::tuple fit_logit_lines(Matrix<double> scores, Flat<double> y, Matrix<double> weights, double doubt, double hold) {
  const std::size_t n = scores.shape(0), columns = scores.shape(1), parts = weights.shape(1);
  if (n == 0 || y.size() != n || weights.shape(0) != n) refuse("scores", "and y and weights must have as many rows.");
  if (!(doubt > 0.0) || !(hold >= 0.0)) refuse("doubt", "must be positive, and hold not negative.");
  Vector scales(parts * columns), offsets(parts * columns);
  {
    nb::gil_scoped_release unlocked;
    for (std::size_t k = 0; k < columns; ++k)
      fit_lines(scores.data() + k * n, y.data(), weights.data(), n, parts, doubt, hold,
                [&](std::size_t part, Line line) {
                  scales[part * columns + k] = line.scale;
                  offsets[part * columns + k] = line.offset;
                });
  }
  return nb::make_tuple(to_numpy(std::move(scales)), to_numpy(std::move(offsets)));
}

}  // namespace

void bind_logit_lines(nb::module_& m) {
  m.def("fit_logit_lines", &fit_logit_lines, nb::arg("scores").noconvert(), nb::arg("y").noconvert(),
        nb::arg("weights").noconvert(), nb::arg("doubt"), nb::arg("hold"));
}

}  // namespace clearning
