"""The source map holds: what it says of this tree is so, and what it says of PyTorch is in the torch that is installed.

Mirrors: nothing in PyTorch: PyTorch ships no course.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import subprocess
from functools import lru_cache
from pathlib import Path

import nbformat
import pytest

from course._tools import source_map
from course._tools.layout import ROOT, chapters
from course._tools.source_map import Place, find, ops, public_symbols, python_symbols, table

# Names that neither the libraries nor the headers of a wheel show.
NOT_INSTALLED = {
    "TensorRepr": "tools/gdb/pytorch-gdb.py",
    "torch-tensor-repr": "tools/gdb/pytorch-gdb.py",
    "clamp_scalar_kernel_impl": "static in aten/src/ATen/native/cpu/TensorCompareKernel.cpp",
    "THPEngine_run_backward": "static in torch/csrc/autograd/python_engine.cpp",
}
LESSONS = [chapter.lesson for chapter in chapters()]


def names_in_lesson(file: Path) -> list[tuple[str, str]]:
    """Name here and name in PyTorch, of each row that a lesson writes out itself."""
    return [
        (row.elts[1].value, row.elts[2].value)
        for cell in nbformat.read(file, as_version=4).cells
        if cell.cell_type == "code" and "symbol_map(" in cell.source and not cell.source.startswith("%")
        for call in ast.walk(ast.parse(cell.source))
        if isinstance(call, ast.Call) and getattr(call.func, "id", "") == "symbol_map"
        for row in call.args
        if isinstance(row, ast.Tuple)
    ]


def in_python(torch, dotted: str):
    """The object of torch with this name."""
    value, path = torch, "torch"
    for part in dotted.split(".")[1:]:
        path += f".{part}"
        # torch.optim deletes the names of its modules, which can be imported all the same.
        value = getattr(value, part) if hasattr(value, part) else importlib.import_module(path)
    return value


@lru_cache
def exported(folder: Path) -> str:
    """The names that torch's libraries export, demangled, one a line, without addresses."""
    names = []
    for library in ("_C*.so", "lib/libc10.so", "lib/libtorch_cpu.so", "lib/libtorch_python.so"):
        (file,) = folder.glob(library)
        listed = subprocess.run(["nm", "-DC", "--defined-only", file], capture_output=True, text=True, check=True)
        names += [line.split(" ", 2)[-1] for line in listed.stdout.splitlines()]
    return "\n".join(["", *names, ""])


def is_in_cpp(folder: Path, name: str, path: str = "") -> bool:
    """Whether torch's libraries export the name, or a header defines its last part."""
    if re.search(rf"\n{re.escape(name)}[(\n]", exported(folder)):
        return True
    last = re.escape(name.split("::")[-1])
    definition = re.compile(rf"\b(?:class|struct|enum|using|#define)\b[^;{{}}()]*\b{last}\b|\b{last}\s*\(")
    headers = re.findall(r"[\w./]+\.h\b", path)
    files = [folder / "include" / header.removeprefix("aten/src/") for header in headers]
    return any(file.exists() and definition.search(file.read_text()) for file in files)


def test_every_place_here_is_there():
    symbols = public_symbols()
    assert len(symbols) > 1000
    lines = {path: (ROOT / path).read_text().count("\n") for path in {place.path for place in symbols}}
    assert not [place for place in symbols if not 0 < place.line <= lines[place.path]]


def test_every_row_of_the_table_starts_a_definition_of_its_name():
    for place in table():
        text = (ROOT / place.path).read_text().splitlines()
        near = "\n".join(text[place.line - 1 : place.line + 12])
        assert place.name.split("::")[-1] in near, place


def test_every_op_is_one_of_pytorchs(real_torch):
    names = set(re.findall(r"\n(at::_ops::\w+::call)\(", exported(Path(real_torch.__file__).parent)))
    assert len(names) > 1000
    assert [place for place in ops() if place.there not in names] == []


def test_every_name_in_python_is_where_the_map_says(real_torch):
    """Of a class or function that torch wrote in C++ only the name is held: `inspect` knows no file of it."""
    folder = Path(real_torch.__file__).parent
    wrong = []
    for place in (*python_symbols(), *(place for place in table() if not place.is_cpp)):
        value = inspect.unwrap(in_python(real_torch, place.there))
        try:
            inspect.getsource(value)
            file = "torch/" + Path(inspect.getsourcefile(value)).relative_to(folder).as_posix()
        except (TypeError, OSError):
            continue
        if file not in place.there_path and file != "torch/_jit_internal.py":  # where torch wraps for its compiler
            wrong.append((place.there, file, place.there_path))
    assert wrong == []


def test_every_name_in_cpp_is_exported_or_in_a_header(real_torch):
    folder = Path(real_torch.__file__).parent
    assert [place for place in table() if place.is_cpp and not is_in_cpp(folder, place.there, place.there_path)] == []


