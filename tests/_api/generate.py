"""Writes the table of PyTorch's public names, ``reftorch/_api/names.csv``, from the installed torch and from reftorch.

    make api        # or: python -m tests._api.generate

The names, signatures and files come from torch. The state comes from a comparison with reftorch. The reason of a name
that differs is derived from the two signatures, and the reason of a missing name is the first line of ``reasons.csv``,
beside this file, whose patterns match its module and its name. A line there whose state is ``partly`` replaces a
derived reason. A name that arrives in reftorch needs only this command, which also removes the lines that no name needs
any more.

Mirrors: nothing in PyTorch: it has no other library to be compared with.
"""

from __future__ import annotations

import ast
import csv
import enum
import functools
import importlib
import importlib.util
import inspect
import pkgutil
import re
import sys
import warnings
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from types import ModuleType
from typing import Any

from reftorch import _api

COMMAND = "make api"
REASONS = Path(__file__).with_name("reasons.csv")

# Packages of torch that the table has with all their public modules, and packages of which it has the front page only.
WHOLE = ("accelerator", "amp", "autograd", "backends", "cuda", "distributions", "fft", "func", "fx", "hub", "library",
         "linalg", "masked", "multiprocessing", "nn", "optim", "overrides", "profiler", "random", "return_types",
         "serialization", "signal", "special", "storage", "types", "utils", "version")  # fmt: skip
FRONT = ("", "distributed", "futures", "jit", "nested", "nn.functional", "sparse", "testing")
# Modules of other subjects inside these packages.
LEFT_OUT = re.compile(
    r"\.(_|quantized|intrinsic|qat|quantizable|tests?\b|tensorboard|datapipes|cpp_extension|bundled_inputs|hipify"
    r"|mobile_optimizer|mkldnn|serialization\.|model_dump|viz|bottleneck|jit|masked\.maskedtensor\.|benchmark\."
    r"(examples|op_fuzzers|utils\.(valgrind|compile)))"  # benchmark.utils.compile needs the package tabulate
)
CLASSES = ("torch.Tensor", "torch.nn.Module", "torch.Generator", "torch.Size", "torch.device", "torch.dtype",
           "torch.finfo", "torch.iinfo", "torch.cuda.Stream", "torch.cuda.Event",
           *(f"torch.fx.{name}" for name in ("GraphModule", "Graph", "Node", "Tracer", "Proxy", "Interpreter",
                                             "Transformer", "CodeGen")))  # fmt: skip


def load(name: str) -> Any:
    """Return the module or class ``name``, or None if it does not exist."""
    if name.partition(".")[2] in {path.partition(".")[2] for path in CLASSES}:
        owner, _, last = name.rpartition(".")
        return getattr(load(owner), last, None)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return importlib.import_module(name)
    except ImportError:
        return None


def names_of_modules() -> list[str]:
    """Return the modules and classes of torch that the table has."""
    found = [f"torch.{name}".rstrip(".") for name in FRONT]
    for name in WHOLE:
        package = load(f"torch.{name}")
        found.append(package.__name__)
        for info in pkgutil.walk_packages(getattr(package, "__path__", ()), package.__name__ + "."):
            inside = info.name.removeprefix("torch.")
            if not LEFT_OUT.search("." + inside) and has_all(info) and has_own_names(info.name):
                found.append(info.name)
    return sorted({*found, *CLASSES})


def has_all(info: pkgutil.ModuleInfo) -> bool:
    spec = info.module_finder.find_spec(info.name, None)
    return spec is not None and spec.origin is not None and "__all__" in Path(spec.origin).read_text()


def attribute(space: Any, name: str) -> Any:
    """Return an attribute, or None if it does not exist or if asking for it needs a device that is not there."""
    try:
        return getattr(space, name, None)
    except Exception:  # torch.cuda raises an AssertionError, for example
        return None


def submodules(space: ModuleType) -> list[str]:
    """Return the names of the public modules in a package, imported or not."""
    found = pkgutil.iter_modules(getattr(space, "__path__", ()))
    return [info.name for info in found if not info.name.startswith("_")]


