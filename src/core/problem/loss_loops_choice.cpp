// The table of loss loops that this machine runs.
#include "linalg/instruction_set.hpp"
#include "problem/loss_loops.hpp"

namespace clearning {

namespace baseline {
extern const LossTable loss_table;
}
#ifdef CLEARNING_X86
namespace avx2 {
extern const LossTable loss_table;
}
namespace avx512 {
extern const LossTable loss_table;
}
#endif

const LossTable& loss_loops() {
#ifdef CLEARNING_X86
  static const LossTable& chosen = pick(&baseline::loss_table, &avx2::loss_table, &avx512::loss_table);
  return chosen;
#else
  return baseline::loss_table;
#endif
}

}  // namespace clearning
