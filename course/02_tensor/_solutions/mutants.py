"""Wrong answers to the exercises of chapter 02: what each check must reject, and why somebody would write it.

Mirrors: nothing in PyTorch: exercises.
Leaves out: the tasks, the right answers and the checks, which stand in exercises.py.
"""


# %% exercise="02.1" role="mutant" why="takes every reshape for a copy"
def geometry() -> dict[str, tuple[tuple, tuple, int]]:
    return {
        "x": ((2, 3, 4), (12, 4, 1), 0),
        "x[1]": ((3, 4), (4, 1), 12),
        "x[:, 1:, ::2]": ((2, 2, 2), (12, 4, 2), 4),
        "x.transpose(0, 2)": ((4, 3, 2), (1, 4, 12), 0),
        "x[0].t()[1]": ((3,), (4,), 1),
        "x[:, 0].unsqueeze(1).expand(2, 5, 4)": ((2, 5, 4), (12, 0, 1), 0),
        "x.permute(2, 0, 1).reshape(4, 6)": ((4, 6), (6, 1), 0),
        "x.transpose(1, 2).reshape(2, 12)": ((2, 12), (12, 1), 0),
    }


# %% exercise="02.1" role="mutant" why="thinks that every tensor is contiguous"
def geometry() -> dict[str, tuple[tuple, tuple, int]]:
    found = {}
    for expression in views:
        real = eval(expression).contiguous()
        found[expression] = (tuple(real.shape), tuple(real.stride()), 0)
    return found


# %% exercise="02.2" role="mutant" why="what lies there, and not where"
def element(tensor: torch.Tensor, index: tuple[int, ...]) -> int:
    return tensor[index].item()


# %% exercise="02.2" role="mutant" why="forgets the offset"
def element(tensor: torch.Tensor, index: tuple[int, ...]) -> int:
    position = 0
    for i, size, stride in zip(index, tensor.shape, tensor.stride(), strict=True):
        if not -size <= i < size:
            raise IndexError(str(i))
        position += i % size * stride
    return position


# %% exercise="02.2" role="mutant" why="takes every tensor for a contiguous one"
def element(tensor: torch.Tensor, index: tuple[int, ...]) -> int:
    position = 0
    for i, size in zip(index, tensor.shape, strict=True):
        if not -size <= i < size:
            raise IndexError(str(i))
        position = position * size + i % size
    return position + tensor.storage_offset()


# %% exercise="02.2" role="mutant" why="wraps what is out of range"
def element(tensor: torch.Tensor, index: tuple[int, ...]) -> int:
    steps = zip(index, tensor.shape, tensor.stride(), strict=True)
    return tensor.storage_offset() + sum(i % size * stride for i, size, stride in steps)


# %% exercise="02.3" role="mutant" why="takes the stride for 1"
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

# %% exercise="02.3" role="mutant" why="begins at the storage's first element"
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

# %% exercise="02.3" role="mutant" why="copies"
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

# %% exercise="02.4" role="mutant" why="the bug as it was"
MENDED = BROKEN

# %% exercise="02.4" role="mutant" why="every dimension with a stride of its own will do"
MENDED = r"""
bool contiguous(const std::vector<int64_t>& sizes, const std::vector<int64_t>& strides) {
  return sizes.empty() || sizes.back() <= 1 || strides.back() == 1;
}
"""

# %% exercise="02.4" role="mutant" why="looks for emptiness too late"
MENDED = BROKEN.replace("if (strides[i] != expected)", "if (sizes[i] != 1 && strides[i] != expected)")


# %% exercise="02.5" role="mutant" why="takes all that indexes for a view, and all that converts for a copy"
def shares() -> dict[str, bool]:
    return {
        "t.t()": True,
        "t.t().reshape(6)": True,
        "t.reshape(6)": True,
        "t[[0, 1]]": True,
        "t[0:2]": True,
        "t.float()": False,
        "t.double()": False,
        "t.detach()": True,
        "t.contiguous()": False,
        "t.t().contiguous()": False,
        "torch.tensor(array)": False,
        "torch.from_numpy(array)": True,
        "torch.as_tensor(array, dtype=torch.float32)": False,
    }


# %% exercise="02.5" role="mutant" why="thinks that torch.tensor is a bridge"
def shares() -> dict[str, bool]:
    return {expression: is_seen(expression) or expression == "torch.tensor(array)" for expression in sharing}


# %% exercise="02.6" role="mutant" why="thinks that a number widens"
def results() -> dict[str, str]:
    return {expression: {"i8 + 1000": "int64"}.get(expression, dtype_of(expression)) for expression in promoted}


# %% exercise="02.6" role="mutant" why="lets an in-place op change the dtype"
def results() -> dict[str, str]:
    return {expression: {"i8.add_(0.5)": "float32"}.get(expression, dtype_of(expression)) for expression in promoted}
