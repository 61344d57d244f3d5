// Blocks of rows: one block's share of a pass, and the step of a model that was made of all of them.
#pragma once
#include <nanobind/nanobind.h>

namespace clearning {
void bind_blocks(nanobind::module_& m);
}
