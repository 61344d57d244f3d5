// BLAS and LAPACK as SciPy carries them: pointers taken from its Cython interface, nothing linked.
#pragma once

namespace clearning::blas {

inline void (*dsyrk)(char* uplo, char* trans, int* n, int* k, double* alpha, double* a, int* lda, double* beta,
                     double* c, int* ldc) = nullptr;
inline void (*dgemm)(char* transa, char* transb, int* m, int* n, int* k, double* alpha, double* a, int* lda, double* b,
                     int* ldb, double* beta, double* c, int* ldc) = nullptr;
inline void (*dtrsv)(char* uplo, char* trans, char* diag, int* n, double* a, int* lda, double* x, int* incx) = nullptr;
inline void (*dpotrf)(char* uplo, int* n, double* a, int* lda, int* info) = nullptr;
inline void (*dpotrs)(char* uplo, int* n, int* nrhs, double* a, int* lda, double* b, int* ldb, int* info) = nullptr;

}  // namespace clearning::blas
