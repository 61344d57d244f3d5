// The loops of a pass that this machine runs.
#include "blocks/loops.hpp"
#include "linalg/instruction_set.hpp"

namespace clearning::blocks {

namespace baseline {
extern const MarginTable margin_table;
extern const ClassRowLoops class_row_table;
}  // namespace baseline
#ifdef CLEARNING_X86
namespace avx2 {
extern const MarginTable margin_table;
extern const ClassRowLoops class_row_table;
}  // namespace avx2
namespace avx512 {
extern const MarginTable margin_table;
extern const ClassRowLoops class_row_table;
}  // namespace avx512

const MarginTable& margin_loops() {
  static const MarginTable& chosen = pick(&baseline::margin_table, &avx2::margin_table, &avx512::margin_table);
  return chosen;
}
const ClassRowLoops& class_row_loops() {
  static const ClassRowLoops& chosen =
      pick(&baseline::class_row_table, &avx2::class_row_table, &avx512::class_row_table);
  return chosen;
}
#else
const MarginTable& margin_loops() { return baseline::margin_table; }
const ClassRowLoops& class_row_loops() { return baseline::class_row_table; }
#endif

}  // namespace clearning::blocks
