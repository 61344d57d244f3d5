// One coefficient under the elastic net with bounds, and what columns' correlations can be.
#include "problem/penalty.hpp"

#include "parts.hpp"
#include "solver/references.hpp"

namespace clearning::parts {

void bind_penalty(nb::module_& m) {
  m.def("coordinate_minimiser", &coordinate_minimiser);
  m.def("optimality_violation", &optimality_violation);
  m.def("sign_range", &sign_range);
  m.def("penalty_conjugate", &penalty_conjugate);
  m.def("is_constrained", &is_constrained);
  nb::class_<References>(m, "References")
      .def(nb::init<>())
      .def("remember",
           [](References& r, const In& theta, const In& products) { r.remember(copy(theta), copy(products)); })
      .def("predict", [](References& r, const In& theta, std::size_t columns) {
        Vector out(columns);
        const double radius = r.predict(copy(theta), out);
        return nb::make_tuple(numpy(out), radius);
      });
}

}  // namespace clearning::parts
