// Mirrors: nothing in PyTorch: the checks that a compiler adds to kernels that are compiled at run time
//
// Note [Checks that know the line]
// An index outside of an array whose size the compiler knows, a pointer that is not aligned for its type, a null
// pointer and a division of an integer by zero: the options -fsanitize=bounds,alignment,null,integer-divide-by-zero
// make the compiler call a function of libubsan for each. That library is not linked. The functions below have its
// names and parameters, and end the kernel with the line, the thread and the values. They are hidden, so each library
// of kernels has its own, and a build of reftorch with libubsan keeps that. On a GPU, a wrong index and a division by
// zero give any value.
#pragma once

#include <cuda_runtime.h>

namespace cudasim {

extern const char* const kDivision; // the words for a division by zero

// What the compiler says about a check, in the form of gcc and clang.
struct CheckedLine {
  const char* file;
  unsigned line, column;
};
struct CheckedType {
  unsigned short kind, info;
  char name[1]; // as a text with quotation marks
};
struct CheckedIndex {
  CheckedLine at;
  const CheckedType *array, *index;
};
struct CheckedDivision {
  CheckedLine at;
  const CheckedType* type;
};
struct CheckedPointer {
  CheckedLine at;
  const CheckedType* type;
  unsigned char log_alignment, use;
};
#pragma GCC visibility push(default)
// End the kernel; outside of kernels they do nothing. `place` is the address of the check in the kernel's code.
void index_outside(const CheckedIndex& check, const void* index, const void* place);
void division_by_zero(const CheckedDivision& check, const void* place);
void pointer_misaligned(const CheckedPointer& check, const void* pointer, const void* place);
#pragma GCC visibility pop

} // namespace cudasim

#if defined(CUDA_SIM_CHECKED) // in the text of a kernel
extern "C" {
#define CHECK_FUNCTION __attribute__((visibility("hidden"), used)) CUDA_SIM_SILENT
CHECK_FUNCTION void __ubsan_handle_out_of_bounds(void* check, void* index) {
  cudasim::index_outside(*static_cast<cudasim::CheckedIndex*>(check), index, __builtin_return_address(0));
}
CHECK_FUNCTION void __ubsan_handle_divrem_overflow(void* check, void*, void*) {
  cudasim::division_by_zero(*static_cast<cudasim::CheckedDivision*>(check), __builtin_return_address(0));
}
CHECK_FUNCTION void __ubsan_handle_type_mismatch_v1(void* check, void* pointer) {
  cudasim::pointer_misaligned(*static_cast<cudasim::CheckedPointer*>(check), pointer, __builtin_return_address(0));
}
#undef CHECK_FUNCTION
}
#endif
