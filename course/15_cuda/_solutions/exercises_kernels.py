"""The last exercises of chapter 15, solved: kernels in CUDA C++.

Mirrors: nothing in PyTorch: exercises.
Leaves out: what the lesson explains, and the imports, which are in exercises.py.
"""

# %% [markdown]
# ## Kernels of your own
#
# The last four exercises are kernels in CUDA C++, and you write them as texts. `watched` compiles a text and runs the
# kernel under the watcher of kernels. So a check can name the line, the thread and the address of a fault, even if
# the numbers are right. You can use `watched`, too:
#
# - `seen, left = watched(axpy_source(), "axpy", 2, 64, 0.5, x, y, 100)`, where `x` and `y` are CPU tensors, and then
#   `print(seen.findings)`;
# - or a cell that begins with `%%cuda --watch`, as in the lesson, after `%load_ext reftorch.debug`.

# %%
WATCHER = "what the watcher of kernels has found"


def watched(source, name, grid, block, *arguments):
    """Compile a kernel, and launch it under the watcher with copies of the tensors on the device.

    Returns what the watcher has seen, and the tensors as the kernel has left them.
    """
    with torch.debug.watch_kernels(seconds=10, library=False) as seen:
        kernel = torch.cuda._compile_kernel(source, name)
        there = [each.cuda() if isinstance(each, torch.Tensor) else each for each in arguments]
        kernel(grid, block, there)
    return seen, [each.cpu() for each in there if isinstance(each, torch.Tensor)]


def first_problem(seen):
    """The first fault that the watcher has found, in words."""
    more = f"\nand {len(seen.problems) - 1} more" if len(seen.problems) > 1 else ""
    return f"{seen.problems[0]}{more}" if seen.problems else ""


def first_wrong(name, came, expected):
    """The first element that is not as expected, in words; empty if there is none."""
    wrong = (came != expected).nonzero().flatten().tolist()
    values = [f"{each[wrong[0]].item():g}" for each in (came, expected)] if wrong else []
    return f"{len(wrong)} wrong elements: {name}[{wrong[0]}] is {values[0]}, not {values[1]}" if wrong else ""


def wasteful(seen):
    """The access that wastes most, in words; empty if no access wastes anything."""
    dear = sorted((site for site in seen.sites if site.is_access and site.use < 1), key=lambda site: site.use)
    told = [f"{site.line.short}: a {site.kind} of {site.space} memory takes {site.cost}" for site in dear]
    return f"{told[0]}\n{dear[0].line.source}" if told else ""


# %% [markdown] exercise="15.8" role="task" kind="build" title="a kernel for any number of threads"
# ## 15.8 Build: a kernel for any number of threads
#
# ★★☆, 20 minutes. This kernel is like the one of the lesson, but you write it. `axpy_source()` returns the text of a
# kernel
#
# `__global__ void axpy(float a, const float* x, float* y, int n)`
#
# that adds `a * x[i]` to `y[i]`:
#
# - for each `i` from 0 to `n - 1`, exactly once,
# - for any number of blocks and of threads in a block: with more threads than elements, and with fewer;
# - the kernel does not read or write behind the `n` elements;
# - neighbouring threads have neighbouring elements. Memory comes in pieces of 32 bytes, the *sectors*. The 32 threads
#   of a *warp* run together, and their loads should ask for as few sectors as they can.
#
# The grid and the blocks have one dimension. `blockIdx.x` is the number of the block, `gridDim.x` the number of
# blocks; `threadIdx.x` and `blockDim.x` are the same for the threads in a block.


# %% exercise="15.8" role="answer"
def axpy_source() -> str:
    # BEGIN SOLUTION
    return """
__global__ void axpy(float a, const float* x, float* y, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    y[i] += a * x[i];
  }
}
"""
    # END SOLUTION


