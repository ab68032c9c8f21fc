"""Wrong kernels: what the checks of 15.8 to 15.11 must reject, and why somebody would write it.

Mirrors: nothing in PyTorch: exercises.
Leaves out: the tasks, the right answers and the checks, which are in exercises_kernels.py.

Most of them are the right text with a change, so that only the change has to be read. The first wrong answer of an
exercise keeps the right text.
"""


# %% exercise="15.8" role="mutant" why="one element for each thread"
def axpy_source() -> str:
    return """
__global__ void axpy(float a, const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += a * x[i];
}
"""


# %% exercise="15.8" role="mutant" why="right numbers: reads one element behind the end before it asks"
def axpy_source() -> str:
    return """
__global__ void axpy(float a, const float* x, float* y, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i <= n; i += gridDim.x * blockDim.x) {
    float sum = a * x[i] + y[i];
    if (i < n) y[i] = sum;
  }
}
"""


# %% exercise="15.8" role="mutant" why="steps by one block, so blocks meet"
def axpy_source() -> str:
    return """
__global__ void axpy(float a, const float* x, float* y, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x) y[i] += a * x[i];
}
"""


# %% exercise="15.8" role="mutant" why="right numbers: the elements of a thread lie side by side"
def axpy_source() -> str:
    return """
__global__ void axpy(float a, const float* x, float* y, int n) {
  int all = gridDim.x * blockDim.x, each = (n + all - 1) / all, first = (blockIdx.x * blockDim.x + threadIdx.x) * each;
  for (int i = first; i < first + each && i < n; i++) y[i] += a * x[i];
}
"""


# %% exercise="15.9" role="mutant" why="no barrier in the loop"
right_block_sums = block_sums_source()


def block_sums_source() -> str:
    return right_block_sums.replace("    __syncthreads();\n  }", "  }")


# %% exercise="15.9" role="mutant" why="a barrier to which only the adding threads come"
def block_sums_source() -> str:
    inside = """    if (t < half) {
      s[t] += s[t + half];
      __syncthreads();
    }
"""
    return right_block_sums.replace("    if (t < half) s[t] += s[t + half];\n    __syncthreads();\n", inside)


# %% exercise="15.9" role="mutant" why="adds what is behind the end"
def block_sums_source() -> str:
    return right_block_sums.replace("i < n ? x[i] : 0", "x[i]")


# %% exercise="15.9" role="mutant" why="right numbers: all threads write the sum"
def block_sums_source() -> str:
    return right_block_sums.replace("if (t == 0) sums", "sums")


# %% exercise="15.9" role="mutant" why="neighbours first: another tree"
def block_sums_source() -> str:
    neighbours = right_block_sums.replace("int half = 128; half > 0; half /= 2", "int step = 1; step < 256; step *= 2")
    return neighbours.replace("if (t < half) s[t] += s[t + half]", "if (t % (2 * step) == 0) s[t] += s[t + step]")


# %% exercise="15.10" role="mutant" why="right numbers: no shared memory, and each store is a column"
right_transpose = transpose_source()


def transpose_source() -> str:
    return """
__global__ void transpose(const float* x, float* out, int rows, int columns) {
  int row = blockIdx.y * 32 + threadIdx.y, column = blockIdx.x * 32 + threadIdx.x;
  if (row < rows && column < columns) out[column * rows + row] = x[row * columns + column];
}
"""


# %% exercise="15.10" role="mutant" why="right numbers: a tile of 32 columns, all in one bank"
def transpose_source() -> str:
    return right_transpose.replace("tile[32][33]", "tile[32][32]")


# %% exercise="15.10" role="mutant" why="right numbers: the guard is at the store only"
def transpose_source() -> str:
    return right_transpose.replace("if (row < rows && column < columns) tile", "tile")


# %% exercise="15.10" role="mutant" why="no barrier between the two halves"
def transpose_source() -> str:
    return right_transpose.replace("  __syncthreads();\n", "")


# %% exercise="15.11" role="mutant" why="right numbers: one barrier in a step"
right_to_go = to_go_source()


def to_go_source() -> str:
    in_two_parts = """    float right = t + step < 256 ? s[t + step] : 0;
    __syncthreads();
    s[t] += right;
"""
    return right_to_go.replace(in_two_parts, "    if (t + step < 256) s[t] += s[t + step];\n")


# %% exercise="15.11" role="mutant" why="right numbers: threads without a step leave before the barriers"
def to_go_source() -> str:
    return """
__global__ void to_go(const float* rewards, float* out, int n) {
  __shared__ float s[256];
  int t = threadIdx.x;
  if (t >= n) return;
  s[t] = rewards[blockIdx.x * n + t];
  __syncthreads();
  for (int step = 1; step < n; step *= 2) {
    float right = t + step < n ? s[t + step] : 0;
    __syncthreads();
    s[t] += right;
    __syncthreads();
  }
  out[blockIdx.x * n + t] = s[t];
}
"""


# %% exercise="15.11" role="mutant" why="right numbers: each thread adds up global memory"
def to_go_source() -> str:
    return """
__global__ void to_go(const float* rewards, float* out, int n) {
  float sum = 0;
  for (int i = threadIdx.x; i < n; i++) sum += rewards[blockIdx.x * n + i];
  if (threadIdx.x < n) out[blockIdx.x * n + threadIdx.x] = sum;
}
"""


# %% exercise="15.11" role="mutant" why="reads on into the next episode"
def to_go_source() -> str:
    return right_to_go.replace("t < n ? rewards[blockIdx.x * n + t] : 0", "rewards[blockIdx.x * n + t]")
