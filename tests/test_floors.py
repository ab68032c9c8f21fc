"""The floors of the house: who may include or import whom, and what every file's header owes the reader.

Mirrors: nothing in PyTorch: its layering is held by build targets and review.

Read as text, never imported: a broken build must not hide a broken floor.
"""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[1]
CPP = ROOT / "cpp"
PACKAGE = ROOT / "reftorch"

CPP_FILES = sorted(p for p in CPP.rglob("*") if p.suffix in (".h", ".cpp", ".cu", ".cuh"))
CPP_TEST_FILES = sorted(p for p in (ROOT / "tests" / "cpp").rglob("*.cpp") if "third_party" not in p.parts)
PYTHON_FILES = sorted(PACKAGE.rglob("*.py"))
OTHER_PYTHON_FILES = sorted(
    path
    for folder in ("tests", "course/_tools", ".ci", ".vscode", *(ROOT / "course").glob("*/_solutions"))
    for path in (ROOT / folder).rglob("*.py")
    if path.read_text().strip()
)
EVERY_FILE = CPP_FILES + CPP_TEST_FILES + PYTHON_FILES + OTHER_PYTHON_FILES
MAX_LINES = 500
MAX_WIDTH = 120


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def python_docstring(path: Path) -> str:
    return ast.get_docstring(ast.parse(path.read_text())) or ""


# --- C++ includes -----------------------------------------------------------------------------------------------------

INCLUDE = re.compile(r'^\s*#\s*include\s+[<"]([^>"]+)[>"]', re.M)

# First the room of a file, then what its includes may start with, among ours and the third-party ones that count.
# A twin (native/cpu, native/cuda) reaches its other half through DispatchStub in ATen/native, never by an include.
FLOORS = (
    (r"c10/(?!cuda/)", ("c10/",)),
    (r"c10/cuda/sim/", ("c10/", "cuda", "cblas.h")),  # the simulator's cuBLAS is OpenBLAS
    (r"c10/cuda/", ("c10/", "cuda", "!c10/cuda/sim/")),
    (r"ATen/native/cpu/", ("c10/", "ATen/", "cblas.h", "omp.h", "!ATen/native/cuda/")),
    (r"ATen/native/cuda/", ("c10/", "ATen/", "cuda", "!ATen/native/cpu/")),
    (r"ATen/native/", ("c10/", "ATen/", "cblas.h", "!ATen/native/cpu/", "!ATen/native/cuda/", "!ATen/cuda/",
                       "!c10/cuda/")),
    (r"ATen/cuda/", ("c10/", "ATen/", "cuda", "!ATen/native/")),
    (r"ATen/", ("c10/", "ATen/", "cblas.h", "omp.h", "!ATen/native/")),
    (r"csrc/api/", ("c10/", "ATen/", "csrc/", "!ATen/native/cuda/")),  # the door for extensions opens on every floor
    (r"csrc/(.*/)?(python_[^/]*|pybind|object_ptr|init|Module|Exceptions)\.(h|cpp)$",
     ("c10/", "ATen/", "csrc/", "pybind11/", "Python.h", "frameobject.h", "structmember.h", "reftorch_config.h",
      "!ATen/native/")),
    (r"csrc/",
     ("c10/", "ATen/", "csrc/", "reftorch_config.h", "!ATen/native/", "!csrc/python_", "!csrc/utils/python_")),
)  # fmt: skip
WATCHED = ("c10/", "ATen/", "csrc/", "pybind11/", "Python.h", "frameobject.h", "structmember.h", "cuda", "cblas.h",
           "omp.h", "reftorch_config.h")  # fmt: skip


def includes(path: Path) -> list[str]:
    return INCLUDE.findall(path.read_text())


def may_include(file: str, header: str) -> bool:
    if not header.startswith(WATCHED):
        return True  # the standard library and the system
    allowed = next(rule for room, rule in FLOORS if re.match(room, file))
    if header.startswith(tuple(rule[1:] for rule in allowed if rule.startswith("!"))):
        return False
    return header.startswith(allowed)


def test_cpp_includes_stay_on_their_floor() -> None:
    broken = [
        f"{name_of(path)} includes {header}"
        for path in CPP_FILES
        for header in includes(path)
        if not may_include(path.relative_to(CPP).as_posix(), header)
    ]
    assert not broken, "\n".join(broken)


