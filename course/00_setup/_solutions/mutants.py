"""Wrong answers to the exercises of chapter 00: what each check must reject, and why somebody would write it.

Mirrors: nothing in PyTorch: exercises.
Leaves out: the tasks, the right answers and the checks, which stand in exercises.py.
"""


# %% exercise="00.1" role="mutant" why="the path is absolute"
def loaded_library() -> tuple[str, bool]:
    return torch._C.__file__, True


# %% exercise="00.1" role="mutant" why="the flag is guessed from the wrong build"
def loaded_library() -> tuple[str, bool]:
    return str(Path(torch._C.__file__).relative_to(ROOT)), False


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
def caller_of_mul_kernel() -> tuple[str, str]:
    return "add_out", "cpp/ATen/native/BinaryOps.cpp"


# %% exercise="00.3" role="mutant" why="names the kernel's own file"
def caller_of_mul_kernel() -> tuple[str, str]:
    return "mul_out", "cpp/ATen/native/cpu/BinaryOpsKernel.cpp"


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
