#include "bindings/solve.hpp"

template nanobind::dict clearning::solve_kernel(Matrix<double>, Matrix<double>, const nb::dict&);
