"""The exercises of chapter 03, solved; `make course` makes the learner's notebook of it.

Mirrors: nothing in PyTorch: exercises.
Leaves out: what the lesson explains.

The file is some 780 lines long, because all exercises of a chapter are in one file.
"""

# %% [markdown]
# # Exercises 03: one operator
#
# Each exercise has a cell that raises until you have written your answer, and a check below that you run as often as
# you like. Every requirement that a check tests is in the task. Stars say how difficult an exercise is, from one to
# three. Stuck? `course("hint 03.1")` in a cell of its own. Done? `course("check 03")` runs the notebook, as last saved,
# from top to bottom. C++ is compiled when its check runs, which takes some seconds.

# %%
import reftorch as torch
from course._tools import check, course, rebuild, show_source, stops_in_torch, write_for_torch
from reftorch.debug import call_tree
from reftorch.utils.cpp_extension import load_inline

# %% [markdown] exercise="03.1" role="task" kind="read" title="the kernel of a subtraction"
# ## 03.1 Read: the kernel of a subtraction
#
# ★☆☆, 10 minutes.
#
# You want to stop in the kernel of `-`. You set a breakpoint on a name that you guessed, and gdb says that there is
# no such function. Which kernel computes `a - b` for two float tensors, and which `alpha` does the kernel receive?


# %% exercise="03.1" role="answer"
def kernel_of_subtraction() -> tuple[str, int]:
    """The kernel's name without namespace, and the alpha that the kernel receives."""
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
    same = bool((torch.add(a, b, alpha=alpha) == difference).all())
    c.answers(
        "the kernel and its alpha",
        came={"kernel": [kernel], "alpha gives the difference": same},
        truth={"kernel": entered, "alpha gives the difference": True},
        look="A call tree of a - b has the kernel; the function that calls the stub has the alpha.",
    )

# %% [markdown] exercise="03.1" role="debrief"
# **In PyTorch** `sub` has no kernel of its own either: `sub.Tensor` calls the stub of `add` with `-alpha`. So there
# is one kernel less to write for each device. The price is that you have to look for the kernel's name before you can
# stop there.

# %% [markdown] exercise="03.1" role="hint"
# Record a call tree of `a - b` and look for a name that ends in `_kernel`.

# %% [markdown] exercise="03.1" role="hint"
# `show_source("cpp/ATen/native/BinaryOps.cpp", "sub_out")` has the call of the stub, with the alpha that is passed on.

# %% [markdown] exercise="03.2" role="task" kind="read" title="what a gradient adds to the way"
# ## 03.2 Read: what a gradient adds to the way
#
# ★☆☆, 10 minutes.
#
# Every call passes the kernel of Autograd, with or without a gradient. The lesson showed the fork inside that kernel:
# if an op must be recorded, `call_recorded` runs. Let only `x` require a gradient. Which function of
# `cpp/csrc/autograd/formula.cpp` does `call_recorded` call *first* for `x * y`? (Constructors and other very small
# functions do not report, and do not count.) And what is the name of the graph node that the result then carries?


# %% exercise="03.2" role="answer"
def recorded() -> tuple[str, str]:
    """The function of formula.cpp, without namespace and class, and the name of the result's node."""
    # BEGIN SOLUTION
    return "collect_next_edges", "MulBackward0"
    # END SOLUTION


# %% exercise="03.2" role="check"
from course._tools.trees import called, callers

RECORDED = ("call_recorded", "cpp/csrc/autograd/autograd_fallback.cpp")

with check("03.2", "what a gradient adds to the way") as c:
    function, node = recorded()
    x = torch.ones(2, requires_grad=True)
    with call_tree(only="autograd/formula.cpp") as graph:
        result = x * torch.ones(2)
    below = [name for name in called(graph) if callers(graph, name)[-1:] == [RECORDED]]
    c.answers(
        "the function and the node",
        came={"function": function, "node": node},
        truth={"function": below[0], "node": result.grad_fn.name()},
        look="Record a call tree with a gradient, follow it below call_recorded, and print the result.",
    )

# %% [markdown] exercise="03.2" role="debrief"
# **In PyTorch** the fork is generated into the function of each op in `VariableType_*.cpp`. There a breakpoint
# belongs to one op; here one function serves all ops, and a breakpoint in that function stops for each of them.

# %% [markdown] exercise="03.2" role="hint"
# A call tree of `torch.ones(2, requires_grad=True) * torch.ones(2)` with `only="autograd/formula.cpp"` keeps the
# functions of that file and what leads to them.

