// BLAS and LAPACK as SciPy carries them: pointers taken from its Cython interface, nothing linked.
#pragma once

namespace clearning::blas {

inline void (*dsyrk)(char* uplo, char* trans, int* n, int* k, double* alpha, double* a, int* lda, double* beta,
                     double* c, int* ldc) = nullptr;
inline void (*dgemm)(char* transa, char* transb, int* m, int* n, int* k, double* alpha, double* a, int* lda, double* b,
                     int* ldb, double* beta, double* c, int* ldc) = nullptr;
inline void (*dtrsv)(char* uplo, char* trans, char* diag, int* n, double* a, int* lda, double* x, int* incx) = nullptr;
inline void (*dpotrf)(char* uplo, int* n, double* a, int* lda, int* info) = nullptr;
inline void (*ssyrk)(char* uplo, char* trans, int* n, int* k, float* alpha, float* a, int* lda, float* beta, float* c,
                     int* ldc) = nullptr;
inline void (*sgemm)(char* transa, char* transb, int* m, int* n, int* k, float* alpha, float* a, int* lda, float* b,
                     int* ldb, float* beta, float* c, int* ldc) = nullptr;
inline void (*sgemv)(char* trans, int* m, int* n, float* alpha, float* a, int* lda, float* x, int* incx, float* beta,
                     float* y, int* incy) = nullptr;
inline void (*strsm)(char* side, char* uplo, char* transa, char* diag, int* m, int* n, float* alpha, float* a, int* lda,
                     float* b, int* ldb) = nullptr;
inline void (*strsv)(char* uplo, char* trans, char* diag, int* n, float* a, int* lda, float* x, int* incx) = nullptr;
inline void (*spotrf)(char* uplo, int* n, float* a, int* lda, int* info) = nullptr;
inline void (*dpotrs)(char* uplo, int* n, int* nrhs, double* a, int* lda, double* b, int* ldb, int* info) = nullptr;
inline void (*dpstrf)(char* uplo, int* n, double* a, int* lda, int* order, int* rank, double* tol, double* work,
                      int* info) = nullptr;
inline void (*dpotri)(char* uplo, int* n, double* a, int* lda, int* info) = nullptr;

// By the type of the numbers.
inline void syrk(char* uplo, char* trans, int* n, int* k, double* alpha, double* a, int* lda, double* beta, double* c,
                 int* ldc) {
  dsyrk(uplo, trans, n, k, alpha, a, lda, beta, c, ldc);
}
inline void syrk(char* uplo, char* trans, int* n, int* k, float* alpha, float* a, int* lda, float* beta, float* c,
                 int* ldc) {
  ssyrk(uplo, trans, n, k, alpha, a, lda, beta, c, ldc);
}
inline void gemm(char* transa, char* transb, int* m, int* n, int* k, double* alpha, double* a, int* lda, double* b,
                 int* ldb, double* beta, double* c, int* ldc) {
  dgemm(transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}
inline void gemm(char* transa, char* transb, int* m, int* n, int* k, float* alpha, float* a, int* lda, float* b,
                 int* ldb, float* beta, float* c, int* ldc) {
  sgemm(transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

}  // namespace clearning::blas
