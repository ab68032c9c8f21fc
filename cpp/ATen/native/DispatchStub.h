// Mirrors: aten/src/ATen/native/DispatchStub.h
// The seam between an op (checks and shape, device-free) and its kernel: one function pointer per device.
// The header declares it, native/XOps.cpp defines it, native/cpu/XOpsKernel.cpp registers the kernel. Left out: a
// pointer per instruction set (one kernel is compiled for several by TARGET_CLONES, see native/cpu/Loops.h).
#pragma once

#include <c10/core/Device.h>
#include <c10/macros/Export.h>
#include <c10/util/Exception.h>

#include <utility>

namespace reftorch::at::native {

template <typename FnPtr>
struct DispatchStub final {
  const char* name;
  FnPtr fns[c10::kNumDeviceTypes] = {};

  template <typename... Args>
  auto operator()(c10::DeviceType device, Args&&... args) const {
    FnPtr fn = fns[static_cast<int>(device)];
    TORCH_CHECK_NOT_IMPLEMENTED(fn != nullptr, "DispatchStub: missing kernel for ", c10::DeviceTypeName(device), ": ",
                                name);
    return (*fn)(std::forward<Args>(args)...);
  }
};

template <typename FnPtr>
struct RegisterDispatch final {
  RegisterDispatch(DispatchStub<FnPtr>& stub, c10::DeviceType device, FnPtr fn) {
    stub.fns[static_cast<int>(device)] = fn;
  }
};

} // namespace reftorch::at::native

#define DECLARE_DISPATCH(fn_ptr, name) extern TORCH_API ::reftorch::at::native::DispatchStub<fn_ptr> name;
// constinit: kernels register before any constructor of this file would have run.
#define DEFINE_DISPATCH(name) decltype(name) name = {#name};
#define REGISTER_DISPATCH(name, fn)                                                             \
  static const ::reftorch::at::native::RegisterDispatch<decltype(+fn)> name##_cpu_registration( \
      name, ::reftorch::c10::DeviceType::CPU, fn);