@pytest.mark.parametrize(
    ("file", "header", "allowed"),
    [
        ("c10/core/Device.h", "string", True),
        ("c10/core/Device.h", "ATen/Tensor.h", False),
        ("ATen/Tensor.h", "ATen/native/BinaryOps.h", False),
        ("ATen/Tensor.h", "Python.h", False),
        ("ATen/native/BinaryOps.cpp", "csrc/autograd/engine.h", False),
        ("ATen/native/cpu/BinaryOpsKernel.cpp", "ATen/native/cuda/Loops.cuh", False),
        ("ATen/native/cpu/BinaryOpsKernel.cpp", "ATen/native/BinaryOps.h", True),
        ("csrc/autograd/engine.cpp", "ATen/native/BinaryOps.h", False),
        ("csrc/autograd/engine.cpp", "pybind11/pybind11.h", False),
        ("csrc/autograd/python_engine.cpp", "pybind11/pybind11.h", True),
        ("csrc/Exceptions.h", "Python.h", True),
    ],
)
def test_the_cpp_floors_say_what_the_design_says(file: str, header: str, allowed: bool) -> None:
    assert may_include(file, header) is allowed


# By .ci/gen_functions.py, into the build's folder and, for extensions, into that of the headers of ops.
GENERATED = ("ATen/Functions.h", "ATen/ExtensionFunctions.h", "ATen/core/TensorMethods.inc")


def test_our_includes_exist() -> None:
    broken = [
        f"{name_of(path)} includes {header}"
        for path in CPP_FILES
        for header in includes(path)
        if header.startswith(("c10/", "ATen/", "csrc/")) and not (CPP / header).exists() and header not in GENERATED
    ]
    assert not broken, "\n".join(broken)


LOCAL_FUNCTION = re.compile(r"^(?:static|inline) [^\n(=]*?\b(\w+)\(([^)]*)\)[^;]*?\{", re.M)


def test_functions_of_one_native_file_have_their_names_to_themselves() -> None:
    """The Debug build compiles several of these files in one run."""
    places: dict[str, list[str]] = {}
    for path in sorted((CPP / "ATen" / "native").glob("*.cpp")):
        for name, parameters in LOCAL_FUNCTION.findall(path.read_text()):
            types = [re.sub(r"\W*\w+( = .*)?$", "", one.strip()) for one in " ".join(parameters.split()).split(",")]
            places.setdefault(f"{name}({', '.join(types)})", []).append(name_of(path))
    assert len(places) > 300, "the pattern finds no functions"
    repeated = [f"{name} is in {' and in '.join(paths)}" for name, paths in places.items() if len(paths) > 1]
    assert not repeated, "\n".join(repeated)


READS_MEMORY = re.compile(r"\b(data_ptr|mutable_data|const_data|memcpy|memset|memmove)\b")


def test_no_thread_locals_of_the_standard_library() -> None:
    """The Release build could not be imported after torch if it used those of libstdc++.

    They would need a fixed distance from the thread pointer, which they do not have if another library has loaded
    libstdc++ before. A static variable in a function is initialized once too, without them.
    """
    used = [
        f"{path.relative_to(ROOT)}: {name}"
        for path in CPP_FILES
        for name in ("std::call_once", "std::promise", "std::async", "std::packaged_task")
        if name in re.sub(r"//.*", "", path.read_text())
    ]
    assert used == []


def test_native_ops_name_no_memory() -> None:
    """An op above its stubs works for every device, the meta device included, because it never looks at elements.

    CPUBlas.cpp is the CPU's: its functions take pointers from the kernels.
    """
    found = [
        f"{name_of(path)}:{number} {line.strip()}"
        for path in sorted((CPP / "ATen" / "native").glob("*.cpp"))
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if READS_MEMORY.search(line.split("//")[0])
    ]
    assert not found, "\n".join(found)


