// Loops that are compiled once an instruction set, and the choice among them at run time.
#pragma once

namespace clearning {

enum class InstructionSet { baseline, avx2, avx512 };

// The widest that this machine has; CLEARNING_SIMD=baseline|avx2|avx512 asks for another. Throws where that names
// none, or one that the machine or the build does not have.
InstructionSet instruction_set();
const char* name_of(InstructionSet set);

#ifdef CLEARNING_X86
template <class Table>
const Table& pick(const Table* baseline, const Table* avx2, const Table* avx512) {
  switch (instruction_set()) {
    case InstructionSet::avx512: return *avx512;
    case InstructionSet::avx2: return *avx2;
    case InstructionSet::baseline: break;
  }
  return *baseline;
}
#endif

}  // namespace clearning
