// Mirrors: aten/src/ATen/core/PythonFallbackKernel.h, torch/csrc/PyInterpreter.h
//
// Note [The Python key]
// Problem: a program wants to see, or to answer, every op that reaches the kernels: a mode (TorchDispatchMode) the ops
// of a thread, a tensor class with __torch_dispatch__ the ops on its tensors; and autograd has to record such ops as it
// records others. Trick: a dispatch key below Autograd and the function transforms, above the backends. A tensor of
// such a class has the key; a thread with a mode includes the key. The key's fallback calls Python with all keys above
// excluded, because what they do is done: so Python sees plain ops, and the ops that Python calls are not recorded a
// second time. A mode is taken off its stack while it answers, so its own ops go below it. Programs without a mode or
// such a class pay nothing: the word that dispatch reads anyhow has no bit set.
// Left out: PythonTLSSnapshot, which PyTorch sets above Autograd but does not restore from either; PythonDispatcher.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>

namespace reftorch::at {

// Answers the op in Python: pops the arguments, pushes the results. Set by csrc/python_torch_dispatch.cpp.
TORCH_API extern void (*python_dispatch_hook)(const OperatorHandle& op, Stack* stack);

// The keys whose work is done when the Python key is reached.
constexpr DispatchKeySet after_Python_keyset = DispatchKeySet(c10::DispatchKey::FuncTorchDynamicLayerBackMode) |
                                               c10::DispatchKey::Autograd |
                                               c10::DispatchKey::FuncTorchDynamicLayerFrontMode;

} // namespace reftorch::at