def has_own_names(module: str) -> bool:
    """Return whether a module has names that the package above it does not offer too."""
    space, package = load(module), load(module.rpartition(".")[0])
    return space is not None and any(attribute(space, n) is not attribute(package, n) for n in public(space))


def public(space: Any) -> list[str]:
    """Return the names of a class, or of a module: ``__all__``, or those that torch itself defines."""
    if inspect.isclass(space):
        bases = [cls for cls in space.__mro__ if (cls.__module__ or "").startswith("torch")]
        return sorted({name for cls in bases for name in vars(cls) if not name.startswith("_")})
    if space.__name__.endswith("torch.nn.functional"):
        return [
            name for name in dir(space) if callable(getattr(space, name)) and name[0] != "_" and name not in IMPORTED
        ]
    listed = getattr(space, "__all__", None)
    if listed is not None and space.__name__ != "torch":
        return sorted(set(listed))
    names = {name for name in dir(space) if not name.startswith("_") and belongs(space, attribute(space, name))}
    return sorted({*names, *submodules(space), *(listed or ())})


# Helpers that torch.nn.functional imports; PyTorch's pages do not have them.
IMPORTED = {
    "Callable", "DType", "Optional", "ScalingType", "SwizzleType", "Tensor", "assert_int_or_pair", "boolean_dispatch",
    "handle_torch_function", "has_torch_function", "has_torch_function_unary", "has_torch_function_variadic",
}  # fmt: skip


def belongs(module: ModuleType, value: Any) -> bool:
    if inspect.ismodule(value):
        return False  # see `submodules`: which modules are attributes depends on what has been imported
    if not callable(value):
        return type(value).__module__.startswith("torch") or module.__name__ == "torch.version"
    home = getattr(value, "__module__", None) or "torch._C"
    package = hasattr(module, "__path__")
    inside = home == module.__name__ or (package and home.startswith(module.__name__ + "."))
    return inside or (home.startswith("torch._C") and module.__name__ != "torch.testing")


# --- signatures -------------------------------------------------------------------------------------------------------


def default(value: Any) -> str:
    """Return the text of a default: the same for equal values of the two libraries."""
    if isinstance(value, enum.Enum):
        return f"{type(value).__name__}.{value.name}"
    if inspect.isclass(value) or inspect.isroutine(value):
        return value.__name__
    text = re.sub(r"\breftorch\b", "torch", repr(value))
    try:
        ast.parse(text, mode="eval")
    except SyntaxError:
        return "..."
    return text


class Text(str):
    """A string that is shown without quotes."""

    __repr__ = str.__str__


def parameters(function: Any) -> str | None:
    """Return the parameters of a function without annotations; None if Python does not know them.

    A class of an enum is called with the value of a member. What else its call takes is Python's and not the library's,
    and differs between versions of Python.
    """
    if inspect.isclass(function) and issubclass(function, enum.Enum):
        return "(value)"
    try:
        found = inspect.signature(function).parameters.values()
    except (AssertionError, TypeError, ValueError):  # AssertionError: torch.cuda without a GPU
        return None
    shown = [
        p.replace(annotation=p.empty, default=p.default if p.default is p.empty else Text(default(p.default)))
        for p in found
    ]
    text = str(inspect.Signature(shown, __validate_parameters__=False))
    return None if text == "(*args, **kwargs)" else text  # a decorator hides the parameters


def signature(value: Any) -> str:
    """Return the signature of a function; of a class also those of the public methods that torch gives it.

    The parts of a class are separated by ``; ``. The text is empty if Python knows nothing.
    """
    if not inspect.isclass(value):
        return (parameters(value) or "") if callable(value) else ""
    parts = [parameters(value) or ""]
    for name, member in sorted(vars(value).items()):
        if name.startswith("_"):
            continue
        if isinstance(member, classmethod | staticmethod):
            member = member.__func__
        # Each library names the arguments of some forwards anew.
        text = parameters(member) if inspect.isfunction(member) and name != "forward" else None
        if text is not None and not value.__name__.endswith("Tensor"):  # Tensor has its own rows
            parts.append(f"{name}{text}")
    return "; ".join(parts)


