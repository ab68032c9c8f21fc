"""The exercises of chapter 02, solved; `make course` makes the learner's notebook of it.

Mirrors: nothing in PyTorch: exercises.
Leaves out: what the lesson explains.

The file is some 890 lines long, because all exercises of a chapter are in one file.
"""

# %% [markdown]
# # Exercises 02: tensor
#
# Each exercise has a cell that raises until you have written your answer, and a check below that you run as often as
# you like. Stars say how difficult an exercise is, from one to three. Stuck? Run `course("hint 02.1")` in a cell of
# its own. Done? `course("check 02")` runs the notebook, as last saved, from top to bottom. `memory("a caption", x=x)`
# draws any tensor of a few elements.

# %%
import random
from contextlib import suppress

import numpy

import reftorch as torch
from course._tools import check, course, memory, rebuild, show_source, stops_in_torch, write_for_torch
from reftorch.utils.cpp_extension import load_inline

# %% [markdown] exercise="02.1" role="task" kind="read" title="how each view reads"
# ## 02.1 Read: how each view reads
#
# ★☆☆, 15 minutes. If you can tell the strides of a view without running the code, you see at once which loops will be
# slow and which calls copy. `x` is contiguous, of sizes 2, 3, 4. For each of `VIEWS` give the sizes, the strides and
# the offset of the result. For `x` itself you would write `((2, 3, 4), (12, 4, 1), 0)`. Work on paper. The check runs
# each expression, counts your right answers, and names the expressions where one of the three is wrong.

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
def reads_as(view: torch.Tensor, sizes: tuple, strides: tuple, offset: int) -> bool:
    """Whether these are the sizes, strides and offset of a view."""
    return (tuple(view.shape), view.stride(), view.storage_offset()) == (tuple(sizes), tuple(strides), offset)


with check("02.1", "how each view reads") as c:
    said = geometry()
    c.equal("the expressions without an answer", came=[each for each in VIEWS if each not in said], expected=[])
    wrong = [expression for expression in VIEWS if not reads_as(eval(expression), *said[expression])]
    came = f"{len(VIEWS) - len(wrong)} of {len(VIEWS)}; look again at {', '.join(wrong)}"
    c.true("how many of your answers are right", not wrong, came=came, expected=f"{len(VIEWS)} of {len(VIEWS)}")

# %% [markdown] exercise="02.1" role="debrief"
# **In PyTorch** a view is computed in this way too: a few integers change, whatever the size of the tensor. The price
# is that kernels must accept all strides, or ask for `contiguous()` and pay for a copy.

# %% [markdown] exercise="02.1" role="hint"
# In a contiguous tensor the last stride is 1, and each other stride is the product of the sizes to its right. An index
# removes a dimension and adds `index * stride` to the offset; a slice adds `start * stride`, and multiplies the
# stride by its step.

# %% [markdown] exercise="02.1" role="hint"
# For the last two expressions, ask whether one stride can walk over the two dimensions that become one. If it can,
# `reshape` gives a view. If not, `reshape` gives a copy, which is contiguous and has offset 0.


# %% [markdown] exercise="02.2" role="task" kind="read" title="who shares the memory"
# ## 02.2 Read: who shares the memory
#
# ★☆☆, 15 minutes. The most expensive bugs with tensors are a copy where you thought of a view, and a view where you
# thought of a copy. `t` is a float32 tensor of sizes 2, 3, and `array` is a float64 array of the same sizes. For each
# of `SHARING`, say whether a write into the result changes `t` (or `array`). The check writes into each result and
# counts your right answers; the count does not say which answers are wrong.

# %% exercise="02.2" role="given"
t = torch.arange(6.0).reshape(2, 3)
array = numpy.arange(6.0).reshape(2, 3)
SHARING = ["t[:, None]", "t[[0, 1]]", "t[t > -1]", "t.flatten()", "t[:, :2].flatten()", "t.expand(4, 2, 3)[3]"]
SHARING += ["t.chunk(3, dim=1)[1]", "torch.cat([t])", "t.float()", "t.double()", "t.to(torch.float32, copy=True)"]
SHARING += ["t.detach()", "torch.as_tensor(array)", "torch.as_tensor(array, dtype=torch.float32)"]


# %% exercise="02.2" role="answer"
def shares() -> dict[str, bool]:
    """For each of SHARING, whether a write into its result is seen in `t` or `array`."""
    # BEGIN SOLUTION
    return {
        "t[:, None]": True,
        "t[[0, 1]]": False,
        "t[t > -1]": False,
        "t.flatten()": True,
        "t[:, :2].flatten()": False,
        "t.expand(4, 2, 3)[3]": True,
        "t.chunk(3, dim=1)[1]": True,
        "torch.cat([t])": False,
        "t.float()": True,
        "t.double()": False,
        "t.to(torch.float32, copy=True)": False,
        "t.detach()": True,
        "torch.as_tensor(array)": True,
        "torch.as_tensor(array, dtype=torch.float32)": False,
    }
    # END SOLUTION


