// Mirrors: aten/src/ATen/core/function_schema.h
// An op's signature as data. Everything that is the same for all ops is derived from it: the Python binding, the
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
  TensorList,
  OptionalTensorList,
  ScalarType,
  Layout,
  Device,
  MemoryFormat,
  Generator,
};

// `Tensor(a)`: the result is a view of the argument with the same letter. `Tensor(a!)`: the op writes to it.
struct AliasInfo {
  std::string set; // "a"; empty where there is no annotation
  bool is_write = false;
};

struct Argument {
  std::string name;
  TypeKind type = TypeKind::Tensor;
  bool optional = false;  // `T?`
  int list_size = 0;      // `int[2]`: one int stands for two
  bool is_symint = false; // `SymInt`: an int that may come as whatever Python's __index__ reads, a tensor included
  bool kwarg_only = false;
  AliasInfo alias;
  bool has_default = false;
  IValue default_value;

  // As the schema writes it: `Tensor(a!)`, `int[2]?`.
  std::string type_str() const;
};

class TORCH_API FunctionSchema final {
 public:
  // Reads "add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor". The name may begin with a namespace,
  // "mylib::add"; without one the op belongs to aten. Throws RuntimeError that points at the place it could not read.
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
  // -1 where there is no such argument.
  int argument_index(const std::string& name) const;
  // Some argument is written to, and the op is called `foo_`.
  bool is_inplace() const;
  // Some keyword argument `out` is written to.
  bool is_out() const;
};

} // namespace reftorch::at
