// Mirrors: aten/src/ATen/autocast_mode.h
//
// Autocast: inside the mode, some ops compute in a 16-bit dtype and some in float32, whatever the dtype of their
// arguments is. The CPU and CUDA devices have a mode each, with lists of their own. Left out: other devices; a dispatch
// key of its own.
//
// Note [Autocast]
// Problem: the arguments of chosen ops are to be cast, autograd is to record the casts, and a program without the mode
// must not pay for it. Trick: a thread inside the mode includes the key Profiler, which is above all others and belongs
// to no tensor (Note [Profiling]). The fallback of this key first casts the arguments of the ops on the lists of
// autocast_lists.h, then measures the call if the thread also profiles, and then calls the op on the keys below. The
// casts are ops themselves, so autograd and the function transforms record them. Inside a listed op the mode is off.
// PyTorch has a key for each device (AutocastCPU); here one key serves everything that a thread wants to do with each
// op before autograd sees it.
//
// Note [Cast weights]
// Problem: a weight that is used several times in a forward pass would be cast several times. Trick: the cast of a leaf
// that requires a gradient is kept until the outermost mode ends. The kept cast has a graph, which leads the gradients
// of all its uses to the weight through one node. As in PyTorch, a weight that is changed inside the mode keeps its old
// cast, and the casts belong to no thread: the mode that ends on any thread frees them all.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>

namespace reftorch::at::autocast {

// The state of the calling thread.
TORCH_API bool is_autocast_enabled(c10::DeviceType device);
TORCH_API void set_autocast_enabled(c10::DeviceType device, bool enabled);
TORCH_API ScalarType get_autocast_dtype(c10::DeviceType device);
TORCH_API void set_autocast_dtype(c10::DeviceType device, ScalarType dtype);
TORCH_API bool is_autocast_cache_enabled();
TORCH_API void set_autocast_cache_enabled(bool enabled);
// Count the modes that the thread is inside of, and return the new number.
TORCH_API int increment_nesting();
TORCH_API int decrement_nesting();
TORCH_API void clear_cache();

// The thread includes the key Profiler while autocast or the profiler needs it.
TORCH_API bool profiler_needs_key();
TORCH_API void set_profiler_needs_key(bool needs);

// Returns whether a tensor is a leaf and no view: only the cast of such a tensor is kept. The binding sets the pointer,
// because the graph belongs to csrc/autograd.
TORCH_API extern bool (*is_leaf_and_no_view)(const Tensor& t);

// From construction to destruction: casts the arguments of an op, which are the last values of the stack, if the op is
// on a list, and disables the mode until the op is done. Does nothing outside the mode and for any other op.
class Casts final {
 public:
  Casts(const OperatorHandle& op, Stack* stack);
  ~Casts();
  Casts(const Casts&) = delete;
  Casts& operator=(const Casts&) = delete;

 private:
  bool* suspended_ = nullptr; // the flag of the thread that is off until the op is done
};

} // namespace reftorch::at::autocast
