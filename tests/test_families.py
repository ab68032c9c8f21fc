"""A family of ops has one name in ``native/``, ``native/cpu/``, ``derivatives/``, ``_torch_docs/`` and the op tests.

A family is a file of ``cpp/ATen/native/``. The derivatives, docs, batching rules and rows of its ops stand in Python
files of the same name, in lower case with underscores: ``UnaryOps.cpp``, ``unary_ops.py``. The running process knows
which file registers an op, so the tests ask the process.

Mirrors: nothing in PyTorch: its derivatives and docs stand in one file each.
"""

import importlib
import re
import runpy
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

import reftorch
from tests.op_db import FAMILIES, OPS, rows_of

ROOT = Path(__file__).resolve().parents[1]
NATIVE = ROOT / "cpp" / "ATen" / "native"

# Files outside of native/ that register ops. detach stops gradients, which is for autograd to do; it returns a view.
NOT_IN_NATIVE = {"VariableTypeManual": "tensor_shape"}
# The functions that register something for an op; their arguments are the names of ops.
REGISTRARS = {
    "reftorch/autograd/derivatives": ("derivative", "non_differentiable"),
    "reftorch/_torch_docs": ("_entries.add_docstr",),
    "reftorch/_functorch/batch_rules": ("_common.batch_rule", "_random.random_rule"),
}


def family_named(stem: str) -> str:
    """Return the name of a family in Python: ``LossNLL`` is ``loss_nll``."""
    family = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", stem).lower()
    return NOT_IN_NATIVE.get(stem, family)


def families_of_ops() -> dict[str, set[str]]:
    """Return the families of each op; docs belong to a name without overload, which may have ops in two families."""
    families: dict[str, set[str]] = {}
    for schema in reftorch._C._get_all_op_schemas():
        name = schema["name"].removeprefix("aten::")
        for key in (name, name.split(".")[0]):
            families.setdefault(key, set()).add(family_named(Path(schema["file"]).stem))
    return families


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def family_files(folder: str) -> list[Path]:
    files = sorted(path for path in (ROOT / folder).glob("*.py") if not path.stem.startswith("_"))
    return files


def ops_registered_in(path: Path, registrars: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Run a file, and return the names of the ops for which the file calls one of the functions that register."""
    found: list[str] = []

    def register(*arguments: Any, **options: Any) -> Callable[..., Any]:
        names = arguments[:1] if "add_docstr" in registrars[0] else arguments
        found.extend(name for text in names if isinstance(text, str) for name in text.split())
        return lambda formula: formula

    package = ".".join(path.relative_to(ROOT).parts[:-1])
    with monkeypatch.context() as patches:
        for registrar in registrars:
            module, _, function = f"{package}.{registrar}".rpartition(".")
            patches.setattr(importlib.import_module(module), function, register)
        runpy.run_path(str(path))
    return found


def misplaced(found: dict[str, Iterable[str]]) -> list[str]:
    """Return a line for each op of a file that belongs into another file."""
    families = families_of_ops()
    return [
        f"{file} has {op}, which belongs into {' or '.join(sorted(families[op]))}.py"
        for file, ops in found.items()
        for op in ops
        if Path(file).stem not in families[op]
    ]


@pytest.mark.parametrize("folder", REGISTRARS)
def test_a_family_has_one_name(folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    registrars = REGISTRARS[folder]
    found = {name_of(path): ops_registered_in(path, registrars, monkeypatch) for path in family_files(folder)}
    assert sum(map(len, found.values())) > 200, "the files register next to nothing"
    assert not misplaced(found), "\n".join(misplaced(found))
    assert not [file for file, ops in found.items() if not ops], "a file without ops"


def test_the_rows_of_a_family_have_its_name() -> None:
    rows = {name: rows_of([name], "ROWS", "VALUES", "IN_PLACE") for name in FAMILIES}
    assert not misplaced({name: [op for row in rows[name] for op in row.ops.split()] for name in FAMILIES})
    assert not misplaced({name: [row.function for row in rows_of([name], "SPECIAL")] for name in FAMILIES})
    assert len(OPS) > 600


def test_a_misplaced_op_is_found() -> None:
    assert misplaced({"unary_ops.py": ["tanh", "add.Tensor"]}) == [
        "unary_ops.py has add.Tensor, which belongs into binary_ops.py"
    ]


def test_the_exceptions_of_the_families_exist() -> None:
    assert all((ROOT / file).exists() for file in KERNELS_OF_SEVERAL_FAMILIES)


# PyTorch's own files that have the kernels of several families, and files with kernels that two families share.
KERNELS_OF_SEVERAL_FAMILIES = {
    "cpp/ATen/native/cpu/BatchLinearAlgebraKernel.cpp": "PyTorch's file: all that calls LAPACK",
    "cpp/ATen/native/cpu/DistributionKernels.cpp": "PyTorch's file and name",
    "cpp/ATen/native/cpu/FlashAttentionKernel.cpp": "PyTorch's file and name",
    "cpp/ATen/native/cpu/IndexKernel.cpp": "PyTorch's file: indices, masks and rows share a loop",
    "cpp/ATen/native/cpu/LinearAlgebraKernel.cpp": "the products of vectors stand beside those of matrices",
    "cpp/ATen/native/cpu/LossKernel.cpp": "the negative log likelihood stands beside the other losses",
    "cpp/ATen/native/cpu/SumKernel.cpp": "PyTorch's file and name",
    "cpp/ATen/native/cpu/BinaryOpsKernel.cpp": "PyTorch's file: mse_loss is arithmetic of two tensors",
    "cpp/ATen/native/cpu/UnaryOpsMathKernel.cpp": "erf and erfc are functions of one number",
}


def test_a_kernel_has_the_name_of_its_family() -> None:
    """The stub that native/XOps.cpp defines has its kernel in a file whose name begins with XOps."""
    family_of_stub = {
        stub: path.stem
        for path in NATIVE.glob("*.cpp")
        for stub in re.findall(r"DEFINE_DISPATCH\((\w+)", path.read_text())
    }
    kernels = [
        (path, stub)
        for path in sorted((NATIVE / "cpu").glob("*.cpp"))
        for stub in re.findall(r"^REGISTER_CPU_(?:DISPATCH|ELEMENTWISE)\((\w+)", path.read_text(), re.MULTILINE)
    ]
    assert len(kernels) > 200, "the pattern finds no kernels"
    wrong = [
        f"{name_of(path)} has the kernel of {stub}, which {family_of_stub[stub]}.cpp defines"
        for path, stub in kernels
        if not path.stem.startswith(family_of_stub[stub]) and name_of(path) not in KERNELS_OF_SEVERAL_FAMILIES
    ]
    assert not wrong, "\n".join(wrong)
    twins = {path.stem for path in (NATIVE / "cpu").glob("*.cpp")}
    assert not [name_of(path) for path in (NATIVE / "cuda").glob("*.cu") if path.stem not in twins], "no twin"
