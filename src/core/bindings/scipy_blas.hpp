// Takes BLAS and LAPACK from SciPy's Cython interface.
#pragma once

namespace clearning {
void load_blas();
}
