// Mirrors: aten/src/ATen/core/PythonFallbackKernel.cpp
#include <ATen/core/PythonFallbackKernel.h>

#include <ATen/core/library.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

namespace reftorch::at {

void (*python_dispatch_hook)(const OperatorHandle& op, Stack* stack) = nullptr;

// See Note [The Python key].
static void python_fallback(const OperatorHandle& op, DispatchKeySet, Stack* stack) {
  const c10::impl::ExcludeDispatchKeyGuard guard(after_Python_keyset);
  python_dispatch_hook(op, stack);
}

TORCH_LIBRARY_FRAGMENT(aten, m) {
  m.fallback(c10::DispatchKey::Python, &python_fallback);
}

} // namespace reftorch::at
