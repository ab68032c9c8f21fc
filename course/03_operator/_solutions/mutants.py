"""Wrong answers to the exercises of chapter 03: what each check must reject, and why somebody would write it.

Mirrors: nothing in PyTorch: exercises.
Leaves out: the tasks, the right answers and the checks, which are in exercises.py.

The wrong answers of exercise 03.10 are the right one with one change: the first of them keeps the right one.
"""


# %% exercise="03.1" role="mutant" why="the name one would guess"
def kernel_of_subtraction() -> tuple[str, int]:
    return "sub_kernel", 1


# %% exercise="03.1" role="mutant" why="the alpha of the caller"
def kernel_of_subtraction() -> tuple[str, int]:
    return "add_kernel", 1


# %% exercise="03.2" role="mutant" why="what one expects first: that something is kept"
def recorded() -> tuple[str, str]:
    return "save_arguments", "MulBackward0"


# %% exercise="03.2" role="mutant" why="the node of another op"
def recorded() -> tuple[str, str]:
    return "collect_next_edges", "AddBackward0"


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


# %% exercise="03.4" role="mutant" why="all operands count alike"
def dtype_of_result(left: torch.Tensor | float, right: torch.Tensor | float) -> torch.dtype:
    of_number = {bool: torch.bool, int: torch.int64, float: torch.float32}
    dtypes = [each.dtype if isinstance(each, torch.Tensor) else of_number[type(each)] for each in (left, right)]
    return torch.promote_types(*dtypes)


# %% exercise="03.4" role="mutant" why="a tensor without dimensions counts fully"
def dtype_of_result(left: torch.Tensor | float, right: torch.Tensor | float) -> torch.dtype:
    """The dtype of `left + right`; at least one of them is a tensor, or both are numbers."""

    def same_class(a, b):
        return torch.promote_types(a, b) if a and b else a or b

    def combine(higher, lower):
        if higher is None or lower is None:
            return higher or lower
        if not higher.is_floating_point and (higher == torch.bool or lower.is_floating_point):
            return torch.promote_types(higher, lower)
        return higher

    classes = {"dimensions": None, "none": None, "number": None}
    of_number = {bool: torch.bool, int: torch.int64, float: torch.get_default_dtype()}
    for operand in (left, right):
        if not isinstance(operand, torch.Tensor):
            name, dtype = "number", of_number[type(operand)]
        else:
            name, dtype = "dimensions", operand.dtype
        classes[name] = same_class(classes[name], dtype)
    return combine(classes["dimensions"], combine(classes["none"], classes["number"]))


# %% exercise="03.4" role="mutant" why="an integer below a bool does not count"
def dtype_of_result(left: torch.Tensor | float, right: torch.Tensor | float) -> torch.dtype:
    """The dtype of `left + right`; at least one of them is a tensor, or both are numbers."""

    def same_class(a, b):
        return torch.promote_types(a, b) if a and b else a or b

    def combine(higher, lower):
        if higher is None or lower is None:
            return higher or lower
        if not higher.is_floating_point and lower.is_floating_point:
            return torch.promote_types(higher, lower)
        return higher

    classes = {"dimensions": None, "none": None, "number": None}
    of_number = {bool: torch.bool, int: torch.int64, float: torch.get_default_dtype()}
    for operand in (left, right):
        if not isinstance(operand, torch.Tensor):
            name, dtype = "number", of_number[type(operand)]
        else:
            name, dtype = "dimensions" if operand.dim() else "none", operand.dtype
        classes[name] = same_class(classes[name], dtype)
    return combine(classes["dimensions"], combine(classes["none"], classes["number"]))


# %% exercise="03.5" role="mutant" why="swallows the error"
def autograd(kernel, *args):
    log.append(kernel.__name__)
    off.add("Autograd")
    try:
        return call(kernel, *args)
    except Exception:
        off.discard("Autograd")


# %% exercise="03.5" role="mutant" why="switches on what the caller had switched off"
def autograd(kernel, *args):
    log.append(kernel.__name__)
    off.add("Autograd")
    try:
        return call(kernel, *args)
    finally:
        off.discard("Autograd")


