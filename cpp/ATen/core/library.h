// Mirrors: torch/library.h
// How an op comes to be: TORCH_LIBRARY_FRAGMENT(aten, m) { m.def(...); } at file scope runs when the library is loaded.
// Left out: namespaces other than aten in the table's names, and kernels given as lambdas or functors.
#pragma once

#include <ATen/core/boxing/structured.h>
#include <ATen/core/dispatch/Dispatcher.h>

namespace reftorch::at {

// A function as a template argument, so that its signature and its address are known where the kernels are made.
template <auto fn>
struct CompileTimeFunctionPointer {
  const char* name;
};
#define TORCH_FN(fn) (::reftorch::at::CompileTimeFunctionPointer<&fn>{#fn})

// A text and the place in the source where it stands: a default argument is evaluated at the call.
struct LocatedText final {
  std::string text;
  const char* file;
  int line;

  LocatedText(std::string text, const char* file = __builtin_FILE(), int line = __builtin_LINE())
      : text(std::move(text)), file(file), line(line) {}
  LocatedText(const char* text, const char* file = __builtin_FILE(), int line = __builtin_LINE())
      : text(text), file(file), line(line) {}
};

// Which forms m.def_structured makes beside the functional one.
namespace derive {
enum class Forms : uint8_t { NONE = 0, INPLACE = 1, OUT = 2, ALL = INPLACE | OUT };
constexpr Forms NONE = Forms::NONE, INPLACE = Forms::INPLACE, OUT = Forms::OUT, ALL = Forms::ALL;
} // namespace derive

// The stubs through which an op reaches its kernels: m.def(schema, TORCH_FN(fn), kernels(exp_stub)). See Note [Kernels
// per device].
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

// What an op says of itself beside its schema and its function, in any order: variants::METHOD, derive::OUT,
// kernels(exp_stub), tags(Tag::pointwise).
struct TORCH_API OperatorFacts final {
  int variants = at::variants::FUNCTION | at::variants::METHOD;
  at::derive::Forms derived = at::derive::ALL;
  Stubs stubs;
  TagSet tags;

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
};

class TORCH_API Library final {
 public:
  explicit Library(const char* ns) : ns_(ns) {}

