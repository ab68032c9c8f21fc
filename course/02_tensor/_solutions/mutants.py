"""Wrong answers to the exercises of chapter 02: what each check must reject, and why somebody would write it.

Mirrors: nothing in PyTorch: exercises.
Leaves out: the tasks, the right answers and the checks, which are in exercises.py.

The wrong answers of exercise 02.10 are the right one with one change: the first of them keeps the right one.
"""


# %% exercise="02.1" role="mutant" why="takes every reshape for a copy"
def geometry() -> dict[str, tuple[tuple, tuple, int]]:
    return {
        "x[1]": ((3, 4), (4, 1), 12),
        "x[:, 1:, ::2]": ((2, 2, 2), (12, 4, 2), 4),
        "x.transpose(0, 2)": ((4, 3, 2), (1, 4, 12), 0),
        "x[0].t()[1]": ((3,), (4,), 1),
        "x[:, 0].unsqueeze(1).expand(2, 5, 4)": ((2, 5, 4), (12, 0, 1), 0),
        "x.permute(2, 0, 1).reshape(4, 6)": ((4, 6), (6, 1), 0),
        "x.transpose(1, 2).reshape(2, 12)": ((2, 12), (12, 1), 0),
    }


# %% exercise="02.1" role="mutant" why="thinks that every tensor is contiguous and begins at 0"
def geometry() -> dict[str, tuple[tuple, tuple, int]]:
    return {
        "x[1]": ((3, 4), (4, 1), 0),
        "x[:, 1:, ::2]": ((2, 2, 2), (4, 2, 1), 0),
        "x.transpose(0, 2)": ((4, 3, 2), (6, 2, 1), 0),
        "x[0].t()[1]": ((3,), (1,), 0),
        "x[:, 0].unsqueeze(1).expand(2, 5, 4)": ((2, 5, 4), (20, 4, 1), 0),
        "x.permute(2, 0, 1).reshape(4, 6)": ((4, 6), (6, 1), 0),
        "x.transpose(1, 2).reshape(2, 12)": ((2, 12), (12, 1), 0),
    }


# %% exercise="02.2" role="mutant" why="takes all that indexes for a view, and all that converts for a copy"
def shares() -> dict[str, bool]:
    return {
        "t[:, None]": True,
        "t[[0, 1]]": True,
        "t[t > -1]": True,
        "t.flatten()": True,
        "t[:, :2].flatten()": True,
        "t.expand(4, 2, 3)[3]": True,
        "t.chunk(3, dim=1)[1]": True,
        "torch.cat([t])": False,
        "t.float()": False,
        "t.double()": False,
        "t.to(torch.float32, copy=True)": False,
        "t.detach()": True,
        "torch.as_tensor(array)": True,
        "torch.as_tensor(array, dtype=torch.float32)": False,
    }


# %% exercise="02.2" role="mutant" why="thinks that as_tensor always shares, and detach and expand copy"
def shares() -> dict[str, bool]:
    return {
        "t[:, None]": True,
        "t[[0, 1]]": False,
        "t[t > -1]": False,
        "t.flatten()": True,
        "t[:, :2].flatten()": False,
        "t.expand(4, 2, 3)[3]": False,
        "t.chunk(3, dim=1)[1]": True,
        "torch.cat([t])": False,
        "t.float()": True,
        "t.double()": False,
        "t.to(torch.float32, copy=True)": False,
        "t.detach()": False,
        "torch.as_tensor(array)": True,
        "torch.as_tensor(array, dtype=torch.float32)": True,
    }


# %% exercise="02.3" role="mutant" why="thinks that a number widens, as in numpy of old"
def results() -> dict[str, str]:
    return {
        "i8 * 1000": "int16",
        "i8 + u8 + 0.5": "float64",
        "f16 * bf16 * 2.5": "float32",
        "f16 * 2.5 * f64_0d": "float64",
        "i8 * i64_0d": "int64",
        "i64_0d * 2.5": "float64",
        "f64_0d * 2.5": "float64",
        "(i8 > 0) + (u8 > 0)": "bool",
        "(i8 > 0) + 1": "int64",
        "i8 / u8": "float32",
        "i8.add_(u8)": "int8",
        "i8.div_(2)": "error",
    }