# %% [markdown] exercise="03.2" role="hint"
# Read the tree from the top: the first line below `call_recorded` that is one step further to the right is its first
# call. The node is printed with the tensor, as `grad_fn=<...>`.

# %% [markdown] exercise="03.3" role="task" kind="build" title="a kernel with two operands"
# ## 03.3 Build: a kernel with two operands
#
# ★★☆, 20 minutes.
#
# Write √(a² + b²) as a function in C++. The check asks for: any two shapes that broadcast (others raise), any strides,
# no elements at all; float64 stays float64; integers give the default float dtype; 16-bit floats are computed in
# float32, because 300² is infinite in float16.
#
# The function makes an iterator (`TensorIterator::binary_float_op`), dispatches on its dtype
# (`AT_DISPATCH_FLOATING_TYPES_AND_REDUCED`), and hands `cpu_kernel` a function of two elements. The op *softsign* in
# the lesson is the pattern. Your text is outside the library's namespaces, so its names begin with `at::`, as
# `at::opmath_type` does, or with `at::native::`.

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
    c.close(c.case("two tensors of one shape"), came=hypotenuse(p, q), expected=expected(p, q))
    c.close(c.case("a transposed operand"), came=hypotenuse(p.t(), q.t()), expected=expected(p.t(), q.t()))
    c.close(
        c.case("one transposed, one not"),
        came=hypotenuse(p, q.reshape(3, 4).t()),
        expected=expected(p, q.reshape(3, 4).t()),
    )
    c.close(c.case("broadcast"), came=hypotenuse(p, q[0]), expected=expected(p, q[0]))
    c.close(
        c.case("every second column"), came=hypotenuse(p[:, ::2], q[:, ::2]), expected=expected(p[:, ::2], q[:, ::2])
    )
    whole = torch.tensor([3, 5, 8]), torch.tensor([4, 12, 15])
    c.close(c.case("integers give floats"), came=hypotenuse(*whole), expected=torch.tensor([5.0, 13.0, 17.0]))
    half = torch.tensor([300.0], dtype=torch.float16), torch.tensor([400.0], dtype=torch.float16)
    c.close(
        c.case("float16 is computed in float32"),
        came=hypotenuse(*half),
        expected=torch.tensor([500.0], dtype=torch.float16),
    )
    c.close(
        c.case("float64 stays float64"),
        came=hypotenuse(p.double(), q.double()),
        expected=expected(p.double(), q.double()),
    )
    c.close(c.case("no elements"), came=hypotenuse(torch.ones(0, 3), torch.ones(3)), expected=torch.ones(0, 3))
    c.raises("shapes that do not broadcast", RuntimeError, "must match", hypotenuse, torch.ones(2), torch.ones(3))

# %% [markdown] exercise="03.3" role="debrief"
# **In PyTorch** `hypot` avoids the overflow of the squares in float32 too, with a function that scales its operands
# first. The price is time for every element, although hardly anybody has numbers whose squares overflow.

# %% [markdown] exercise="03.3" role="hint"
# Three statements: `auto iter = at::TensorIterator::binary_float_op(out, self, other);`, the dispatch macro with
# `iter.dtype()`, a name and a lambda `[&] { ... }`, and `return out;`. The iterator has allocated `out`.

# %% [markdown] exercise="03.3" role="hint"
# In the macro's lambda: `at::native::cpu_kernel(iter, [](scalar_t a, scalar_t b) -> scalar_t { ... });`. The arrow
# matters: without it the result's type may not be the output's, and the loop would write elements of another size.

# %% [markdown] exercise="03.3" role="hint"
# `using opmath_t = at::opmath_type<scalar_t>;` is float for the 16-bit types. Convert each operand before you square
# it.

# %% [markdown] exercise="03.4" role="task" kind="build" title="the dtype of a result"
# ## 03.4 Build: the dtype of a result
#
# ★★☆, 20 minutes.
#
# Write in Python what `result_type` does in C++ for the iterator: compute the dtype of the result of two operands. An
# operand is a tensor with dimensions, a tensor without dimensions, or a Python number (`bool`, `int`, `float`). Do
# not compute with the operands, and do not call `torch.result_type`. `torch.promote_types(a, b)` is yours to use: it
# gives the smallest dtype that holds two dtypes, and does not know the classes of operands.
#
# The check compares all pairs of 12 operands (three numbers, and tensors of bool, int32, float16, float32 and others,
# with and without dimensions) with the dtype of their real sum, also where both operands are numbers. A Python `int` is
# int64.