# %% exercise="02.2" role="check"
def holds(expression: str, answer: bool) -> bool:
    """Whether the answer is right: a write into the result changes the tensor (or array) it was made of, or not."""
    fresh = {"torch": torch, "t": torch.zeros(2, 3), "array": numpy.zeros((2, 3))}
    eval(expression, fresh).fill_(1)
    return answer is bool((fresh["array"] if "array" in expression else fresh["t"].numpy()).any())


with check("02.2", "who shares the memory") as c:
    said = shares()
    c.equal("the expressions without an answer", came=[each for each in SHARING if each not in said], expected=[])
    right = sum(holds(expression, said[expression]) for expression in SHARING)
    everything = f"{len(SHARING)} of {len(SHARING)}"
    c.true("your right answers", right == len(SHARING), came=f"{right} of {len(SHARING)}", expected=everything)

# %% [markdown] exercise="02.2" role="debrief"
# **In PyTorch** `reshape`, `flatten` and `to` decide by their argument whether they copy, as here: this saves memory
# when a copy is not needed. A program that relies on a copy should call `clone()`, and a program that relies on a
# view should call `view`.

# %% [markdown] exercise="02.2" role="hint"
# Can sizes, strides and an offset describe the result? They can describe a part between two indices with a fixed
# step. They cannot describe a list of arbitrary indices.

# %% [markdown] exercise="02.2" role="hint"
# `show_source("flatten in TensorShape.cpp")` shows which op does the work. A conversion that has nothing to convert
# returns its argument, unless a copy is asked for.

# %% [markdown] exercise="02.2" role="hint"
# `a.untyped_storage().data_ptr() == b.untyped_storage().data_ptr()` tells whether two tensors share.


# %% [markdown] exercise="02.3" role="task" kind="read" title="the dtype that comes out"
# ## 02.3 Read: the dtype that comes out
#
# ★★☆, 20 minutes. Work out the dtype that each of `CALLS` gives. Where an expression raises, say `"error"`. A dtype
# that is wider than you thought costs memory, and one that is narrower costs digits; neither is reported. The tensors
# are made again for each expression. The check runs each expression and counts your right answers.

# %% exercise="02.3" role="given"
TENSORS = """
i8, u8 = torch.ones(2, dtype=torch.int8), torch.ones(2, dtype=torch.uint8)
f16, bf16 = torch.ones(2, dtype=torch.float16), torch.ones(2, dtype=torch.bfloat16)
f64_0d, i64_0d = torch.tensor(2.0, dtype=torch.float64), torch.tensor(3)  # tensors without dimensions
"""
CALLS = ["i8 * 1000", "i8 + u8 + 0.5", "f16 * bf16 * 2.5", "f16 * 2.5 * f64_0d", "i8 * i64_0d", "i64_0d * 2.5"]
CALLS += ["f64_0d * 2.5", "(i8 > 0) + (u8 > 0)", "(i8 > 0) + 1", "i8 / u8", "i8.add_(u8)", "i8.div_(2)"]


# %% exercise="02.3" role="answer"
def results() -> dict[str, str]:
    """For each of CALLS the name of the result's dtype, as `"float32"`, or `"error"`."""
    # BEGIN SOLUTION
    return {
        "i8 * 1000": "int8",
        "i8 + u8 + 0.5": "float32",
        "f16 * bf16 * 2.5": "float32",
        "f16 * 2.5 * f64_0d": "float16",
        "i8 * i64_0d": "int8",
        "i64_0d * 2.5": "float32",
        "f64_0d * 2.5": "float64",
        "(i8 > 0) + (u8 > 0)": "bool",
        "(i8 > 0) + 1": "int64",
        "i8 / u8": "float32",
        "i8.add_(u8)": "int8",
        "i8.div_(2)": "error",
    }
    # END SOLUTION


# %% exercise="02.3" role="check"
def gives(expression: str, answer: str) -> bool:
    """Whether the expression gives this dtype, or raises where the answer is `"error"`."""
    fresh, dtype = {"torch": torch}, "error"
    exec(TENSORS, fresh)
    with suppress(RuntimeError):
        dtype = str(eval(expression, fresh).dtype).removeprefix("torch.")
    return answer == dtype


with check("02.3", "the dtype that comes out") as c:
    said = results()
    c.equal("the expressions without an answer", came=[each for each in CALLS if each not in said], expected=[])
    right = sum(gives(expression, said[expression]) for expression in CALLS)
    everything = f"{len(CALLS)} of {len(CALLS)}"
    c.true("your right answers", right == len(CALLS), came=f"{right} of {len(CALLS)}", expected=everything)

# %% [markdown] exercise="02.3" role="debrief"
# **In PyTorch** each of these calls gives the dtype that it gives here. numpy before version 2 also looked at the
# value of a number, so that a larger number could change the dtype of a program's results. The rules here ask for
# dtypes and dimensions alone.