# %% exercise="02.3" role="mutant" why="lets an in-place op change the dtype, and adds bools as integers"
def results() -> dict[str, str]:
    return {
        "i8 * 1000": "int8",
        "i8 + u8 + 0.5": "float32",
        "f16 * bf16 * 2.5": "float32",
        "f16 * 2.5 * f64_0d": "float16",
        "i8 * i64_0d": "int8",
        "i64_0d * 2.5": "float32",
        "f64_0d * 2.5": "float64",
        "(i8 > 0) + (u8 > 0)": "int64",
        "(i8 > 0) + 1": "int64",
        "i8 / u8": "float32",
        "i8.add_(u8)": "int16",
        "i8.div_(2)": "float32",
    }


# %% exercise="02.4" role="mutant" why="what lies there, and not where"
def element(tensor: torch.Tensor, index: tuple[int, ...]) -> int:
    return tensor[index].item()


# %% exercise="02.4" role="mutant" why="forgets the offset"
def element(tensor: torch.Tensor, index: tuple[int, ...]) -> int:
    position = 0
    for i, size, stride in zip(index, tensor.shape, tensor.stride(), strict=True):
        if not -size <= i < size:
            raise IndexError(str(i))
        position += i % size * stride
    return position


# %% exercise="02.4" role="mutant" why="takes every tensor for a contiguous one"
def element(tensor: torch.Tensor, index: tuple[int, ...]) -> int:
    position = 0
    for i, size in zip(index, tensor.shape, strict=True):
        if not -size <= i < size:
            raise IndexError(str(i))
        position = position * size + i % size
    return position + tensor.storage_offset()


# %% exercise="02.4" role="mutant" why="wraps what is out of range"
def element(tensor: torch.Tensor, index: tuple[int, ...]) -> int:
    steps = zip(index, tensor.shape, tensor.stride(), strict=True)
    return tensor.storage_offset() + sum(i % size * stride for i, size, stride in steps)


# %% exercise="02.5" role="mutant" why="the bug as it was"
FIXED = BROKEN

# %% exercise="02.5" role="mutant" why="every dimension with a stride of its own will do"
FIXED = r"""
bool contiguous(const std::vector<int64_t>& sizes, const std::vector<int64_t>& strides) {
  return sizes.empty() || sizes.back() <= 1 || strides.back() == 1;
}
"""

# %% exercise="02.5" role="mutant" why="looks for emptiness too late"
FIXED = BROKEN.replace("if (strides[i] != expected)", "if (sizes[i] != 1 && strides[i] != expected)")

# %% exercise="02.6" role="mutant" why="mends the count alone"
WHOLE = CUT.replace("(last - first) / step", "(last - first + step - 1) / step")

# %% exercise="02.6" role="mutant" why="mends the place alone"
WHOLE = CUT.replace("first * stride};", "offset + first * stride};")

# %% exercise="02.6" role="mutant" why="adds one to every count"
WHOLE = CUT.replace("(last - first) / step", "(last - first) / step + 1").replace(", first *", ", offset + first *")

# %% exercise="02.7" role="mutant" why="takes the stride for 1"
WINDOWS = r"""
at::Tensor windows(const at::Tensor& self, int64_t size, int64_t step) {
  const int64_t length = self.sizes().back();
  TORCH_CHECK(step >= 1 && size <= length, "windows: ", size, " ", step);
  std::vector<int64_t> sizes = self.sizes().vec(), strides = self.strides().vec();
  sizes.back() = (length - size) / step + 1;
  strides.back() = step;
  sizes.push_back(size);
  strides.push_back(1);
  return at::as_strided(self, sizes, strides, self.storage_offset());
}
"""

