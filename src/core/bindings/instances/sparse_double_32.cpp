#include "bindings/solve.hpp"

template nanobind::dict clearning::solve_sparse(Flat<double>, Flat<std::int32_t>, Flat<std::int32_t>, Index,
                                                const nb::dict&);
