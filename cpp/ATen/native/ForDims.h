// Mirrors: nothing in PyTorch: native_functions.yaml has an entry for each number of dimensions.
//
// Schemas of ops that exist for several numbers of dimensions, such as conv1d, conv2d and conv3d. A template registers
// the ops of one number: m.def(for_dims(dims, "conv#d(Tensor input, ..., SymInt[#] stride=1) -> Tensor"), ...).
// .ci/gen_functions.py reads a schema with # as the schemas of one, two and three dimensions.
#pragma once

#include <ATen/core/library.h>

#include <algorithm>

namespace reftorch::at::native {

// Returns `schema` with the number of dimensions in place of each #. The op's place is the line of the call.
inline LocatedText for_dims(int dims, std::string schema, const char* file = __builtin_FILE(),
                            int line = __builtin_LINE()) {
  std::replace(schema.begin(), schema.end(), '#', static_cast<char>('0' + dims));
  return LocatedText(std::move(schema), file, line);
}

} // namespace reftorch::at::native