TAKES_ADDRESS = re.compile(r"\b(data_ptr(<[^>]*>)?\(\)|mutable_data\(\))")
# Host code that takes the address of a tensor's memory of any device, and what it does with the address.
ADDRESSES = {
    "ATen/DLConvertor.cpp": "hands it out together with the device",
    "ATen/cuda/CUDAGeneratorImpl.cpp": "gives it to kernels of the generator's device",
    "ATen/TensorIterator.cpp": "collects the addresses for the kernel of the operands' device",
    "csrc/autograd/python_variable_methods.cpp": "shows it as a number",
    "csrc/cuda/CudaIPCTypes.cpp": "hands out its place in the device's memory, after a look at the device",
    "csrc/distributed/c10d/ProcessGroupNCCLCollectives.cpp": "gives it to NCCL, after a look at the device",
    "csrc/python_storage.cpp": "shows it as a number",
    "csrc/python_stream.cpp": "asks whether it is pinned memory",
    "csrc/utils/python_tensor_numpy.cpp": "asks whether there is memory",
}


def test_host_code_asks_for_the_device_before_memory() -> None:
    """Code above the kernels gets memory from ``host_data``, which refuses a tensor of another device.

    The kernels' own files are not looked at, because the dispatcher has chosen a kernel by the device, and neither are
    the definitions in Tensor.h and TensorImpl.h.
    """
    files = [*(CPP / "ATen").glob("*.cpp"), *(CPP / "ATen" / "cuda").glob("*.cpp"), *(CPP / "csrc").rglob("*.cpp")]
    files += [*(CPP / "ATen" / "core").rglob("*.cpp"), *(CPP / "ATen" / "functorch").rglob("*.cpp")]
    found = {
        name_of(path).removeprefix("cpp/"): f"{number} {line.strip()}"
        for path in sorted(files)
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if TAKES_ADDRESS.search(line.split("//")[0])
    }
    assert len(files) > 60
    assert {name: line for name, line in found.items() if name not in ADDRESSES} == {}
    assert set(ADDRESSES) <= set(found), "these files take no address any more"


# --- Python imports ---------------------------------------------------------------------------------------------------


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path): path for path in PYTHON_FILES}
EXTENSION = "reftorch._C"