# %% [markdown] exercise="02.3" role="hint"
# Take one op at a time: the result of the first op is an operand of the second. For each op ask: to which class
# does each operand belong (with dimensions, without, Python number), and of which kind is its dtype (bool, integer,
# float)?

# %% [markdown] exercise="02.3" role="hint"
# `/` divides numbers: its result is never an integer. An in-place op keeps the dtype of its first argument, or raises
# if the result is of a higher kind.


# %% [markdown] exercise="02.4" role="task" kind="build" title="from an index to an element"
# ## 02.4 Build: from an index to an element
#
# ★☆☆, 15 minutes. `tensor[1, -2]` is one element of the storage. Write the function that computes which one, for any
# strides and any offset. Requirements:
#
# - `index` has one integer for each dimension; a negative index counts from the end.
# - An index out of range raises `IndexError`, and the message contains the index as the caller wrote it: `-4`, and not
#   the number that you made of it. Without this check a wrong index would read another tensor's element, or memory that
#   does not belong to the program.


# %% exercise="02.4" role="answer"
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


# %% exercise="02.4" role="check"
with check("02.4", "from an index to an element") as c:
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

# %% [markdown] exercise="02.4" role="debrief"
# **In PyTorch** no loop computes this sum for each element: a loop adds a stride to an address when an index grows by
# one. The index is checked once, and never in a kernel's loop.

# %% [markdown] exercise="02.4" role="hint"
# Start at `tensor.storage_offset()`; for each dimension add index times stride. `zip(index, tensor.shape,
# tensor.stride(), strict=True)` walks the three together.

# %% [markdown] exercise="02.4" role="hint"
# An index is in range if `-size <= i < size`. A negative index `i` means `i + size`.


# %% [markdown] exercise="02.5" role="task" kind="fix" title="a copy for nothing"
# ## 02.5 Fix: a copy for nothing
#
# ★★☆, 20 minutes. Below is a copy of the function that decides whether a tensor is contiguous, with one planted bug.
# All results of the program stay right. But a profile shows that a model which handles images one by one, in batches
# of one, spends a third of its time in `contiguous()`, copying tensors that need no copy. Find the tensors that go
# wrong, and write the fixed function. It must agree with `is_contiguous()` for all sizes and strides; for a tensor
# without elements the answer is true. A failing check names the tensor.

# %% exercise="02.5" role="given"
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