# %% exercise="03.4" role="answer"
def dtype_of_result(left: torch.Tensor | float, right: torch.Tensor | float) -> torch.dtype:
    """The dtype of `left + right`; each of the two is a tensor or a Python number."""

    # BEGIN SOLUTION
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
            name, dtype = "dimensions" if operand.dim() else "none", operand.dtype
        classes[name] = same_class(classes[name], dtype)
    return combine(classes["dimensions"], combine(classes["none"], classes["number"]))
    # END SOLUTION


# %% exercise="03.4" role="check"
with check("03.4", "the dtype of a result") as c:
    dtypes = (torch.bool, torch.int32, torch.int64, torch.float16, torch.float32)
    operands = {str(number): number for number in (True, 7, 2.5)}
    operands |= {f"{str(dtype)[6:]}, no dimensions": torch.ones((), dtype=dtype) for dtype in dtypes[:4]}
    operands |= {f"{str(dtype)[6:]}, one dimension": torch.ones(2, dtype=dtype) for dtype in dtypes}
    for left_is, left in operands.items():
        for right_is, right in operands.items():
            c.equal(
                c.case(f"({left_is}) with ({right_is})"),
                came=dtype_of_result(left, right),
                expected=torch.result_type(left, right),
            )

# %% [markdown] exercise="03.4" role="debrief"
# **In PyTorch** the three classes are the same, in `TypeProperties.cpp`. numpy 2 has only two: there an array without
# dimensions counts like any other array, so adding such an array may change the dtype of a large array.

# %% [markdown] exercise="03.4" role="hint"
# Sort the two operands into three classes first. A class has one dtype or none; two members of one class are promoted.

# %% [markdown] exercise="03.4" role="hint"
# Then write `combine(higher, lower)` for two classes, either of which may be empty. Call `combine` twice: first for
# tensors without dimensions and numbers, and then for tensors with dimensions and the result of the first call.

# %% [markdown] exercise="03.4" role="hint"
# The lower class changes the dtype only if it is of a higher kind: a float below an integer or a bool, or anything
# below a bool. A `float` brings `torch.get_default_dtype()`.

# %% [markdown] exercise="03.5" role="task" kind="fix" title="nothing is recorded any more"
# ## 03.5 Fix: nothing is recorded any more
#
# ★★☆, 15 minutes.
#
# Below is a small Dispatcher in Python, with the kernel of Autograd as its fallback, and one planted bug. A user
# reports: *"My notebook trains well. Then I mistype a shape, one op raises, and I correct the cell. From then on my
# gradients are None, until I restart."* Write the fixed `autograd`. An error must still reach the user. An op must be
# recorded whenever it is called from outside, and ops that a kernel calls are not recorded a second time. The check
# also calls `autograd` after `off.add("Autograd")`, as a thread does that has switched off Autograd itself:
# afterwards the key must still be off.

# %% exercise="03.5" role="given"
off: set[str] = set()  # the keys that this thread has switched off
log: list[str] = []  # what was recorded


def call(kernel, *args):
    """Call an op: the kernel of Autograd if the key is not switched off, or else the op's own kernel."""
    return kernel(*args) if "Autograd" in off else autograd(kernel, *args)


def autograd(kernel, *args):
    log.append(kernel.__name__)
    off.add("Autograd")
    result = call(kernel, *args)
    off.discard("Autograd")
    return result


# %% exercise="03.5" role="answer"
def autograd(kernel, *args):  # noqa: F811
    """Record the op, and call it again with Autograd switched off."""
    # BEGIN SOLUTION
    log.append(kernel.__name__)
    before = set(off)
    off.add("Autograd")
    try:
        return call(kernel, *args)
    finally:
        off.clear()
        off.update(before)
    # END SOLUTION


# %% exercise="03.5" role="check"
with check("03.5", "nothing is recorded any more") as c:

    def plus(a, b):
        return a + b

    def twice_plus(a, b):
        return call(plus, a, b) + call(plus, a, b)

    off.clear()
    log.clear()
    c.equal("1 plus 2", came=call(plus, 1, 2), expected=3)
    c.raises("1 plus 'two'", TypeError, "unsupported operand", call, plus, 1, "two")
    log.clear()
    c.equal("1 plus 2, after the error", came=call(plus, 1, 2), expected=3)
    c.equal("what is recorded after the error", came=[*log], expected=["plus"])
    log.clear()
    c.equal("an op made of two ops", came=call(twice_plus, 1, 2), expected=6)
    c.equal("what is recorded of an op made of two ops", came=[*log], expected=["twice_plus"])
    off.add("Autograd")
    autograd(plus, 1, 2)
    c.equal("the keys that were off before the call, after it", came=set(off), expected={"Autograd"})
    off.clear()

