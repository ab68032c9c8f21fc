// Mirrors: aten/src/ATen/functorch/DynamicLayer.h, aten/src/ATen/functorch/Interpreter.h
// The function transforms that this thread is inside of, and how an op passes through them. Left out:
// functionalization, and saving the whole thread state with each transform.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/functorch/TensorWrapper.h>

namespace reftorch::at::functorch {

enum class TransformType : uint8_t { Vmap, Grad, Jvp };
enum class RandomnessType : uint8_t { Error, Same, Different };

// Note [Dynamic layers]
// vmap, grad and jvp push a layer while they call their function; the innermost is on top. While there is a layer, each
// op of the thread goes to the key Front first, the layer on top. Under vmap, Front asks for a batching rule, and calls
// what the rule does one layer down. Under grad and jvp, Front wraps the tensors that are not of this level, so that
// the keys below see no others; Autograd records the op, or computes its tangent; the key Back takes the wrappers off,
// and calls the op one layer down. With no layer left the op is an ordinary one. An op made of others is none of a
// layer's business: each of those comes to Front by itself. What runs under grad and jvp has to be recorded, so
// inference mode is off inside of them.
struct DynamicLayer {
  int64_t level = 0; // from 1, outermost first
  TransformType type = TransformType::Grad;
  int64_t batch_size = 0;                            // of vmap
  RandomnessType randomness = RandomnessType::Error; // of vmap
  bool previous_grad_mode = true; // what held outside: a gradient is recorded outside only if it was wanted there
  bool previous_fw_grad_mode = true;
  bool previous_inference_mode = false;
  std::shared_ptr<bool> is_alive;
};

// Returns the new layer's level.
TORCH_API int64_t push_layer(TransformType type, int64_t batch_size = 0,
                             RandomnessType randomness = RandomnessType::Error);
// The wrappers of the layer's level are dead from here on.
TORCH_API void pop_layer();
// The innermost layer; null outside of all transforms.
TORCH_API const DynamicLayer* current_layer();

// `t` as a function under the layer sees it. Undefined tensors stay undefined.
TORCH_API Tensor wrap(const Tensor& t, const DynamicLayer& layer, std::optional<int64_t> bdim = std::nullopt);

// A tensor that was just made, without an op, as one that an op made in place of it: every grad and jvp wraps it, so
// that it may be changed in place.
TORCH_API Tensor lift_fresh(Tensor t);

// As long as it lives, ops pass one layer less.
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

// Runs an op on a batch: pops the op's arguments, some of which are wrappers of `layer`, and pushes its results,
// wrapped. It is called without that layer. Set by csrc/functorch, where the rules are.
TORCH_API extern void (*batch_rule_hook)(const OperatorHandle& op, const DynamicLayer& layer, Stack* stack);

} // namespace reftorch::at::functorch
