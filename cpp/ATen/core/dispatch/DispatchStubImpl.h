// Mirrors: aten/src/ATen/native/DispatchStub.h, the part of a stub that knows no signature (DispatchStubImpl)
//
// Note [Kernels per device]
// Problem: one C++ function (checks and shape) serves an op on every device, but the loops below it exist per device.
// A table row for CUDA that leads to a function whose kernel exists only for the CPU would be a lie: the call would
// fail half way, with words that no user knows. Trick: the kernels are reached through stubs, and an op names its stubs
// where it is registered:
//
//     m.def_structured("exp(Tensor self) -> Tensor", TORCH_FN(unary_float_op_out<exp_stub>), kernels(exp_stub));
//     REGISTER_CPU_DISPATCH(exp_stub, exp_kernel)     // native/cpu/UnaryFloatOpsKernel.cpp
//     REGISTER_CUDA_DISPATCH(exp_stub, exp_kernel)    // native/cuda/UnaryFloatOpsKernel.cu
//
// The op's row for a device is filled exactly while every one of its stubs has a kernel for that device. The order does
// not matter: a stub tells the Dispatcher of each new kernel, and the Dispatcher then fills the rows of the ops that
// named the stub. So a kernel that an extension brings at run time opens the row as well, and a call on a device
// without kernels is refused by the Dispatcher before any work is done: "Could not run 'aten::exp' with arguments from
// the 'CUDA' backend." An op that names no stubs is a composite: its function is made of other ops, and serves every
// device. Limits: the Dispatcher believes what an op says. In the Debug build each stub reports its calls
// (set_stub_call_observer), and tests/native/test_kernels_per_device.py compares these with what the ops named.
#pragma once

#include <c10/core/Device.h>
#include <c10/macros/Export.h>

namespace reftorch::at::native {

// One device's kernel of a stub, as it was registered.
struct StubKernel final {
  const char* function = nullptr; // as the registration writes it: "exp_kernel"
  const char* file = "";
  int line = 0;
  const void* address = nullptr; // of the function, for debuggers
};

struct TORCH_API DispatchStubImpl {
  const char* name = "";
  StubKernel kernels[c10::kNumDeviceTypes] = {};

  bool has_kernel(c10::DeviceType device) const {
    return kernels[static_cast<int>(device)].function != nullptr;
  }
  // Notes the kernel and fills the rows of the ops that named this stub.
  void registerKernel(c10::DeviceType device, StubKernel kernel);
};

// Called with each stub that is called, in the Debug build only; null for none. It runs on the thread of the call.
using StubCallObserver = void (*)(const DispatchStubImpl& stub);
TORCH_API extern StubCallObserver stub_call_observer;

} // namespace reftorch::at::native
