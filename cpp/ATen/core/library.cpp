// Mirrors: aten/src/ATen/core/library.cpp
#include <ATen/core/library.h>

#include <ATen/Functions.h>
#include <ATen/Resize.h>

#include <algorithm>

namespace reftorch::at {

// Returns the name of the op of which the schema is an in-place or out form: "add.Tensor" for "add_.Tensor" and for
// "add.Tensor_out". Returns an empty text for any other op.
static std::string functional_name(const FunctionSchema& schema) {
  std::string name = schema.name, overload = schema.overload_name;
  if (schema.is_inplace()) {
    name.pop_back();
  } else if (schema.is_out()) { // "out", or "<overload>_out"
    overload.resize(overload.size() - std::min<size_t>(overload.size(), overload == "out" ? 3 : 4));
  } else {
    return "";
  }
  return overload.empty() ? name : name + "." + overload;
}

// Returns whether one Python function with out=None can serve both ops: the out form must have the same arguments,
// followed by its outputs.
static bool takes_the_same(const FunctionSchema& functional, const FunctionSchema& out) {
  if (functional.arguments.size() + out.returns.size() != out.arguments.size()) {
    return false;
  }
  for (size_t i = 0; i < functional.arguments.size(); i++) {
    if (functional.arguments[i].name != out.arguments[i].name) {
      return false;
    }
  }
  return true;
}

static void link(OperatorEntry* form, OperatorEntry* functional) {
  form->functional = functional;
  if (form->schema.is_inplace()) {
    functional->inplace = form;
  } else if (functional->out == nullptr && takes_the_same(functional->schema, form->schema) &&
             (form->variants != variants::NONE || functional->variants == variants::NONE)) {
    functional->out = form;
  }
}

// Links an op with its in-place and out forms. The forms may be defined in several files, which are initialized in any
// order, so the op that is defined last finds the others.
static void link_forms(OperatorEntry* entry) {
  Dispatcher& dispatcher = Dispatcher::singleton();
  const FunctionSchema& schema = entry->schema;
  const std::string functional = functional_name(schema);
  if (!functional.empty()) {
    if (OperatorEntry* found = dispatcher.findSchema(functional)) {
      link(entry, found);
    }
    return;
  }
  const std::string suffix = schema.overload_name.empty() ? "" : "." + schema.overload_name;
  for (const std::string& form :
       {schema.name + "_" + suffix, schema.name + (suffix.empty() ? ".out" : suffix + "_out")}) {
    OperatorEntry* found = dispatcher.findSchema(form);
    if (found != nullptr && functional_name(found->schema) == schema.name + suffix) {
      link(found, entry);
    }
  }
}

AnnotatedKernel Library::annotate(const LocatedText& where, const char* function, const void* address,
                                  KernelFunction kernel) {
  std::string name = function;
  if (name.size() > 2 && name.front() == '(') { // TORCH_FN((f<a, b>)): the parentheses hide the comma from the macro
    name = name.substr(1, name.size() - 2);
  }
  return {kernel, std::move(name), where.file, where.line, {}, address};
}

OperatorEntry* Library::define(const LocatedText& schema, const OperatorFacts& facts) {
  OperatorEntry* entry = define(FunctionSchema::parse(schema.text), facts.variants, facts.tags, schema);
  if (facts.functional != nullptr) {
    link(entry, &Dispatcher::singleton().findSchemaOrThrow(facts.functional).entry());
  }
  return entry;
}

OperatorEntry* Library::define(FunctionSchema schema, int variants, TagSet tags, const LocatedText& where) {
  OperatorEntry* entry = Dispatcher::singleton().registerDef(std::move(schema), variants, tags, where.file, where.line);
  link_forms(entry);
  return entry;
}

void Library::implement(OperatorEntry* entry, const OperatorFacts& facts, const AnnotatedKernel& kernel) {
  if (facts.stubs.empty()) {
    implement(entry, c10::DispatchKey::CompositeExplicitAutograd, kernel);
    return;
  }
  for (const Backend& backend : kBackends) {
    AnnotatedKernel for_device = kernel;
    for_device.stubs = facts.stubs;
    implement(entry, backend.key, std::move(for_device));
  }
}

void Library::implement(OperatorEntry* entry, c10::DispatchKey key, AnnotatedKernel kernel) {
  Dispatcher::singleton().registerImpl(entry, key, std::move(kernel));
}

void Library::fallback(c10::DispatchKey key, BoxedKernel fn, const char* file, int line) {
  Dispatcher::singleton().registerFallback(
      key, {KernelFunction::makeFromBoxed(fn), "fallback", file, line, {}, reinterpret_cast<const void*>(fn)});
}

// Derives the schema of the in-place form, for example
//   add.Tensor(Tensor self, ...) -> Tensor    becomes    add_.Tensor(Tensor(a!) self, ...) -> Tensor(a!)
OperatorEntry* Library::define_inplace(const LocatedText& where, OperatorEntry* functional) {
  FunctionSchema schema = functional->schema;
  schema.name += "_";
  schema.arguments[0].alias = schema.returns[0].alias = {"a", true};
  return define(std::move(schema), functional->variants & ~variants::LINALG, functional->tags, where);
}

// Derives the schema of the out form, for example
//   max.dim(...) -> (Tensor values, Tensor indices)    becomes
//   max.dim_out(..., *, Tensor(a!) values, Tensor(b!) indices) -> ...
// `schema` is that of the functional form. An out form with a given overload name has variants::NONE: only torch.ops
// shows it.
OperatorEntry* Library::define_out(const LocatedText& where, FunctionSchema schema, OperatorEntry* functional,
                                   const char* overload) {
  if (overload != nullptr) {
    schema.overload_name = overload;
  } else {
    schema.overload_name += schema.overload_name.empty() ? "out" : "_out";
  }
  const std::string name = overload != nullptr ? overload : "out"; // of outputs without a name: out, or out0, out1
  char letter = 'a';
  for (Argument& ret : schema.returns) {
    Argument arg;
    arg.name = !ret.name.empty() ? ret.name : schema.returns.size() == 1 ? name : name + std::to_string(letter - 'a');
    arg.kwarg_only = true;
    arg.alias = ret.alias = {std::string(1, letter++), true};
    schema.arguments.push_back(arg);
  }
  OperatorEntry* out =
      define(std::move(schema), overload != nullptr ? variants::NONE : functional->variants, functional->tags, where);
  out->functional = functional;
  return out;
}

static void call_original(const OperatorHandle& op, DispatchKeySet, Stack* stack) {
  OperatorHandle(op.entry().alias_of).callBoxed(stack);
}

void Library::def_alias(const LocatedText& name, const std::string& of) {
  std::vector<OperatorEntry*> originals;
  for (const auto& entry : Dispatcher::singleton().entries()) {
    if (entry->schema.name == of || entry->schema.name == of + "_") {
      originals.push_back(entry.get());
    }
  }
  std::unordered_map<const OperatorEntry*, OperatorEntry*> alias;
  for (OperatorEntry* original : originals) {
    FunctionSchema schema = original->schema;
    schema.name = schema.name == of ? name.text : name.text + "_";
    OperatorEntry* entry = alias[original] = define(std::move(schema), original->variants, original->tags, name);
    entry->alias_of = original;
    implement(entry, c10::DispatchKey::CompositeImplicitAutograd,
              annotate(name, "call_original", reinterpret_cast<const void*>(&call_original),
                       KernelFunction::makeFromBoxed(&call_original)));
  }
  auto alias_or_null = [&](const OperatorEntry* entry) { return entry != nullptr ? alias.at(entry) : nullptr; };
  for (const OperatorEntry* original : originals) {
    OperatorEntry* entry = alias[original];
    entry->functional = alias_or_null(original->functional);
    entry->inplace = alias_or_null(original->inplace);
    entry->out = alias_or_null(original->out);
  }
}

void impl::copy_to_out(const Tensor& result, Tensor& out, OutDtype dtype) {
  const bool castable = dtype == OutDtype::Castable;
  TORCH_CHECK(castable || out.scalar_type() == result.scalar_type(), "Expected out tensor to have dtype ",
              result.scalar_type(), ", but got ", out.scalar_type(), " instead");
  TORCH_CHECK(!castable || c10::canCast(result.scalar_type(), out.scalar_type()),
              "Expected result to be safely castable from ", result.scalar_type(), " dtype, but got result with dtype ",
              out.scalar_type());
  if (resize_output(out, result.sizes()) && !castable) { // newly allocated memory gets the order of the result, too
    out.unsafeGetTensorImpl()->set_sizes_and_strides(result.sizes(), result.strides(), out.storage_offset());
  }
  at::copy_(out, result);
}

} // namespace reftorch::at
