// Mirrors: nothing in PyTorch: lets a second copy of a file of kernels take the place of the first one for a while
//
// reftorch/debug/kernels compiles a file of this folder once more, with instructions for the watcher, after including
// this header. The kernels of the copy are not registered when its library is loaded. exchange_kernels() gives each
// stub the kernel of the copy, and a second call gives back the kernel that the stub had before.
#pragma once

#include <ATen/native/DispatchStub.h>

#include <functional>
#include <utility>
#include <vector>

namespace reftorch::at::native {

inline std::vector<std::function<void()>>& kernel_exchanges() {
  static std::vector<std::function<void()>> it;
  return it;
}

template <typename FnPtr>
struct ExchangeDispatch final {
  ExchangeDispatch(DispatchStub<FnPtr>& stub, c10::DeviceType device, FnPtr fn, const StubKernel&) {
    kernel_exchanges().push_back([&stub, device, fn]() mutable { std::swap(stub.fns[static_cast<int>(device)], fn); });
  }
};

} // namespace reftorch::at::native

extern "C" __attribute__((visibility("default"), used)) inline void exchange_kernels() {
  for (const auto& exchange : reftorch::at::native::kernel_exchanges()) {
    exchange();
  }
}

#define RegisterDispatch ExchangeDispatch // in the macros that register kernels
