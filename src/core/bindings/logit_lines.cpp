#include "bindings/logit_lines.hpp"

#include "bindings/entries.hpp"
#include "problem/logit_line.hpp"

namespace clearning {

namespace {

// The scale and the offset of each column of scores.
nb::tuple fit_logit_lines(Matrix<double> scores, Flat<double> y, Flat<double> weight, double doubt, double hold) {
  const std::size_t n = scores.shape(0), columns = scores.shape(1);
  if (n == 0 || y.size() != n || weight.size() != n) refuse("scores", "and y and weight must have as many rows.");
  if (!(doubt > 0.0) || !(hold >= 0.0)) refuse("doubt", "must be positive, and hold not negative.");
  Vector scales(columns), offsets(columns);
  {
    nb::gil_scoped_release unlocked;
    for (std::size_t k = 0; k < columns; ++k) {
      const Samples samples{y.data(), weight.data(), nullptr, n};
      const Line line = LineFit(scores.data() + k * n, samples, doubt, hold).find();
      scales[k] = line.scale;
      offsets[k] = line.offset;
    }
  }
  return nb::make_tuple(to_numpy(std::move(scales)), to_numpy(std::move(offsets)));
}

}  // namespace

void bind_logit_lines(nb::module_& m) {
  m.def("fit_logit_lines", &fit_logit_lines, nb::arg("scores").noconvert(), nb::arg("y").noconvert(),
        nb::arg("weight").noconvert(), nb::arg("doubt"), nb::arg("hold"));
}

}  // namespace clearning