# %% exercise="03.5" role="mutant" why="records the ops inside an op"
def autograd(kernel, *args):
    log.append(kernel.__name__)
    return kernel(*args)


# %% exercise="03.6" role="mutant" why="the bug as it was"
FIXED = BROKEN

# %% exercise="03.6" role="mutant" why="lines the sizes up at the first dimension"
FIXED = BROKEN.replace("sizes[d] == 1", "sizes[last - d] == 1").replace("strides[last - d]", "strides[d]")

# %% exercise="03.6" role="mutant" why="every size of 1 gets stride 0, and none else"
FIXED = BROKEN.replace("sizes[d] == 1 && shape[last_shape - d] != 1", "sizes[last - d] == 1")


# %% exercise="03.7" role="mutant" why="the order in which Python shows the dimensions"
def loop_of_a_plus_b() -> dict[str, list[int]]:
    return {"shape": [3, 4, 2], "out": [32, 8, 4], "a": [4, 24, 12], "b": [0, 0, 4]}


# %% exercise="03.7" role="mutant" why="elements instead of bytes"
def loop_of_a_plus_b() -> dict[str, list[int]]:
    return {"shape": [3, 2, 4], "out": [1, 3, 6], "a": [1, 3, 6], "b": [0, 1, 0]}


# %% exercise="03.8" role="mutant" why="the formula of width forgets the minus of the chain"
def add_formula(op: str) -> None:
    derivative(
        op,
        self=lambda grad, self, width, result: grad * result * -2 * self / width**2,
        width=lambda grad, self, width, result: grad * result * -2 * self**2 / width**3,
    )


# %% exercise="03.8" role="mutant" why="the mean instead of the median"
def benchmark(function) -> float:
    function()
    start = time.perf_counter()
    for _ in range(8):
        function()
    return (time.perf_counter() - start) / 8


# %% exercise="03.9" role="mutant" why="never merges, which is slow and right"
def change() -> tuple[str, str]:
    return (
        "cpp/ATen/TensorIterator.cpp",
        """
-      return shape_[dim0] * op.stride_bytes[dim0] == op.stride_bytes[dim1];
+      return false;
""",
    )


# %% exercise="03.9" role="mutant" why="takes the first of two dimensions alone into account"
def change() -> tuple[str, str]:
    return (
        "cpp/ATen/TensorIterator.cpp",
        """
-      return shape_[dim0] * op.stride_bytes[dim0] == op.stride_bytes[dim1];
+      return op.stride_bytes[dim0] == op.stride_bytes[dim1];
""",
    )


# %% exercise="03.10" role="mutant" why="a sum is computed in the dtype of its result"
right_dtypes = dtypes()


def dtypes() -> dict[str, tuple[str, str]]:
    return right_dtypes | {"bfloat16 + int64": ("bfloat16", "bfloat16")}


# %% exercise="03.10" role="mutant" why="an integer tensor is the higher kind"
def dtypes() -> dict[str, tuple[str, str]]:
    return right_dtypes | {"bfloat16 + int64": ("float32", "float32")}


# %% exercise="03.10" role="mutant" why="a number of Python is a float64"
def dtypes() -> dict[str, tuple[str, str]]:
    return right_dtypes | {"int64 + 2.5": ("float64", "float64")}


# %% exercise="03.10" role="mutant" why="a comparison is computed in bool"
def dtypes() -> dict[str, tuple[str, str]]:
    return right_dtypes | {"bfloat16 == int64": ("bool", "bool")}


# %% exercise="03.10" role="mutant" why="an absolute value keeps its dtype"
def dtypes() -> dict[str, tuple[str, str]]:
    return right_dtypes | {"abs of complex64": ("complex64", "complex64")}


# %% exercise="03.10" role="mutant" why="the first operand decides"
def dtypes() -> dict[str, tuple[str, str]]:
    return right_dtypes | {"bfloat16 + float16": ("float32", "bfloat16")}
