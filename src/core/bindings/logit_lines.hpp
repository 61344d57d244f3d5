// Probabilities of held-out scores: the lines of a search's candidates.
#pragma once
#include <nanobind/nanobind.h>

namespace clearning {
void bind_logit_lines(nanobind::module_& m);
}