# %% exercise="02.5" role="answer"
FIXED = r"""
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

# %% exercise="02.5" role="check"
with check("02.5", "a copy for nothing") as c:
    contiguous = load_inline("contiguous", FIXED, functions="contiguous").contiguous
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

# %% [markdown] exercise="02.5" role="debrief"
# **In PyTorch** the function is `_compute_contiguous` in `c10/core/Contiguity.h`. A bug there changes no result, only
# the time; such bugs are found by a profile, and by tests that ask `is_contiguous()` itself.

# %% [markdown] exercise="02.5" role="hint"
# A batch of one has a dimension of size 1. What does the stride of this dimension say about the places of the elements?

# %% [markdown] exercise="02.5" role="hint"
# Two tensors without elements go wrong as well, once the first bug is fixed. In which order do you have to test the
# sizes?


# %% [markdown] exercise="02.6" role="task" kind="fix" title="frames that are missing"
# ## 02.6 Fix: frames that are missing
#
# ★★☆, 20 minutes. A program takes every third frame of a film, `film[::3]`. With 9 frames the result is right; with
# 10 frames the last one is missing. And if the film was cut before, `film[2:][::3]`, the frames come from the wrong
# place. Below is the arithmetic of a slice of one dimension, with two planted bugs. The function takes the size, the
# stride and the offset of the tensor and `start:end:step`, and returns the size, stride and offset of the slice.
# Write the repaired function. Its answers must be those of `tensor[start:end:step]`; start and end may be negative or
# out of range, with the meaning that Python gives them, and `step` is at least 1. A failing check names the slice.

# %% exercise="02.6" role="given"
CUT = r"""
std::vector<int64_t> slice(int64_t size, int64_t stride, int64_t offset, int64_t start, int64_t end, int64_t step) {
  auto clamped = [size](int64_t i) { return std::clamp<int64_t>(i < 0 ? i + size : i, 0, size); };
  const int64_t first = clamped(start), last = std::max(first, clamped(end));
  return {(last - first) / step, stride * step, first * stride};
}
"""

# %% exercise="02.6" role="answer"
WHOLE = r"""
std::vector<int64_t> slice(int64_t size, int64_t stride, int64_t offset, int64_t start, int64_t end, int64_t step) {
  // BEGIN SOLUTION
  auto inside = [size](int64_t i) { return std::clamp<int64_t>(i < 0 ? i + size : i, 0, size); };
  const int64_t first = inside(start), length = std::max<int64_t>(inside(end) - first, 0);
  return {(length + step - 1) / step, stride * step, offset + first * stride};
  // END SOLUTION
}
"""

# %% exercise="02.6" role="check"
with check("02.6", "frames that are missing") as c:
    cut = load_inline("whole_slice", WHOLE, functions="slice").slice
    strip = torch.arange(60)
    for text, film in {"a film": strip[:10], "a cut film": strip[2:11], "every fourth frame": strip[3:40:4]}.items():
        for start, end, step in [(0, 9, 3), (0, 10, 3), (1, 10, 1), (-4, -1, 2), (5, 2, 1), (0, 99, 4), (99, 100, 1)]:
            real = film[start:end:step]
            came = tuple(cut(film.shape[0], film.stride()[0], film.storage_offset(), start, end, step))
            expected = (real.shape[0], real.stride()[0], real.storage_offset())
            c.equal(f"size, stride and offset of {text}, [{start}:{end}:{step}]", came=came, expected=expected)

# %% [markdown] exercise="02.6" role="debrief"
# The original is `slice` in `TensorSlicing.cpp`. **In PyTorch** a slice accepts no negative step either, because a
# stride of a tensor is never negative: all kernels may rely on that. numpy accepts negative steps, so each of its
# loops has to handle negative strides.

# %% [markdown] exercise="02.6" role="hint"
# Every third of 10 frames: these are the frames 0, 3, 6 and 9. How many are they, and what does the division give?

# %% [markdown] exercise="02.6" role="hint"
# Where does the second slice begin, if the tensor itself begins at element 2 of the storage?


# %% [markdown] exercise="02.7" role="task" kind="build" title="windows without a copy"
# ## 02.7 Build: windows without a copy
#
# ★★☆, 30 minutes. A moving average over a signal reads each element several times. If you stored the windows, you
# would need several times the memory; with strides you need none. Write in C++ the view of all windows of `size`
# elements, `step` apart, over the *last* dimension of any tensor: sizes `..., count, size`, where `count` is the
# number of whole windows.
#
# `at::as_strided(self, sizes, strides, offset)` makes a view; `self.sizes()`, `self.strides()` and
# `self.storage_offset()` say how `self` reads. Requirements: the result is a view; a window that is longer than the
# dimension is an error whose message contains the size of the window; a step below 1 is an error whose message
# contains the step. `TORCH_CHECK(condition, "message ", value)` raises if the condition is false.

# %% exercise="02.7" role="answer"
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

# %% exercise="02.7" role="check"
with check("02.7", "windows without a copy") as c:
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

# %% [markdown] exercise="02.7" role="debrief"
# **In PyTorch** `Tensor.unfold` is this view. A view saves the memory of a copy, and its reader pays with reads that
# are not in the order of the memory. You have to measure which of the two is faster.

# %% [markdown] exercise="02.7" role="hint"
# The result has one more dimension. The dimension that was the last one now steps from window to window, and the new
# one steps from element to element in a window. Which stride does each of the two have, if the stride of the last
# dimension of `self` is `s`?

# %% [markdown] exercise="02.7" role="hint"
# `std::vector<int64_t> sizes = self.sizes().vec();`, the same for the strides. Then
# `sizes.back() = (length - size) / step + 1;` and `strides.back() = s * step;`, then `push_back` of `size` and of `s`.

# %% [markdown] exercise="02.8" role="task" kind="build" title="project: a small ndarray"
# ## 02.8 Project: a small ndarray
#
# ★★★, an evening. Write your own array: a Python list as storage, and sizes, strides and an offset that say how to
# read the list. Afterwards nothing in this chapter is magic. The signatures below say what each method does.
# Requirements:
#
# - `x[...]`, `transpose`, `expand` and `view` never copy: the result has the *same* list as `storage`.
# - `reshape` has the same list where `view` is possible, and otherwise a new list, contiguous and with offset 0.
# - `transpose` takes negative dimensions too: -1 is the last.
# - A key is an integer, a slice, or a tuple of them; dimensions without a key stay as they are.
# - An index out of range is an `IndexError`; a slice with a step below 1 is a `ValueError`.
# - `view` raises `ValueError` if there are no strides for the new sizes, or if the number of elements is not right.
# - `a + b` broadcasts like PyTorch, and raises `ValueError` where sizes do not fit.
# - Arrays without elements need not work in `view` and `reshape`, and they are contiguous; the stride of a dimension of
#   size 1 is free.
#
# The check compares with tensors, first case by case, then in 300 random chains of operations. It names what failed.


# %% exercise="02.8" role="answer"
class NDArray:
    """A small ndarray: element [i, j] is `storage[offset + i * strides[0] + j * strides[1]]`."""

    def __init__(self, storage: list, sizes: tuple, strides: tuple, offset: int = 0) -> None:
        self.storage, self.sizes, self.strides, self.offset = storage, tuple(sizes), tuple(strides), offset

    @classmethod
    def arange(cls, *sizes: int) -> "NDArray":
        """A contiguous array of these sizes with the elements 0, 1, 2 and so on."""
        # BEGIN SOLUTION
        strides, numel = [], 1
        for size in reversed(sizes):
            strides.insert(0, numel)
            numel *= size
        return cls(list(range(numel)), sizes, strides)
        # END SOLUTION

    def tolist(self) -> list:
        """The elements as nested lists; an array without dimensions gives its element."""
        # BEGIN SOLUTION
        return [self[i].tolist() for i in range(self.sizes[0])] if self.sizes else self.storage[self.offset]
        # END SOLUTION

    def __getitem__(self, key) -> "NDArray":
        """The view that Python's rules for integers and slices give."""
        # BEGIN SOLUTION
        keys = key if isinstance(key, tuple) else (key,)
        if len(keys) > len(self.sizes):
            raise IndexError(f"{len(keys)} indices for {len(self.sizes)} dimensions")
        sizes, strides, offset = [], [], self.offset
        for each, size, stride in zip(keys, self.sizes, self.strides, strict=False):
            if isinstance(each, slice):
                start, stop, step = each.indices(size)
                if step < 1:
                    raise ValueError("a slice needs a positive step")
                sizes.append(len(range(start, stop, step)))
                strides.append(stride * step)
            elif -size <= each < size:
                start = each % size
            else:
                raise IndexError(f"index {each} is out of range for size {size}")
            offset += start * stride
        rest = len(keys)
        return NDArray(self.storage, [*sizes, *self.sizes[rest:]], [*strides, *self.strides[rest:]], offset)
        # END SOLUTION

    def __setitem__(self, key, number) -> None:
        """Write one number into all elements of the view `self[key]`."""
        # BEGIN SOLUTION
        view = self[key]
        for position in view.positions():
            view.storage[position] = number
        # END SOLUTION

    def positions(self) -> list[int]:
        """The positions in the storage of all elements, in the order of the indices."""
        # BEGIN SOLUTION
        found = [self.offset]
        for size, stride in zip(self.sizes, self.strides, strict=True):
            found = [position + i * stride for position in found for i in range(size)]
        return found
        # END SOLUTION

    def transpose(self, dim0: int, dim1: int) -> "NDArray":
        """The view with two dimensions exchanged."""
        # BEGIN SOLUTION
        sizes, strides = list(self.sizes), list(self.strides)
        sizes[dim0], sizes[dim1] = sizes[dim1], sizes[dim0]
        strides[dim0], strides[dim1] = strides[dim1], strides[dim0]
        return NDArray(self.storage, sizes, strides, self.offset)
        # END SOLUTION

    def expand(self, *sizes: int) -> "NDArray":
        """The view of larger sizes: new dimensions in front, and dimensions of size 1 repeated, else ValueError."""
        # BEGIN SOLUTION
        missing = len(sizes) - len(self.sizes)
        old_sizes, strides = [1] * missing + list(self.sizes), [0] * missing + list(self.strides)
        if missing < 0 or any(old not in (1, new) for old, new in zip(old_sizes, sizes, strict=True)):
            raise ValueError(f"sizes {self.sizes} do not expand to {sizes}")
        strides = [s if old == new else 0 for s, old, new in zip(strides, old_sizes, sizes, strict=True)]
        return NDArray(self.storage, sizes, strides, self.offset)
        # END SOLUTION

    def is_contiguous(self) -> bool:
        """Whether the elements, in the order of the indices, lie one after another."""
        # BEGIN SOLUTION
        found = self.positions()
        return found == list(range(self.offset, self.offset + len(found)))
        # END SOLUTION

    def view(self, *sizes: int) -> "NDArray":
        """The same elements in the same order with other sizes, without a copy; ValueError if there are no strides."""
        # BEGIN SOLUTION
        wanted = NDArray.arange(*sizes)
        found = self.positions()
        if len(wanted.storage) != len(found):
            raise ValueError(f"{len(found)} elements do not fit into sizes {sizes}")
        # A step in dimension d leads from the first element to element number wanted.strides[d].
        steps = zip(sizes, wanted.strides, strict=True)
        strides = [found[step] - found[0] if size > 1 else 1 for size, step in steps]
        result = NDArray(self.storage, sizes, strides, self.offset)
        if result.positions() != found:
            raise ValueError(f"no strides view sizes {self.sizes}, strides {self.strides} as {sizes}")
        return result
        # END SOLUTION

    def reshape(self, *sizes: int) -> "NDArray":
        """A view if there is one, otherwise a contiguous copy."""
        # BEGIN SOLUTION
        try:
            return self.view(*sizes)
        except ValueError:
            copy = NDArray.arange(*self.sizes)
            copy.storage[:] = [self.storage[position] for position in self.positions()]
            return copy.view(*sizes)
        # END SOLUTION

    def __add__(self, other: "NDArray") -> "NDArray":
        """The sums, element by element, of two arrays that are broadcast to common sizes."""
        # BEGIN SOLUTION
        dims = max(len(self.sizes), len(other.sizes))
        padded = ([1] * (dims - len(each.sizes)) + list(each.sizes) for each in (self, other))
        sizes = [b if a == 1 else a for a, b in zip(*padded, strict=True)]
        left, right = self.expand(*sizes), other.expand(*sizes)
        result = NDArray.arange(*sizes)
        pairs = zip(left.positions(), right.positions(), strict=True)
        result.storage[:] = [left.storage[a] + right.storage[b] for a, b in pairs]
        return result
        # END SOLUTION