# %% [markdown] exercise="03.5" role="debrief"
# **In PyTorch** this is `ExcludeDispatchKeyGuard`, in C++ as here. Its constructor switches the key off, and its
# destructor, which an exception runs too, restores the old value. An object that tidies up so is called an *RAII
# guard*. PyTorch has dozens of them, for the device, the stream, the grad mode.

# %% [markdown] exercise="03.5" role="hint"
# Which line is not reached when the kernel raises?

# %% [markdown] exercise="03.5" role="hint"
# `try: ... finally: ...` runs its last part in every case, and the error goes on. What has to be put back is the state
# before the call, which is not always "Autograd is on".

# %% [markdown] exercise="03.6" role="task" kind="fix" title="a column that is read as a row"
# ## 03.6 Fix: a column that is read as a row
#
# ★★☆, 20 minutes.
#
# Below is a copy of what the iterator does for the strides of one operand, with one planted bug: `strides_for` returns
# the strides, in elements, with which a loop over `shape` reads an operand. The last dimension comes first, as in the
# iterator. A user reports: *"Adding `torch.ones(4)` to the rows of a matrix works, and adding a scalar works. Adding a
# column gives the right shape and wrong numbers."* Find an input that goes wrong, and write the fixed function. The
# check compares all operands with what `expand` gives: rows, columns, missing dimensions, three dimensions, a size of
# 1 that nothing stretches (which keeps its stride), transposed operands.

# %% exercise="03.6" role="given"
BROKEN = r"""
std::vector<int64_t> strides_for(const std::vector<int64_t>& shape, const std::vector<int64_t>& sizes,
                                 const std::vector<int64_t>& strides) {
  const int64_t last_shape = int64_t(shape.size()) - 1, last = int64_t(sizes.size()) - 1;
  std::vector<int64_t> result(shape.size(), 0);
  for (int64_t d = 0; d <= last; d++) { // d counts from the last dimension
    const bool stretched = sizes[d] == 1 && shape[last_shape - d] != 1;
    result[d] = stretched ? 0 : strides[last - d];
  }
  return result;
}
"""

# %% exercise="03.6" role="answer"
FIXED = r"""
std::vector<int64_t> strides_for(const std::vector<int64_t>& shape, const std::vector<int64_t>& sizes,
                                 const std::vector<int64_t>& strides) {
  // BEGIN SOLUTION
  const int64_t last_shape = int64_t(shape.size()) - 1, last = int64_t(sizes.size()) - 1;
  std::vector<int64_t> result(shape.size(), 0);
  for (int64_t d = 0; d <= last; d++) { // d counts from the last dimension
    const bool stretched = sizes[last - d] == 1 && shape[last_shape - d] != 1;
    result[d] = stretched ? 0 : strides[last - d];
  }
  return result;
  // END SOLUTION
}
"""

# %% exercise="03.6" role="check"
with check("03.6", "a column that is read as a row") as c:
    strides_for = load_inline("strides_for", FIXED, functions="strides_for").strides_for
    matrix = torch.ones(3, 4)
    for what, shape, operand in [
        ("a row", (3, 4), torch.ones(4)),
        ("a row of two dimensions", (3, 4), torch.ones(1, 4)),
        ("a scalar", (3, 4), torch.ones(())),
        ("a column", (3, 3), torch.ones(3, 1)),
        ("a column of another length", (3, 4), torch.ones(3, 1)),
        ("the whole", (3, 4), matrix),
        ("a transposed whole", (4, 3), matrix.t()),
        ("three dimensions, the middle stretched", (2, 3, 4), torch.ones(2, 1, 4)),
        ("a size of 1 that nothing stretches", (3, 1), torch.ones(3, 1)),
    ]:
        wanted = list(operand.expand(shape).stride())[::-1]
        c.equal(
            c.case(what), came=strides_for(list(shape), list(operand.shape), list(operand.stride())), expected=wanted
        )

# %% [markdown] exercise="03.6" role="debrief"
# **In PyTorch** this loop is `TensorIteratorBase::compute_strides`. It counts from the last dimension too, because
# the missing dimensions are those in front. The price is an index that has to be reversed at each use.

# %% [markdown] exercise="03.6" role="hint"
# Take a column of sizes (3, 1) in a shape of (3, 3), and compute by hand: which of the two dimensions stretches?

