// Mirrors: aten/src/ATen/functorch/DynamicLayer.h, aten/src/ATen/functorch/Interpreter.h
//
// The function transforms (vmap, grad, jvp) that are active on this thread, and how an op passes through them. Left
// out: functionalization, and saving the whole thread state with each transform.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/functorch/TensorWrapper.h>

namespace reftorch::at::functorch {

enum class TransformType : uint8_t { Vmap, Grad, Jvp };
enum class RandomnessType : uint8_t { Error, Same, Different };

// Note [Dynamic layers]
// vmap, grad and jvp push a layer while they call their function; the layer of the innermost transform is on top. While
// there is a layer, each op of the thread first goes to the key Front, which passes it to the layer on top. Under vmap,
// Front looks up the op's batching rule, and the rule calls its ops one layer down. Under grad and jvp, Front wraps the
// tensors that do not belong to this level, so that the keys below see wrappers of this level only. Autograd then
// records the op or computes its tangent. The key Back unwraps the tensors and calls the op one layer down. Below the
// last layer, the op is an ordinary op. A layer does not handle an op that is made of other ops, because each of those
// ops comes to Front by itself. Ops under grad and jvp have to be recorded, so inference mode is disabled inside them.
struct DynamicLayer {
  int64_t level = 0; // counts from 1, the outermost transform
  TransformType type = TransformType::Grad;
  int64_t batch_size = 0;                            // only for vmap
  RandomnessType randomness = RandomnessType::Error; // only for vmap
  bool previous_grad_mode = true; // outside the transform: the ops one layer down are recorded only if that was enabled
  bool previous_fw_grad_mode = true;
  bool previous_inference_mode = false;
  std::shared_ptr<bool> is_alive;
};

// Pushes a layer and returns its level.
TORCH_API int64_t push_layer(TransformType type, int64_t batch_size = 0,
                             RandomnessType randomness = RandomnessType::Error);
// Pops the top layer. The wrappers of its level are dead from then on.
TORCH_API void pop_layer();
// Returns the innermost layer; null if no transform is active.
TORCH_API const DynamicLayer* current_layer();

// Wraps `t` for the function under the layer. An undefined tensor stays undefined.
TORCH_API Tensor wrap(const Tensor& t, const DynamicLayer& layer, std::optional<int64_t> bdim = std::nullopt);

// Wraps a tensor that was made without an op, as if an op had made it: every grad and jvp layer wraps the tensor, so
// that it may be changed in place.
TORCH_API Tensor lift_fresh(Tensor t);

// Removes the top layer until the end of the scope, so that ops are called one layer down.
class TORCH_API WithoutTop final {
 public:
  WithoutTop();
  ~WithoutTop();
  WithoutTop(const WithoutTop&) = delete;
  WithoutTop& operator=(const WithoutTop&) = delete;

 private:
  DynamicLayer layer_;
  DispatchKeySet excluded_;
};

// Runs an op on a batch: pops the op's arguments, some of which are wrappers of `layer`, and pushes its wrapped
// results. `layer` is not active during the call. csrc/functorch, which has the batching rules, sets the pointer.
TORCH_API extern void (*batch_rule_hook)(const OperatorHandle& op, const DynamicLayer& layer, Stack* stack);

} // namespace reftorch::at::functorch
