// Mirrors: aten/src/ATen/core/PythonFallbackKernel.h, torch/csrc/PyInterpreter.h
//
// Note [The Python key]
// Problem: a Python program wants to see or to compute every op that reaches the kernels. A mode (TorchDispatchMode)
// handles all ops of a thread, and a tensor class with __torch_dispatch__ handles the ops on its tensors. Autograd
// still has to record such ops. Trick: a dispatch key below Autograd and the function transforms, and above the
// backends. A tensor of such a class has the key, and a thread inside a mode includes the key. The fallback of the key
// calls Python with all higher keys excluded, because their work is done. So Python sees plain ops, and the ops that
// Python calls are not recorded a second time. A mode is removed from the stack while it handles an op, so the ops that
// it calls go to the next mode or to the kernels. Programs without a mode or such a class pay nothing: dispatch reads
// the key sets in any case, and the bit is not set. Left out: PythonTLSSnapshot, PythonDispatcher.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>

namespace reftorch::at {

// Handles the op in Python: pops the arguments and pushes the results. csrc/python_torch_dispatch.cpp sets the pointer.
TORCH_API extern void (*python_dispatch_hook)(const OperatorHandle& op, Stack* stack);

// The keys whose work is done when the Python key is reached.
constexpr DispatchKeySet after_Python_keyset = DispatchKeySet(c10::DispatchKey::FuncTorchDynamicLayerBackMode) |
                                               c10::DispatchKey::Autograd |
                                               c10::DispatchKey::FuncTorchDynamicLayerFrontMode;

} // namespace reftorch::at
