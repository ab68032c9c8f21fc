// Mirrors: aten/src/ATen/DeviceAccelerator.cpp, aten/src/ATen/Context.cpp (getAcceleratorHooksInterface)
#include <ATen/DeviceAccelerator.h>

#include <ATen/Context.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>

#include <cctype>

namespace reftorch::at {

std::optional<c10::DeviceType> getAccelerator(bool checked) {
  if (c10::impl::hasDeviceGuardImpl(c10::kCUDA) && c10::impl::getDeviceGuardImpl(c10::kCUDA)->deviceCount() > 0) {
    return c10::kCUDA;
  }
  TORCH_CHECK(!checked, "Cannot access accelerator device when none is available.");
  return std::nullopt;
}

static const AcceleratorHooksInterface* accelerator_hooks[c10::kNumDeviceTypes];

RegisterAcceleratorHooks::RegisterAcceleratorHooks(c10::DeviceType type, const AcceleratorHooksInterface* hooks) {
  accelerator_hooks[static_cast<size_t>(type)] = hooks;
}

const AcceleratorHooksInterface& Context::getAcceleratorHooksInterface(std::optional<c10::DeviceType> type) const {
  const c10::DeviceType wanted = type.has_value() ? *type : *getAccelerator(/*checked=*/true);
  const AcceleratorHooksInterface* hooks = accelerator_hooks[static_cast<size_t>(wanted)];
  std::string name = c10::DeviceTypeName(wanted);
  for (char& c : name) {
    c = static_cast<char>(std::toupper(c));
  }
  TORCH_CHECK(hooks != nullptr || wanted != c10::kCUDA, "Torch not compiled with CUDA enabled");
  TORCH_CHECK(hooks != nullptr, name, " device type not an accelerator.");
  return *hooks;
}

} // namespace reftorch::at
