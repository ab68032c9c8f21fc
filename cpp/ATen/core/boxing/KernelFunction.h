// Mirrors: aten/src/ATen/core/boxing/KernelFunction.h, aten/src/ATen/core/boxing/impl/make_boxed_from_unboxed_functor.h
//
// The kernel in one row of an op's table. A kernel is written unboxed, as a plain C++ function, and make_boxed below
// makes its boxed form, which takes its arguments from a stack of IValues. A kernel that serves every schema, such as
// the autograd fallback, has only the boxed form.
#pragma once

#include <ATen/core/ivalue.h>

#include <memory>
#include <tuple>
#include <utility>

namespace reftorch::at {

class OperatorHandle;

using BoxedKernel = void (*)(const OperatorHandle& op, DispatchKeySet keys, Stack* stack);

// A kernel that is an object with its own state, such as the Python function that a Python kernel calls.
struct OperatorKernel {
  virtual ~OperatorKernel() = default;
  virtual void operator()(const OperatorHandle& op, DispatchKeySet keys, Stack* stack) = 0;
};

// A variable whose address identifies a signature, so that typed<Sig>() can reject a wrong signature.
template <typename Sig>
inline const char signature_tag = 0;

struct KernelFunction final {
  BoxedKernel boxed = nullptr;
  void* unboxed = nullptr; // null for a kernel that has only the boxed form
  const void* signature = nullptr;
  std::shared_ptr<OperatorKernel> functor; // null for a kernel that is a plain function

  bool valid() const {
    return boxed != nullptr;
  }
  static KernelFunction makeFromBoxed(BoxedKernel fn) {
    return {fn, nullptr, nullptr, nullptr};
  }
  // `boxed` of such a kernel finds the object in the row that the call has reached.
  static TORCH_API KernelFunction makeFromFunctor(std::shared_ptr<OperatorKernel> functor);
  // Returns a kernel that passes each call to the next key below, as if its own key were not set.
  static TORCH_API KernelFunction makeFallthrough();
  template <auto fn>
  static KernelFunction makeFromUnboxed();
};

namespace impl {

template <typename T>
struct always_false : std::false_type {};

// ivalue_to_arg<T>::get returns the value to which a parameter of type T is bound.
template <typename T, typename = void>
struct ivalue_to_arg {
  static_assert(always_false<T>::value, "a kernel has a parameter of a type that no schema can name");
};
template <>
struct ivalue_to_arg<Tensor> {
  static Tensor& get(IValue& v) {
    return v.toTensor();
  }
};
#define IVALUE_TO_ARG(type, expr)      \
  template <>                          \
  struct ivalue_to_arg<type> {         \
    static type get(const IValue& v) { \
      return expr;                     \
    }                                  \
  };
IVALUE_TO_ARG(Scalar, v.toScalar())
IVALUE_TO_ARG(int64_t, v.toInt())
IVALUE_TO_ARG(double, v.toDouble())
IVALUE_TO_ARG(bool, v.toBool())
IVALUE_TO_ARG(std::string, v.toStringRef())
IVALUE_TO_ARG(IntArrayRef, v.toIntList())
IVALUE_TO_ARG(TensorList, v.toTensorVector())
IVALUE_TO_ARG(ScalarType, v.toScalarType())
IVALUE_TO_ARG(Device, v.toDevice())
IVALUE_TO_ARG(Generator, v.toGenerator())
IVALUE_TO_ARG(std::vector<double>, v.toDoubleList())
IVALUE_TO_ARG(std::vector<bool>, v.toBoolList())
IVALUE_TO_ARG(c10::ArrayRef<Scalar>, v.toScalarList())
#undef IVALUE_TO_ARG
template <typename T>
struct ivalue_to_arg<T, std::enable_if_t<std::is_enum_v<T>>> {
  static T get(const IValue& v) {
    return static_cast<T>(v.toInt());
  }
};
template <typename T>
struct ivalue_to_arg<std::optional<T>> {
  static std::optional<T> get(IValue& v) {
    return v.isNone() ? std::nullopt : std::optional<T>(ivalue_to_arg<T>::get(v));
  }
};

inline void push_result(Stack& stack, Tensor t) {
  stack.emplace_back(std::move(t));
}
inline void push_result(Stack& stack, std::vector<Tensor> list) {
  stack.emplace_back(std::move(list));
}
inline void push_result(Stack& stack, Scalar s) {
  stack.emplace_back(s);
}
inline void push_result(Stack& stack, int64_t i) {
  stack.emplace_back(i);
}
inline void push_result(Stack& stack, double d) {
  stack.emplace_back(d);
}
inline void push_result(Stack& stack, bool b) {
  stack.emplace_back(b);
}
template <typename... Ts>
void push_result(Stack& stack, std::tuple<Ts...> results) {
  std::apply([&](auto&&... result) { (push_result(stack, Tensor(result)), ...); }, std::move(results));
}

template <typename T>
struct pop_result {
  static T get(Stack& stack) {
    return ivalue_to_arg<T>::get(stack[0]);
  }
};
template <>
struct pop_result<Tensor> {
  static Tensor get(Stack& stack) {
    return std::move(stack[0]).toTensor();
  }
};
template <typename T>
struct pop_result<T&> { // in-place and out kernels return a reference to an argument of the caller: see
                        // TypedOperatorHandle::call
  static void get(Stack&) {}
};
template <>
struct pop_result<std::vector<Tensor>> {
  static std::vector<Tensor> get(Stack& stack) {
    return stack[0].toTensorVector();
  }
};
template <typename... Ts>
struct pop_result<std::tuple<Ts...>> {
  static std::tuple<Ts...> get(Stack& stack) {
    return pop(stack, std::index_sequence_for<Ts...>());
  }
  template <size_t... I>
  static std::tuple<Ts...> pop(Stack& stack, std::index_sequence<I...>) {
    return std::tuple<Ts...>(stack[I].toTensor()...);
  }
};

template <auto fn, typename Sig>
struct make_boxed;
template <auto fn, typename Ret, typename... Args>
struct make_boxed<fn, Ret (*)(Args...)> {
  static void call(const OperatorHandle&, DispatchKeySet, Stack* stack) {
    invoke(*stack, std::index_sequence_for<Args...>());
  }
  template <size_t... I>
  static void invoke(Stack& stack, std::index_sequence<I...>) {
    IValue* args = last(stack, sizeof...(Args));
    (void)args;
    // The result may refer to an argument, so it is copied before the arguments are removed.
    std::decay_t<Ret> result = fn(ivalue_to_arg<std::decay_t<Args>>::get(args[I])...);
    drop(stack, sizeof...(Args));
    push_result(stack, std::move(result));
  }
};

} // namespace impl

template <auto fn>
KernelFunction KernelFunction::makeFromUnboxed() {
  using Sig = decltype(fn);
  return {&impl::make_boxed<fn, Sig>::call, reinterpret_cast<void*>(fn), &signature_tag<Sig>, nullptr};
}

} // namespace reftorch::at
