// Mirrors: nothing in PyTorch; see bounds.h
#include <c10/util/bounds.h>

#include <stdexcept>
#include <string>

namespace reftorch::c10 {

void report_out_of_bounds(size_t index, size_t size) {
  throw std::logic_error("INTERNAL ASSERT FAILED: index " + std::to_string(index) + " is out of bounds of a list of " +
                         std::to_string(size) + " elements");
}

} // namespace reftorch::c10
