#include "bindings/solve.hpp"

template nanobind::dict clearning::solve_kernel(Matrix<float>, Matrix<float>, const nb::dict&);
