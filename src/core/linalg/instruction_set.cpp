#include "linalg/instruction_set.hpp"

#include <cstdlib>
#include <stdexcept>
#include <string>

#include "linalg/vector_loops.hpp"

namespace clearning {

namespace {

bool has(InstructionSet set) {
#ifdef CLEARNING_X86
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw");
  if (set == InstructionSet::avx512) return avx512;
  if (set == InstructionSet::avx2) return avx2;
#endif
  return set == InstructionSet::baseline;
}

InstructionSet choose() {
  constexpr InstructionSet widest_first[] = {InstructionSet::avx512, InstructionSet::avx2, InstructionSet::baseline};
  const char* wish = std::getenv("CLEARNING_SIMD");
  if (wish == nullptr || *wish == '\0') {
    for (const InstructionSet set : widest_first)
      if (has(set)) return set;
    return InstructionSet::baseline;
  }
  for (const InstructionSet set : widest_first)
    if (std::string(wish) == name_of(set)) {
      if (has(set)) return set;
      throw std::invalid_argument("CLEARNING_SIMD=" + std::string(wish) +
                                  " asks for instructions that this machine does not have; unset it.");
    }
  throw std::invalid_argument("CLEARNING_SIMD=" + std::string(wish) + " must be baseline, avx2 or avx512, or unset.");
}

}  // namespace

InstructionSet instruction_set() {
  static const InstructionSet chosen = choose();
  return chosen;
}

const char* name_of(InstructionSet set) {
  switch (set) {
    case InstructionSet::avx512: return "avx512";
    case InstructionSet::avx2: return "avx2";
    case InstructionSet::baseline: break;
  }
  return "baseline";
}

namespace baseline {
extern const VectorLoops vector_loops;
}
#ifdef CLEARNING_X86
namespace avx2 {
extern const VectorLoops vector_loops;
}
namespace avx512 {
extern const VectorLoops vector_loops;
}
#endif

const VectorLoops& loops() {
#ifdef CLEARNING_X86
  static const VectorLoops& chosen = pick(&baseline::vector_loops, &avx2::vector_loops, &avx512::vector_loops);
  return chosen;
#else
  return baseline::vector_loops;
#endif
}

}  // namespace clearning