  // An op whose function serves every device for which the stubs that it names have kernels, or every device if it
  // names none. Autograd records the op.
  template <auto fn, typename... Facts>
  void def(const LocatedText& schema, CompileTimeFunctionPointer<fn> pointer, const Facts&... facts) {
    const OperatorFacts f(facts...);
    implement(define(schema, f), f, annotate(schema, pointer, KernelFunction::makeFromUnboxed<fn>()));
  }
  // An op made of other ops, which are recorded in its place: it needs no formula.
  template <auto fn, typename... Facts>
  void def_composite(const LocatedText& schema, CompileTimeFunctionPointer<fn> pointer, const Facts&... facts) {
    implement(define(schema, OperatorFacts(facts...)), c10::DispatchKey::CompositeImplicitAutograd,
              annotate(schema, pointer, KernelFunction::makeFromUnboxed<fn>()));
  }
  // A composite together with `foo.out`, which computes the result and copies it.
  template <auto fn, impl::OutDtype dtype = impl::OutDtype::Same, typename... Facts>
  void def_composite_with_out(const LocatedText& schema, CompileTimeFunctionPointer<fn> pointer,
                              const Facts&... facts) {
    def_composite(schema, pointer, facts...);
    def_out_by_copy<fn, dtype>(schema, pointer);
  }
  // The same where `out` may have another dtype that the result can be cast to.
  template <auto fn, typename... Facts>
  void def_composite_with_cast_out(const LocatedText& schema, CompileTimeFunctionPointer<fn> pointer,
                                   const Facts&... facts) {
    def_composite_with_out<fn, impl::OutDtype::Castable>(schema, pointer, facts...);
  }
  // `foo.out` for a functional op that is defined already: computes the result and copies it.
  template <auto fn, impl::OutDtype dtype = impl::OutDtype::Same, typename... Facts>
  void def_out_by_copy(const LocatedText& schema, CompileTimeFunctionPointer<fn> pointer, const Facts&... facts) {
    using Out = impl::composite_out<fn, dtype, decltype(fn)>;
    implement(define_out(schema, functional_of_schema(schema)), OperatorFacts(facts...),
              annotate(schema, pointer, KernelFunction::makeFromUnboxed<&Out::out>()));
  }
  // An op written in its out form (ATen/core/boxing/structured.h): `schema` is the functional one; `foo_` and `foo.out`
  // are derived.
  template <auto fn, typename... Facts>
  void def_structured(const LocatedText& schema, CompileTimeFunctionPointer<fn> pointer, const Facts&... facts) {
    using S = impl::structured<fn, decltype(fn)>;
    const OperatorFacts f(facts...);
    OperatorEntry* functional = define(schema, f);
    implement(functional, f, annotate(schema, pointer, KernelFunction::makeFromUnboxed<&S::kernels::functional>()));
    if (f.derives(derive::OUT)) {
      implement(define_out(schema, functional), f,
                annotate(schema, pointer, KernelFunction::makeFromUnboxed<&S::kernels::out>()));
    }
    if constexpr (S::has_inplace) {
      if (f.derives(derive::INPLACE)) {
        implement(define_inplace(schema, functional), f,
                  annotate(schema, pointer, KernelFunction::makeFromUnboxed<&S::inplace_kernels::inplace>()));
      }
    }
  }
  // The out form of a factory defined above: `fn` takes the functional one's arguments and `out`.
  template <auto fn, typename... Facts>
  void def_out(const LocatedText& functional, CompileTimeFunctionPointer<fn> pointer, const Facts&... facts) {
    implement(define_out(functional, &Dispatcher::singleton().findSchemaOrThrow(functional.text).entry()),
              OperatorFacts(facts...), annotate(functional, pointer, KernelFunction::makeFromUnboxed<fn>()));
  }
  // A second name for every overload of an op defined above, its in-place and out forms included. What is recorded is
  // the op itself.
  void def_alias(const LocatedText& name, const std::string& of);
  // A kernel for one key of an op that is defined elsewhere, m.impl("add.Tensor", DispatchKey::Autograd, TORCH_FN(fn)).
  template <auto fn, typename... Facts>
  void impl(const LocatedText& operator_name, c10::DispatchKey key, CompileTimeFunctionPointer<fn> pointer,
            const Facts&... facts) {
    AnnotatedKernel kernel = annotate(operator_name, pointer, KernelFunction::makeFromUnboxed<fn>());
    kernel.stubs = OperatorFacts(facts...).stubs;
    implement(&Dispatcher::singleton().findSchemaOrThrow(operator_name.text).entry(), key, std::move(kernel));
  }
  // The kernel of the key for every op that has no other.
  void fallback(c10::DispatchKey key, BoxedKernel fn, const char* file = __builtin_FILE(), int line = __builtin_LINE());

 private:
  template <auto fn>
  static AnnotatedKernel annotate(const LocatedText& where, CompileTimeFunctionPointer<fn> pointer,
                                  KernelFunction kernel) {
    return annotate(where, pointer.name, reinterpret_cast<const void*>(fn), kernel);
  }
  static AnnotatedKernel annotate(const LocatedText& where, const char* function, const void* address,
                                  KernelFunction kernel);
  static OperatorEntry* functional_of_schema(const LocatedText& schema);
  OperatorEntry* define(const LocatedText& schema, const OperatorFacts& facts);
  OperatorEntry* define(FunctionSchema schema, int variants, TagSet tags, const LocatedText& where);
  OperatorEntry* define_inplace(const LocatedText& where, OperatorEntry* functional);
  OperatorEntry* define_out(const LocatedText& where, OperatorEntry* functional);
  // For each device with its stubs; for every device where the facts name no stubs.
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