@functools.cache
def stubs(path: Path, owner: str | None) -> dict[str, list[ast.arguments]]:
    """Return the overloads of each function in a stub file, or of each method of the class ``owner`` there."""
    body = ast.parse(path.read_text()).body
    if owner is not None:
        body = next(node.body for node in body if isinstance(node, ast.ClassDef) and node.name == owner)
    found: dict[str, list[ast.arguments]] = {}
    for node in body:
        if isinstance(node, ast.FunctionDef):
            found.setdefault(node.name, []).append(node.args)
    return found


def overloads(module: str, name: str) -> str:
    """Return the calls that torch's stubs list for a builtin function or method, without dimensions that have names."""
    torch = sys.modules["torch"]
    folder = Path(torch.__file__).parent / "_C"
    if module == "torch.Tensor":
        table = stubs(folder / "__init__.pyi", "TensorBase")
    elif module == "torch":
        table = stubs(folder / "_VariableFunctions.pyi", None)
    else:
        return ""
    texts = []
    for args in table.get(name, ()):
        if re.search(r"\bEllipsisType\b|Dimname", ast.unparse(args)):
            continue
        for arg in (*args.posonlyargs, *args.args, *args.kwonlyargs, *filter(None, (args.vararg, args.kwarg))):
            arg.annotation = None
        text = f"({re.sub(r' *= *', '=', ast.unparse(args))})"
        if text not in texts:
            texts.append(text)
    return " or ".join(texts)


def names_in(text: str) -> list[str]:
    """Return the names of the parameters in the text of a signature, without self."""
    try:
        args = ast.parse(f"def f{text}: pass").body[0].args  # type: ignore[attr-defined]
    except SyntaxError:
        return []
    every = (
        *args.posonlyargs,
        *args.args,
        *filter(None, (args.vararg,)),
        *args.kwonlyargs,
        *filter(None, (args.kwarg,)),
    )
    return [arg.arg for arg in every if arg.arg not in ("self", "cls")]


def difference(theirs: str, value: Any, *, stub: bool) -> str:
    """Say how the signature of ``value`` differs from torch's text; the empty text if it does not.

    ``stub``: the text is from torch's stubs, which simplify defaults and leave parameters out. Then only a parameter
    that is missing here counts.
    """
    if " or (" in theirs or not theirs:
        return ""
    said = []
    first, *methods = theirs.split("; ")
    pairs = [("", first, parameters(value))]
    for method in methods:
        name, _, rest = method.partition("(")
        member = inspect.getattr_static(value, name, None)
        if member is None:
            said.append(f"lacks the method {name}")
            continue
        if isinstance(member, classmethod | staticmethod):
            member = member.__func__
        pairs.append((name, f"({rest}", parameters(member) if callable(member) else None))
    for name, wanted, known in pairs:
        if not wanted or known is None or known == wanted:
            continue
        there, here = names_in(wanted), names_in(known)
        if stub and (set(there) <= set(here) or set(here) - set(there)):
            continue
        of = f" of {name}" if name else ""
        if less := [one for one in there if one not in here]:
            said.append(f"lacks the parameters{of}: {', '.join(less)}")
        if more := [one for one in here if one not in there]:
            said.append(f"has further parameters{of}: {', '.join(more)}")
        if not less and not more:
            said.append(f"the parameters{of} differ in order, kind or default: {known}")
    return "; ".join(said)


# --- the table --------------------------------------------------------------------------------------------------------


def file_of(module: str, name: str, value: Any) -> str:
    """Return the path in PyTorch's repository of the file that defines the name."""
    torch = sys.modules["torch"]
    root = Path(torch.__file__).parents[1]
    parent = root.joinpath(*module.split("."))
    if inspect.ismodule(value) or value is None:
        found = [path for path in (parent / name, parent / f"{name}.py") if path.exists()]
        if found:
            return found[0].relative_to(root).as_posix()
    if value is not None and not inspect.isclass(value) and not inspect.isfunction(value) and callable(value):
        if hasattr(torch.ops.aten, name):
            return "aten/src/ATen/native/native_functions.yaml"
        if module in ("torch", "torch.Tensor"):
            if module == "torch.Tensor":
                return "tools/autograd/templates/python_variable_methods.cpp"
            return "torch/csrc/autograd/python_torch_functions_manual.cpp"
    try:
        path = Path(inspect.getsourcefile(inspect.unwrap(value)) or "")
    except Exception:  # a TypeError for a builtin, an AssertionError for a lazy object of torch.cuda
        path = Path()
    if path.is_relative_to(root):
        return path.relative_to(root).as_posix()
    home = sys.modules.get(module) or sys.modules.get(module.rpartition(".")[0])
    return Path(home.__file__).relative_to(root).as_posix() if home is not None and home.__file__ else ""