# %% exercise="15.8" role="check"
with check("15.8", "a kernel for any number of threads") as c:
    for n, blocks, threads in ((1000, 8, 128), (1000, 2, 64), (5, 3, 32)):
        case = c.case(f"{n} elements, {blocks} blocks of {threads} threads")
        x, y = torch.arange(float(n)), torch.ones(n)
        seen, (_, came) = watched(axpy_source(), "axpy", blocks, threads, 0.5, x, y, n)
        c.true(f"{case}: {WATCHER}", not seen.problems, came=first_problem(seen), expected="nothing")
        wrong = first_wrong("y", came, 1 + 0.5 * x)
        c.true(f"{case}: y", not wrong, came=wrong, expected="the right sums in all elements")
        dear = wasteful(seen)
        c.true(f"{case}: the cost of each load and store", not dear, came=dear, expected="as few sectors as needed")

# %% [markdown] exercise="15.8" role="debrief"
# **In PyTorch** `torch.cuda._compile_kernel` compiles such a text with NVRTC, in tenths of a second. The loop is the
# one of `CUDA_KERNEL_LOOP`. It works for any grid, so the grid can be chosen to fit the device. The price is a loop
# even if a thread has only one element. A read behind the end seldom changes a number, on a GPU and here, so you need
# a tool to notice such a read. On a GPU this tool is NVIDIA's `compute-sanitizer`.

# %% [markdown] exercise="15.8" role="hint"
# What is the number of a thread among all threads? How far apart are two elements of the same thread?

# %% [markdown] exercise="15.8" role="hint"
# The lesson shows the loop of `elementwise_kernel`. What would happen if each thread took ten elements that lie side
# by side?


# %% [markdown] exercise="15.9" role="task" kind="build" title="a sum in shared memory"
# ## 15.9 Build: a sum in shared memory
#
# ★★★, 30 minutes. The threads of a block share a small memory, `__shared__ float s[256];`, and wait for each other at
# `__syncthreads()`. `block_sums_source()` returns the text of a kernel
#
# `__global__ void block_sums(const float* x, float* sums, int n)`
#
# The kernel is launched with 256 threads in a block, and with as many blocks as `n` elements need:
#
# - `sums[b]` becomes the sum of the elements 256 b to 256 b + 255 of `x`. One thread of the block writes it.
# - Elements behind the end, from `n` on, count as 0. The kernel does not read them.
# - The sum is a *tree*: first `s[t] + s[t + 128]` for `t` from 0 to 127, then `s[t] + s[t + 64]` for `t` up to 63, and
#   so on down to 1. The result has the bits of this order.
# - If one thread writes a place and another thread reads it, there is a barrier between the two. All threads of the
#   block come to each barrier.


# %% exercise="15.9" role="answer"
def block_sums_source() -> str:
    # BEGIN SOLUTION
    return """
__global__ void block_sums(const float* x, float* sums, int n) {
  __shared__ float s[256];
  int t = threadIdx.x, i = blockIdx.x * 256 + t;
  s[t] = i < n ? x[i] : 0;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (t < half) s[t] += s[t + half];
    __syncthreads();
  }
  if (t == 0) sums[blockIdx.x] = s[0];
}
"""
    # END SOLUTION


# %% exercise="15.9" role="check"
def tree_sums(x):
    """The sums of parts of 256, in the order of the tree."""
    s = torch.cat([x, torch.zeros(-len(x) % 256)]).reshape(-1, 256)
    for half in (128, 64, 32, 16, 8, 4, 2, 1):
        s = s[:, :half] + s[:, half : 2 * half]
    return s[:, 0]


