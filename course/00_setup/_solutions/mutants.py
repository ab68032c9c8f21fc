"""Wrong answers to the exercises of chapter 00: what each check must reject, and why somebody would write it.

Mirrors: nothing in PyTorch: exercises.
Leaves out: the tasks, the right answers and the checks, which are in exercises.py.
"""


# %% exercise="00.1" role="mutant" why="as if the marked line had run"
def at_the_third_stop() -> tuple[int, float]:
    return 5, 11.0


# %% exercise="00.1" role="mutant" why="counts the stops from 0, and so gives the fourth"
def at_the_third_stop() -> tuple[int, float]:
    return 7, 11.0


# %% exercise="00.2" role="mutant" why="takes the first path only"
def pytorch_paths(path: str) -> list[str]:
    line = next(line for line in (ROOT / path).read_text().splitlines()[:12] if "Mirrors:" in line)
    mirrored = line.split("Mirrors:")[1].strip().rstrip(".")
    return [] if mirrored.startswith("nothing") else [mirrored.split(",")[0]]


# %% exercise="00.2" role="mutant" why="takes the excuse of a file of our own for a path"
def pytorch_paths(path: str) -> list[str]:
    line = next(line for line in (ROOT / path).read_text().splitlines()[:12] if "Mirrors:" in line)
    return [each.strip() for each in line.split("Mirrors:")[1].strip().rstrip(".").split(",")]


# %% exercise="00.2" role="mutant" why="makes the path up from the file's own"
def pytorch_paths(path: str) -> list[str]:
    return [path.replace("cpp/ATen", "aten/src/ATen").replace("cpp/", "").replace("reftorch/", "torch/")]


# %% exercise="00.3" role="mutant" why="names the sister op"
def kernel_and_caller() -> tuple[str, str, str]:
    return "cumsum_kernel", "cumsum_out", "cpp/ATen/native/CumulativeOps.cpp"


# %% exercise="00.3" role="mutant" why="names the kernel's own file"
def kernel_and_caller() -> tuple[str, str, str]:
    return "logcumsumexp_kernel", "scan", "cpp/ATen/native/cpu/CumulativeOpsKernel.cpp"


# %% exercise="00.4" role="mutant" why="the bug as it was"
def chosen_build(folder: Path) -> Path:
    return broken_chosen_build(folder)


# %% exercise="00.4" role="mutant" why="always wants the Debug build"
def chosen_build(folder: Path) -> Path:
    asked = os.environ.get("REFTORCH_BUILD", "debug")
    if asked.capitalize() not in BUILD_TYPES:
        raise ValueError(f"REFTORCH_BUILD is '{asked}'")
    if not (folder / asked.capitalize()).exists():
        raise ImportError(f"Run: make {asked}")
    return folder / asked.capitalize()


# %% exercise="00.4" role="mutant" why="an unknown build is taken for none"
def chosen_build(folder: Path) -> Path:
    asked = os.environ.get("REFTORCH_BUILD", "").capitalize()
    for build_type in (asked,) if asked in BUILD_TYPES else BUILD_TYPES:
        if (folder / build_type).exists():
            return folder / build_type
    raise ImportError(f"Run: make {asked.lower()}")


# %% exercise="00.5" role="mutant" why="writes into its argument"
CAP = """
at::Tensor cap(const at::Tensor& x, double limit) {
  float* numbers = x.data_ptr<float>();
  for (int64_t i = 0; i < x.numel(); i++) {
    if (numbers[i] > limit) {
      numbers[i] = limit;
    }
  }
  return x;
}
"""

# %% exercise="00.5" role="mutant" why="keeps only what is smaller, and so loses nan"
CAP = """
at::Tensor cap(const at::Tensor& x, double limit) {
  at::Tensor result = at::zeros(x.sizes());
  const float* from = x.data_ptr<float>();
  float* to = result.data_ptr<float>();
  for (int64_t i = 0; i < x.numel(); i++) {
    to[i] = limit;
    if (from[i] < limit) {
      to[i] = from[i];
    }
  }
  return result;
}
"""

# %% exercise="00.5" role="mutant" why="the result has one dimension"
CAP = """
at::Tensor cap(const at::Tensor& x, double limit) {
  at::Tensor result = at::zeros({x.numel()});
  const float* from = x.data_ptr<float>();
  float* to = result.data_ptr<float>();
  for (int64_t i = 0; i < x.numel(); i++) {
    to[i] = from[i];
    if (from[i] > limit) {
      to[i] = limit;
    }
  }
  return result;
}
"""


# %% exercise="00.6" role="mutant" why="the bug as it was"
def fixed_shares() -> str:
    return BROKEN_SHARES


# %% exercise="00.6" role="mutant" why="converts where it is too late"
def fixed_shares() -> str:
    return BROKEN_SHARES.replace("from[i] / total", "from[i] / double(total)")


# %% exercise="00.6" role="mutant" why="rounds instead of cutting off"
def fixed_shares() -> str:
    return BROKEN_SHARES.replace("total += from[i]", "total += std::llround(from[i])")