# %% [markdown] exercise="03.6" role="hint"
# `d` counts from the last dimension, and `sizes` begins with the first. Look at every place where `d` is an index.

# %% [markdown] exercise="03.7" role="task" kind="read" title="the loop that the iterator makes"
# ## 03.7 Read: the loop that the iterator makes
#
# ★★★, 25 minutes.
#
# If a kernel is slow for one layout and quick for another, the reason is the loop that the iterator gave to the
# kernel. `a` below has three permuted dimensions, and `b` is broadcast. What are the shape of the iterator's loop,
# *fastest dimension first*, and the strides of the result, of `a` and of `b` in that loop, *in bytes*? Work out these
# numbers from `TensorIterator.cpp` (`compute_strides`, `reorder_dimensions`, `allocate_or_resize_outputs`,
# `coalesce_dimensions`), or read them at a stop. The check asks a real iterator.

# %% exercise="03.7" role="given"
a = torch.ones(4, 2, 3).permute(2, 0, 1)
b = torch.ones(2)


# %% exercise="03.7" role="answer"
def loop_of_a_plus_b() -> dict[str, list[int]]:
    """The loop's `shape`, and the strides in bytes of `out`, `a` and `b`; each with the fastest dimension first."""
    # BEGIN SOLUTION
    return {"shape": [3, 2, 4], "out": [4, 12, 24], "a": [4, 12, 24], "b": [0, 4, 0]}
    # END SOLUTION


# %% exercise="03.7" role="check"
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
with check("03.7", "the loop that the iterator makes") as c:
    answer = loop_of_a_plus_b()
    asked = load_inline("loop_of", LOOP, functions="loop_of").loop_of(a, b)
    c.answers(
        "the shape and the strides of the result, of a and of b",
        came={name: [*values] for name, values in answer.items()},
        truth=dict(zip(["shape", "out", "a", "b"], asked, strict=True)),
        look="Begin with compute_strides, and then sort as reorder_dimensions does.",
    )

# %% [markdown] exercise="03.7" role="debrief"
# **In PyTorch** the iterator makes the same loop. A result in the layout of its operands keeps a model in the memory
# format that you gave it. The price is a surprise where you expect a new tensor to be contiguous.

# %% [markdown] exercise="03.7" role="hint"
# Start from `a.stride()` times four bytes. A dimension that `b` does not have, or in which it has size 1, gets stride
# 0.

# %% [markdown] exercise="03.7" role="hint"
# The dimension with the smallest stride becomes the first of the loop. The result is new, so it is laid out in the
# order of the loop: its first dimension takes one element's bytes.

# %% [markdown] exercise="03.7" role="hint"
# Two neighbouring dimensions are merged only if *every* operand walks them with one stride. Does `b`?

# %% [markdown] exercise="03.8" role="task" kind="build" title="project: an op with its gradient"
# ## 03.8 Project: an op with its gradient, gradcheck and a benchmark
#
# ★★★, an evening.
#
# Make an op of your own, as the lesson made *softsign*: `gaussian(self, width) = exp(-(self / width)²)`, of two tensors
# that broadcast.
#
# 1. `gaussian_source()` returns the C++: a stub, its kernel registered for the CPU, the op
#    `gaussian(Tensor self, Tensor width) -> Tensor` that names its stub, and a function `gaussian` of two tensors that
#    calls the op through the Dispatcher. Integers give floats. Float32 and float64 are enough.
# 2. `add_formula(op)` registers the derivatives of `self` and of `width` for the op with the name `op`. The formulas
#    are made of ops, so they can be differentiated again. The engine sums a gradient to the shape of its input.
# 3. `benchmark(function)` calls a function without arguments at least once without a clock, and at least five times
#    with one, and returns the median of the measured seconds.
#
# The check holds: values, broadcasting, integers, the meta device (which works if elements are touched by the kernel
# alone and the op names its stub), gradients of both inputs, `gradcheck` and `gradgradcheck`. The benchmark is called
# with a function whose first call is slow, and then every third. An op is defined once in a process, so the check
# compiles your text each time with another name in the place of `gaussian`, and gives that name to `add_formula`.

# %% exercise="03.8" role="given"
from reftorch.autograd.derivatives import derivative


