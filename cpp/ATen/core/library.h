// Mirrors: torch/library.h
//
// Defines ops: the body of TORCH_LIBRARY_FRAGMENT(aten, m) { m.def(...); } at file scope runs when the library is
// loaded. Left out: a default namespace for the body (an op belongs to aten unless its schema names another namespace),
// and kernels that are lambdas or functors.
#pragma once

#include <ATen/core/boxing/structured.h>
#include <ATen/core/dispatch/Dispatcher.h>

#include <string>
#include <type_traits>
#include <utility>

namespace reftorch::at {

// A function as a template argument, so that its signature and its address are known where its kernels are made.
template <auto fn>
struct CompileTimeFunctionPointer {
  const char* name;
};
#define TORCH_FN(fn) (::reftorch::at::CompileTimeFunctionPointer<&fn>{#fn})

// A text with its place in the source. The place is a default argument, which the compiler evaluates at the call.
struct LocatedText final {
  std::string text;
  const char* file;
  int line;

  LocatedText(std::string text, const char* file = __builtin_FILE(), int line = __builtin_LINE())
      : text(std::move(text)), file(file), line(line) {}
  LocatedText(const char* text, const char* file = __builtin_FILE(), int line = __builtin_LINE())
      : text(text), file(file), line(line) {}
};

// The forms that m.def_structured makes in addition to the functional form.
namespace derive {
enum class Forms : uint8_t { NONE = 0, INPLACE = 1, OUT = 2, ALL = INPLACE | OUT };
constexpr Forms NONE = Forms::NONE, INPLACE = Forms::INPLACE, OUT = Forms::OUT, ALL = Forms::ALL;
} // namespace derive

// The stubs through which an op calls its kernels: m.def(schema, TORCH_FN(fn), kernels(exp_stub)). See
// Note [Kernels per device].
struct Kernels final {
  Stubs stubs;
};
template <typename... Stub>
Kernels kernels(Stub&... stubs) {
  return {{&stubs...}};
}

struct Tags final {
  TagSet set;
};
template <typename... T>
Tags tags(T... tag) {
  Tags result;
  (result.set.add(tag), ...);
  return result;
}

// The functional form of an op whose own name does not tell: transpose_ is a form of transpose.int.
struct FormOf final {
  const char* functional;
};
inline FormOf form_of(const char* functional) {
  return {functional};
}

// Asks for an out form that only torch.ops shows: out_form() for `foo.out`, out_form("grad_input") for
// `foo.grad_input`. In PyTorch, most backward ops have such a form, and most ops whose out form is generated.
struct OutForm final {
  const char* overload;
};
inline OutForm out_form(const char* overload = "out") {
  return {overload};
}

// The facts that a registration gives in addition to schema and function, in any order: variants::METHOD, derive::OUT,
// kernels(exp_stub), tags(Tag::inplace_view), form_of("transpose.int"), out_form("grad_input").
struct TORCH_API OperatorFacts final {
  int variants = at::variants::FUNCTION | at::variants::METHOD;
  at::derive::Forms derived = at::derive::ALL;
  Stubs stubs;
  TagSet tags;
  const char* functional = nullptr;   // of which the op is a form, if the name of the op does not tell
  const char* out_overload = nullptr; // the name of an out form that only torch.ops shows

  template <typename... Facts>
  explicit OperatorFacts(const Facts&... facts) {
    (add(facts), ...);
  }
  bool derives(derive::Forms form) const {
    return (static_cast<int>(derived) & static_cast<int>(form)) != 0;
  }

 private:
  void add(int v) {
    variants = v;
  }
  void add(derive::Forms forms) {
    derived = forms;
  }
  void add(const Kernels& kernels) {
    stubs = kernels.stubs;
  }
  void add(const Tags& t) {
    tags = t.set;
  }
  void add(const FormOf& form) {
    functional = form.functional;
  }
  void add(const OutForm& form) {
    out_overload = form.overload;
  }
};

class TORCH_API Library final {
 public:
  explicit Library(const char* ns) : ns_(ns) {}