@functools.cache
def reasons() -> list[tuple[str, str, str, str]]:
    with REASONS.open(newline="", encoding="utf-8") as file:
        return [(line[0], line[1], line[2], line[3]) for line in list(csv.reader(file))[1:]]


def reason_of(module: str, name: str, *, there: bool) -> tuple[str, str]:
    """Return the state and the reason of the first pattern that matches."""
    for modules, names, state, reason in reasons():
        if (state == "partly") == there and fnmatchcase(module, modules) and fnmatchcase(name, names):
            return state, reason
    return ("partly", "") if there else ("not yet", "")


def has(space: Any, name: str) -> bool:
    """Return whether a module or class has the name: an annotation without a value and a module of a package count."""
    if inspect.isclass(space) and any(name in vars(cls).get("__annotations__", {}) for cls in space.__mro__):
        return True
    if space is None or inspect.isclass(space):
        return space is not None and hasattr(space, name)
    if name in dir(space) or attribute(space, name) is not None:
        return True
    return hasattr(space, "__path__") and importlib.util.find_spec(f"{space.__name__}.{name}") is not None


def state_of(module: str, name: str, theirs: str, file: str) -> tuple[str, str]:
    """Return the state and the reason of a name, from the text of torch's signature and from reftorch."""
    ours = load("ref" + module)
    if not has(ours, name):
        return reason_of(module, name, there=False)
    value = attribute(ours, name)
    differs = difference(theirs, value, stub=file.endswith((".yaml", ".cpp")))
    if callable(value) and (value.__doc__ or "").startswith("Raise an error."):
        differs = "it exists by its name only, and raises an error that says why"
    if not differs:
        return "there", ""
    return "partly", reason_of(module, name, there=True)[1] or differs


def row_of(module: str, space: Any, name: str) -> _api.Row:
    value = attribute(space, name)
    ours = (getattr(value, "__module__", None) or "torch").startswith("torch")  # not a name of the standard library
    text = (signature(value) if ours else "") or overloads(module, name)
    file = file_of(module, name, value)
    state, reason = state_of(module, name, text, file)
    return _api.Row(module, name, state, text, file, reason)


def rows_of(module: str) -> list[_api.Row]:
    """Return the rows of one module or class of torch."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        space = load(module)
        return [row_of(module, space, name) for name in public(space)]


def used_reasons(rows: Iterable[_api.Row]) -> list[tuple[str, str, str, str]]:
    """Return the lines of ``reasons.csv`` that give a row its reason; the last line is for names to come."""
    used = {reasons()[-1]}
    for row in rows:
        for line in reasons():
            if (
                line[2:] == (row.state, row.reason)
                and fnmatchcase(row.module, line[0])
                and fnmatchcase(row.name, line[1])
            ):
                used.add(line)
                break
    return [line for line in reasons() if line in used]


def table() -> Iterator[_api.Row]:
    for module in names_of_modules():
        yield from rows_of(module)


def write(path: Path, header: Sequence[str], lines: Iterable[Sequence[str]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(lines)


def main() -> None:
    importlib.import_module("torch")
    found = list(table())
    unexplained = [f"{row.module}.{row.name}" for row in found if row.state != "there" and not row.reason]
    write(_api.TABLE, _api.Row._fields, found)
    write(REASONS, ("module", "name", "state", "reason"), used_reasons(found))
    counts = {
        state: sum(row.state == state for row in found) for state in ("there", "partly", "not yet", "not planned")
    }
    print(f"{len(found)} names of torch:", ", ".join(f"{count} {state}" for state, count in counts.items()))
    if unexplained:
        sys.exit(f"{len(unexplained)} names have no reason; add lines to {REASONS.name}: " + " ".join(unexplained))


if __name__ == "__main__":
    main()
