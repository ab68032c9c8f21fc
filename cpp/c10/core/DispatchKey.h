// Mirrors: c10/core/DispatchKey.h
//
// A dispatch key names one handler of ops. The Dispatcher calls the handler of the highest key that is set. Left out:
// the other 100 keys of PyTorch, and its split of keys into backend and functionality: one Autograd key serves every
// device here.
#pragma once

#include <c10/core/Device.h>

#include <cstdint>
#include <ostream>

namespace reftorch::c10 {

enum class DispatchKey : uint8_t {
  Undefined = 0,
  CPU, // the native kernels
  CUDA,
  Meta,   // infers shape, strides and dtype: see Note [Meta device]; above CPU, for calls with tensors on both
  Python, // calls the __torch_dispatch__ of a mode or of a tensor's class: ATen/core/PythonFallbackKernel.h
  FuncTorchDynamicLayerBackMode,  // unwraps the tensors of a function transform and calls the op on the level below
  Autograd,                       // records the op, then calls the kernel of the backend
  FuncTorchDynamicLayerFrontMode, // passes the op to the innermost function transform: ATen/functorch/DynamicLayer.h
  Profiler, // measures the op; no tensor has this key, a thread that profiles includes it (ATen/record_function.h)
  NumDispatchKeys,

  // Alias keys: a registration for an alias key fills several rows of the op's table.
  CompositeExplicitAutograd, // fills the rows of all backends; Autograd still records the op
  // Fills the rows of the backends, Autograd and FuncTorchDynamicLayerFrontMode: the op calls other ops, which are
  // recorded and transformed one by one. See Note [How a row is filled].
  CompositeImplicitAutograd,
};
constexpr int kNumDispatchKeys = static_cast<int>(DispatchKey::NumDispatchKeys);

// Returns the key of a device's kernels. PyTorch has this function in c10/core/TensorOptions.h.
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