# %% exercise="02.8" role="check"
def compare(c: check, what: str, array: NDArray, tensor: torch.Tensor) -> None:
    """Check that an array reads as a tensor does: sizes, elements, strides of real steps, offset, contiguity."""
    c.equal(f"{what}: sizes", came=tuple(array.sizes), expected=tuple(tensor.shape))
    c.equal(f"{what}: elements", came=array.tolist(), expected=tensor.tolist())
    steps = [d for d in range(tensor.dim()) if tensor.shape[d] > 1]
    c.equal(f"{what}: strides", came=[array.strides[d] for d in steps], expected=[tensor.stride(d) for d in steps])
    c.equal(f"{what}: offset", came=array.offset, expected=tensor.storage_offset())
    c.equal(f"{what}: contiguous", came=array.is_contiguous(), expected=tensor.is_contiguous())


def one_step(chance: random.Random, sizes: tuple) -> str:
    """An operation, as text, that is possible for an array of these sizes, which has at least one dimension."""
    d, e = chance.randrange(len(sizes)), chance.randrange(len(sizes))
    numel = int(numpy.prod(sizes))
    outer = chance.choice([n for n in (2, 3, 4) if numel % n == 0] or [1])
    steps = [f".transpose({d}, {e})", "[::2]", f"[{chance.randrange(sizes[0])}:]", f"[{':, ' * d}{sizes[d] - 1}:]"]
    steps += [f".reshape({outer}, {numel // outer})", f".reshape({numel})", f".expand(2, {', '.join(map(str, sizes))})"]
    return chance.choice(steps)


