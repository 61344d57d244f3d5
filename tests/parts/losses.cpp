// Each loss by its members, and by the loops that are compiled once an instruction set.
#include "parts.hpp"
#include "problem/loss_loops.hpp"

namespace clearning::parts {

namespace {

Loss loss_by(const std::string& kind, double rho, double u, double delta, double kappa) {
  return make_loss(kind, {.rho = rho, .u = u, .delta = delta, .kappa = kappa});
}

template <class Ask>
auto ask(const Loss& loss, Ask&& question) {
  return std::visit(std::forward<Ask>(question), loss);
}

nb::tuple at(const Loss& loss, double z) {
  const LossPoint p = ask(loss, [&](const auto& phi) { return phi.at(z); });
  return nb::make_tuple(p.value, p.weight, p.curvature);
}

nb::tuple sums_of(const LossSums& sums) { return nb::make_tuple(sums.value, sums.slope, sums.curvature, sums.mass); }

nb::tuple evaluate_all(const Loss& loss, const In& y, const In& weight, const In& score, double a) {
  Vector e(y.size()), h(y.size());
  const Samples samples{y.data(), weight.data(), nullptr, y.size()};
  const LossSums sums = evaluate(loss, samples, score.data(), a, e.data(), h.data());
  return nb::make_tuple(sums_of(sums), numpy(e), numpy(h));
}

}  // namespace

void bind_losses(nb::module_& m) {
  nb::class_<Loss>(m, "Loss")
      .def("at", &at)
      .def("majoriser",
           [](const Loss& l, double z) { return ask(l, [&](const auto& phi) { return phi.majoriser(z); }); })
      .def("fenchel_young", [](const Loss& l, double z,
                               double s) { return ask(l, [&](const auto& phi) { return phi.fenchel_young(z, s); }); })
      .def("near_gap", [](const Loss& l, double z,
                          double s) { return ask(l, [&](const auto& phi) { return phi.near_gap(z, s); }); })
      .def("scaled_gap", [](const Loss& l, double z,
                            double c) { return ask(l, [&](const auto& phi) { return phi.scaled_gap(z, c); }); })
      .def("weight_limit", [](const Loss& l) { return ask(l, [](const auto& phi) { return phi.weight_limit(); }); })
      .def("least_lift", [](const Loss& l) { return ask(l, [](const auto& phi) { return phi.least_lift; }); })
      // Over samples, in the instructions that were chosen.
      .def("evaluate", &evaluate_all)
      .def("slopes",
           [](const Loss& l, const In& y, const In& weight, const In& score, double a) {
             return sums_of(slopes(l, {y.data(), weight.data(), nullptr, y.size()}, score.data(), a));
           })
      .def("total_scaled_gap", [](const Loss& l, const In& y, const In& weight, const In& score, double a,
                                  double positive, double negative) {
        return scaled_gap(l, {y.data(), weight.data(), nullptr, y.size()}, score.data(), a, positive, negative);
      });
  m.def("loss", &loss_by, nb::arg("kind"), nb::arg("rho") = 1.0, nb::arg("u") = 1.0, nb::arg("delta") = 2.0,
        nb::arg("kappa") = 1.0);
}

}  // namespace clearning::parts
