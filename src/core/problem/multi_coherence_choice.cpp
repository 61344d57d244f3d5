// The loops over samples and classes that this machine runs.
#include "linalg/instruction_set.hpp"
#include "problem/multi_coherence.hpp"

namespace clearning {

namespace baseline {
extern const ClassLoops class_loop_table;
}
#ifdef CLEARNING_X86
namespace avx2 {
extern const ClassLoops class_loop_table;
}
namespace avx512 {
extern const ClassLoops class_loop_table;
}
#endif

const ClassLoops& class_loops() {
#ifdef CLEARNING_X86
  static const ClassLoops& chosen =
      pick(&baseline::class_loop_table, &avx2::class_loop_table, &avx512::class_loop_table);
  return chosen;
#else
  return baseline::class_loop_table;
#endif
}

}  // namespace clearning
