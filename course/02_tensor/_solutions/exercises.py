"""The exercises of chapter 02, solved; `make course` makes the learner's notebook of it.

Mirrors: nothing in PyTorch: exercises.
Leaves out: what the lesson explains.
"""

# %% [markdown]
# # Exercises 02: tensor
#
# Each exercise has a cell that raises until you have written it, and a check below that you run as often as you like.
# Stuck? `course("hint 02.1")` in a cell of its own. Done? `course("check 02")` runs the notebook, as last saved, from
# top to bottom. `memory("a caption", x=x)` draws any tensor of a few elements.

# %%
import numpy

import reftorch as torch
from course._tools import check, course, memory, show_source
from reftorch.utils.cpp_extension import load_inline

# %% [markdown] exercise="02.1" role="task" kind="read" title="how each view reads"
# ## 02.1 Read: how each view reads
#
# Who can tell the strides of a view without running it sees at once which loops will be slow and which calls copy.
# `x` is contiguous, of sizes 2, 3, 4. For each of `VIEWS` give sizes, strides and offset of the result, as
# `((2, 3, 4), (12, 4, 1), 0)` for `x` itself; the check asks the result.

# %% exercise="02.1" role="given"
x = torch.arange(24.0).reshape(2, 3, 4)
VIEWS = [
    "x[1]",
    "x[:, 1:, ::2]",
    "x.transpose(0, 2)",
    "x[0].t()[1]",
    "x[:, 0].unsqueeze(1).expand(2, 5, 4)",
    "x.permute(2, 0, 1).reshape(4, 6)",
    "x.transpose(1, 2).reshape(2, 12)",
]


# %% exercise="02.1" role="answer"
def geometry() -> dict[str, tuple[tuple, tuple, int]]:
    """For each of VIEWS: sizes, strides, offset."""
    # BEGIN SOLUTION
    return {
        "x[1]": ((3, 4), (4, 1), 12),
        "x[:, 1:, ::2]": ((2, 2, 2), (12, 4, 2), 4),
        "x.transpose(0, 2)": ((4, 3, 2), (1, 4, 12), 0),
        "x[0].t()[1]": ((3,), (4,), 1),
        "x[:, 0].unsqueeze(1).expand(2, 5, 4)": ((2, 5, 4), (12, 0, 1), 0),
        "x.permute(2, 0, 1).reshape(4, 6)": ((4, 6), (1, 4), 0),
        "x.transpose(1, 2).reshape(2, 12)": ((2, 12), (12, 1), 0),
    }
    # END SOLUTION


# %% exercise="02.1" role="check"
with check("02.1", "how each view reads") as c:
    said = geometry()
    c.equal("the expressions without an answer", came=[each for each in VIEWS if each not in said], expected=[])
    for expression in VIEWS:
        real = eval(expression)
        sizes, strides, offset = said[expression]
        c.equal(f"sizes of {expression}", came=tuple(sizes), expected=tuple(real.shape))
        kind = "a view of x" if real.untyped_storage().data_ptr() == x.untyped_storage().data_ptr() else "a copy"
        c.equal(f"strides of {expression}, which is {kind}", came=tuple(strides), expected=tuple(real.stride()))
        c.equal(f"offset of {expression}, which is {kind}", came=offset, expected=real.storage_offset())

# %% [markdown] exercise="02.1" role="hint"
# Strides of a contiguous tensor: the last is 1, each other one is the product of the sizes behind it. An index removes
# a dimension and adds `index * stride` to the offset; a slice adds `start * stride`, and multiplies the stride by its
# step.

# %% [markdown] exercise="02.1" role="hint"
# The last two: can the two dimensions that become one be walked with one stride? Where they can, `reshape` gives a
# view; where not, a copy, which is contiguous and begins at 0.


# %% [markdown] exercise="02.2" role="task" kind="build" title="from an index to an element"
# ## 02.2 Build: from an index to an element
#
# `tensor[1, -2]` becomes one number: which element of the storage is it? Write that function for any strides and any
# offset. Negative indices count from the end. An index that is out of range is an `IndexError`; without that check a
# wrong index would quietly read somebody else's element, or memory that is not the program's at all.


# %% exercise="02.2" role="answer"
def element(tensor: torch.Tensor, index: tuple[int, ...]) -> int:
    """Which element of the storage `tensor[index]` is; `index` has one number for each dimension."""
    # BEGIN SOLUTION
    position = tensor.storage_offset()
    for i, size, stride in zip(index, tensor.shape, tensor.stride(), strict=True):
        if not -size <= i < size:
            raise IndexError(f"index {i} is out of bounds for a dimension of size {size}")
        position += (i + size if i < 0 else i) * stride
    return position
    # END SOLUTION


