#include "bindings/solve.hpp"

template nanobind::dict clearning::solve_dense(Matrix<double>, const nb::dict&);