# %% exercise="03.8" role="answer"
def gaussian_source() -> str:
    """The op, its kernel, and the function that calls the op, in C++."""
    # BEGIN SOLUTION
    return r"""
#include <ATen/native/DispatchStub.h>
DECLARE_DISPATCH(void (*)(at::TensorIterator&), gaussian_stub)
DEFINE_DISPATCH(gaussian_stub)

static void gaussian_kernel(at::TensorIterator& iter) {
  AT_DISPATCH_FLOATING_TYPES(iter.dtype(), "gaussian", [&] {
    at::native::cpu_kernel(iter, [](scalar_t x, scalar_t width) -> scalar_t {
      const scalar_t ratio = x / width;
      return std::exp(-ratio * ratio);
    });
  });
}
REGISTER_CPU_DISPATCH(gaussian_stub, gaussian_kernel)

static void gaussian_out(const at::Tensor& self, const at::Tensor& width, at::Tensor& out) {
  auto iter = at::TensorIterator::binary_float_op(out, self, width);
  gaussian_stub(iter.device_type(), iter);
  iter.cast_outputs();
}
TORCH_LIBRARY_FRAGMENT(aten, m) {
  m.def_structured("gaussian(Tensor self, Tensor width) -> Tensor", TORCH_FN(gaussian_out),
                   at::kernels(gaussian_stub));
}

at::Tensor gaussian(const at::Tensor& self, const at::Tensor& width) {
  const auto op = at::Dispatcher::singleton().findSchemaOrThrow("gaussian");
  return op.typed<at::Tensor(const at::Tensor&, const at::Tensor&)>().call(self, width);
}
"""
    # END SOLUTION


# %% exercise="03.8" role="answer"
def add_formula(op: str) -> None:
    """Register the derivatives of the op."""
    # BEGIN SOLUTION
    derivative(
        op,
        self=lambda grad, self, width, result: grad * result * -2 * self / width**2,
        width=lambda grad, self, width, result: grad * result * 2 * self**2 / width**3,
    )
    # END SOLUTION


