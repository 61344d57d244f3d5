#include "bindings/class_solve.hpp"

template nanobind::dict clearning::solve_sparse_classes(Flat<float>, Flat<std::int64_t>, Flat<std::int64_t>, Index,
                                                        const nb::dict&);
