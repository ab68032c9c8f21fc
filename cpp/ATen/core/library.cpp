// Mirrors: aten/src/ATen/core/library.cpp
#include <ATen/core/library.h>

namespace reftorch::at {

OperatorEntry* Library::define(FunctionSchema schema, int variants) {
  return Dispatcher::singleton().registerDef(std::move(schema), variants, file_, line_);
}

void Library::implement(OperatorEntry* entry, c10::DispatchKey key, KernelFunction kernel) {
  Dispatcher::singleton().registerImpl(entry, key, kernel);
}

// add.Tensor(Tensor self, ...) -> Tensor    becomes    add_.Tensor(Tensor(a!) self, ...) -> Tensor(a!)
OperatorEntry* Library::define_inplace(OperatorEntry* functional) {
  FunctionSchema schema = functional->schema;
  schema.name += "_";
  schema.arguments[0].alias = schema.returns[0].alias = {'a', true};
  OperatorEntry* entry = define(std::move(schema), functional->variants & (variants::METHOD | variants::FUNCTION));
  entry->functional = functional;
  functional->inplace = entry;
  return entry;
}

// max.dim(...) -> (Tensor values, Tensor indices)    becomes    max.dim_out(..., *, Tensor(a!) values, Tensor(b!)
// indices) -> ...
OperatorEntry* Library::define_out(OperatorEntry* functional) {
  FunctionSchema schema = functional->schema;
  schema.overload_name += schema.overload_name.empty() ? "out" : "_out";
  char letter = 'a';
  for (Argument& ret : schema.returns) {
    Argument arg;
    arg.name = ret.name.empty() ? "out" : ret.name;
    arg.kwarg_only = true;
    arg.alias = ret.alias = {letter++, true};
    schema.arguments.push_back(arg);
  }
  OperatorEntry* entry = define(std::move(schema), functional->variants);
  entry->functional = functional;
  functional->out = entry;
  return entry;
}

} // namespace reftorch::at