# %% exercise="02.2" role="check"
with check("02.2", "from an index to an element") as c:
    base = torch.arange(24) * 10  # an element's position is not its value
    for text, tensor in {
        "a contiguous tensor": base.reshape(2, 3, 4),
        "a transposed one": base.reshape(4, 6).t(),
        "one that begins at element 7": base[7:].reshape(17, 1),
        "every second column": base.reshape(4, 6)[:, 1::2],
        "an expanded row": base[:3].expand(4, 3),
        "overlapping windows": base.as_strided((5, 4), (2, 1), 3),
    }.items():
        first, last = (0,) * tensor.dim(), (-1,) * tensor.dim()
        middle = tuple(size // 2 for size in tensor.shape)
        for index in (first, middle, last):
            c.equal(f"element {index} of {text}", came=element(tensor, index), expected=tensor[index].storage_offset())
    c.equal("the element of a tensor without dimensions", came=element(base[5], ()), expected=5)
    c.raises("index 2 of size 2", IndexError, "2", element, base.reshape(2, 12), (2, 0))
    c.raises("index -4 of size 3", IndexError, "-4", element, base.reshape(8, 3), (0, -4))

# %% [markdown] exercise="02.2" role="hint"
# Start at `tensor.storage_offset()`; for each dimension add index times stride. `zip(index, tensor.shape,
# tensor.stride(), strict=True)` walks the three together.

# %% [markdown] exercise="02.2" role="hint"
# An index is in range when `-size <= i < size`. A negative one means `i + size`.


# %% [markdown] exercise="02.3" role="task" kind="build" title="windows without a copy"
# ## 02.3 Build: windows without a copy
#
# A moving average over a signal reads each element several times. To store the windows would need several times the
# memory; strides need none. Write in C++ the view of all windows of `size` elements, `step` apart, over the *last*
# dimension of any tensor: sizes `..., count, size`, where `count` is the number of whole windows.
#
# `at::as_strided(self, sizes, strides, offset)` makes a view; `self.sizes()`, `self.strides()` and
# `self.storage_offset()` say how `self` reads. A window that is longer than the dimension, or a step below 1, is an
# error: `TORCH_CHECK(condition, "message ", value)`, with the size in the message.

# %% exercise="02.3" role="answer"
WINDOWS = r"""
at::Tensor windows(const at::Tensor& self, int64_t size, int64_t step) {
  // BEGIN SOLUTION
  const int64_t length = self.sizes().back(), stride = self.strides().back();
  TORCH_CHECK(step >= 1, "windows: step ", step, " is not positive");
  TORCH_CHECK(size <= length, "windows: size ", size, " is larger than the dimension, ", length);
  std::vector<int64_t> sizes = self.sizes().vec(), strides = self.strides().vec();
  sizes.back() = (length - size) / step + 1;
  strides.back() = stride * step;
  sizes.push_back(size);
  strides.push_back(stride);
  return at::as_strided(self, sizes, strides, self.storage_offset());
  // END SOLUTION
}
"""

# %% exercise="02.3" role="check"
with check("02.3", "windows without a copy") as c:
    windows = load_inline("windows", WINDOWS, functions="windows").windows
    line = torch.arange(10.0)

    def expected(tensor, size, step):
        starts = range(0, tensor.shape[-1] - size + 1, step)
        return torch.stack([tensor[..., start : start + size] for start in starts], dim=-2)

    c.close("windows of 3 over ten elements", came=windows(line, 3, 1), expected=expected(line, 3, 1))
    c.close("2 apart", came=windows(line, 3, 2), expected=expected(line, 3, 2))
    c.close("a window that just fits", came=windows(line, 10, 1), expected=expected(line, 10, 1))
    c.close("a tensor that begins at element 4", came=windows(line[4:], 2, 3), expected=expected(line[4:], 2, 3))
    c.close("every third element", came=windows(line[::3], 2, 1), expected=expected(line[::3], 2, 1))
    table = torch.arange(12.0).reshape(3, 4)
    c.close("over rows", came=windows(table, 2, 1), expected=expected(table, 2, 1))
    c.close("over columns", came=windows(table.t(), 2, 1), expected=expected(table.t(), 2, 1))
    view = windows(line, 3, 1)
    c.equal("where the first window lies", came=view.data_ptr(), expected=line.data_ptr())
    view[0, 2] = 77
    c.equal("what the third window reads after a write through the first", came=view[2, 0].item(), expected=77.0)
    c.raises("a window of 4 over 3 elements", RuntimeError, "4", windows, line[:3], 4, 1)
    c.raises("a step of 0", RuntimeError, "0", windows, line, 2, 0)

# %% [markdown] exercise="02.3" role="hint"
# One more dimension: the last one steps from window to window, the new one from element to element in a window. Which
# stride has each, if the last dimension's is `s`?

# %% [markdown] exercise="02.3" role="hint"
# `std::vector<int64_t> sizes = self.sizes().vec();`, the same for the strides; `sizes.back() = (length - size) / step +
# 1;`, `strides.back() = s * step;`, then `push_back` of `size` and of `s`.

# %% [markdown] exercise="02.4" role="task" kind="fix" title="a copy for nothing"
# ## 02.4 Fix: a copy for nothing
#
# Below is a copy of the function that decides whether a tensor is contiguous, with one planted bug. All results of the
# program stay right. But a profile shows that a model which handles images one by one, in batches of one, spends a
# third of its time in `contiguous()`, copying tensors that need no copy. Find the tensors that go wrong, and write the
# mended function.

# %% exercise="02.4" role="given"
BROKEN = r"""
bool contiguous(const std::vector<int64_t>& sizes, const std::vector<int64_t>& strides) {
  int64_t expected = 1;
  for (size_t i = sizes.size(); i-- > 0;) {
    if (sizes[i] == 0) {
      return true; // no elements, no order
    }
    if (strides[i] != expected) {
      return false;
    }
    expected *= sizes[i];
  }
  return true;
}
"""

# %% exercise="02.4" role="answer"
MENDED = r"""
bool contiguous(const std::vector<int64_t>& sizes, const std::vector<int64_t>& strides) {
  // BEGIN SOLUTION
  if (std::find(sizes.begin(), sizes.end(), 0) != sizes.end()) {
    return true; // no elements, no order
  }
  int64_t expected = 1;
  for (size_t i = sizes.size(); i-- > 0;) {
    if (sizes[i] != 1) { // there is no step in a dimension of one element
      if (strides[i] != expected) {
        return false;
      }
      expected *= sizes[i];
    }
  }
  return true;
  // END SOLUTION
}
"""

# %% exercise="02.4" role="check"
with check("02.4", "a copy for nothing") as c:
    contiguous = load_inline("contiguous", MENDED, functions="contiguous").contiguous
    image = torch.ones(1, 3, 4, 5)
    for text, tensor in {
        "an image": image,
        "a transposed image": image.transpose(2, 3),
        "a batch of one, made of ten": torch.ones(10, 3, 4)[3:4],
        "every tenth of ten": torch.ones(10, 3, 4)[::10],
        "a column of one": torch.ones(3, 4)[:, :1],
        "a single row, transposed": torch.ones(1, 4).t(),
        "a single number, expanded": torch.ones(1).expand(1, 1),
        "a number, expanded to three": torch.ones(1).expand(3),
        "no rows, transposed": torch.ones(0, 3).t(),
        "no columns behind a gap": torch.ones(4, 0, 6)[::2, :, ::2],
        "no dimensions": torch.tensor(1.0),
    }.items():
        sizes, strides = list(tensor.shape), list(tensor.stride())
        came = contiguous(sizes, strides)
        c.equal(f"{text}: sizes {sizes}, strides {strides}", came=came, expected=tensor.is_contiguous())

# %% [markdown] exercise="02.4" role="hint"
# "Batches of one" is a dimension of size 1. What does its stride say about where the elements lie?

# %% [markdown] exercise="02.4" role="hint"
# `show_source("cpp/c10/core/TensorImpl.cpp", "compute_contiguous")` asks about emptiness before it looks at any stride,
# and steps over dimensions of one element.

# %% [markdown] exercise="02.5" role="task" kind="read" title="who shares the memory"
# ## 02.5 Read: who shares the memory
#
# The most expensive bugs with tensors are a copy where you thought of a view, and a view where you thought of a copy.
# For each of `SHARING`: does a write into its result change `t` (or `array`)? The check writes, and looks.

# %% exercise="02.5" role="given"
t = torch.arange(6.0).reshape(2, 3)
array = numpy.arange(6.0).reshape(2, 3)
SHARING = ["t.t()", "t.t().reshape(6)", "t.reshape(6)", "t[[0, 1]]", "t[0:2]", "t.float()", "t.double()", "t.detach()"]
SHARING += ["t.contiguous()", "t.t().contiguous()", "torch.tensor(array)", "torch.from_numpy(array)"]
SHARING += ["torch.as_tensor(array, dtype=torch.float32)"]


# %% exercise="02.5" role="answer"
def shares() -> dict[str, bool]:
    """For each of SHARING, whether a write into its result is seen in `t` or `array`."""
    # BEGIN SOLUTION
    return {
        "t.t()": True,
        "t.t().reshape(6)": False,
        "t.reshape(6)": True,
        "t[[0, 1]]": False,
        "t[0:2]": True,
        "t.float()": True,
        "t.double()": False,
        "t.detach()": True,
        "t.contiguous()": True,
        "t.t().contiguous()": False,
        "torch.tensor(array)": False,
        "torch.from_numpy(array)": True,
        "torch.as_tensor(array, dtype=torch.float32)": False,
    }
    # END SOLUTION


# %% exercise="02.5" role="check"
def is_seen(expression: str) -> bool:
    """Whether a write into the result of the expression changes what it was made of."""
    fresh = {"torch": torch, "t": torch.zeros(2, 3), "array": numpy.zeros((2, 3))}
    eval(expression, fresh).fill_(1)
    return bool((fresh["array"] if "array" in expression else fresh["t"].numpy()).any())


with check("02.5", "who shares the memory") as c:
    said = shares()
    for expression in SHARING:
        c.equal(f"whether a write into {expression} is seen", came=said.get(expression), expected=is_seen(expression))

# %% [markdown] exercise="02.5" role="hint"
# Strides can express a slice and a transpose; they cannot express a list of indices. A conversion that has nothing to
# do returns its argument.

# %% [markdown] exercise="02.5" role="hint"
# `a.untyped_storage().data_ptr() == b.untyped_storage().data_ptr()` tells whether two tensors share.


# %% [markdown] exercise="02.6" role="task" kind="read" title="the dtype that comes out"
# ## 02.6 Read: the dtype that comes out
#
# Work out the dtype that each of `CALLS` gives; where one is an error, say `"error"`. A dtype that is wider than you
# thought costs memory, and one that is narrower costs digits; neither says a word.

# %% exercise="02.6" role="given"
i8, u8 = torch.ones(2, dtype=torch.int8), torch.ones(2, dtype=torch.uint8)
f16, bf16 = torch.ones(2, dtype=torch.float16), torch.ones(2, dtype=torch.bfloat16)
f64_number = torch.tensor(2.0, dtype=torch.float64)
CALLS = ["i8 + u8", "f16 + bf16", "i8 + 1000", "i8 * 0.5", "f16 + f64_number", "i8 + f64_number", "i8 / i8"]
CALLS += ["i8.add_(0.5)", "f16.add_(f64_number)", "(i8 > 0) + (u8 > 0)"]


def dtype_of(expression: str) -> str:
    """The dtype of what the expression gives, or `"error"`."""
    try:
        return str(eval(expression).dtype).removeprefix("torch.")
    except RuntimeError:
        return "error"


# %% exercise="02.6" role="answer"
def results() -> dict[str, str]:
    """For each of CALLS the name of the result's dtype, as `"float32"`, or `"error"`."""
    # BEGIN SOLUTION
    return {
        "i8 + u8": "int16",
        "f16 + bf16": "float32",
        "i8 + 1000": "int8",
        "i8 * 0.5": "float32",
        "f16 + f64_number": "float16",
        "i8 + f64_number": "float64",
        "i8 / i8": "float32",
        "i8.add_(0.5)": "error",
        "f16.add_(f64_number)": "float16",
        "(i8 > 0) + (u8 > 0)": "bool",
    }
    # END SOLUTION


# %% exercise="02.6" role="check"
with check("02.6", "the dtype that comes out") as c:
    said = results()
    for expression in CALLS:
        c.equal(f"the dtype of {expression}", came=said.get(expression), expected=dtype_of(expression))

# %% [markdown] exercise="02.6" role="hint"
# Two tensors with dimensions: the table of the lesson. A Python number or a tensor without dimensions only changes the
# kind: then a float number gives the default dtype, a 0-dim tensor its own.

# %% [markdown] exercise="02.6" role="hint"
# `/` is division of numbers, not of integers: its result is never an integer. An in-place op keeps the dtype of its
# first argument, or refuses.
