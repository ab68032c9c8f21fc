"""Wrong answers to the exercises of chapter 04: what each check must reject, and why somebody would write it.

Mirrors: nothing in PyTorch: exercises.
Leaves out: the tasks, the right answers and the checks, which are in exercises.py.

The wrong answers of exercise 04.7 are the right one with one change: the first of them keeps the right one.
"""


# %% exercise="04.1" role="mutant" why="a kernel for each name"
def kernels() -> dict[str, list[str]]:
    return {
        "x != y": ["ne_kernel"],
        "x.amax(0)": ["amax_kernel"],
        "layer_norm(x, [2])": ["layer_norm_kernel"],
        "x.unsqueeze(0).expand(3, 2, 2)": ["expand_kernel"],
        "x.t().contiguous() @ y": ["contiguous_kernel", "matmul_kernel"],
    }


# %% exercise="04.1" role="mutant" why="a view is thought to copy"
def kernels() -> dict[str, list[str]]:
    return {
        "x != y": ["ne_kernel"],
        "x.amax(0)": ["max_values_kernel"],
        "layer_norm(x, [2])": ["layer_norm_kernel_impl"],
        "x.unsqueeze(0).expand(3, 2, 2)": ["copy_kernel"],
        "x.t().contiguous() @ y": ["copy_kernel", "addmv_kernel"],
    }


# %% exercise="04.1" role="mutant" why="takes a loop that a kernel uses for a kernel"
def kernels() -> dict[str, list[str]]:
    return {
        "x != y": ["ne_kernel", "comparison_kernel"],
        "x.amax(0)": ["max_values_kernel"],
        "layer_norm(x, [2])": ["layer_norm_kernel_impl"],
        "x.unsqueeze(0).expand(3, 2, 2)": [],
        "x.t().contiguous() @ y": ["copy_kernel", "addmv_kernel"],
    }


# %% exercise="04.2" role="mutant" why="takes what was started"
def process_to_attach(ancestor: int) -> int:
    return ancestor


# %% exercise="04.2" role="mutant" why="looks at children only"
def process_to_attach(ancestor: int) -> int:
    for file in Path("/proc").glob("[0-9]*/stat"):
        parent = int(file.read_text().rpartition(")")[2].split()[1])
        maps = Path(file.parent / "maps")
        if parent == ancestor and "/reftorch/lib/" in maps.read_text():
            return int(file.parent.name)
    raise LookupError("none")


# %% exercise="04.2" role="mutant" why="takes any Python"
def process_to_attach(ancestor: int) -> int:
    for file in Path("/proc").glob("[0-9]*/stat"):
        parent = int(file.read_text().rpartition(")")[2].split()[1])
        if parent == ancestor and "python" in (file.parent / "cmdline").read_text():
            return int(file.parent.name)
    raise LookupError("none")


# %% exercise="04.3" role="mutant" why="still without printers"
def fixed() -> dict:
    configurations = json.loads(json.dumps(BROKEN))
    configurations["python"].update(justMyCode=False, env={"REFTORCH_BUILD": "debug", "REFTORCH_ALLOW_PTRACE": "1"})
    return configurations


# %% exercise="04.3" role="mutant" why="asks another debugger for C++"
def fixed() -> dict:
    configurations = json.loads(json.dumps(BROKEN))
    configurations["python"].update(justMyCode=False, env={"REFTORCH_BUILD": "debug", "REFTORCH_ALLOW_PTRACE": "1"})
    source = '-interpreter-exec console "source ${workspaceFolder}/reftorch/debug/gdb/init.py"'
    configurations["c++"]["setupCommands"].append({"text": source})
    configurations["c++"]["type"] = "gdb"
    return configurations


# %% exercise="04.3" role="mutant" why="drops the leave to attach"
def fixed() -> dict:
    configurations = json.loads(json.dumps(BROKEN))
    configurations["python"].update(justMyCode=False, env={"REFTORCH_BUILD": "debug"})
    source = '-interpreter-exec console "source ${workspaceFolder}/reftorch/debug/gdb/init.py"'
    configurations["c++"]["setupCommands"].append({"text": source})
    return configurations


