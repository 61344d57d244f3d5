// Picks the table of hot loops once, by what the processor can do.
#include <cstdlib>
#include <cstring>

#include "kernels.hpp"

namespace clearning {

namespace baseline { extern const Kernels table; }
#ifdef CLEARNING_X86
namespace avx2 { extern const Kernels table; }
namespace avx512 { extern const Kernels table; }
#endif

namespace {

const Kernels& choose() {
#ifdef CLEARNING_X86
  const char* wish = std::getenv("CLEARNING_SIMD");
  const bool has_avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  const bool has_avx512 = has_avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                          __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw");
  if (wish && std::strcmp(wish, "baseline") == 0) return baseline::table;
  if (wish && std::strcmp(wish, "avx2") == 0 && has_avx2) return avx2::table;
  if (has_avx512) return avx512::table;
  if (has_avx2) return avx2::table;
#endif
  return baseline::table;
}

}  // namespace

const Kernels& kernels() {
  static const Kernels& chosen = choose();
  return chosen;
}

}  // namespace clearning
