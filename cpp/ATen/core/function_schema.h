// Mirrors: aten/src/ATen/core/function_schema.h
//
// The signature of an op as data. Everything that all ops have in common is derived from it: the Python binding, the
// in-place and out variants, what autograd may save by name, the docs. Left out: varargs, symbolic values, type
// variables.
#pragma once

#include <ATen/core/ivalue.h>

#include <string>
#include <vector>

namespace reftorch::at {

enum class TypeKind : uint8_t {
  Tensor,
  Scalar,
  Int,
  Float,
  Bool,
  String,
  IntList,
  FloatList,
  BoolList,
  ScalarList,
  TensorList,
  OptionalTensorList,
  ScalarType,
  Layout,
  Device,
  MemoryFormat,
  Generator,
};

// `Tensor(a)` as a result is a view of the argument with the same letter. `Tensor(a!)` is written to by the op.
struct AliasInfo {
  std::string set; // "a"; empty if there is no annotation
  bool is_write = false;
};

struct Argument {
  std::string name;
  TypeKind type = TypeKind::Tensor;
  bool optional = false;  // `T?`
  int list_size = 0;      // `int[2]`: a single int stands for two equal ones
  bool is_symint = false; // `SymInt`: an int for which Python may pass anything with __index__, also a tensor
  bool kwarg_only = false;
  AliasInfo alias;
  bool has_default = false;
  IValue default_value;

  // Returns the type as the schema writes it: `Tensor(a!)`, `int[2]?`.
  std::string type_str() const;
};

class TORCH_API FunctionSchema final {
 public:
  // Parses "add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor". The name may begin with a namespace,
  // "mylib::add"; without a namespace the op belongs to aten. Raises RuntimeError that shows the position of a syntax
  // error.
  static FunctionSchema parse(const std::string& text);

  std::string ns = "aten";   // the namespace of the op's library
  std::string name;          // "add"
  std::string overload_name; // "Tensor"
  std::vector<Argument> arguments;
  std::vector<Argument> returns;

  // "aten::add"
  std::string qualified_name() const {
    return ns + "::" + name;
  }
  // "aten::add.Tensor", "aten::relu"
  std::string operator_name() const;
  std::string str() const;
  // Returns -1 if there is no such argument.
  int argument_index(const std::string& name) const;
  // Whether the first argument is written to and the name ends with an underscore: `add_`.
  bool is_inplace() const;
  // Whether the last argument is keyword-only and written to: `add.out`.
  bool is_out() const;
  // Whether autograd and vmap see the argument as changed by the op. An op of PyTorch's own returns the arguments that
  // it changes. An argument that the op fills and does not return, such as `noise` of rrelu_with_noise, only carries
  // values to the backward.
  bool is_changed(const Argument& argument) const;
};

} // namespace reftorch::at