  // Defines an op. Its function serves the devices for which all the named stubs have kernels, or every device if no
  // stubs are named. Autograd records the op. The out form that out_form() asks for computes the result and copies it.
  template <auto fn, typename... Facts>
  void def(const LocatedText& schema, CompileTimeFunctionPointer<fn> pointer, const Facts&... facts) {
    const OperatorFacts f(facts...);
    OperatorEntry* functional = define(schema, f);
    implement(functional, f, annotate(schema, pointer, KernelFunction::makeFromUnboxed<fn>()));
    if constexpr ((std::is_same_v<Facts, OutForm> || ...)) {
      using Out = impl::composite_out<fn, impl::OutDtype::Same, decltype(fn)>;
      implement(define_out(schema, functional->schema, functional, f.out_overload), f,
                annotate(schema, pointer, KernelFunction::makeFromUnboxed<&Out::out>()));
    }
  }
  // Defines an op that is made of other ops, which are recorded instead of it. It needs no derivative formula.
  template <auto fn, typename... Facts>
  void def_composite(const LocatedText& schema, CompileTimeFunctionPointer<fn> pointer, const Facts&... facts) {
    implement(define(schema, OperatorFacts(facts...)), c10::DispatchKey::CompositeImplicitAutograd,
              annotate(schema, pointer, KernelFunction::makeFromUnboxed<fn>()));
  }
  // Defines a composite op together with `foo.out`, which computes the result and copies it.
  template <auto fn, impl::OutDtype dtype = impl::OutDtype::Same, typename... Facts>
  void def_composite_with_out(const LocatedText& schema, CompileTimeFunctionPointer<fn> pointer,
                              const Facts&... facts) {
    def_composite(schema, pointer, facts...);
    def_out_by_copy<fn, dtype>(schema, pointer);
  }
  // As above, but `out` may have another dtype to which the result can be cast.
  template <auto fn, typename... Facts>
  void def_composite_with_cast_out(const LocatedText& schema, CompileTimeFunctionPointer<fn> pointer,
                                   const Facts&... facts) {
    def_composite_with_out<fn, impl::OutDtype::Castable>(schema, pointer, facts...);
  }
  // Defines `foo.out` for a functional op that is already defined: it computes the result and copies it. The names of
  // the outputs are those of the results in `schema`, whose functional form may have results without names.
  template <auto fn, impl::OutDtype dtype = impl::OutDtype::Same, typename... Facts>
  void def_out_by_copy(const LocatedText& schema, CompileTimeFunctionPointer<fn> pointer, const Facts&... facts) {
    using Out = impl::composite_out<fn, dtype, decltype(fn)>;
    FunctionSchema named = FunctionSchema::parse(schema.text);
    OperatorEntry* functional = &Dispatcher::singleton().findSchemaOrThrow(named.operator_name()).entry();
    implement(define_out(schema, std::move(named), functional), OperatorFacts(facts...),
              annotate(schema, pointer, KernelFunction::makeFromUnboxed<&Out::out>()));
  }
  // Defines an op whose function has output parameters (ATen/core/boxing/structured.h). `schema` is that of the
  // functional form; `foo_` and `foo.out` are derived.
  template <auto fn, typename... Facts>
  void def_structured(const LocatedText& schema, CompileTimeFunctionPointer<fn> pointer, const Facts&... facts) {
    using S = impl::structured<fn, decltype(fn)>;
    const OperatorFacts f(facts...);
    OperatorEntry* functional = define(schema, f);
    implement(functional, f, annotate(schema, pointer, KernelFunction::makeFromUnboxed<&S::kernels::functional>()));
    if (f.derives(derive::OUT)) {
      implement(define_out(schema, functional->schema, functional, f.out_overload), f,
                annotate(schema, pointer, KernelFunction::makeFromUnboxed<&S::kernels::out>()));
    }
    if constexpr (S::has_inplace) {
      if (f.derives(derive::INPLACE)) {
        implement(define_inplace(schema, functional), f,
                  annotate(schema, pointer, KernelFunction::makeFromUnboxed<&S::inplace_kernels::inplace>()));
      }
    }
  }
  // Defines the out form of a factory that is defined above: `fn` takes the arguments of the functional form and `out`.
  template <auto fn, typename... Facts>
  void def_out(const LocatedText& functional, CompileTimeFunctionPointer<fn> pointer, const Facts&... facts) {
    OperatorEntry* entry = &Dispatcher::singleton().findSchemaOrThrow(functional.text).entry();
    implement(define_out(functional, entry->schema, entry), OperatorFacts(facts...),
              annotate(functional, pointer, KernelFunction::makeFromUnboxed<fn>()));
  }
  // Defines a second name for every overload of an op that is defined above, including its in-place and out forms.
  // Autograd records the original op.
  void def_alias(const LocatedText& name, const std::string& of);
  // Registers a kernel for one key of an op that is defined elsewhere: m.impl("add.Tensor", DispatchKey::Autograd,
  // TORCH_FN(fn)).
  template <auto fn, typename... Facts>
  void impl(const LocatedText& operator_name, c10::DispatchKey key, CompileTimeFunctionPointer<fn> pointer,
            const Facts&... facts) {
    AnnotatedKernel kernel = annotate(operator_name, pointer, KernelFunction::makeFromUnboxed<fn>());
    kernel.stubs = OperatorFacts(facts...).stubs;
    implement(&Dispatcher::singleton().findSchemaOrThrow(operator_name.text).entry(), key, std::move(kernel));
  }
  // Registers the kernel of the key for every op that has no other kernel there.
  void fallback(c10::DispatchKey key, BoxedKernel fn, const char* file = __builtin_FILE(), int line = __builtin_LINE());

