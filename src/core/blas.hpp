// BLAS and LAPACK as SciPy carries them: pointers taken from its Cython interface, nothing linked.
#pragma once

namespace clearning::blas {

inline void (*dsyrk)(char* uplo, char* trans, int* n, int* k, double* alpha, double* a, int* lda, double* beta,
                     double* c, int* ldc) = nullptr;
inline void (*ssyrk)(char* uplo, char* trans, int* n, int* k, float* alpha, float* a, int* lda, float* beta, float* c,
                     int* ldc) = nullptr;
inline void (*dgemm)(char* transa, char* transb, int* m, int* n, int* k, double* alpha, double* a, int* lda, double* b,
                     int* ldb, double* beta, double* c, int* ldc) = nullptr;
inline void (*dgemv)(char* trans, int* m, int* n, double* alpha, double* a, int* lda, double* x, int* incx,
                     double* beta, double* y, int* incy) = nullptr;
inline void (*dtrsv)(char* uplo, char* trans, char* diag, int* n, double* a, int* lda, double* x, int* incx) = nullptr;
inline void (*dpotrf)(char* uplo, int* n, double* a, int* lda, int* info) = nullptr;
inline void (*dpotrs)(char* uplo, int* n, int* nrhs, double* a, int* lda, double* b, int* ldb, int* info) = nullptr;

}  // namespace clearning::blas
