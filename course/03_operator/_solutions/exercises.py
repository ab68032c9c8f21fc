"""The exercises of chapter 03, solved; `make course` makes the learner's notebook of it.

Mirrors: nothing in PyTorch: exercises.
Leaves out: what the lesson explains.
"""

# %% [markdown]
# # Exercises 03: one operator
#
# Each exercise has a cell that raises until you have written it, and a check below that you run as often as you like.
# Stuck? `course("hint 03.1")` in a cell of its own. Done? `course("check 03")` runs the notebook, as last saved, from
# top to bottom. C++ is compiled when its check runs, which takes some two seconds.

# %%
import reftorch as torch
from course._tools import check, course, show_source
from reftorch.debug import call_tree
from reftorch.utils.cpp_extension import load_inline

# %% [markdown] exercise="03.1" role="task" kind="read" title="the kernel of a subtraction"
# ## 03.1 Read: the kernel of a subtraction
#
# Who looks for the kernel of `-` sets a breakpoint on a name that does not exist. Which kernel computes `a - b` for
# two float tensors, and which `alpha` does it receive? (A kernel used twice is one kernel less to write for each
# device.)


# %% exercise="03.1" role="answer"
def kernel_of_subtraction() -> tuple[str, int]:
    """The kernel's name without namespace, and the alpha that reaches it."""
    # BEGIN SOLUTION
    return "add_kernel", -1
    # END SOLUTION


# %% exercise="03.1" role="check"
from course._tools.trees import called

with check("03.1", "the kernel of a subtraction") as c:
    kernel, alpha = kernel_of_subtraction()
    a, b = torch.tensor([5.0, 7.0]), torch.tensor([1.0, 2.0])
    with call_tree() as tree:
        difference = a - b
    entered = [name for name in called(tree) if name.endswith("_kernel") and not name.startswith("cpu_")]
    c.equal("the kernels in the call tree of a - b", came=[kernel], expected=entered)
    c.close("what that kernel makes with this alpha", came=torch.add(a, b, alpha=alpha), expected=difference)

# %% [markdown] exercise="03.1" role="hint"
# Record a call tree of `a - b` and look for a name that ends in `_kernel`.

# %% [markdown] exercise="03.1" role="hint"
# `show_source("cpp/ATen/native/BinaryOps.cpp", "sub_out")` has the call of the stub, with the alpha it passes on.


# %% [markdown] exercise="03.2" role="task" kind="read" title="the loop that the iterator makes"
# ## 03.2 Read: the loop that the iterator makes
#
# A kernel that is slow on one layout and quick on another is explained by the loop that it was given. `a` below is a
# transposed tensor, `b` broadcasts. What are the shape of the iterator's loop, *fastest dimension first*, and the
# strides of the result, of `a` and of `b` in it, *in bytes*? Work it out from `TensorIterator.cpp`
# (`compute_strides`, `reorder_dimensions`, `allocate_or_resize_outputs`), or read it at a stop; the check asks a real
# iterator.

# %% exercise="03.2" role="given"
a = torch.ones(4, 3).t()
b = torch.ones(4)


# %% exercise="03.2" role="answer"
def loop_of_a_plus_b() -> dict[str, list[int]]:
    """The loop's `shape`, and the strides in bytes of `out`, `a` and `b`; each with the fastest dimension first."""
    # BEGIN SOLUTION
    return {"shape": [3, 4], "out": [4, 12], "a": [4, 12], "b": [0, 4]}
    # END SOLUTION