 private:
  template <auto fn>
  static AnnotatedKernel annotate(const LocatedText& where, CompileTimeFunctionPointer<fn> pointer,
                                  KernelFunction kernel) {
    return annotate(where, pointer.name, reinterpret_cast<const void*>(fn), kernel);
  }
  static AnnotatedKernel annotate(const LocatedText& where, const char* function, const void* address,
                                  KernelFunction kernel);
  OperatorEntry* define(const LocatedText& schema, const OperatorFacts& facts);
  OperatorEntry* define(FunctionSchema schema, int variants, TagSet tags, const LocatedText& where);
  OperatorEntry* define_inplace(const LocatedText& where, OperatorEntry* functional);
  OperatorEntry* define_out(const LocatedText& where, FunctionSchema schema, OperatorEntry* functional,
                            const char* overload = nullptr);
  // Registers the kernel for each device with its stubs, or for every device if the facts name no stubs.
  void implement(OperatorEntry* entry, const OperatorFacts& facts, const AnnotatedKernel& kernel);
  void implement(OperatorEntry* entry, c10::DispatchKey key, AnnotatedKernel kernel);

  const char* ns_;
};

struct TorchLibraryInit final {
  TorchLibraryInit(const char* ns, void (*init)(Library&)) {
    Library library(ns);
    init(library);
  }
};

} // namespace reftorch::at

#define TORCH_LIBRARY_CONCAT_(a, b) a##b
#define TORCH_LIBRARY_CONCAT(a, b) TORCH_LIBRARY_CONCAT_(a, b)
#define TORCH_LIBRARY_IMPL_(ns, m, uid)                                                                \
  static void TORCH_LIBRARY_CONCAT(TORCH_LIBRARY_init_, uid)(::reftorch::at::Library&);                \
  static const ::reftorch::at::TorchLibraryInit TORCH_LIBRARY_CONCAT(TORCH_LIBRARY_static_init_, uid)( \
      #ns, &TORCH_LIBRARY_CONCAT(TORCH_LIBRARY_init_, uid));                                           \
  static void TORCH_LIBRARY_CONCAT(TORCH_LIBRARY_init_, uid)(::reftorch::at::Library & m)
#define TORCH_LIBRARY_FRAGMENT(ns, m) TORCH_LIBRARY_IMPL_(ns, m, __COUNTER__)
