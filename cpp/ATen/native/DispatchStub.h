// Mirrors: aten/src/ATen/native/DispatchStub.h
//
// A stub is the seam between an op (checks and shape, device-free) and its kernel: one function pointer per device.
// A header of native/ declares the stub, native/XOps.cpp defines it, native/cpu/XOpsKernel.cpp and its twin
// native/cuda/XOpsKernel.cu register the kernels; see Note [Kernels per device]. Left out: a pointer per instruction
// set (one kernel is compiled for several instruction sets by TARGET_CLONES, see native/cpu/Loops.h).
//
// Note [Meta device]
// Problem: a program may want the shapes, strides and dtypes of results without the work and without the memory: to
// build a model that does not fit, or to plan one. PyTorch writes that answer a second time, in meta functions that can
// disagree with the kernels. Trick: an op in native/*.cpp checks its arguments, makes its outputs, and reads or writes
// elements only through stubs. So the op itself is its meta function: a meta tensor has a storage that knows its size
// and has no memory, and a stub called for the meta device does nothing, because its outputs are made already. Limits:
// a stub that returns a value (a count, a tensor whose shape depends on the elements) has no answer without data and
// raises for meta; native/*.cpp must therefore decide nothing by the value of an element (tests/test_floors.py holds
// that these files name no pointer to data).
#pragma once

#include <ATen/core/dispatch/DispatchStubImpl.h>
#include <c10/util/Exception.h>

#include <type_traits>
#include <utility>

namespace reftorch::at {
class Tensor;
class TensorIterator;
} // namespace reftorch::at

namespace reftorch::at::native {

// The kernel of the meta device for a stub of this type: a function that does nothing. A stub that returns a value has
// no such kernel.
template <typename FnPtr>
struct MetaKernel {
  static constexpr FnPtr value = nullptr;
};
template <typename... Args>
struct MetaKernel<void (*)(Args...)> {
  static void nothing(Args...) {}
  static constexpr void (*value)(Args...) = &nothing;
};

// Whether operands on several devices cannot reach the kernels of a stub of this type: an iterator has refused them, or
// there is one operand only. See Note [Device check].
template <typename FnPtr>
struct OperandsShareDevice : std::false_type {};
template <typename Ret, typename... Args>
struct OperandsShareDevice<Ret (*)(TensorIterator&, Args...)> : std::true_type {};
template <>
struct OperandsShareDevice<void (*)(const Tensor&)> : std::true_type {};

template <typename FnPtr>
struct DispatchStub final : DispatchStubImpl {
  using fn_ptr = FnPtr;
  FnPtr fns[c10::kNumDeviceTypes] = {nullptr, nullptr, MetaKernel<FnPtr>::value};

  constexpr explicit DispatchStub(const char* name)
      : DispatchStubImpl{name,
                         {{}, {}, {MetaKernel<FnPtr>::value != nullptr ? "nothing" : nullptr, __FILE__, __LINE__}},
                         OperandsShareDevice<FnPtr>::value} {}

  template <typename... Args>
  auto operator()(c10::DeviceType device, Args&&... args) const {
#ifndef NDEBUG
    if (stub_call_observer != nullptr) {
      stub_call_observer(*this);
    }
#endif
    FnPtr fn = fns[static_cast<int>(device)];
    TORCH_CHECK_NOT_IMPLEMENTED(fn != nullptr, "DispatchStub: missing kernel for ", c10::DeviceTypeName(device), ": ",
                                name);
    return (*fn)(std::forward<Args>(args)...);
  }
};

template <typename FnPtr>
struct RegisterDispatch final {
  RegisterDispatch(DispatchStub<FnPtr>& stub, c10::DeviceType device, FnPtr fn, StubKernel kernel) {
    stub.fns[static_cast<int>(device)] = fn;
    kernel.address = reinterpret_cast<const void*>(fn);
    stub.registerKernel(device, kernel);
  }
};

} // namespace reftorch::at::native

#define DECLARE_DISPATCH(fn_ptr, name) extern TORCH_API ::reftorch::at::native::DispatchStub<fn_ptr> name;
// The initializer is a constant expression, so the stub exists before any kernel is registered. The order in which the
// files are initialized does not matter.
#define DEFINE_DISPATCH(name) decltype(name) name(#name);

#define REGISTER_DEVICE_DISPATCH(name, device, fn)                                                     \
  static const ::reftorch::at::native::RegisterDispatch<decltype(+fn)> name##_##device##_registration( \
      name, ::reftorch::c10::DeviceType::device, fn, {#fn, __FILE__, __LINE__});
#define REGISTER_CPU_DISPATCH(name, fn) REGISTER_DEVICE_DISPATCH(name, CPU, fn)
#define REGISTER_CUDA_DISPATCH(name, fn) REGISTER_DEVICE_DISPATCH(name, CUDA, fn)

// Defines `kernel`, which calls run(iter, name, the parameters of the stub...), and registers it for `device`.
#define REGISTER_DEVICE_ELEMENTWISE(stub, device, kernel, run, name)                                            \
  template <typename... Params>                                                                                 \
  static void kernel(::reftorch::at::TensorIterator& iter, Params... params) {                                  \
    run(iter, name, params...);                                                                                 \
  }                                                                                                             \
  static const ::reftorch::at::native::RegisterDispatch<decltype(stub)::fn_ptr> stub##_##device##_registration( \
      stub, ::reftorch::c10::DeviceType::device, static_cast<decltype(stub)::fn_ptr>(kernel),                   \
      {#kernel, __FILE__, __LINE__});