def is_type_checking(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING")


def walk_running(node: ast.AST) -> Iterator[ast.AST]:
    """Every node below that runs: all but the body of ``if TYPE_CHECKING``."""
    for child in ast.iter_child_nodes(node):
        if is_type_checking(child):
            for other in child.orelse:  # type: ignore[attr-defined]
                yield from walk_running(other)
            continue
        yield child
        yield from walk_running(child)


def imported(tree: ast.Module, package: str) -> Iterator[str]:
    """Absolute names of the modules a file imports, at its top or in a function; ``package`` resolves relative ones."""
    for node in walk_running(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parts = package.split(".")
                above = parts[: len(parts) - node.level + 1]
                base = ".".join([*above, *filter(None, [node.module])])
            for alias in node.names:
                inner = f"{base}.{alias.name}"
                yield inner if inner in MODULES or inner == EXTENSION else base


def package_of(path: Path) -> str:
    name = module_name(path)
    return name if path.name == "__init__.py" else name.rpartition(".")[0]


def imports_of(path: Path) -> set[str]:
    return set(imported(ast.parse(path.read_text()), package_of(path)))


def import_graph() -> dict[str, set[str]]:
    return {name: {m for m in imports_of(path) if m in MODULES and m != name} for name, path in MODULES.items()}


def cycles(graph: dict[str, set[str]]) -> list[list[str]]:
    """Groups of modules that reach each other (Tarjan's strongly connected components, without recursion)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []
    for root in graph:
        if root in index:
            continue
        work = [(root, iter(sorted(graph[root])))]
        index[root] = low[root] = len(index)
        stack.append(root)
        while work:
            node, targets = work[-1]
            step = next(targets, None)
            if step is None:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    group = stack[stack.index(node) :]
                    del stack[stack.index(node) :]
                    if len(group) > 1:
                        found.append(sorted(group))
            elif step not in index:
                index[step] = low[step] = len(index)
                stack.append(step)
                work.append((step, iter(sorted(graph[step]))))
            elif step in stack:
                low[node] = min(low[node], index[step])
    return found


def test_no_import_cycles() -> None:
    found = cycles(import_graph())
    assert not found, "\n".join("cycle: " + " <-> ".join(group) for group in found)


def test_the_cycle_finder_finds_cycles() -> None:
    assert cycles({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": {"a"}}) == [["b", "c"]]
    assert cycles({"a": {"b", "c"}, "b": {"c"}, "c": set()}) == []


def test_lazy_and_relative_imports_are_seen_and_typing_ones_are_not() -> None:
    source = (
        "from typing import TYPE_CHECKING\n"
        "if TYPE_CHECKING:\n    import reftorch.debug\n"
        "def f():\n    from . import sgd\n    from ..nn import Module\n"
    )
    found = set(imported(ast.parse(source), "reftorch.optim"))
    assert "reftorch.nn" in found
    assert "reftorch.debug" not in found


# Three files are above nn although their packages are below: an averaged model is a module, the old place of the copies
# between devices shows those of nn.parallel, and state dicts lose the prefix of DistributedDataParallel, as in PyTorch.
ABOVE_NN = ("reftorch.cuda.comm", "reftorch.distributed.checkpoint.state_dict", "reftorch.optim.swa_utils")
NEVER_NN = ("reftorch.optim", "reftorch.utils.data", "reftorch.serialization", "reftorch.cuda", "reftorch.distributed")


def lies_in(module: str, *packages: str) -> bool:
    return any(module == package or module.startswith(package + ".") for package in packages)


def test_python_imports_stay_on_their_floor() -> None:
    broken = []
    for name, path in MODULES.items():
        for target in sorted(imports_of(path)):
            if lies_in(target, "reftorch.debug") and not lies_in(name, "reftorch.debug"):
                broken.append(f"{name} imports {target}: nothing imports debug")
            if lies_in(name, *NEVER_NN) and name not in ABOVE_NN and lies_in(target, "reftorch.nn"):
                broken.append(f"{name} imports {target}: it lies below nn")
            if lies_in(name, "reftorch.autograd") and lies_in(target, "reftorch._tensor"):
                broken.append(f"{name} imports {target}: autograd lies below the tensor's Python class")
    assert not broken, "\n".join(broken)


def test_import_needs_declared_dependencies_only() -> None:
    """At the top of a module: the standard library and ourselves; numpy is imported where it is used.

    Nothing imports ``reftorch.utils.tensorboard`` by itself, and each of its lines is about the package tensorboard.
    """
    broken = []
    for name, path in MODULES.items():
        if lies_in(name, "reftorch.debug") or lies_in(name, "reftorch.utils.tensorboard"):
            continue
        body = [n for n in ast.parse(path.read_text()).body if isinstance(n, ast.Import | ast.ImportFrom)]
        for target in set(imported(ast.Module(body, []), package_of(path))):
            top = target.split(".")[0]
            if top != "reftorch" and top not in sys.stdlib_module_names:
                broken.append(f"{name} imports {target}")
    assert not broken, "\n".join(broken)


# --- headers, notes, length -------------------------------------------------------------------------------------------


PATH_IN_PYTORCH = re.compile(
    r"\b(?:(?:aten|c10|caffe2|docs|test|tools|torch|torchgen|benchmarks)/[\w./-]*\w|CMakeLists\.txt)"
)


def mirrors(path: Path) -> str:
    """What a file's header says it mirrors; empty where the header is missing."""
    if path.suffix == ".py":
        found = re.search(r"^Mirrors: (.+)$", python_docstring(path), re.M)
    else:
        found = re.match(r"// Mirrors: (.+)\n", path.read_text())
    return found[1].strip() if found else ""


def wrong_header(path: Path) -> str | None:
    said = mirrors(path)
    if not said:
        return "must open with one line: Mirrors: <path in PyTorch>, or Mirrors: nothing in PyTorch: <why>"
    if said.startswith("nothing in PyTorch"):
        return None if len(said) > len("nothing in PyTorch: ") else "does not say why PyTorch has nothing like it"
    return None if PATH_IN_PYTORCH.search(said) else f"mirrors '{said}', which names no path in PyTorch"


def test_a_header_says_what_is_left_out_only_where_something_is() -> None:
    empty = re.compile(r"^(?:// )?Leaves out: nothing\b", re.M)
    assert [name_of(path) for path in EVERY_FILE if empty.search(path.read_text())] == []


def test_every_header_says_what_it_mirrors() -> None:
    wrong = [f"{name_of(path)} {error}" for path in EVERY_FILE if (error := wrong_header(path)) is not None]
    assert not wrong, "\n".join(wrong)


def test_mirrored_python_files_exist_in_pytorch(real_torch: ModuleType) -> None:
    site = Path(real_torch.__file__).parents[1]
    missing = [
        f"{name_of(path)} mirrors {target}"
        for path in PYTHON_FILES
        for target in PATH_IN_PYTORCH.findall(mirrors(path))
        if target.startswith("torch/") and target.endswith(".py") and not (site / target).exists()
    ]
    assert not missing, "\n".join(missing)


NOTE = re.compile(r"Note \[([^\]\n]+)\]")
NOTE_TITLE = re.compile(r"^\s*(?://|#|\*)?\s*Note \[([^\]\n]+)\]\s*$", re.M)


def test_notes_are_written_once_and_references_resolve() -> None:
    titles: dict[str, list[str]] = {}
    references: dict[str, list[str]] = {}
    for path in CPP_FILES + CPP_TEST_FILES + PYTHON_FILES:
        text = path.read_text()
        for title in NOTE_TITLE.findall(text):
            titles.setdefault(title, []).append(name_of(path))
        for name in NOTE.findall(text):
            references.setdefault(name, []).append(name_of(path))
    twice = [f"Note [{name}] is titled in {', '.join(where)}" for name, where in titles.items() if len(where) > 1]
    dangling = [
        f"Note [{name}], named in {where[0]}, has no title line"
        for name, where in references.items()
        if name not in titles
    ]
    assert not twice + dangling, "\n".join(twice + dangling)


def test_length_and_width() -> None:
    wrong = []
    for path in EVERY_FILE:
        lines = path.read_text().splitlines()
        if len(lines) > MAX_LINES and "lines long" not in "\n".join(lines[:15]):
            wrong.append(
                f"{name_of(path)} has {len(lines)} lines: split it, or say in its header why it is so many lines long"
            )
        # A Mirrors line is data for the course's maps and stays one line, however many paths it names.
        wide = [n for n, line in enumerate(lines, 1) if len(line) > MAX_WIDTH and not line.startswith("// Mirrors: ")]
        if wide:
            wrong.append(f"{name_of(path)} is wider than {MAX_WIDTH} columns in lines {wide}")
    assert not wrong, "\n".join(wrong)


def test_a_mirrored_file_that_is_too_long_is_a_package() -> None:
    """``functional.py`` is ``functional/`` with its families inside; no ``_functional_norms.py`` stands beside it."""
    beside = []
    for path in PYTHON_FILES:
        siblings = {other.stem for other in path.parent.iterdir() if other != path}
        owners = [owner for owner in siblings if path.stem.lstrip("_").startswith(owner.lstrip("_") + "_")]
        has_its_own_file = any(target.endswith(f"/{path.name}") for target in PATH_IN_PYTORCH.findall(mirrors(path)))
        if (
            path.stem.startswith("_")
            and owners
            and not has_its_own_file
            and not lies_in(module_name(path), "reftorch.debug")
        ):
            beside.append(f"{name_of(path)} belongs into the package {owners[0]}/")
    assert not beside, "\n".join(beside)


CHECKS = re.compile(r"\b(TORCH_CHECK\w*|TORCH_INTERNAL_ASSERT|throw)\b")
LOOPS = re.compile(r"\b(cpu_kernel|two_rungs_kernel|floating_remainder_kernel)\b[^(;]*\(")


def test_no_loop_throws() -> None:
    """In the Release build no exception finds its way out of a loop that gcc has cloned: the process ends."""
    found = []
    for path in (CPP / "ATen" / "native" / "cpu").glob("*.cpp"):
        text = path.read_text()
        for loop in LOOPS.finditer(text):
            depth, end = 1, loop.end()
            while depth and end < len(text):
                depth += {"(": 1, ")": -1}.get(text[end], 0)
                end += 1
            found.append((name_of(path), CHECKS.search(text, loop.end(), end)))
    assert len(found) > 15
    native = CPP / "ATen" / "native"
    functors = [*native.glob("*Functors.h"), *native.glob("special/*.h"), native / "InDouble.h", native / "Math.h"]
    assert len(functors) > 17
    found += [(name_of(path), CHECKS.search(path.read_text())) for path in functors]
    assert [name for name, check in found if check] == []
