#include "bindings/scipy_blas.hpp"
#include "linalg/instruction_set.hpp"
#include "parts.hpp"

NB_MODULE(_parts, m) {
  using namespace clearning;
  m.doc() = "The core's parts one by one, for tests.";
  m.attr("simd") = name_of(instruction_set());
  load_blas();
  parts::bind_losses(m);
  parts::bind_penalty(m);
  parts::bind_linalg(m);
  parts::bind_steps(m);
  parts::bind_ascents(m);
  parts::bind_bench(m);
  parts::bind_classes(m);
}
