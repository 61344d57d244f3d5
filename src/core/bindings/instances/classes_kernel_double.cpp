#include "bindings/class_solve.hpp"

template nanobind::dict clearning::solve_kernel_classes(Matrix<double>, Matrix<double>, const nb::dict&);