# %% exercise="03.8" role="answer"
def benchmark(function) -> float:
    """The median seconds of a call."""
    # BEGIN SOLUTION
    import time

    seconds = []
    for _ in range(8):
        start = time.perf_counter()
        function()
        seconds.append(time.perf_counter() - start)
    seconds = sorted(seconds[1:])
    return seconds[len(seconds) // 2]
    # END SOLUTION


# %% exercise="03.8" role="check"
import time
import uuid

from reftorch.autograd import gradcheck, gradgradcheck

with check("03.8", "an op with its gradient") as c:
    name = f"gaussian_{uuid.uuid4().hex[:8]}"
    source = gaussian_source().replace("gaussian", name)
    gaussian = getattr(load_inline(name, source, functions=name), name)
    add_formula(name)

    def composed(x, width):
        return (-((x / width) ** 2)).exp()

    torch.manual_seed(0)
    x, width = torch.randn(4, 3), torch.rand(3) + 0.5
    c.close(c.case("one shape"), came=gaussian(x, x + 4), expected=composed(x, x + 4))
    c.close(c.case("broadcast"), came=gaussian(x, width), expected=composed(x, width))
    c.close(c.case("a transposed operand"), came=gaussian(x.t(), width[:1]), expected=composed(x.t(), width[:1]))
    whole = torch.tensor([0, 1, 2])
    c.close(c.case("integers give floats"), came=gaussian(whole, whole + 1), expected=composed(whole, whole + 1))
    meta = gaussian(torch.empty(4, 3, device="meta"), torch.empty(3, device="meta"))
    c.equal("the shape on the meta device", came=tuple(meta.shape), expected=(4, 3))
    leaves = [x.double().requires_grad_(), width.double().requires_grad_()]
    mine = torch.autograd.grad(gaussian(*leaves).sum(), leaves)
    theirs = torch.autograd.grad(composed(*leaves).sum(), leaves)
    c.close(c.case("the gradient of self"), came=mine[0], expected=theirs[0])
    c.close(c.case("the gradient of width, which is broadcast"), came=mine[1], expected=theirs[1])
    c.true("gradcheck", gradcheck(gaussian, leaves), came="False", expected="True")
    c.true("gradgradcheck", gradgradcheck(gaussian, leaves), came="False", expected="True")
    calls = []

    def now_and_then_slow():
        calls.append(None)
        time.sleep(0.2 if len(calls) % 3 == 1 else 0.01)

    median = benchmark(now_and_then_slow)
    c.true("the calls of the benchmark", len(calls) >= 6, came=f"{len(calls)} calls", expected="6 or more")
    c.true("the median", 0.005 < median < 0.04, came=f"{median:.3f} s", expected="about 0.01 s")
big = torch.randn(300, 1000)
own, other = benchmark(lambda: gaussian(big, width[:1])), benchmark(lambda: composed(big, width[:1]))
print(f"yours: {own * 1e3:.1f} ms, composed of four ops: {other * 1e3:.1f} ms")

# %% [markdown] exercise="03.8" role="debrief"
# **In PyTorch** `torch.compile` makes such kernels for you: one kernel reads its operands once, whereas four ops
# write three intermediate results and read them again. The price is the time of compiling, and a kernel that you
# cannot step through.

# %% [markdown] exercise="03.8" role="hint"
# Begin with the text of *softsign*, and add a second operand in the lambda, in `gaussian_out`, in the schema and in
# the signature between the angle brackets of `typed`. The iterator is `at::TensorIterator::binary_float_op`.

# %% [markdown] exercise="03.8" role="hint"
# A formula may name `grad`, `self`, `width` and `result`; `result` is the value of the op, so you need no second
# exponential. By the chain rule, d/dx exp(-(x / w)²) = -2 x / w² times the result. The derivative by w is similar.

# %% [markdown] exercise="03.8" role="hint"
# The median is the middle of the sorted times. The first call may load, allocate or compile something, so leave it out.

# %% [markdown] exercise="03.9" role="task" kind="fix" title="a broken library: two columns of four"
# ## 03.9 Fix: a broken library, two columns of four
#
# ★★★, 40 minutes.
#
# Somebody has changed *one line of C++* of the library. `REPORT` holds what the broken library answers, where `x` is
# `torch.arange(12).reshape(3, 4)`. Some of the answers are right, and some are wrong, with an addition and with other
# ops. No error is raised. Find the line.
#
# You have found it when you can break the library in the same way: return the file, and a patch as `%%rebuild` takes
# one, with `-` and `+` before the lines. Your own library stays as it is. The check compiles the change in a scratch
# copy (some seconds), asks for each expression of `REPORT`, and names the first whose answer is not the one in
# `REPORT`.

# %% exercise="03.9" role="given"
SETUP = "import reftorch as torch\nx = torch.arange(12).reshape(3, 4)"
REPORT = {
    "x + 1": [[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12]],
    "x.t() + 1": [[1, 5, 9], [2, 6, 10], [3, 7, 11], [4, 8, 12]],
    "x[:2] + x[1:]": [[4, 6, 8, 10], [12, 14, 16, 18]],
    "x[:, 1] + 1": [2, 6, 10],
    "x[:, :2]": [[0, 1], [4, 5], [8, 9]],
    "x[:, :2] + 1": [[1, 2], [3, 4], [5, 6]],
    "x[::2] * 10": [[0, 10, 20, 30], [40, 50, 60, 70]],
    "x[:, :2].relu()": [[0, 1], [2, 3], [4, 5]],
    "x[:, :2].clone()": [[0, 1], [2, 3], [4, 5]],
}


# %% exercise="03.9" role="answer"
def change() -> tuple[str, str]:
    """The file, and the patch that breaks the library as in REPORT."""
    # BEGIN SOLUTION
    return (
        "cpp/ATen/TensorIterator.cpp",
        """
-      return shape_[dim0] * op.stride_bytes[dim0] == op.stride_bytes[dim1];
+      return true;
""",
    )
    # END SOLUTION


# %% exercise="03.9" role="check"
with check("03.9", "a broken library: two columns of four") as c:
    file, patch = change()
    c.case(f"the patch of {file}")
    broken = rebuild(file, patch)
    asked = "\n".join(f"print(({expression}).tolist())" for expression in REPORT)
    outcome = broken.run(f"{SETUP}\n{asked}")
    broken.close()
    c.equal("an error of the library with your patch", came=outcome.error, expected="")
    for (expression, expected), came in zip(REPORT.items(), outcome.printed.splitlines(), strict=True):
        c.equal(f"{expression} with your patch", came=came, expected=str(expected))

# %% [markdown] exercise="03.9" role="debrief"
# **In PyTorch** the function has the same name, `TensorIteratorBase::coalesce_dimensions`. Merging is only allowed if
# one step of the outer dimension is the same as walking over the whole inner one, in *every* operand. Contiguous
# tensors always pass that test, so most programs would never notice that the test is missing. A program that cuts a
# part out of a larger tensor would notice.

# %% [markdown] exercise="03.9" role="hint"
# Which expressions are wrong? Compare with your own library. Wrong answers come from several ops and from several
# kernels, so ask what these ops share. Which elements of the storage did the wrong ones read?

# %% [markdown] exercise="03.9" role="hint"
# `x[:, :2]` itself is right, but the result of an op on `x[:, :2]` is wrong. The ops read elements that lie one after
# another, as if there were no gap at the end of a row. Who decides in how many loops the elements are visited?

# %% [markdown] exercise="03.9" role="hint"
# The iterator merges dimensions, so that there are fewer loops: `show_source("TensorIterator::coalesce_dimensions",
# first="auto can_coalesce", last="int last = 0")`. When may two dimensions be walked as one?


# %% [markdown] exercise="03.10" role="task" kind="read" title="in PyTorch: two dtypes for one result"
# ## 03.10 Read, in PyTorch: two dtypes for one result
#
# ★★☆, 20 minutes. This question is answered in PyTorch itself: it needs PyTorch (`make torch`), and no other exercise
# of the chapter does. The next cell writes `IN_TORCH` to a file, and prints the command that runs the file under pdb.
#
# The lesson asks who decided that the result is float32. PyTorch decides twice: it chooses the dtype that the kernel
# computes in, and the dtype of the result. A function of Python, which tools such as `torch.compile` use, says both:
# `torch._refs` has many ops in Python, and the wrapper `elementwise_type_promotion_wrapper` in
# `torch/_prims_common/wrappers.py` chooses for them. Stop in its inner function at the line
# `bound.arguments.update(promoted_args)`. For each of the six calls, which `IN_TORCH` names in comments, return a
# pair: `compute_dtype` and `result_dtype`, as text without `torch.`.


# %% exercise="03.10" role="given"
IN_TORCH = """\
import torch
from torch import _refs

brief = torch.ones(3, dtype=torch.bfloat16)
count = torch.tensor([10, 20, 30])
_refs.add(brief, count)  # bfloat16 + int64
_refs.add(count, 2.5)  # int64 + 2.5
_refs.true_divide(count, count)  # int64 / int64
_refs.eq(brief, count)  # bfloat16 == int64
_refs.abs(torch.ones(2, dtype=torch.complex64))  # abs of complex64
_refs.add(brief, torch.ones(3, dtype=torch.float16))  # bfloat16 + float16
"""
print(write_for_torch(IN_TORCH, "in_torch_03_10.py"))


# %% exercise="03.10" role="answer"
def dtypes() -> dict[str, tuple[str, str]]:
    # BEGIN SOLUTION
    return {
        "bfloat16 + int64": ("float32", "bfloat16"),
        "int64 + 2.5": ("float32", "float32"),
        "int64 / int64": ("float32", "float32"),
        "bfloat16 == int64": ("float32", "bool"),
        "abs of complex64": ("complex64", "float32"),
        "bfloat16 + float16": ("float32", "float32"),
    }
    # END SOLUTION


# %% exercise="03.10" role="check"
with check("03.10", "two dtypes for one result") as c:
    answer = dtypes()
    stops = stops_in_torch(
        IN_TORCH,
        "torch/_prims_common/wrappers.py",
        "elementwise_type_promotion_wrapper",
        "bound.arguments.update(promoted_args)",
        ["str(compute_dtype)", "str(result_dtype)"],
    )
    calls = [line.split("# ")[1] for line in IN_TORCH.splitlines() if "# " in line]
    pairs = [tuple(dtype.strip("'").removeprefix("torch.") for dtype in stop.values()) for stop in stops]
    look = "There is one stop for each call, in the order of the lines; `p compute_dtype, result_dtype` shows both."
    c.answers("the two dtypes of each call", came=answer, truth=dict(zip(calls, pairs, strict=True)), look=look)

# %% [markdown] exercise="03.10" role="debrief"
# **In PyTorch** each op of this table says what kind of promotion it wants: `DEFAULT` for a sum, `INT_TO_FLOAT` for a
# division, `ALWAYS_BOOL` for a comparison, `COMPLEX_TO_FLOAT` for `abs`. The 16-bit floats are added as float32 and
# rounded once, at the end. In C++ these are two places: `TensorIterator` has the dtype of the result, and a kernel
# takes `opmath_type`. bfloat16 and float16 together give float32, because neither holds all numbers of the other.

# %% [markdown] exercise="03.10" role="hint"
# After `import torch` and `from torch import _refs` have run: `break torch/_prims_common/wrappers.py:NUMBER`. `import
# inspect; inspect.getsourcelines` finds the number of the line.

# %% [markdown] exercise="03.10" role="hint"
# Each of the six calls stops once, in the order of the lines. `p fn` at the stop says which op it is.
