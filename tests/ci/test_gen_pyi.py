"""The stubs say of every op what its argument parser and its docstring say, and stand in nobody's way at run time.

Mirrors: nothing in PyTorch: its stubs are tested by use, in test/test_typing.py.
"""

import ast
import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import reftorch
from reftorch._torch_docs._entries import ENTRIES
from reftorch._torch_docs._signatures import signatures

ROOT = Path(__file__).resolve().parents[2]


def load_generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("gen_pyi", ROOT / ".ci" / "gen_pyi.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


gen_pyi = load_generator()


@pytest.fixture(scope="module")
def trees() -> dict[str, ast.Module]:
    return {name: ast.parse(text) for name, text in gen_pyi.stubs().items()}


def functions(body: list[ast.stmt]) -> dict[str, list[ast.FunctionDef]]:
    found: dict[str, list[ast.FunctionDef]] = {}
    for node in body:
        if isinstance(node, ast.FunctionDef):
            found.setdefault(node.name, []).append(node)
    return found


def tensor_base(tree: ast.Module) -> list[ast.stmt]:
    return next(node.body for node in tree.body if isinstance(node, ast.ClassDef) and node.name == "TensorBase")


@pytest.mark.parametrize(
    ("file", "space"),
    [
        ("_VariableFunctions.pyi", reftorch._C._VariableFunctions),
        ("_nn.pyi", reftorch._C._nn),
        ("_linalg.pyi", reftorch._C._linalg),
        ("_special.pyi", reftorch._C._special),
        ("__init__.pyi", reftorch._C.TensorBase),
    ],
)
def test_every_op_has_its_overloads_and_its_words(trees: dict[str, ast.Module], file: str, space: Any) -> None:
    body = trees[file].body if file != "__init__.pyi" else tensor_base(trees[file])
    stubs = functions(body)
    ops = gen_pyi.ops(space)
    assert ops
    for name, packet in ops.items():
        assert len(stubs[name]) == len(signatures(packet)), name
        marked = [bool(node.decorator_list) for node in stubs[name]]
        assert set(marked) == {len(marked) > 1}, f"{name}: @overload where there are several, and only there"
        if name in ENTRIES:
            assert ENTRIES[name].splitlines()[0] in (ast.get_docstring(stubs[name][0]) or ""), name


def test_a_stub_reads_as_a_person_would_write_it(trees: dict[str, ast.Module]) -> None:
    add = functions(trees["_VariableFunctions.pyi"].body)["add"][0]
    assert ast.unparse(add.args) == (
        "input: Tensor | Number, other: Tensor | Number, *, alpha: Number=1, out: Tensor | None=None"
    )
    assert ast.unparse(add.returns or add) == "Tensor"
    view = [ast.unparse(form.args) for form in functions(tensor_base(trees["__init__.pyi"]))["view"]]
    assert view == ["self, size: _size", "self, *size: _int", "self, dtype: _dtype"]
    maximum = functions(trees["_VariableFunctions.pyi"].body)["max"]
    assert "return_types.max" in [ast.unparse(form.returns or form) for form in maximum]
    named = next(n for n in trees["_return_types.pyi"].body if isinstance(n, ast.ClassDef) and n.name == "max")
    assert [ast.unparse(field) for field in named.body] == ["values: Tensor", "indices: Tensor"]


def names_in(body: list[ast.stmt]) -> set[str]:
    names = {node.name for node in body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    names |= {ast.unparse(node.target) for node in body if isinstance(node, ast.AnnAssign)}
    return names | {alias.name for node in body if isinstance(node, ast.ImportFrom) for alias in node.names}


def test_nothing_of_the_extension_is_missing(trees: dict[str, ast.Module]) -> None:
    tree = trees["__init__.pyi"]
    assert {name for name in vars(reftorch._C) if not name.startswith("__")} - names_in(tree.body) == set()
    attributes = {name for name in vars(reftorch._C.TensorBase) if not name.startswith("__")}
    assert attributes - names_in(tensor_base(tree)) == set()


def test_the_template_names_nothing_that_is_not_there() -> None:
    tree = ast.parse(gen_pyi.TEMPLATE.read_text())
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            assert hasattr(reftorch._C, node.name), node.name
    unknown = [name for name in names_in(tensor_base(tree)) if not hasattr(reftorch._C.TensorBase, name)]
    assert not unknown, f"__init__.pyi.in gives TensorBase what it has not: {unknown}"


def test_what_is_written_in_cpp_keeps_its_docstring(trees: dict[str, ast.Module]) -> None:
    stubs = functions(trees["__init__.pyi"].body)
    assert "Make a tensor from a copy of Python data" in (ast.get_docstring(stubs["tensor"][0]) or "")
    assert "Python number" in (ast.get_docstring(functions(tensor_base(trees["__init__.pyi"]))["item"][0]) or "")


def test_main_writes_the_files(tmp_path: Path) -> None:
    gen_pyi.main(tmp_path / "_C")
    assert sorted(path.name for path in (tmp_path / "_C").iterdir()) == sorted(gen_pyi.stubs())


def test_the_folder_of_stubs_does_not_hide_the_extension() -> None:
    assert gen_pyi.TEMPLATE.parent == ROOT / "reftorch" / "_C"
    program = "import reftorch._C, reftorch; print(reftorch._C.__file__)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.rstrip().endswith(".so")
