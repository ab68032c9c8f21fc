// Mirrors: nothing in PyTorch: torchgen writes these overloads from native_functions.yaml.
//
// Ops of networks with an `out=` overload. The kernels of pooling, interpolation and losses write into a tensor of
// their own, so that `foo.out` computes the result and copies it.
#pragma once

#include <ATen/core/library.h>

namespace reftorch::at::native {

// Defines an op together with `foo.out`. The facts are those of both.
template <auto fn, typename... Facts>
void def_with_out_by_copy(Library& m, const LocatedText& schema, CompileTimeFunctionPointer<fn> pointer,
                          const Facts&... facts) {
  m.def(schema, pointer, facts...);
  m.def_out_by_copy(schema, pointer, facts...);
}

} // namespace reftorch::at::native
