// Mirrors: aten/src/ATen/core/ivalue.cpp
#include <ATen/core/ivalue.h>

namespace reftorch::at {

static_assert(sizeof(Tensor) == sizeof(void*), "IValue keeps a Tensor and a pointer in the same word");

IValue::IValue(const Generator& g) : IValue() {
  if (g.defined()) {
    *this = IValue(Tag::Generator, new BoxedValue<Generator>(g));
  }
}

Generator IValue::toGenerator() const {
  return boxed<Generator>(Tag::Generator, "Generator");
}

void IValue::report_kind(const char* expected) const {
  TORCH_INTERNAL_ASSERT(false, "Expected an IValue of kind ", expected, " but it holds ", tagKind());
}

const char* IValue::tagKind() const {
  static const char* const names[] = {"float",   "int",    "int",      "bool",     "Device",
                                      "None",    "Tensor", "Tensor",   "str",      "int[]",
                                      "float[]", "bool[]", "Scalar[]", "Tensor[]", "Generator"};
  return names[static_cast<int>(tag_)];
}

} // namespace reftorch::at
