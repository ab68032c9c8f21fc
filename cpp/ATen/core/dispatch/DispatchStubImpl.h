// Mirrors: aten/src/ATen/native/DispatchStub.h, the part of a stub that knows no signature (DispatchStubImpl)
//
// Note [Kernels per device]
// Problem: one C++ function (checks and shape) serves an op on every device, but each device has its own loops below
// that function. If the row for CUDA led to a function whose loops exist only for the CPU, the table would be wrong,
// and a call would fail half way with an error that means nothing to the user. Trick: the function calls its loops
// through stubs, and an op names its stubs at its registration:
//
//     m.def_structured("exp(Tensor self) -> Tensor", TORCH_FN(unary_float_op_out<exp_stub>), kernels(exp_stub));
//     REGISTER_CPU_ELEMENTWISE(exp_stub, exp_kernel, ExpFunctor, "exp_cpu")             // a file of native/cpu/
//     REGISTER_CUDA_ELEMENTWISE(exp_stub, exp_kernel_cuda, ExpFunctor, "exp_cuda")      // its twin of native/cuda/
//
// The op's row for a device is filled if and only if each of its stubs has a kernel for that device. The order of
// registrations does not matter: a stub reports each new kernel to the Dispatcher, which then fills the rows of the ops
// that named the stub. So a kernel that an extension registers at run time also fills the row. The Dispatcher refuses a
// call on a device without kernels before any work is done: "Could not run 'aten::exp' with arguments from the 'CUDA'
// backend." An op that names no stubs is made of other ops and serves every device. Limits: the Dispatcher does not
// check that an op names all of its stubs. In the Debug build each stub reports its calls (stub_call_observer), and
// tests/native/test_dispatch_stub.py compares them with the stubs that the ops named.
#pragma once

#include <c10/core/Device.h>
#include <c10/macros/Export.h>

namespace reftorch::at::native {

// The kernel of a stub for one device, with the place of its registration.
struct StubKernel final {
  const char* function = nullptr; // the text at the registration: "exp_kernel"
  const char* file = "";
  int line = 0;
  const void* address = nullptr; // the address of the function, for debuggers
};

struct TORCH_API DispatchStubImpl {
  const char* name = "";
  StubKernel kernels[c10::kNumDeviceTypes] = {};
  bool operands_share_device = false; // the caller has checked the devices: see Note [Device check]

  bool has_kernel(c10::DeviceType device) const {
    return kernels[static_cast<int>(device)].function != nullptr;
  }
  // Stores the kernel and fills the rows of the ops that named this stub.
  void registerKernel(c10::DeviceType device, StubKernel kernel);
};

// Called with each stub that is called, on the thread of the call. Only the Debug build calls it. Null if there is no
// observer.
using StubCallObserver = void (*)(const DispatchStubImpl& stub);
TORCH_API extern StubCallObserver stub_call_observer;

} // namespace reftorch::at::native