# %% exercise="04.3" role="mutant" why="changes BROKEN itself, because the copy is shallow"
def fixed() -> dict:
    configurations = dict(BROKEN)
    configurations["python"]["justMyCode"] = False
    return configurations


# %% exercise="04.4" role="mutant" why="keeps the tensor and not what it held"
def history_of(run, function: str, name: str) -> list:
    seen = []

    def tracer(frame, event, argument):
        if frame.f_code.co_name != function:
            return None
        value = frame.f_locals.get(name)
        if value is not None and not any(value is former for former in seen):
            seen.append(value)
        return tracer

    sys.settrace(tracer)
    run()
    sys.settrace(None)
    return [value.tolist() if isinstance(value, torch.Tensor) else value for value in seen]


# %% exercise="04.4" role="mutant" why="is called for functions and not for lines"
def history_of(run, function: str, name: str) -> list:
    seen = []

    def tracer(frame, event, argument):
        if frame.f_code.co_name == function and name in frame.f_locals:
            seen.append(frame.f_locals[name])

    sys.settrace(tracer)
    run()
    sys.settrace(None)
    return seen


# %% exercise="04.5" role="mutant" why="stops where the op is called, not where it is computed"
def stop_in_logaddexp() -> tuple[str, list[str]]:
    return "reftorch::torch::call_packet", ["info args"]


# %% exercise="04.5" role="mutant" why="stops in the right place and shows one operand"
def stop_in_logaddexp() -> tuple[str, list[str]]:
    return "logaddexp_kernel", ["up 2", "print self"]


# %% exercise="04.5" role="mutant" why="a name that does not exist"
def stop_in_logaddexp() -> tuple[str, list[str]]:
    return "log_add_exp", ["print self", "print other"]


# %% exercise="04.6" role="mutant" why="forgets the first element and not the last"
def planted() -> tuple[str, str]:
    return (
        "ATen/native/cpu/SoftMaxKernel.cpp",
        """
       opmath_t largest = -std::numeric_limits<opmath_t>::infinity();
-      for (int64_t k = row; k < row + n; k++) {
+      for (int64_t k = row + 1; k < row + n; k++) {
""",
    )


# %% exercise="04.6" role="mutant" why="finds the right idea in the function for long rows"
def planted() -> tuple[str, str]:
    return (
        "ATen/native/cpu/SoftMaxKernel.cpp",
        """
-    for (int64_t k = i; k < n; k++) {
+    for (int64_t k = i; k < n - 1; k++) {
""",
    )


# %% exercise="04.7" role="mutant" why="four numbers are compared with four"
right_wrong_loss = wrong_loss()


def wrong_loss() -> dict[str, tuple[int, ...] | int | str]:
    return right_wrong_loss | {"shape": (4, 1), "strides": (1,), "pairs": 4}


# %% exercise="04.7" role="mutant" why="the target is a column, too"
def wrong_loss() -> dict[str, tuple[int, ...] | int | str]:
    return right_wrong_loss | {"strides": (1, 0)}


# %% exercise="04.7" role="mutant" why="each call warns"
def wrong_loss() -> dict[str, tuple[int, ...] | int | str]:
    return right_wrong_loss | {"warnings": 2}


# %% exercise="04.7" role="mutant" why="the warning names the line of the program"
def wrong_loss() -> dict[str, tuple[int, ...] | int | str]:
    return right_wrong_loss | {"file": "in_torch_04_7.py"}


# %% exercise="04.7" role="mutant" why="the warning names the function that warns"
def wrong_loss() -> dict[str, tuple[int, ...] | int | str]:
    return right_wrong_loss | {"file": "torch/nn/functional.py"}


# %% exercise="04.7" role="mutant" why="expanding copies"
def wrong_loss() -> dict[str, tuple[int, ...] | int | str]:
    return right_wrong_loss | {"strides": (4, 1)}