with check("02.8", "a small ndarray") as c:
    array, tensor = NDArray.arange(2, 3, 4), torch.arange(24).reshape(2, 3, 4)
    for step in ["", "[1]", "[-1, 2]", "[1, 2, 3]", "[:, 1]", "[:, 1:, ::2]", "[0, ::2][1]", "[1:, -2:, 5:]"]:
        compare(c, f"x{step}", eval(f"array{step}"), eval(f"tensor{step}"))
    for step in [".transpose(0, 2)", ".transpose(-1, 0)[1:]", "[:, :1].expand(2, 5, 4)", "[0, 0].expand(3, 2, 4)"]:
        compare(c, f"x{step}", eval(f"array{step}"), eval(f"tensor{step}"))
    for step in [
        ".view(6, 4)",
        ".view(24)",
        ".view(1, 2, 12)",
        "[:, :, :2].view(6, 2)",
        ".transpose(0, 1).view(3, 2, 2, 2)",
    ]:
        compare(c, f"x{step}", eval(f"array{step}"), eval(f"tensor{step}"))
        c.true(
            f"x{step}: whose storage",
            eval(f"array{step}").storage is array.storage,
            came="a new list",
            expected="that of x",
        )
    c.true(
        "x.transpose(0, 1): whose storage",
        array.transpose(0, 1).storage is array.storage,
        came="a new list",
        expected="that of x",
    )
    turned = array.transpose(1, 2)
    compare(c, "x.transpose(1, 2).reshape(2, 12)", turned.reshape(2, 12), tensor.transpose(1, 2).reshape(2, 12))
    c.true(
        "the storage of that copy",
        turned.reshape(2, 12).storage is not array.storage,
        came="that of x",
        expected="a new list",
    )
    c.true(
        "x.reshape(4, 6): whose storage",
        array.reshape(4, 6).storage is array.storage,
        came="a new list",
        expected="that of x",
    )
    c.raises("x.transpose(1, 2).view(2, 12)", ValueError, "", turned.view, 2, 12)
    c.raises("x.view(5, 5)", ValueError, "", array.view, 5, 5)
    c.raises("x[2]", IndexError, "", array.__getitem__, 2)
    c.raises("x[0, -4]", IndexError, "", array.__getitem__, (0, -4))
    c.raises("x[::-1]", ValueError, "", array.__getitem__, slice(None, None, -1))
    c.raises("x.expand(2, 5, 4)", ValueError, "", array.expand, 2, 5, 4)
    compare(c, "x + x[0]", array + array[0], tensor + tensor[0])
    compare(c, "x[0, :, :1] + x[0, 0]", array[0, :, :1] + array[0, 0], tensor[0, :, :1] + tensor[0, 0])
    c.raises("x + x[:, :2]", ValueError, "", array.__add__, array[:, :2])
    array[:, 1, ::2] = tensor[:, 1, ::2] = 99
    compare(c, "x after x[:, 1, ::2] = 99", array, tensor)
    chance = random.Random(2)
    for _ in range(300):
        chain, a, t = "x", NDArray.arange(4, 3, 2), torch.arange(24).reshape(4, 3, 2)
        for _ in range(chance.randrange(1, 6)):
            step = one_step(chance, tuple(t.shape))
            chain, a, t = chain + step, eval(f"a{step}"), eval(f"t{step}")
            compare(c, f"{chain}, where x is arange(24) of sizes 4, 3, 2", a, t)