# %% exercise="02.7" role="mutant" why="begins at the storage's first element"
WINDOWS = r"""
at::Tensor windows(const at::Tensor& self, int64_t size, int64_t step) {
  const int64_t length = self.sizes().back(), stride = self.strides().back();
  TORCH_CHECK(step >= 1 && size <= length, "windows: ", size, " ", step);
  std::vector<int64_t> sizes = self.sizes().vec(), strides = self.strides().vec();
  sizes.back() = (length - size) / step + 1;
  strides.back() = stride * step;
  sizes.push_back(size);
  strides.push_back(stride);
  return at::as_strided(self, sizes, strides, 0);
}
"""

# %% exercise="02.7" role="mutant" why="copies"
WINDOWS = r"""
at::Tensor windows(const at::Tensor& self, int64_t size, int64_t step) {
  const int64_t length = self.sizes().back(), stride = self.strides().back();
  TORCH_CHECK(step >= 1 && size <= length, "windows: ", size, " ", step);
  std::vector<int64_t> sizes = self.sizes().vec(), strides = self.strides().vec();
  sizes.back() = (length - size) / step + 1;
  strides.back() = stride * step;
  sizes.push_back(size);
  strides.push_back(stride);
  return at::clone(at::as_strided(self, sizes, strides, self.storage_offset()), at::MemoryFormat::Contiguous);
}
"""


# %% exercise="02.8" role="mutant" why="a view with contiguous strides, whatever the strides were"
class NDArray(NDArray.__mro__[-2]):  # the class that was written, under all mutants that stand on it
    def view(self, *sizes):
        return NDArray(self.storage, sizes, NDArray.arange(*sizes).strides, self.offset)


# %% exercise="02.8" role="mutant" why="reshape copies always"
class NDArray(NDArray.__mro__[-2]):
    def reshape(self, *sizes):
        copy = NDArray.arange(*sizes)
        copy.storage[:] = [self.storage[position] for position in self.positions()]
        return copy


# %% exercise="02.8" role="mutant" why="expand keeps the stride of a dimension of one element"
class NDArray(NDArray.__mro__[-2]):
    def expand(self, *sizes):
        missing = len(sizes) - len(self.sizes)
        return NDArray(self.storage, sizes, (0,) * missing + self.strides, self.offset)


# %% exercise="02.8" role="mutant" why="a write goes to a copy of the view"
class NDArray(NDArray.__mro__[-2]):
    def __setitem__(self, key, number):
        view = self[key]
        view.storage = list(view.storage)
        for position in view.positions():
            view.storage[position] = number


# %% exercise="02.9" role="mutant" why="takes the slice for the culprit"
def change() -> tuple[str, str]:
    return (
        "cpp/ATen/native/TensorSlicing.cpp",
        """
-  const int64_t offset = self.storage_offset() + first * strides[dim];
+  const int64_t offset = first * strides[dim];
""",
    )


# %% exercise="02.9" role="mutant" why="forgets the index instead of the offset"
def change() -> tuple[str, str]:
    return (
        "cpp/ATen/native/TensorSlicing.cpp",
        """
-  const int64_t offset = self.storage_offset() + index * strides[dim];
+  const int64_t offset = self.storage_offset();
""",
    )


# %% exercise="02.10" role="mutant" why="a contiguous tensor comes to the merge"
right_at_the_merge = at_the_merge()


def at_the_merge() -> dict[str, str]:
    return right_at_the_merge | {"flat": "view"}


# %% exercise="02.10" role="mutant" why="a contiguous tensor never merges"
def at_the_merge() -> dict[str, str]:
    return right_at_the_merge | {"six columns": "no stop"}


# %% exercise="02.10" role="mutant" why="left has gaps, so it must be copied"
def at_the_merge() -> dict[str, str]:
    return right_at_the_merge | {"rows": "copy"}


# %% exercise="02.10" role="mutant" why="a transposed tensor is always copied"
def at_the_merge() -> dict[str, str]:
    return right_at_the_merge | {"split": "copy"}


# %% exercise="02.10" role="mutant" why="takes view for a function that copies"
def at_the_merge() -> dict[str, str]:
    return right_at_the_merge | {"slab": "copy"}
