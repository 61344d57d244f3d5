#include "bindings/class_solve.hpp"

template nanobind::dict clearning::solve_kernel_classes(Matrix<float>, Matrix<float>, const nb::dict&);
