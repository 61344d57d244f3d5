#include "bindings/class_solve.hpp"

template nanobind::dict clearning::solve_dense_classes(Matrix<double>, const nb::dict&);
