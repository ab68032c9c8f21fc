"""Wrong answers to the exercises of chapter 03: what each check must reject, and why somebody would write it.

Mirrors: nothing in PyTorch: exercises.
Leaves out: the tasks, the right answers and the checks, which stand in exercises.py.
"""


# %% exercise="03.1" role="mutant" why="the name one would guess"
def kernel_of_subtraction() -> tuple[str, int]:
    return "sub_kernel", 1


# %% exercise="03.1" role="mutant" why="the alpha of the caller"
def kernel_of_subtraction() -> tuple[str, int]:
    return "add_kernel", 1


# %% exercise="03.2" role="mutant" why="the order in which Python shows the dimensions"
def loop_of_a_plus_b() -> dict[str, list[int]]:
    return {"shape": [4, 3], "out": [12, 4], "a": [12, 4], "b": [4, 0]}


# %% exercise="03.2" role="mutant" why="elements instead of bytes"
def loop_of_a_plus_b() -> dict[str, list[int]]:
    return {"shape": [3, 4], "out": [1, 3], "a": [1, 3], "b": [0, 1]}


# %% exercise="03.3" role="mutant" why="squares in the dtype of the elements"
HYPOTENUSE = r"""
at::Tensor hypotenuse(const at::Tensor& self, const at::Tensor& other) {
  at::Tensor out;
  auto iter = at::TensorIterator::binary_float_op(out, self, other);
  AT_DISPATCH_FLOATING_TYPES_AND_REDUCED(iter.dtype(), "hypotenuse", [&] {
    at::native::cpu_kernel(iter, [](scalar_t a, scalar_t b) -> scalar_t {
      const scalar_t x = a * a, y = b * b, sum = x + y;
      return std::sqrt(float(sum));
    });
  });
  return out;
}
"""

# %% exercise="03.3" role="mutant" why="walks memory instead of strides"
HYPOTENUSE = r"""
at::Tensor hypotenuse(const at::Tensor& self, const at::Tensor& other) {
  at::Tensor out;
  auto iter = at::TensorIterator::binary_float_op(out, self, other);
  AT_DISPATCH_FLOATING_TYPES_AND_REDUCED(iter.dtype(), "hypotenuse", [&] {
    const auto* a = static_cast<const scalar_t*>(iter.data_ptr(1));
    const auto* b = static_cast<const scalar_t*>(iter.data_ptr(2));
    auto* result = static_cast<scalar_t*>(iter.data_ptr(0));
    for (int64_t i = 0; i < iter.numel(); i++) {
      result[i] = std::sqrt(float(a[i]) * float(a[i]) + float(b[i % other.numel()]) * float(b[i % other.numel()]));
    }
  });
  return out;
}
"""

# %% exercise="03.3" role="mutant" why="takes no integers"
HYPOTENUSE = r"""
at::Tensor hypotenuse(const at::Tensor& self, const at::Tensor& other) {
  at::Tensor out;
  auto iter = at::TensorIterator::binary_op(out, self, other);
  AT_DISPATCH_FLOATING_TYPES_AND_REDUCED(iter.dtype(), "hypotenuse", [&] {
    at::native::cpu_kernel(iter, [](scalar_t a, scalar_t b) -> scalar_t {
      return std::sqrt(float(a) * float(a) + float(b) * float(b));
    });
  });
  return out;
}
"""

# %% exercise="03.4" role="mutant" why="the bug as it was"
MENDED = BROKEN

# %% exercise="03.4" role="mutant" why="the smaller size wins"
MENDED = BROKEN.replace("std::max(size_a, size_b)", "std::min(size_a, size_b)")

# %% exercise="03.4" role="mutant" why="lines the shapes up at the first dimension"
MENDED = BROKEN.replace("a[a.size() - 1 - i]", "a[i]").replace("b[b.size() - 1 - i]", "b[i]")


# %% exercise="03.5" role="mutant" why="the other side of the fork"
def recorded() -> tuple[str, str]:
    return "call_unrecorded", "AddBackward0"


# %% exercise="03.5" role="mutant" why="the node of another op"
def recorded() -> tuple[str, str]:
    return "call_recorded", "AddBackward1"
