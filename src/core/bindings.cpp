// The Python face of the core: one file, no mathematics.
#include <nanobind/nanobind.h>

namespace nb = nanobind;

NB_MODULE(_core, m) {
  m.doc() = "Compiled core of clearning.";
  m.attr("__version__") = "0.1.0";
}
