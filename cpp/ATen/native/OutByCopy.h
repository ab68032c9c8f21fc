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

// Defines an op with two results together with `foo.out`, whose second output is `indices` and whose first has the
// given name.
template <auto fn, typename... Facts>
void def_with_indices_out_by_copy(Library& m, const LocatedText& schema, const std::string& first_out,
                                  CompileTimeFunctionPointer<fn> pointer, const Facts&... facts) {
  m.def(schema, pointer, facts...);
  std::string named = schema.text;
  named.replace(named.find("-> ("), std::string::npos, "-> (Tensor " + first_out + ", Tensor indices)");
  m.def_out_by_copy(LocatedText(named, schema.file, schema.line), pointer, facts...);
}

} // namespace reftorch::at::native