def test_every_header_and_every_python_file_that_a_file_mirrors_is_there(real_torch):
    """But for what no wheel has: sources, templates of the code generator, and what a line says is gone (as it was)."""
    folder = Path(real_torch.__file__).parent
    gone = []
    for file in (*(ROOT / "cpp").rglob("*.h"), *(ROOT / "cpp").rglob("*.cpp"), *(ROOT / "reftorch").rglob("*.py")):
        if "third_party" in file.parts or not (text := file.read_text()).strip():
            continue
        mirrored = re.search(r"Mirrors: (.*)", text)[1]
        headers = re.findall(r"(?:aten/src/|c10/|torch/)[\w./]+\.h\b(?! \(as it was)", mirrored)
        places = [folder / "include" / each.removeprefix("aten/src/") for each in headers if "/templates/" not in each]
        places += [folder.parent / each for each in re.findall(r"\btorch/[\w./]+\.py\b", mirrored)]
        gone += [f"{file.relative_to(ROOT)}: {place}" for place in places if not place.exists()]
    assert gone == []


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda file: file.parent.name)
def test_what_a_lessons_map_names_is_in_pytorch(lesson, real_torch):
    """But for NOT_INSTALLED, which were looked up in the source."""
    folder = Path(real_torch.__file__).parent
    wrong = []
    for name, there in names_in_lesson(lesson):
        for each in there.split(", "):
            if each.startswith("torch."):
                in_python(real_torch, each)  # an AttributeError names it
            elif each not in NOT_INSTALLED and not is_in_cpp(folder, each) and not _in_any_header(folder, each):
                wrong.append((name, each))
    assert wrong == []


@lru_cache
def _all_headers(folder: Path) -> str:
    parts = ("ATen", "c10", "torch/csrc")
    files = (file for part in parts for file in (folder / "include" / part).rglob("*.h"))
    return "\n".join(file.read_text(errors="replace") for file in files)


def _in_any_header(folder: Path, name: str) -> bool:
    return re.search(rf"\b{re.escape(name.split('::')[-1])}\b", _all_headers(folder)) is not None


def test_the_check_for_cpp_names_can_fail(real_torch):
    folder = Path(real_torch.__file__).parent
    assert is_in_cpp(folder, "c10::promoteTypes")
    assert not is_in_cpp(folder, "c10::promoteTyp")
    assert not is_in_cpp(folder, "c10::no_such_thing", "c10/core/TensorImpl.h")


@pytest.mark.parametrize(
    ("asked", "name", "there"),
    [
        ("mul", "mul.Tensor", "at::_ops::mul_Tensor::call"),
        ("torch.add.Tensor", "add.Tensor", "at::_ops::add_Tensor::call"),
        ("aten::add_.Tensor", "add_.Tensor", "at::_ops::add__Tensor::call"),
        ("nn.Linear", "nn.Linear", "torch.nn.Linear"),
        ("nn.Module.register_buffer", "nn.Module.register_buffer", "torch.nn.Module.register_buffer"),
        ("autograd.grad", "autograd.grad", "torch.autograd.grad"),
        ("Engine::execute", "Engine::execute", "torch::autograd::Engine::execute"),
        ("c10::TensorImpl", "TensorImpl", "c10::TensorImpl"),
        ("callBoxed", "OperatorHandle::callBoxed", "c10::OperatorHandle::callBoxed"),
    ],
)
def test_a_symbol_is_found_by_any_of_its_names(asked, name, there):
    assert (name, there) in [(place.name, place.there) for place in find(asked)]


def test_an_unknown_name_is_answered_with_what_comes_near():
    with pytest.raises(LookupError, match=r"nn\.Linear"):
        find("nn.Liner")


def test_an_op_of_a_cell_is_not_in_the_map(monkeypatch):
    made = {"name": "aten::mine", "file": "/tmp/mine.cpp", "line": 1, "functional": None}
    library = type("Library", (), {"_C": type("C", (), {"_get_all_op_schemas": staticmethod(lambda: [made])})})
    monkeypatch.setattr(source_map, "_library", lambda: library)
    assert source_map.ops.__wrapped__() == ()


def test_a_place_in_cpp_is_told_from_one_in_python():
    assert Place("f", "a.cpp", 1, "at::f", "f.cpp").is_cpp
    assert not Place("f", "a.py", 1, "torch.f", "f.py").is_cpp


def test_the_magic_shows_the_place_and_answers_a_wrong_name_without_a_traceback(capsys):
    from course._tools import magics

    shown = magics.torch_source("nn.Linear")
    assert "torch.nn.Linear in torch/nn/modules/linear.py" in repr(shown)
    assert "what PyTorch does more" not in shown._repr_mimebundle_()["text/html"]
    assert magics.torch_source("nn.Liner") is None
    assert "did you mean: nn.Linear" in capsys.readouterr().out


def test_a_lesson_names_rows_of_the_table_or_writes_them_out():
    from course._tools import symbol_map

    row = ("cpp/ATen/TensorIterator.cpp", "TensorIterator::build", "TensorIteratorBase::build", "named dimensions")
    assert "TensorIteratorBase::build in aten/src/ATen/TensorIterator.cpp" in repr(symbol_map(row))
    assert "TensorIteratorBase::build in aten/src/ATen/elsewhere.h" in repr(
        symbol_map((*row, "aten/src/ATen/elsewhere.h"))
    )
    assert "c10::TensorImpl in c10/core/TensorImpl.h" in repr(symbol_map("TensorImpl"))
    with pytest.raises(LookupError, match="NoSuchRow"):
        symbol_map("NoSuchRow")
