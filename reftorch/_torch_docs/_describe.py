"""The docstring and the signature of an op, made on demand from the registry's schemas and the texts of this package.

Mirrors: torch/_torch_docs.py

PyTorch writes signatures into its texts by hand, and has none for ``inspect``.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from typing import Any

from reftorch import _torch_docs
from reftorch._source_paths import source_root
from reftorch._torch_docs._entries import ENTRIES
from reftorch._torch_docs._signatures import signatures

__all__ = ["ENTRIES", "describe", "signature", "text_of", "words"]

for _module in pkgutil.iter_modules(_torch_docs.__path__):
    if not _module.name.startswith("_"):
        importlib.import_module(f"reftorch._torch_docs.{_module.name}")


# Arguments that have one meaning in all ops. An op whose argument needs more explanation has it in its own text.
_COMMON_ARGS = {
    "generator": "the generator of the random numbers; the default generator by default.",
    "dtype": "the dtype of the result.",
    "device": "the device of the result.",
    "requires_grad": "whether autograd records the operations on the result.",
}


def text_of(name: str, alias_of: str | None = None) -> str | None:
    """Return the text of op ``name``. The texts of ``foo_`` and of aliases are made from the text of ``foo``.

    Example:
        >>> from reftorch._torch_docs._describe import text_of
        >>> print(text_of("sin_").splitlines()[0])
        In-place version of :func:`torch.sin`: the result is written to the tensor, which is returned.
    """
    if name in ENTRIES:
        return ENTRIES[name].replace("\nExample:\n", "\nExample:\n    >>> import reftorch as torch\n")
    if alias_of is not None:
        return f"Another name of :func:`torch.{alias_of}`.\n\n{text_of(alias_of) or ''}"
    functional = ENTRIES.get(name[:-1]) if name.endswith("_") else None
    if functional is not None:
        head = f"In-place version of :func:`torch.{name[:-1]}`: the result is written to the tensor, which is returned."
        return f"{head}\n\n{functional.partition('Example:')[0].rstrip()}\n"
    if name.startswith("linalg_"):
        return f"The op that ``torch.linalg.{name[7:]}`` calls; see the docstring of that function.\n"
    return None


def _place(file: str) -> str:
    """Return the file that registers an op, and the file of PyTorch that it mirrors, if the source is there to read."""
    here = "cpp/" + file.replace("\\", "/").rpartition("cpp/")[2]
    source = source_root() / here
    header = re.match(r"// Mirrors: ([^\s,]+)", source.read_text()) if source.exists() else None
    return f"Mirrors {header[1]}; registered in {here}." if header else f"Registered in {here}."


def _with_common_args(text: str, forms: list[dict[str, Any]]) -> str:
    """Return the text with the common arguments that it does not describe added to its Args."""
    taken = {parameter["name"] for form in forms for parameter in form["parameters"]}
    if any(form["requires_grad"] for form in forms):
        taken.add("requires_grad")
    unsaid = [name for name in _COMMON_ARGS if name in taken and f"\n    {name}: " not in text]
    if not unsaid:
        return text
    lines = "".join(f"    {name}: {_COMMON_ARGS[name]}\n" for name in unsaid)
    head, shape, rest = text.partition("\nShape: ")
    title = "" if "\nArgs:\n" in head else "\nArgs:\n"
    return f"{head}{title}{lines}{shape}{rest}"


def words(packet: Any) -> str:
    """Return the text of an op and the files that register the op, without its signatures.

    Example:
        >>> from reftorch._torch_docs._describe import words
        >>> words(torch.sin).splitlines()[-1]
        'Mirrors aten/src/ATen/native/UnaryOps.cpp; registered in cpp/ATen/native/UnaryOps.cpp.'
    """
    forms = packet.signatures()
    parts = []
    text = text_of(packet.__name__, forms[0]["alias_of"])
    if text is not None:
        parts.append(_with_common_args(text, forms))
        if type(packet).__name__ == "OpMethod" and "``input``" in text:
            parts.append("As a method, ``input`` is the tensor itself.\n")
    parts.append("".join(f"{place}\n" for place in dict.fromkeys(_place(form["file"]) for form in forms)))
    return "\n".join(parts)


def describe(packet: Any) -> str:
    """Return the docstring of an op: its signatures, its text, the files that register the op, and its schemas.

    Example:
        >>> print(torch.sin.__doc__.splitlines()[0])
        sin(input: Tensor, *, out: Tensor | None = None) -> Tensor

    Mirrors torch/_torch_docs.py.
    """
    calls = "".join(f"{form.readable()}\n" for form in signatures(packet))
    schemas = "".join(f"    {form['schema']}\n" for form in packet.signatures())
    return f"{calls}\n{words(packet)}\nSchemas:\n{schemas}"


def signature(packet: Any) -> inspect.Signature:
    """Return the signature that ``inspect.signature`` shows for an op that has only one.

    Raises:
        AttributeError: the op has several signatures, as ``torch.max`` has; the docstring shows them.

    Example:
        >>> import inspect
        >>> str(inspect.signature(torch.add))
        '(input, other, *, alpha=1, out=None)'

    Mirrors torch/csrc/autograd/python_torch_functions_manual.cpp, which has no signature.
    """
    forms = packet.signatures()
    if len(forms) > 1:
        raise AttributeError(f"{packet.__name__} has {len(forms)} signatures: see its docstring", name="__signature__")
    values = [p["default"] for p in forms[0]["parameters"]]
    parameters = []
    for i, parameter in enumerate(signatures(packet)[0].parameters):
        default: Any = inspect.Parameter.empty
        if parameter.default is not None:
            default = values[i] if i < len(values) else {"None": None, "False": False}[parameter.default]
        parameters.append(inspect.Parameter(parameter.name, parameter.kind, default=default))
    return inspect.Signature(parameters)
