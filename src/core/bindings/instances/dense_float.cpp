#include "bindings/solve.hpp"

template nanobind::dict clearning::solve_dense(Matrix<float>, const nb::dict&);
