// Mirrors: torch/library.h
// How an op comes to be: TORCH_LIBRARY_FRAGMENT(aten, m) { m.def(...); } at file scope runs when the library is loaded.
// Left out: namespaces other than aten in the table's names, and kernels given as lambdas or functors.
#pragma once

#include <ATen/core/boxing/structured.h>
#include <ATen/core/dispatch/Dispatcher.h>

namespace reftorch::at {

// A function as a template argument, so that its signature and its address are known where the kernels are made.
template <auto fn>
struct CompileTimeFunctionPointer {};
#define TORCH_FN(fn) (::reftorch::at::CompileTimeFunctionPointer<&fn>())

// Which forms m.def_structured makes beside the functional one.
namespace derive {
constexpr int NONE = 0, INPLACE = 1, OUT = 2, ALL = INPLACE | OUT;
}

class TORCH_API Library final {
 public:
  Library(const char* ns, const char* file, int line) : ns_(ns), file_(file), line_(line) {}

  // A kernel for every backend; Autograd records the op.
  template <auto fn>
  void def(const std::string& schema, CompileTimeFunctionPointer<fn>,
           int variants = variants::FUNCTION | variants::METHOD) {
    OperatorEntry* entry = define(FunctionSchema::parse(schema), variants);
    implement(entry, c10::DispatchKey::CompositeExplicitAutograd, KernelFunction::makeFromUnboxed<fn>());
  }
  // An op made of other ops, which are recorded in its place: it needs no formula.
  template <auto fn>
  void def_composite(const std::string& schema, CompileTimeFunctionPointer<fn>,
                     int variants = variants::FUNCTION | variants::METHOD) {
    OperatorEntry* entry = define(FunctionSchema::parse(schema), variants);
    implement(entry, c10::DispatchKey::CompositeImplicitAutograd, KernelFunction::makeFromUnboxed<fn>());
  }
  // The same with `foo.out`, which computes the result and copies it.
  template <auto fn, impl::OutDtype dtype = impl::OutDtype::Same>
  void def_composite_with_out(const std::string& schema, CompileTimeFunctionPointer<fn> pointer,
                              int variants = variants::FUNCTION | variants::METHOD) {
    def_composite(schema, pointer, variants);
    def_out_by_copy<fn, dtype>(schema, pointer);
  }
  // The same where `out` may have another dtype that the result can be cast to.
  template <auto fn>
  void def_composite_with_cast_out(const std::string& schema, CompileTimeFunctionPointer<fn> pointer,
                                   int variants = variants::FUNCTION | variants::METHOD) {
    def_composite_with_out<fn, impl::OutDtype::Castable>(schema, pointer, variants);
  }
  // `foo.out` for a functional op that is defined: it computes the result and copies it.
  template <auto fn, impl::OutDtype dtype = impl::OutDtype::Same>
  void def_out_by_copy(const std::string& schema, CompileTimeFunctionPointer<fn>) {
    OperatorEntry* functional =
        &Dispatcher::singleton().findSchemaOrThrow(FunctionSchema::parse(schema).operator_name()).entry();
    implement(define_out(functional), c10::DispatchKey::CompositeExplicitAutograd,
              KernelFunction::makeFromUnboxed<&impl::composite_out<fn, dtype, decltype(fn)>::out>());
  }
  // An op written in its out form (ATen/core/boxing/structured.h): `schema` is the functional one; `foo_` and `foo.out`
  // are derived.
  template <auto fn>
  void def_structured(const std::string& schema, CompileTimeFunctionPointer<fn>, int derived = derive::ALL,
                      int variants = variants::FUNCTION | variants::METHOD) {
    using S = impl::structured<fn, decltype(fn)>;
    OperatorEntry* functional = define(FunctionSchema::parse(schema), variants);
    implement(functional, c10::DispatchKey::CompositeExplicitAutograd,
              KernelFunction::makeFromUnboxed<&S::kernels::functional>());
    if (derived & derive::OUT) {
      implement(define_out(functional), c10::DispatchKey::CompositeExplicitAutograd,
                KernelFunction::makeFromUnboxed<&S::kernels::out>());
    }
    if constexpr (S::has_inplace) {
      if (derived & derive::INPLACE) {
        implement(define_inplace(functional), c10::DispatchKey::CompositeExplicitAutograd,
                  KernelFunction::makeFromUnboxed<&S::inplace_kernels::inplace>());
      }
    }
  }
  // The out form of a factory defined above: `fn` takes the functional one's arguments and `out`.
  template <auto fn>
  void def_out(const std::string& functional, CompileTimeFunctionPointer<fn>) {
    implement(define_out(&Dispatcher::singleton().findSchemaOrThrow(functional).entry()),
              c10::DispatchKey::CompositeExplicitAutograd, KernelFunction::makeFromUnboxed<fn>());
  }
  // A second name for every overload of an op defined above, its in-place and out forms included. What is recorded is
  // the op itself.
  void def_alias(const std::string& name, const std::string& of);
  // One more row for an op that is defined elsewhere.
  template <auto fn>
  void impl(const std::string& operator_name, c10::DispatchKey key, CompileTimeFunctionPointer<fn>) {
    implement(&Dispatcher::singleton().findSchemaOrThrow(operator_name).entry(), key,
              KernelFunction::makeFromUnboxed<fn>());
  }
  void fallback(c10::DispatchKey key, BoxedKernel fn) {
    Dispatcher::singleton().registerFallback(key, KernelFunction::makeFromBoxed(fn));
  }

 private:
  OperatorEntry* define(FunctionSchema schema, int variants);
  OperatorEntry* define_inplace(OperatorEntry* functional);
  OperatorEntry* define_out(OperatorEntry* functional);
  void implement(OperatorEntry* entry, c10::DispatchKey key, KernelFunction kernel);

  const char* ns_;
  const char* file_;
  int line_;
};

struct TorchLibraryInit final {
  TorchLibraryInit(const char* ns, void (*init)(Library&), const char* file, int line) {
    Library library(ns, file, line);
    init(library);
  }
};

} // namespace reftorch::at

#define TORCH_LIBRARY_CONCAT_(a, b) a##b
#define TORCH_LIBRARY_CONCAT(a, b) TORCH_LIBRARY_CONCAT_(a, b)
#define TORCH_LIBRARY_IMPL_(ns, m, uid)                                                                \
  static void TORCH_LIBRARY_CONCAT(TORCH_LIBRARY_init_, uid)(::reftorch::at::Library&);                \
  static const ::reftorch::at::TorchLibraryInit TORCH_LIBRARY_CONCAT(TORCH_LIBRARY_static_init_, uid)( \
      #ns, &TORCH_LIBRARY_CONCAT(TORCH_LIBRARY_init_, uid), __FILE__, __LINE__);                       \
  static void TORCH_LIBRARY_CONCAT(TORCH_LIBRARY_init_, uid)(::reftorch::at::Library & m)
#define TORCH_LIBRARY_FRAGMENT(ns, m) TORCH_LIBRARY_IMPL_(ns, m, __COUNTER__)
