"""The C++ sources of an op: its registration, its functions, and the kernels that these call.

Mirrors: nothing in PyTorch, where generated code, which is in no repository, is in between.
Left out: functions that an op's function calls besides its stubs.

The Dispatcher says it: each registration notes its file and line, and the address of its function, whose own file and
line are in the debug information. ``where_op`` asks the process that it runs in. gdb's Python is another one and has no
reftorch, so inside gdb, for ``rt-op``, a Python with reftorch is asked; nothing of the package is imported here. The
answer is kept beside the library until that is rebuilt (symbols.Kept).
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[3]

PREFIX = re.compile(r"^(reftorch|torch|Tensor|F|nn\.functional|aten)(\.|::)")
PACKAGE = re.compile(r"^(linalg|special)\.")
# What nearly every op may call beside its own work: of it only who has nothing else is the user.
HELPERS = ("copy_stub", "fill_stub")

# Run by a Python that has reftorch: every op, with what was registered for it.
QUESTION = """
import json, reftorch
C = reftorch._C
ops = {op["name"]: {k: op[k] for k in ("file", "line", "alias_of", "composite")} for op in C._get_all_op_schemas()}
for name, op in ops.items():
    op["kernels"] = C._dispatch_registrations(name)
print(json.dumps({"library": C.__file__, "ops": ops}))
"""


class Function(NamedTuple):
    """A function and its definition, or its registration if the build has no debug information."""

    name: str
    path: Path
    line: int

    @property
    def text(self) -> str:
        """The text of the line."""
        return line_of(self.path, self.line)


class Definition(NamedTuple):
    """The place of a registration: an m.def, or the function that makes several of them."""

    path: Path
    line: int

    @property
    def text(self) -> str:
        """The text of the line."""
        return line_of(self.path, self.line)


class Behind(NamedTuple):
    """The sources of an op: its registrations, kernels and formula."""

    functions: list[Function]  # those that its registrations name
    stubs: list[str]  # the seams through which it reaches its kernels


def base_of(asked: str) -> str:
    """Return the bare name: ``torch.mul`` and ``mul.Tensor`` are mul, ``linalg.qr`` is linalg_qr."""
    asked = asked.strip()
    while PREFIX.match(asked):
        asked = PREFIX.sub("", asked)
    return PACKAGE.sub(r"\1_", asked).split(".")[0]


def names_of(asked: str) -> list[str]:
    """Return the names of the ops that a user may mean, the likeliest first; none if no op can have such a name."""
    base = base_of(asked)
    plain = base if base.startswith("__") else base.rstrip("_")
    return [name for name in (plain, base, f"linalg_{base}") if base.isidentifier()]


def module(name: str, folder: Path = Path(__file__).parent) -> ModuleType:
    """Load a module of reftorch by its path, under a name that no other module has."""
    key = f"_reftorch_{name}"
    if key not in sys.modules:
        spec = importlib.util.spec_from_file_location(key, folder / f"{name}.py")
        assert spec is not None and spec.loader is not None
        sys.modules[key] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[key])
    return sys.modules[key]


source_paths = module("_source_paths", ROOT / "reftorch")
NATIVE = source_paths.source_root() / "cpp" / "ATen" / "native"


def there() -> bool:
    """Return whether the sources are here."""
    return NATIVE.is_dir()


def here(path: str) -> Path:
    """Return the path here of a source that the library names."""
    return Path(source_paths.here(path))


@cache
def lines_of(path: Path) -> str:
    """Return the text of a source.

    Raises:
        ValueError: the extension names a source that has been renamed or removed since the extension was built.
    """
    try:
        return path.read_text(errors="replace")
    except FileNotFoundError:
        message = f"{path} is not there: it was renamed or removed after reftorch was built. Build again: make debug"
        raise ValueError(message) from None


def line_of(path: Path, line: int) -> str:
    text = lines_of(path).split("\n") if path.is_file() else []
    return text[line - 1].strip() if 0 < line <= len(text) else ""


def family_of(source: Path) -> str:
    """Return the name of the module of `tests/op_db` that tests the ops of a source: `UnaryOps.cpp` is `unary_ops`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", source.stem).lower()


@cache
def sources(folder: Path, *suffixes: str) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.suffix in suffixes)


def ask(python: str) -> dict[str, Any]:
    """Return the answer of another Python.

    A gdb from PyPI sets PYTHONHOME and PYTHONPATH for the Python inside gdb, which may be another version.
    """
    environment = dict(os.environ)
    if "PYTHONHOME" in environment:
        environment = {name: value for name, value in environment.items() if name not in ("PYTHONHOME", "PYTHONPATH")}
    environment["PYTHONPATH"] = os.pathsep.join([str(ROOT), *filter(None, [environment.get("PYTHONPATH")])])
    done = subprocess.run([python, "-c", QUESTION], capture_output=True, text=True, check=True, env=environment)
    return json.loads(done.stdout.splitlines()[-1])


def interpreter() -> str:
    """The Python of the checkout, or of the program that gdb holds."""
    own = ROOT / ".venv" / "bin" / "python"
    return str(own) if own.exists() else sys.modules["gdb"].current_progspace().filename


LIBRARY = re.compile(r"/reftorch/lib/\w+/_C\.[^/]*$")


def ask_in_gdb() -> dict[str, Any]:
    """Return the answer of another Python, or an earlier one about the library of the program that gdb holds.

    Before the program has loaded the library, there is no earlier answer.
    """
    files = [each.filename or "" for each in sys.modules["gdb"].objfiles()]
    library = next((file for file in files if LIBRARY.search(file) and os.path.exists(file)), None)
    kept = library and module("symbols").Kept(library, "ops")
    answer = kept and kept.read()
    if not answer:
        answer = ask(interpreter())
        if kept and answer["library"] == library:
            kept.write(answer)
    return answer


