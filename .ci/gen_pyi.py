"""Writes the stubs of ``reftorch._C``, from which editors and mypy read the ops' signatures and docstrings.

Mirrors: tools/pyi/gen_pyi.py
Leaves out: stubs of the Python files, which have annotations.

    python .ci/gen_pyi.py reftorch/_C

``make stubs`` runs this program. The stubs are not committed, because they follow from the schemas, the texts in
reftorch/_torch_docs and the template reftorch/_C/__init__.pyi.in.
"""

import ast
import inspect
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import reftorch
from reftorch._torch_docs._describe import words
from reftorch._torch_docs._signatures import Signature, signatures

TEMPLATE = Path(__file__).resolve().parents[1] / "reftorch" / "_C" / "__init__.pyi.in"
# The types Number, int and bool overlap for a type checker; the parser distinguishes them by trying them in order.
HEADER = """\
# Written by .ci/gen_pyi.py; to be changed there, in __init__.pyi.in or in reftorch/_torch_docs.
# ruff: noqa
# mypy: disable-error-code="overload-overlap, overload-cannot-match, override, misc"
"""
IMPORTS = """\
from collections.abc import Sequence
from typing import Any, overload

from reftorch import Generator, Tensor
from reftorch._C import _return_types as return_types
from reftorch.types import Device, Number, _bool, _dtype, _float, _int, _layout, _memory_format, _size
"""


def is_op(value: object) -> bool:
    return type(value).__name__ in ("OpFunction", "OpMethod")


def ops(space: Any) -> dict[str, Any]:
    """Return the ops of a module or class, by name."""
    return {name: value for name, value in sorted(vars(space).items()) if is_op(value)}


def literal(form: Signature) -> Signature:
    """Replace defaults that are objects, such as ``torch.contiguous_format``, by ``...``."""
    for parameter in form.parameters:
        if parameter.default is not None and "torch." in parameter.default:
            parameter.default = "..."
    return form


def documented(header: str, text: str | None) -> str:
    """Return a ``def`` or ``class`` with its docstring as body."""
    if not text:
        return f"{header} ..."
    escaped = inspect.cleandoc(text).replace("\\", "\\\\")
    return header + "\n" + textwrap.indent(f'"""{escaped}\n"""', "    ")


def op_stub(packet: Any) -> str:
    """Return the signatures of an op; the first one has the docstring."""
    forms = [literal(form) for form in signatures(packet)]
    texts = [words(packet)] + [""] * (len(forms) - 1)
    mark = "@overload\n" if len(forms) > 1 else ""
    return "\n".join(mark + documented(f"def {form}:", text) for form, text in zip(forms, texts, strict=True))


def return_types() -> str:
    """Return the stubs of the named tuples that ops return."""
    fields: dict[str, tuple[str, ...]] = {}
    spaces = ("_VariableFunctions", "_nn", "_linalg", "_special", "TensorBase")
    for space in (getattr(reftorch._C, name) for name in spaces):
        for packet in ops(space).values():
            for form in signatures(packet):
                if form.fields:
                    fields[form.returns.removeprefix("return_types.")] = form.fields
    classes = [
        f"class {name}(NamedTuple):\n" + "".join(f"    {field}: Tensor\n" for field in fields[name])
        for name in sorted(fields)
    ]
    return "from typing import NamedTuple\n\nfrom reftorch import Tensor\n\n" + "\n".join(classes)


def functions(module: ModuleType) -> str:
    return IMPORTS + "\n" + "\n".join(op_stub(packet) for packet in ops(module).values()) + "\n"


def exported(module: ModuleType) -> str:
    """Return the names that ``reftorch`` takes from the module: those without a Python function of the same name."""
    names = [name for name, packet in ops(module).items() if getattr(reftorch, name, None) is packet]
    return f"__all__ = {names!r}\n"


def undocumented(tree: ast.Module) -> Iterator[tuple[ast.FunctionDef | ast.ClassDef, Any]]:
    """Yield the functions and classes in the template, each with the object that has its docstring."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node, getattr(reftorch._C, node.name)
        if isinstance(node, ast.ClassDef):
            seen = set()
            for member in node.body:
                if isinstance(member, ast.FunctionDef) and not member.name.startswith("__") and member.name not in seen:
                    seen.add(member.name)
                    yield member, getattr(getattr(reftorch._C, node.name), member.name)


def insert_docstring(node: ast.FunctionDef | ast.ClassDef, text: str | None) -> None:
    if not text:
        return
    docstring = ast.Expr(ast.Constant(inspect.cleandoc(text)))
    body = [item for item in node.body if not (isinstance(item, ast.Expr) and isinstance(item.value, ast.Constant))]
    node.body = [docstring, *body]


def extension() -> str:
    """Return the template with docstrings, with the ops that are methods, and with the names that it lacks."""
    tree = ast.parse(TEMPLATE.read_text())
    for node, value in undocumented(tree):
        insert_docstring(node, inspect.getdoc(value))
    tensor_base = next(node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == "TensorBase")
    named = {item.name for item in tensor_base.body if isinstance(item, ast.FunctionDef)}
    named |= {ast.unparse(item.target) for item in tensor_base.body if isinstance(item, ast.AnnAssign)}
    methods = [op_stub(packet) for packet in ops(reftorch._C.TensorBase).values()]
    for name, value in sorted(vars(reftorch._C.TensorBase).items()):
        if name not in named and not is_op(value) and not name.startswith("__"):
            methods.append(f"{name}: Any")
    tensor_base.body += ast.parse("\n".join(methods)).body
    imports = {
        alias.asname or alias.name for node in tree.body if isinstance(node, ast.ImportFrom) for alias in node.names
    }
    defined = {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    annotated = {ast.unparse(node.target) for node in tree.body if isinstance(node, ast.AnnAssign)}
    others = [name for name in sorted(vars(reftorch._C)) if not name.startswith("__")]
    unnamed = [f"{name}: Any" for name in others if name not in imports | defined | annotated]
    return ast.unparse(tree) + "\n\n" + "\n".join(unnamed) + "\n"


def stubs() -> dict[str, str]:
    """Return a dict from file names to texts, for the folder ``reftorch/_C``."""
    texts = {
        "__init__.pyi": extension(),
        "_VariableFunctions.pyi": functions(reftorch._C._VariableFunctions) + exported(reftorch._C._VariableFunctions),
        "_nn.pyi": functions(reftorch._C._nn),
        "_linalg.pyi": functions(reftorch._C._linalg),
        "_special.pyi": functions(reftorch._C._special),
        "_return_types.pyi": return_types(),
        "_distributed_c10d.pyi": TEMPLATE.with_name("_distributed_c10d.pyi.in").read_text(),
    }
    return {name: HEADER + text for name, text in texts.items()}


def main(target: Path) -> None:
    target.mkdir(parents=True, exist_ok=True)
    for name, text in stubs().items():
        # A file that is up to date stays as it is, so that an editor or mypy never reads one that is half written.
        if not (target / name).exists() or (target / name).read_text(encoding="utf-8") != text:
            (target / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
