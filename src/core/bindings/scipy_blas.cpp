#include "bindings/scipy_blas.hpp"

#include <nanobind/nanobind.h>

#include "linalg/blas.hpp"

namespace clearning {

namespace nb = nanobind;

namespace {

template <class Pointer>
void take(Pointer& target, const nb::dict& functions, const char* name) {
  const auto capsule = nb::cast<nb::capsule>(functions[name]);
  target = reinterpret_cast<Pointer>(PyCapsule_GetPointer(capsule.ptr(), PyCapsule_GetName(capsule.ptr())));
}

nb::dict functions_of(const char* module) {
  return nb::cast<nb::dict>(nb::module_::import_(module).attr("__pyx_capi__"));
}

}  // namespace

void load_blas() {
  const nb::dict b = functions_of("scipy.linalg.cython_blas"), l = functions_of("scipy.linalg.cython_lapack");
  take(blas::dsyrk, b, "dsyrk");
  take(blas::dgemm, b, "dgemm");
  take(blas::dtrsv, b, "dtrsv");
  take(blas::ssyrk, b, "ssyrk");
  take(blas::sgemm, b, "sgemm");
  take(blas::sgemv, b, "sgemv");
  take(blas::strsm, b, "strsm");
  take(blas::strsv, b, "strsv");
  take(blas::spotrf, l, "spotrf");
  take(blas::dpotrf, l, "dpotrf");
  take(blas::dpotrs, l, "dpotrs");
  take(blas::dpstrf, l, "dpstrf");
  take(blas::dpotri, l, "dpotri");
}

}  // namespace clearning