@cache
def registry() -> dict[str, Any]:
    """Every op by its full name, with its registrations; ``library`` is the file that was asked."""
    reftorch = sys.modules.get("reftorch")
    if reftorch is None:
        return ask_in_gdb()
    C = reftorch._C
    ops = {op["name"]: dict(op) for op in C._get_all_op_schemas()}
    for name, op in ops.items():
        op["kernels"] = C._dispatch_registrations(name)
    return {"library": C.__file__, "ops": ops}


def registrations(op: str) -> dict[str, dict[str, Any]]:
    """Return the overloads of an op and of its in-place form, given its name without overload."""
    both = (f"aten::{op}", f"aten::{op}_")
    return {name: registry()["ops"][name] for base in both for name in overloads().get(base, [])}


@cache
def overloads() -> dict[str, list[str]]:
    """The full names of the overloads of each op, by its name without overload."""
    names: dict[str, list[str]] = {}
    for name in registry()["ops"]:
        names.setdefault(name.split(".")[0], []).append(name)
    return names


def definitions(op: str) -> list[Definition]:
    """Return the places where the overloads of an op are registered, given its name without overload."""
    places = [(here(each["file"]), each["line"]) for each in registrations(op).values()]
    return [Definition(*place) for place in dict.fromkeys(places)]


def alias_of(op: str) -> str:
    """Return the op of which this name is an alias; empty if it is not an alias."""
    found = [each["alias_of"] for each in registrations(op).values() if each["alias_of"]]
    return base_of(found[0]) if found else ""


@cache
def symbol_table() -> Any:
    """The symbols of the library. It is asked for all functions of registrations at once, because each call of
    addr2line reads the library again.

    Raises:
        RuntimeError, ImportError: there is neither addr2line nor gdb.
    """
    table = module("symbols").SymbolTable(registry()["library"])
    table.look_up(
        {
            place["offset"]
            for op in registry()["ops"].values()
            for kernel in op["kernels"]
            for place in (kernel, *(p for _, devices in kernel["stubs"] for p in devices.values()))
            if "offset" in place and place["library"] == kernel.get("library")
        }
    )
    return table


@cache
def located(offset: int, function: str, file: str, line: int) -> Function:
    """Return the function at an offset in the library, with its definition or, failing that, its registration."""
    try:
        found = symbol_table().look_up({offset})[offset]
    except (RuntimeError, ImportError):  # neither addr2line nor gdb; inside gdb, no package to look for a gdb
        return Function(plain(function), here(file), line)
    if not found.file:
        return Function(plain(function), here(file), line)
    return Function(found.name.split("::")[-1], here(found.file), found.line)


def place_of(registered: dict[str, Any]) -> Function:
    """Return the place where the function of a registration is defined."""
    file, line = registered["file"], registered["line"]
    if "offset" not in registered:
        return Function(plain(registered["function"]), here(file), line)
    return located(registered["offset"], registered["function"], file, line)


def plain(function: str) -> str:
    """A function's name without namespaces and the template's arguments."""
    return function.lstrip("&(").split("<")[0].split("::")[-1].strip()


def behind(op: str) -> Behind:
    """Return the sources of an op, given its name without overload."""
    functions: list[Function] = []
    stubs: list[str] = []
    for each in registrations(op).values():
        for kernel in each["kernels"]:
            if kernel["function"] != "fallback":  # which serves every op, and was put on this row to stop it there
                functions.append(place_of(kernel))
            stubs += [stub for stub, _ in kernel["stubs"]]
    return Behind(list(dict.fromkeys(functions)), list(dict.fromkeys(stubs)))


@cache
def registered() -> dict[str, dict[str, dict[str, Any]]]:
    """The kernels of each stub that some op names, by the dispatch key of their device."""
    kernels = (kernel for op in registry()["ops"].values() for kernel in op["kernels"])
    return {stub: devices for kernel in kernels for stub, devices in kernel["stubs"]}


def kernels(stubs: list[str], device: str = "CPU") -> list[Function]:
    """Return the functions that are registered for these stubs on a device, each with its first line."""
    found = [registered()[stub].get(device) for stub in stubs]
    return list(dict.fromkeys(place_of(kernel) for kernel in found if kernel is not None))


@cache
def elements() -> dict[str, Function]:
    """Return the element function of each stub that has a row REGISTER_..._ELEMENTWISE, where it is defined."""
    defined = {}
    for path in sources(NATIVE, ".h", ".cpp", ".cu"):
        text = lines_of(path)
        for found in re.finditer(r"^(?:struct|using) (\w+Functor)\b", text, re.MULTILINE):
            defined[found[1]] = Function(found[1], path, text.count("\n", 0, found.start()) + 1)
    rows = re.compile(r"^REGISTER_\w+_ELEMENTWISE\(\s*(\w+),\s*\w+,\s*(\w+)", re.MULTILINE)
    files = sources(NATIVE, ".cpp", ".cu")
    return {stub: defined[functor] for path in files for stub, functor in rows.findall(lines_of(path))}


def starts(op: str) -> list[Function]:
    """Return where to stop for an op, given its name without overload: at its kernels, or at its own function.

    An op that is made of other ops stops where its own function starts, and so does one that only views."""
    if alias_of(op):
        return starts(alias_of(op))
    functions, stubs = behind(op)
    own = [stub for stub in stubs if stub not in HELPERS] or stubs
    return kernels(own) or functions


def all_names() -> set[str]:
    """The names of all ops, without overloads."""
    return {name.removeprefix("aten::").split(".")[0] for name in registry()["ops"]}
