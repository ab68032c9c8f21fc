// Mirrors: aten/src/ATen/core/dispatch/OperatorEntry.cpp
#include <ATen/core/dispatch/OperatorEntry.h>

#include <ATen/core/op_registration/adaption.h>

#include <algorithm>
#include <sstream>

namespace reftorch::at {

using c10::DispatchKey;

static const Backend* backend_of(DispatchKey row) {
  const auto* found =
      std::find_if(std::begin(kBackends), std::end(kBackends), [row](const Backend& b) { return b.key == row; });
  return found != std::end(kBackends) ? found : nullptr;
}

// Returns the newest kernel of the key whose stubs all serve the row's device, or null.
static const AnnotatedKernel* newest(const OperatorEntry& entry, DispatchKey key, const Backend* backend) {
  const auto registered = entry.kernels.find(key);
  if (registered == entry.kernels.end()) {
    return nullptr;
  }
  for (const AnnotatedKernel& candidate : registered->second) {
    if (backend == nullptr || std::all_of(candidate.stubs.begin(), candidate.stubs.end(),
                                          [&](const auto* stub) { return stub->has_kernel(backend->device); })) {
      return &candidate;
    }
  }
  return nullptr;
}

bool OperatorEntry::hasKernelForDispatchKey(DispatchKey key) const {
  return newest(*this, key, backend_of(key)) != nullptr;
}

const AnnotatedKernel* OperatorEntry::kernelOfRow(DispatchKey row) const {
  const Backend* backend = backend_of(row);
  if (const AnnotatedKernel* own = newest(*this, row, backend)) {
    return own;
  }
  if (backend != nullptr) {
    if (const AnnotatedKernel* composite = newest(*this, DispatchKey::CompositeExplicitAutograd, backend)) {
      return composite;
    }
  } else {
    const bool falls_apart = row == DispatchKey::Autograd || row == DispatchKey::FuncTorchDynamicLayerFrontMode;
    const bool has_backend = hasKernelForDispatchKey(DispatchKey::CompositeExplicitAutograd) ||
                             std::any_of(std::begin(kBackends), std::end(kBackends),
                                         [this](const Backend& b) { return hasKernelForDispatchKey(b.key); });
    if (!falls_apart || has_backend) {
      return nullptr;
    }
  }
  return newest(*this, DispatchKey::CompositeImplicitAutograd, backend);
}

void OperatorEntry::updateDispatchTable(const AnnotatedKernel* fallbacks, RetiredKernels& retired) {
  for (int row = 0; row < c10::kNumDispatchKeys; row++) {
    const AnnotatedKernel* found = kernelOfRow(static_cast<DispatchKey>(row));
    const KernelFunction& kernel = found != nullptr ? found->kernel : fallbacks[row].kernel;
    const bool checks = found != nullptr && impl::needs_device_check(*this, static_cast<DispatchKey>(row), *found);
    if (auto former = table[row].set(checks ? impl::with_device_check(kernel) : kernel)) {
      retired.push_back(std::move(former));
    }
  }
  const AnnotatedKernel* recorded = kernelOfRow(DispatchKey::Autograd);
  const auto composite = kernels.find(DispatchKey::CompositeImplicitAutograd);
  is_composite = recorded != nullptr && composite != kernels.end() && !composite->second.empty() &&
                 recorded == &composite->second.front();
}

static std::string place(const AnnotatedKernel& kernel) {
  return c10::str("registered at ", kernel.file, ":", kernel.line);
}

// Returns which kind of registration fills the row, in PyTorch's words.
static const char* kind_of(const OperatorEntry& entry, DispatchKey row, const AnnotatedKernel* kernel) {
  const auto registered_for = [&](DispatchKey key) {
    const auto found = entry.kernels.find(key);
    return found != entry.kernels.end() &&
           std::any_of(found->second.begin(), found->second.end(), [&](const auto& k) { return &k == kernel; });
  };
  return kernel == nullptr                                        ? "backend fallback"
         : registered_for(row)                                    ? "kernel"
         : registered_for(DispatchKey::CompositeExplicitAutograd) ? "default backend kernel"
                                                                  : "math kernel";
}

std::string OperatorEntry::dumpComputedTable(const AnnotatedKernel* fallbacks) const {
  std::ostringstream out;
  for (int k = 0; k < c10::kNumDispatchKeys; k++) {
    if (!table[k].valid()) {
      continue;
    }
    const auto row = static_cast<DispatchKey>(k);
    const AnnotatedKernel* kernel = kernelOfRow(row);
    out << row << ": " << place(kernel != nullptr ? *kernel : fallbacks[k]) << " [" << kind_of(*this, row, kernel)
        << "]\n";
    const Backend* backend = backend_of(row);
    for (const native::DispatchStubImpl* stub : kernel != nullptr && backend != nullptr ? kernel->stubs : Stubs()) {
      const native::StubKernel& below = stub->kernels[static_cast<int>(backend->device)];
      out << "  " << stub->name << ": " << below.function << " registered at " << below.file << ":" << below.line
          << "\n";
    }
  }
  return out.str();
}

std::string OperatorEntry::dumpState() const {
  std::ostringstream out;
  out << "name: " << schema.operator_name() << "\nschema: " << schema.str() << "\ndebug: registered at " << file << ":"
      << line << "\n";
  for (const auto& [key, registered] : kernels) {
    const AnnotatedKernel* active = newest(*this, key, backend_of(key));
    for (const AnnotatedKernel& kernel : registered) {
      out << key << (&kernel == active ? "" : " (inactive)")
          << (static_cast<int>(key) > c10::kNumDispatchKeys ? "[alias]" : "") << ": " << place(kernel)
          << " :: " << kernel.function << " [ boxed" << (kernel.kernel.unboxed != nullptr ? " unboxed" : "") << " ]\n";
    }
  }
  return out.str();
}

} // namespace reftorch::at