# %% exercise="03.2" role="check"
LOOP = r"""
std::vector<std::vector<int64_t>> loop_of(const at::Tensor& a, const at::Tensor& b) {
  at::Tensor out;
  const auto iter = at::TensorIterator::binary_op(out, a, b);
  std::vector<std::vector<int64_t>> result = {iter.shape().vec()};
  for (int i = 0; i < iter.ntensors(); i++) {
    result.push_back(iter.strides(i).vec());
  }
  return result;
}
"""
with check("03.2", "the loop that the iterator makes") as c:
    answer = loop_of_a_plus_b()
    asked = load_inline("loop_of", LOOP, functions="loop_of").loop_of(a, b)
    for name, expected in zip(["shape", "out", "a", "b"], asked, strict=True):
        c.equal(f"{name} in the loop of a + b", came=[*answer[name]], expected=expected)
    c.equal(
        "the strides of the result, in elements", came=[s // 4 for s in answer["out"]], expected=list((a + b).stride())
    )

# %% [markdown] exercise="03.2" role="hint"
# Start from `a.stride()` times four bytes. A dimension that `b` does not have, or in which it has size 1, gets stride
# 0.

# %% [markdown] exercise="03.2" role="hint"
# The dimension with the smallest stride becomes the first of the loop. The result is new, so it is laid out in the
# order of the loop: its first dimension takes one element's bytes.


# %% [markdown] exercise="03.3" role="task" kind="build" title="a kernel with two operands"
# ## 03.3 Build: a kernel with two operands
#
# Write √(a² + b²) as an op in C++: any two shapes that broadcast, any strides, any dtype that makes sense.
# Integers give the default float dtype; 16-bit floats are computed in float32, because 300² is infinite in float16.
#
# The function makes an iterator (`TensorIterator::binary_float_op`), dispatches on its dtype
# (`AT_DISPATCH_..._AND_REDUCED`), and hands `cpu_kernel` a function of two elements. The kernel of `add` in the
# lesson is the pattern, the op *softsign* the frame. Your text stands outside the library's namespaces, so its names
# begin with `at::`, as `at::opmath_type` does, or with `at::native::`.

# %% exercise="03.3" role="answer"
HYPOTENUSE = r"""
at::Tensor hypotenuse(const at::Tensor& self, const at::Tensor& other) {
  at::Tensor out;
  // BEGIN SOLUTION
  auto iter = at::TensorIterator::binary_float_op(out, self, other);
  AT_DISPATCH_FLOATING_TYPES_AND_REDUCED(iter.dtype(), "hypotenuse", [&] {
    using opmath_t = at::opmath_type<scalar_t>;
    at::native::cpu_kernel(iter, [](scalar_t a, scalar_t b) -> scalar_t {
      const opmath_t x = a, y = b;
      return std::sqrt(x * x + y * y);
    });
  });
  return out;
  // END SOLUTION
}
"""

# %% exercise="03.3" role="check"
with check("03.3", "a kernel with two operands") as c:
    hypotenuse = load_inline("hypotenuse", HYPOTENUSE, functions="hypotenuse").hypotenuse

    def expected(a, b):
        return (a * a + b * b).sqrt()

    torch.manual_seed(0)
    p, q = torch.randn(4, 3), torch.randn(4, 3)
    c.close("two tensors of one shape", came=hypotenuse(p, q), expected=expected(p, q))
    c.close("a transposed operand", came=hypotenuse(p.t(), q.t()), expected=expected(p.t(), q.t()))
    c.close(
        "one transposed, one not", came=hypotenuse(p, q.reshape(3, 4).t()), expected=expected(p, q.reshape(3, 4).t())
    )
    c.close("broadcast", came=hypotenuse(p, q[0]), expected=expected(p, q[0]))
    c.close("every second column", came=hypotenuse(p[:, ::2], q[:, ::2]), expected=expected(p[:, ::2], q[:, ::2]))
    whole = torch.tensor([3, 5, 8]), torch.tensor([4, 12, 15])
    c.close("integers give floats", came=hypotenuse(*whole), expected=torch.tensor([5.0, 13.0, 17.0]))
    half = torch.tensor([300.0], dtype=torch.float16), torch.tensor([400.0], dtype=torch.float16)
    c.close(
        "float16 is computed in float32", came=hypotenuse(*half), expected=torch.tensor([500.0], dtype=torch.float16)
    )
    c.close("float64 stays float64", came=hypotenuse(p.double(), q.double()), expected=expected(p.double(), q.double()))
    c.close("no elements", came=hypotenuse(torch.ones(0, 3), torch.ones(3)), expected=torch.ones(0, 3))
    c.raises("shapes that do not broadcast", RuntimeError, "must match", hypotenuse, torch.ones(2), torch.ones(3))

# %% [markdown] exercise="03.3" role="hint"
# Three statements: `auto iter = at::TensorIterator::binary_float_op(out, self, other);`, the dispatch macro with
# `iter.dtype()`, a name and a lambda `[&] { ... }`, and `return out;`. The iterator has allocated `out`.

# %% [markdown] exercise="03.3" role="hint"
# In the macro's lambda: `at::native::cpu_kernel(iter, [](scalar_t a, scalar_t b) -> scalar_t { ... });`. The arrow
# matters: without it the result's type may not be the output's, and the loop would write elements of another size.

# %% [markdown] exercise="03.3" role="hint"
# `using opmath_t = at::opmath_type<scalar_t>;` is float for the 16-bit types. Convert each operand before you square
# it.

# %% [markdown] exercise="03.4" role="task" kind="fix" title="a shape for nothing"
# ## 03.4 Fix: a shape for nothing
#
# Below is a copy of the function that broadcasts two shapes, with one planted bug. It passes every test that its
# author thought of. Then somebody filtered a batch down to no rows at all, added a row of biases, and the program
# read memory that was not its own. Find the input that goes wrong, and write the mended function. Do not call `at::`
# functions in it.

# %% exercise="03.4" role="given"
BROKEN = r"""
std::vector<int64_t> broadcast(const std::vector<int64_t>& a, const std::vector<int64_t>& b) {
  const size_t ndim = std::max(a.size(), b.size());
  std::vector<int64_t> expanded(ndim);
  for (size_t i = 0; i < ndim; i++) { // i counts from the last dimension
    const int64_t size_a = i < a.size() ? a[a.size() - 1 - i] : 1;
    const int64_t size_b = i < b.size() ? b[b.size() - 1 - i] : 1;
    TORCH_CHECK(size_a == size_b || size_a == 1 || size_b == 1, "The size of tensor a (", size_a,
                ") must match the size of tensor b (", size_b, ") at non-singleton dimension ", ndim - 1 - i);
    expanded[ndim - 1 - i] = std::max(size_a, size_b);
  }
  return expanded;
}
"""

# %% exercise="03.4" role="answer"
MENDED = r"""
std::vector<int64_t> broadcast(const std::vector<int64_t>& a, const std::vector<int64_t>& b) {
  // BEGIN SOLUTION
  const size_t ndim = std::max(a.size(), b.size());
  std::vector<int64_t> expanded(ndim);
  for (size_t i = 0; i < ndim; i++) { // i counts from the last dimension
    const int64_t size_a = i < a.size() ? a[a.size() - 1 - i] : 1;
    const int64_t size_b = i < b.size() ? b[b.size() - 1 - i] : 1;
    TORCH_CHECK(size_a == size_b || size_a == 1 || size_b == 1, "The size of tensor a (", size_a,
                ") must match the size of tensor b (", size_b, ") at non-singleton dimension ", ndim - 1 - i);
    expanded[ndim - 1 - i] = size_a == 1 ? size_b : size_a;
  }
  return expanded;
  // END SOLUTION
}
"""

# %% exercise="03.4" role="check"
with check("03.4", "a shape for nothing") as c:
    broadcast = load_inline("broadcast", MENDED, functions="broadcast").broadcast
    for left, right in [
        ([2, 3], [3]),
        ([4, 1], [1, 5]),
        ([], [2]),
        ([1], [1]),
        ([1, 3], [0, 3]),
        ([0], []),
        ([0, 1], [4]),
    ]:
        real = list((torch.empty(left) + torch.empty(right)).shape)
        c.equal(f"{left} with {right}", came=broadcast(left, right), expected=real)
        c.equal(f"{right} with {left}", came=broadcast(right, left), expected=real)
    c.raises("2 with 3", RuntimeError, "must match the size of tensor b (3)", broadcast, [2], [3])
    c.raises("0 with 3", RuntimeError, "non-singleton dimension 1", broadcast, [5, 0], [5, 3])

# %% [markdown] exercise="03.4" role="hint"
# "No rows at all" is a size of 0. Which sizes may stand opposite it, and what should come out?

# %% [markdown] exercise="03.4" role="hint"
# Compare the last line of the loop with `show_source("cpp/ATen/ExpandUtils.cpp", "infer_size_dimvector")`. Opposite a
# 1 the other size wins, be it larger or smaller.

# %% [markdown] exercise="03.5" role="task" kind="read" title="what a gradient adds to the way"
# ## 03.5 Read: what a gradient adds to the way
#
# Every call passes the Autograd kernel, gradient or not; the fork is inside it. Which function of
# `autograd_fallback.cpp` runs for `x + y` *only* where `x` requires a gradient, directly below `autograd_fallback`?
# And what is the name of the graph node that the result then carries?


# %% exercise="03.5" role="answer"
def recorded() -> tuple[str, str]:
    """The function of autograd_fallback.cpp, without namespace, and the name of the result's node."""
    # BEGIN SOLUTION
    return "call_recorded", "AddBackward0"
    # END SOLUTION


# %% exercise="03.5" role="check"
from course._tools.trees import called, callers

with check("03.5", "what a gradient adds to the way") as c:
    function, node = recorded()
    with call_tree(only="autograd_fallback") as plain:
        torch.ones(2) + torch.ones(2)
    x = torch.ones(2, requires_grad=True)
    with call_tree(only="autograd_fallback") as graph:
        result = x + torch.ones(2)
    added = [name for name in called(graph) if name not in called(plain)]
    below = [name for name in added if callers(graph, name)[-1][0] == "autograd_fallback"]
    c.equal("what stands below autograd_fallback only with a gradient", came=[function], expected=below)
    c.equal("the node of the result", came=node, expected=result.grad_fn.name())

# %% [markdown] exercise="03.5" role="hint"
# Two call trees with `only="autograd_fallback"`: one of plain tensors, one with `torch.ones(2, requires_grad=True)`.

# %% [markdown] exercise="03.5" role="hint"
# The last lines of `show_source("cpp/csrc/autograd/autograd_fallback.cpp", "autograd_fallback")` are the fork. The
# node is printed with the tensor, as `grad_fn=<...>`.
