// Mirrors: aten/src/ATen/core/library.cpp
#include <ATen/core/library.h>

#include <ATen/Functions.h>
#include <ATen/Resize.h>

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

static void call_original(const OperatorHandle& op, DispatchKeySet, Stack* stack) {
  OperatorHandle(op.entry().alias_of).callBoxed(stack);
}

void Library::def_alias(const std::string& name, const std::string& of) {
  std::vector<OperatorEntry*> originals;
  for (const auto& entry : Dispatcher::singleton().entries()) {
    if (entry->schema.name == of || entry->schema.name == of + "_") {
      originals.push_back(entry.get());
    }
  }
  std::unordered_map<const OperatorEntry*, OperatorEntry*> alias;
  for (OperatorEntry* original : originals) {
    FunctionSchema schema = original->schema;
    schema.name = schema.name == of ? name : name + "_";
    OperatorEntry* entry = alias[original] = define(std::move(schema), original->variants);
    entry->alias_of = original;
    implement(entry, c10::DispatchKey::CompositeImplicitAutograd, KernelFunction::makeFromBoxed(&call_original));
  }
  auto alias_or_null = [&](const OperatorEntry* entry) { return entry != nullptr ? alias.at(entry) : nullptr; };
  for (const OperatorEntry* original : originals) {
    OperatorEntry* entry = alias[original];
    entry->functional = alias_or_null(original->functional);
    entry->inplace = alias_or_null(original->inplace);
    entry->out = alias_or_null(original->out);
  }
}

void impl::copy_to_out(const Tensor& result, Tensor& out) {
  TORCH_CHECK(c10::canCast(result.scalar_type(), out.scalar_type()), "result type ", result.scalar_type(),
              " can't be cast to the desired output type ", out.scalar_type());
  resize_output(out, result.sizes());
  at::copy_(out, result);
}

} // namespace reftorch::at