# %% [markdown] exercise="02.8" role="debrief"
# You have written the core of `TensorImpl`. **In PyTorch** `computeStride` finds the strides of a view without
# walking over the elements, by runs, because a tensor may have a billion of them; and a kernel makes the
# copy. What PyTorch adds: a dtype for the bytes, a count of references for the storage, and a version counter for
# autograd.

# %% [markdown] exercise="02.8" role="hint"
# Write `positions` first: start with `[offset]`; for each dimension, replace each position by `size` positions that
# are `stride` apart. `__setitem__`, `is_contiguous`, `reshape` and `__add__` all use `positions`.

# %% [markdown] exercise="02.8" role="hint"
# `slice.indices(size)` is Python's own rule for start, stop and step; `len(range(start, stop, step))` is the size.

# %% [markdown] exercise="02.8" role="hint"
# `view`: either the walk over runs of the lesson, or shorter: the new stride of a dimension must be the distance
# between two elements whose numbers you know. Compute these strides, and compare the positions with those of `self`.

# %% [markdown] exercise="02.8" role="hint"
# `__add__`: fill the shorter sizes with 1 in front, take for each dimension the size that is not 1, `expand` both.

# %% [markdown] exercise="02.9" role="task" kind="fix" title="a broken library: the second index"
# ## 02.9 Fix: a broken library, the second index
#
# ★★☆, 30 minutes. A colleague has changed *one line of C++* of the library, and no longer knows which. Since then
# programs compute with numbers from the wrong place. `REPORT` holds what the broken library answers, where `x` is
# `torch.arange(24).reshape(2, 3, 4)`. Some of these answers are right, and some are wrong.
#
# Find the line. You have found it when you can break the library in the same way: return the file, and a patch as
# `%%rebuild` takes one, with `-` and `+` before the lines. Your own library stays as it is. The check compiles the
# change in a scratch copy (some seconds), asks for each expression of `REPORT`, and names the first whose answer is
# not the one in `REPORT`.

# %% exercise="02.9" role="given"
SETUP = "import reftorch as torch\nx = torch.arange(24).reshape(2, 3, 4)"
REPORT = {
    "x[1]": [[12, 13, 14, 15], [16, 17, 18, 19], [20, 21, 22, 23]],
    "x[0][2]": [8, 9, 10, 11],
    "x[1][2]": [8, 9, 10, 11],
    "x[1, 2]": [8, 9, 10, 11],
    "x[1].clone()[2]": [20, 21, 22, 23],
    "x[1][1:]": [[16, 17, 18, 19], [20, 21, 22, 23]],
    "x[1:][0]": [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]],
    "x[:, :, 3][1]": [12, 16, 20],
    "x[:, 2]": [[8, 9, 10, 11], [20, 21, 22, 23]],
}


# %% exercise="02.9" role="answer"
def change() -> tuple[str, str]:
    """The file, and the patch that breaks the library as in REPORT."""
    # BEGIN SOLUTION
    return (
        "cpp/ATen/native/TensorSlicing.cpp",
        """
-  const int64_t offset = self.storage_offset() + index * strides[dim];
+  const int64_t offset = index * strides[dim];
""",
    )
    # END SOLUTION


# %% exercise="02.9" role="check"
with check("02.9", "a broken library: the second index") as c:
    file, patch = change()
    c.case(f"the patch of {file}")
    broken = rebuild(file, patch)
    asked = "\n".join(f"print(({expression}).tolist())" for expression in REPORT)
    outcome = broken.run(f"{SETUP}\n{asked}")
    broken.close()
    c.equal("an error of the library with your patch", came=outcome.error, expected="")
    for (expression, expected), came in zip(REPORT.items(), outcome.printed.splitlines(), strict=True):
        c.equal(f"{expression} with your patch", came=came, expected=str(expected))

# %% [markdown] exercise="02.9" role="debrief"
# `select` forgot where its own tensor begins. One index of a tensor that begins at 0 still works, and so does a copy,
# so a test with a fresh tensor finds nothing. **In PyTorch** the tests of views therefore begin with a tensor that is
# a view itself, and so do the tests of this library. If you can cause a bug on purpose, you have understood the bug.

