// Mirrors: c10/core/DispatchKey.h
//
// A dispatch key names one handler of ops, and the Dispatcher calls the handler of the highest key that is set. Left
// out: the other 100 keys of PyTorch and its split of keys into backend and functionality (one Autograd key serves
// every device here).
#pragma once

#include <c10/core/Device.h>

#include <cstdint>
#include <ostream>

namespace reftorch::c10 {

enum class DispatchKey : uint8_t {
  Undefined = 0,
  CPU, // the native kernels
  CUDA,
  Meta, // shape, strides and dtype only: see Note [Meta device]; above CPU, for calls that mix meta tensors and numbers
  Python, // calls a mode's or a tensor class's __torch_dispatch__: ATen/core/PythonFallbackKernel.h
  FuncTorchDynamicLayerBackMode,  // takes the wrappers of a function transform off and goes on below it
  Autograd,                       // records the op, then hands it on to the backend
  FuncTorchDynamicLayerFrontMode, // hands the op to the innermost function transform: ATen/functorch/DynamicLayer.h
  Profiler, // measures the op; included by a thread that profiles (ATen/record_function.h), in no tensor's keys
  NumDispatchKeys,

  // Aliases: a registration for one of these fills several rows of the op's table.
  CompositeExplicitAutograd, // every backend; Autograd still records it
  CompositeImplicitAutograd, // every row: the op is made of ops that are recorded, and transformed, themselves
};
constexpr int kNumDispatchKeys = static_cast<int>(DispatchKey::NumDispatchKeys);

// The key of a device's kernels. PyTorch: computeDispatchKey of c10/core/TensorOptions.h.
constexpr DispatchKey computeDispatchKey(DeviceType device) {
  return static_cast<DispatchKey>(static_cast<int>(DispatchKey::CPU) + static_cast<int>(device));
}
static_assert(computeDispatchKey(DeviceType::CUDA) == DispatchKey::CUDA &&
                  computeDispatchKey(DeviceType::Meta) == DispatchKey::Meta,
              "backend keys stand in the order of the device types");

inline const char* toString(DispatchKey k) {
  switch (k) {
    case DispatchKey::CPU: return "CPU";
    case DispatchKey::CUDA: return "CUDA";
    case DispatchKey::Meta: return "Meta";
    case DispatchKey::Python: return "Python";
    case DispatchKey::FuncTorchDynamicLayerBackMode: return "FuncTorchDynamicLayerBackMode";
    case DispatchKey::Autograd: return "Autograd";
    case DispatchKey::Profiler: return "Profiler";
    case DispatchKey::FuncTorchDynamicLayerFrontMode: return "FuncTorchDynamicLayerFrontMode";
    case DispatchKey::CompositeExplicitAutograd: return "CompositeExplicitAutograd";
    case DispatchKey::CompositeImplicitAutograd: return "CompositeImplicitAutograd";
    default: return "Undefined";
  }
}
inline std::ostream& operator<<(std::ostream& out, DispatchKey k) {
  return out << toString(k);
}

} // namespace reftorch::c10
