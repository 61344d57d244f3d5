// Ascents on the hinge's dual, from weights of zero.
#include "parts.hpp"
#include "problem/dense.hpp"
#include "problem/sparse.hpp"
#include "solver/block_ascent.hpp"
#include "solver/row_ascent.hpp"

namespace clearning::parts {

namespace {

nb::dict answer_of(const DualState& at, int rounds) {
  nb::dict out;
  out["s"] = numpy(at.s);
  out["residual"] = numpy(at.residual);
  out["intercept"] = at.intercept;
  out["gap"] = at.gap;
  out["rounds"] = rounds;
  return out;
}

constexpr auto no_pause = [] {};

// One penalty after the other, as along a path: the state of each is the start of the next.
nb::dict block_ascent(const Matrix<double>& k, const In& y, const In& weight, const In& offset, const In& ridges,
                      double goal, int most, bool intercept) {
  const HeldSamples samples = hold(y, weight, offset);
  const auto n = static_cast<Index>(y.size());
  const Dense<double> kernel{k.data(), n, n};
  DualState at;
  at.start(samples.view());
  int rounds = 0;
  for (std::size_t r = 0; r < ridges.size(); ++r) {
    rounds = 0;
    BlockAscent<Dense<double>>(kernel, samples.view(), intercept).solve(at, ridges(r), goal, most, rounds, no_pause);
  }
  return answer_of(at, rounds);
}

nb::dict row_ascent(const Flat<double>& data, const Flat<std::int32_t>& indices, const Flat<std::int32_t>& starts,
                    const In& y, const In& weight, const In& offset, const In& ridges, const In& factor, double goal,
                    int most, bool intercept) {
  const HeldSamples samples = hold(y, weight, offset);
  const Sparse<double, std::int32_t> design(data.data(), indices.data(), starts.data(), static_cast<Index>(y.size()),
                                            static_cast<Index>(starts.size()) - 1);
  Sparse<double, std::int32_t>::Workspace space;
  const auto& rows = design.rows(space);
  DualState at;
  at.start(samples.view());
  Vector b;
  int rounds = 0;
  for (std::size_t r = 0; r < ridges.size(); ++r)
    RowAscent(rows, samples.view(), intercept).solve(at, b, ridges(r), copy(factor), goal, most, rounds, no_pause);
  nb::dict out = answer_of(at, rounds);
  out["b"] = numpy(b);
  return out;
}

}  // namespace

void bind_ascents(nb::module_& m) {
  m.def("block_ascent", &block_ascent);
  m.def("row_ascent", &row_ascent);
}

}  // namespace clearning::parts