with check("15.9", "a sum in shared memory") as c:
    torch.manual_seed(0)
    for n in (256, 600):
        case = c.case(f"{n} elements")
        x, blocks = torch.randn(n) * 100, -(-n // 256)
        sums = torch.full((blocks,), -1.0)
        seen, (_, came) = watched(block_sums_source(), "block_sums", blocks, 256, x, sums, n)
        c.true(f"{case}: {WATCHER}", not seen.problems, came=first_problem(seen), expected="nothing")
        c.close(f"{case}: the sums", came=came, expected=tree_sums(x), rtol=1e-4, atol=1e-3)
        c.close(f"{case}: the bits of the tree", came=came, expected=tree_sums(x), rtol=0, atol=0)

# %% [markdown] exercise="15.9" role="debrief"
# **In PyTorch** `cuda_utils::BlockReduce` has the same tree, for the last steps without shared memory: the 32 threads
# of a warp exchange registers (`WARP_SHFL_DOWN`). The order of the additions is fixed, so a sum has the same bits in
# each run. `atomicAdd` from all threads would be shorter, but its order changes from run to run. Until 2017, the
# threads of a warp always ran the same instruction together, and kernels left out the barriers of the last five
# steps. Such kernels are wrong today.

# %% [markdown] exercise="15.9" role="hint"
# Two barriers: one between the load and the first addition, and one after each step of the loop. Why would a barrier
# inside of `if (t < half)` be wrong?

# %% [markdown] exercise="15.9" role="hint"
# `s[t] = i < n ? x[i] : 0;` is the guard. If threads behind the end returned, the other threads would wait alone at
# the barrier.


# %% [markdown] exercise="15.10" role="task" kind="build" title="a transpose that wastes no memory access"
# ## 15.10 Build: a transpose that wastes no memory access
#
# ★★★, 30 minutes. `transpose_source()` returns the text of a kernel
#
# `__global__ void transpose(const float* x, float* out, int rows, int columns)`
#
# `x` has `rows` rows and `columns` columns, one row behind the other; `out` is its transpose:
#
# - `out[c * rows + r]` becomes `x[r * columns + c]`. The kernel is launched with blocks of 32 by 32 threads
#   (`threadIdx.x` and `threadIdx.y`), and with as many blocks as cover the matrix: `blockIdx.x` along the columns,
#   `blockIdx.y` along the rows. The last blocks reach beyond the matrix.
# - Nothing outside of `x` and `out` is read or written, and there is no race.
# - A warp, 32 threads with neighbouring `threadIdx.x`, asks for as few sectors of 32 bytes as it can, when it loads
#   and when it stores. For a row of 32 numbers these are 4. For a column they would be 32.
# - So the block keeps its part in shared memory. This memory has 32 *banks*, and neighbouring words are in
#   neighbouring banks. A bank gives one word at a time. An access of a warp takes one pass over the banks, not
#   several.


# %% exercise="15.10" role="answer"
def transpose_source() -> str:
    # BEGIN SOLUTION
    return """
__global__ void transpose(const float* x, float* out, int rows, int columns) {
  __shared__ float tile[32][33];
  int row = blockIdx.y * 32 + threadIdx.y, column = blockIdx.x * 32 + threadIdx.x;
  if (row < rows && column < columns) tile[threadIdx.y][threadIdx.x] = x[row * columns + column];
  __syncthreads();
  row = blockIdx.y * 32 + threadIdx.x;
  column = blockIdx.x * 32 + threadIdx.y;
  if (row < rows && column < columns) out[column * rows + row] = tile[threadIdx.x][threadIdx.y];
}
"""
    # END SOLUTION


# %% exercise="15.10" role="check"
with check("15.10", "a transpose that wastes no memory access") as c:
    for rows, columns in ((32, 32), (40, 72)):
        case = c.case(f"{rows} rows, {columns} columns")
        x, out = torch.arange(float(rows * columns)), torch.full((rows * columns,), -1.0)
        grid = (-(-columns // 32), -(-rows // 32))
        seen, (_, came) = watched(transpose_source(), "transpose", grid, (32, 32), x, out, rows, columns)
        c.true(f"{case}: {WATCHER}", not seen.problems, came=first_problem(seen), expected="nothing")
        wrong = first_wrong("out", came, x.reshape(rows, columns).t().flatten())
        c.true(f"{case}: out", not wrong, came=wrong, expected="the transpose")
        dear = wasteful(seen)
        c.true(
            f"{case}: the cost of each load and store",
            not dear,
            came=dear,
            expected="as few sectors and passes as needed",
        )

# %% [markdown] exercise="15.10" role="debrief"
# **In PyTorch** `x.t().contiguous()` runs the elementwise kernel of every copy, which loads with a stride: one kernel
# serves all strides, and pays for it in sectors. Inductor, the compiler behind `torch.compile`, makes tiles for such
# copies. cuBLAS gets a flag that says whether a matrix is transposed, so the matrix need not be copied first. The
# 33rd column of the tile is never used: it moves each row by one bank. `print(seen)` shows both costs of each line,
# and `seen.draw_banks(line)` draws the banks.

# %% [markdown] exercise="15.10" role="hint"
# Load a row of the tile and store a row of the result. Which of the two indices of `tile` has `threadIdx.x` at the
# load, and which at the store?

# %% [markdown] exercise="15.10" role="hint"
# In `float tile[32][32]`, all words of a column are in one bank. By how many banks must each row be shifted against
# the row before?


# %% [markdown] exercise="15.11" role="task" kind="build" title="rewards to go"
# ## 15.11 Build: rewards to go
#
# ★★★, 25 minutes. An agent wants to know at each step how much reward is still to come. `to_go_source()` returns the
# text of a kernel
#
# `__global__ void to_go(const float* rewards, float* out, int n)`
#
# Each block computes one episode of `n` steps; the episode of block `b` begins at `rewards[b * n]`. A block has 256
# threads, and `n` is at most 256:
#
# - `out[b * n + t]` becomes the sum of the rewards of episode `b` from step `t` to its last step.
# - Each element of `rewards` is loaded once, and nothing else is loaded from global memory. So the block adds in
#   shared memory. A good way is to work in steps: first each thread adds the number that is 1 place to its right,
#   then the number 2 places to its right, then 4 places, and so on up to 128.
# - There is no race, nothing outside of the arrays is read, and all threads of a block come to each barrier.
#
# The simulator runs the threads of a block one after the other. So here a kernel with a race may give right numbers
# every time. The check does not rely on the numbers.


# %% exercise="15.11" role="answer"
def to_go_source() -> str:
    # BEGIN SOLUTION
    return """
__global__ void to_go(const float* rewards, float* out, int n) {
  __shared__ float s[256];
  int t = threadIdx.x;
  s[t] = t < n ? rewards[blockIdx.x * n + t] : 0;
  __syncthreads();
  for (int step = 1; step < 256; step *= 2) {
    float right = t + step < 256 ? s[t + step] : 0;
    __syncthreads();
    s[t] += right;
    __syncthreads();
  }
  if (t < n) out[blockIdx.x * n + t] = s[t];
}
"""
    # END SOLUTION


# %% exercise="15.11" role="check"
with check("15.11", "rewards to go") as c:
    for episodes, n in ((1, 256), (3, 100)):
        case = c.case(f"{episodes} episodes of {n} steps")
        rewards, out = torch.arange(float(episodes * n)) % 7, torch.full((episodes * n,), -1.0)
        seen, (_, came) = watched(to_go_source(), "to_go", episodes, 256, rewards, out, n)
        c.true(f"{case}: {WATCHER}", not seen.problems, came=first_problem(seen), expected="nothing")
        wrong = first_wrong("out", came, rewards.reshape(episodes, n).flip(1).cumsum(1).flip(1).flatten())
        c.true(f"{case}: out", not wrong, came=wrong, expected="the right sums in all elements")
        loads = sum(site.lanes for site in seen.sites if (site.kind, site.space) == ("load", "global"))
        c.equal(f"{case}: loads of global memory, by all threads", came=loads, expected=episodes * n)

# %% [markdown] exercise="15.11" role="debrief"
# **In PyTorch** this is `rewards.flip(1).cumsum(1).flip(1)`. `cumsum` on CUDA is a scan in shared memory, too, in
# `aten/src/ATen/native/cuda/ScanUtils.cuh`, by Sklansky's method: in each step only half of the numbers change, and
# they are not the numbers that the step reads. So one barrier for each step is enough. Races are the reason why CUDA
# code is tested under a tool, and not by its numbers alone.

# %% [markdown] exercise="15.11" role="hint"
# In a step, each thread reads a number that another thread is about to change. What has to happen between the reading
# and the writing? And between the writing and the next step's reading?

# %% [markdown] exercise="15.11" role="hint"
# Keep the number in a variable of the thread: `float right = ...; __syncthreads(); s[t] += right; __syncthreads();`