# %% [markdown] exercise="02.9" role="hint"
# Which expressions are wrong? Compare with what your own library answers. What do the wrong ones have in common, and
# what does `.clone()` change about a tensor besides its memory?

# %% [markdown] exercise="02.9" role="hint"
# Each wrong answer would be right for a tensor that begins at the first element of the storage. A slice of a view is
# right, an index into a view is wrong. Which function makes the view of one index?

# %% [markdown] exercise="02.9" role="hint"
# `show_source("select in TensorSlicing.cpp")` shows the function of the lesson. One of its lines is the sum of the
# lesson for one dimension.


# %% [markdown] exercise="02.10" role="task" kind="read" title="in PyTorch: one function for view and reshape"
# ## 02.10 Read, in PyTorch: one function for view and reshape
#
# ★★★, 20 minutes. This question is answered in PyTorch itself: it needs PyTorch (`make torch`), and no other exercise
# of the chapter does. The next cell writes `IN_TORCH` to a file, and prints the command that runs the file under pdb.
#
# PyTorch has `view` and `reshape` twice: in C++, and once more in Python, in `torch/_refs/__init__.py`, which
# describes ops for compilers, by simpler ops. In Python both are one function, and it does not use the algorithm of
# `computeStride`. Read `_reshape_view_helper`, and the function that it calls in its last line,
# `_reshape_view_helper_core_alg`. Stop in the latter at its line `if new_shape is None`, where it has tried to merge
# dimensions. For each of the six calls, which `IN_TORCH` names in comments, return one of four words:
#
# - `"no stop"`: the call does not come to this line;
# - `"view"`: dimensions are merged, and the result shares the memory;
# - `"copy"`: the dimensions cannot be merged, and the call copies;
# - `"error"`: the dimensions cannot be merged, and the call may not copy.


# %% exercise="02.10" role="given"
IN_TORCH = """\
import torch
from torch._refs import reshape, view

x = torch.arange(24.0).reshape(2, 3, 4)
turned, left = x.transpose(0, 1), x[:, :, :2]
reshape(x, 24)  # flat
reshape(turned, 24)  # turned flat
reshape(left, 6, 2)  # rows
reshape(turned, 3, 2, 2, 2)  # split
reshape(x, 4, 6)  # six columns
try:
    view(x[:, 0], 8)  # slab
except ValueError as error:
    print("ValueError:", error)
"""
print(write_for_torch(IN_TORCH, "in_torch_02_10.py"))


# %% exercise="02.10" role="answer"
def at_the_merge() -> dict[str, str]:
    # BEGIN SOLUTION
    return {
        "flat": "no stop",
        "turned flat": "copy",
        "rows": "view",
        "split": "no stop",
        "six columns": "view",
        "slab": "error",
    }
    # END SOLUTION


# %% exercise="02.10" role="check"
SHAPES = {
    "flat": "(2, 3, 4) (24,)",
    "turned flat": "(3, 2, 4) (24,)",
    "rows": "(2, 3, 2) (6, 2)",
    "split": "(3, 2, 4) (3, 2, 2, 2)",
    "six columns": "(2, 3, 4) (4, 6)",
    "slab": "(2, 4) (8,)",
}

with check("02.10", "one function for view and reshape") as c:
    answer = at_the_merge()
    outcome = "'view' if new_shape is not None else 'copy' if allow_copy else 'error'"
    asked = ["f'{tuple(a.shape)} {tuple(shape)}'", outcome]
    file, function = "torch/_refs/__init__.py", "_reshape_view_helper_core_alg"
    stops = [tuple(stop.values()) for stop in stops_in_torch(IN_TORCH, file, function, "if new_shape is None", asked)]
    came = {call.strip("'"): what.strip("'") for call, what in stops}
    truth = {name: came.get(shapes, "no stop") for name, shapes in SHAPES.items()}
    look = "`p a.shape, shape` at each stop says which call it is; `p new_shape, allow_copy` says what follows."
    c.answers("the six calls", came=answer, truth=truth, look=look)

# %% [markdown] exercise="02.10" role="debrief"
# **In PyTorch** `view` and `reshape` differ in Python in this one argument, `allow_copy`. `computeStride` walks from
# the innermost dimension and needs no tensor. The algorithm here walks from the left, and merges as few dimensions as
# possible, because each step is an op of its own: `flatten` merges, and `split_dim` splits. The price shows at `six
# columns`: `x` is contiguous, so its new strides 6 and 1 are known at once, and still three dimensions become one,
# and the one becomes two.

# %% [markdown] exercise="02.10" role="hint"
# `print(inspect.getsource(torch._refs._reshape_view_helper))` after `import inspect`, or `longlist` at a stop. Two
# cases of contiguous tensors never come to the general algorithm.

# %% [markdown] exercise="02.10" role="hint"
# The loop goes through the new shape. A dimension that is right already, or that is only split, needs no merging. Two
# dimensions can be merged where the stride of the outer one is the size of the inner one times its stride.
