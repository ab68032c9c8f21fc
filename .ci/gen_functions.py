"""Writes ``ATen/Functions.h`` and ``ATen/Functions.cpp``, the functions with which C++ calls ops: ``at::add(a, b)``.

Mirrors: torchgen/gen.py, torchgen/api/cpp.py
Leaves out: ``at::add`` as a method of Tensor, named dimensions, SymInt, and ops that no C++ code calls.

    python .ci/gen_functions.py FOLDER cpp/ATen/Functions.txt cpp/ATen/native/*.cpp

CMake runs this program if a registration is newer than its output. The schemas are read from the text of the
registrations, ``m.def("add.Tensor(Tensor self, ...) -> Tensor", ...)``, because the functions are compiled before the
library exists. A file whose content does not change is not written, so that the files that include it are not compiled
again.
"""

import re
import sys
import textwrap
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

NOTICE = """\
// Mirrors: aten/src/ATen/templates/Functions.{suffix}
//
// Written by .ci/gen_functions.py from the schemas at the registrations of the ops that cpp/ATen/Functions.txt names.
"""

# PyTorch combines dtype, layout, device and pin_memory in one TensorOptions. Here a C++ caller passes only dtype and
# device: there is one layout, and no C++ code needs pinned memory.
NOT_FOR_CALLERS = ("layout", "pin_memory")

TYPES = {
    "Tensor": "Tensor",
    "Scalar": "Scalar",
    "int": "int64_t",
    "SymInt": "int64_t",
    "float": "double",
    "bool": "bool",
    "str": "std::string",
    "ScalarType": "ScalarType",
    "Layout": "c10::Layout",
    "Device": "Device",
    "MemoryFormat": "MemoryFormat",
    "Generator": "Generator",
}
LISTS = {"Tensor": "TensorList", "Tensor?": "TensorList", "int": "IntArrayRef", "SymInt": "IntArrayRef"}
BY_REFERENCE = ("Tensor", "Scalar", "str", "Generator")
DEFAULTS = {
    "None": "std::nullopt",
    "True": "true",
    "False": "false",
    "Mean": "1",  # the numbers of reftorch/nn/_reduction.py
    "Sum": "2",
    "contiguous_format": "MemoryFormat::Contiguous",
    "preserve_format": "MemoryFormat::Preserve",
    "[]": "{}",
}


class Argument(NamedTuple):
    type: str  # as in the schema: "int[1]?"
    name: str
    default: str | None

    @property
    def is_out(self) -> bool:
        return "!" in self.type and self.name not in ("self", "noise")


class Schema(NamedTuple):
    name: str  # "add"
    overload: str  # "Tensor"
    arguments: list[Argument]
    returns: list[Argument]  # without defaults; a name may be empty

    @property
    def op(self) -> str:
        return f"{self.name}.{self.overload}" if self.overload else self.name


# --- schemas ----------------------------------------------------------------------------------------------------------

SCHEMA = re.compile(r"(\w+)(?:\.(\w+))?\((.*)\) -> (.+)")
ARGUMENT = re.compile(r"(\S+)(?: (\w+))?(?:=(.+))?")
COMMA_OUTSIDE_OF_BRACKETS = re.compile(r", (?![^\[(]*[\])])")


def parse(text: str) -> Schema:
    """Parse ``name.overload(arguments) -> returns``."""
    found = SCHEMA.fullmatch(text)
    if found is None:
        raise ValueError(f"not a schema: {text}")
    name, overload, arguments, returns = found.groups()
    if returns.startswith("("):
        returns = returns[1:-1]
    return Schema(name, overload or "", _arguments(arguments), _arguments(returns))


def _arguments(text: str) -> list[Argument]:
    words = [word for word in COMMA_OUTSIDE_OF_BRACKETS.split(text) if word not in ("", "*")]
    return [Argument(found[1], found[2] or "", found[3]) for word in words if (found := ARGUMENT.fullmatch(word))]


LITERAL = r'"(?:[^"\\\n]|\\.)*"'
MACRO = re.compile(rf"^#define (\w+) ({LITERAL})$", re.M)


def schemas_in(text: str) -> list[str]:
    """Return the schemas in a C++ file: string literals, which may be in several pieces with macros between them."""
    macros = dict(MACRO.findall(text))
    piece = "|".join([LITERAL, *(rf"\b{name}\b" for name in macros)])
    joined = []
    for literal in re.findall(rf"(?:{piece})(?:\s+(?:{piece}))*", text):
        pieces = re.findall(piece, literal)
        joined.append("".join(macros.get(one, one)[1:-1] for one in pieces).replace('\\"', '"'))
    return [text for text in joined if SCHEMA.fullmatch(text)]


def registered(sources: Iterable[str]) -> dict[str, Schema]:
    """Return the schemas in C++ files, by the names of the ops."""
    found = [parse(schema) for source in sources for schema in schemas_in(source)]
    return {schema.op: schema for schema in found}


def find(op: str, schemas: Mapping[str, Schema]) -> Schema:
    """Return the schema of ``op``, which is registered, or derived from its functional form as in ``m.def_structured``.

    Raises:
        KeyError: no file registers the op or its functional form.
    """
    if op in schemas:
        return schemas[op]
    name, _, overload = op.partition(".")
    if name.endswith("_") and (functional := schemas.get(f"{name[:-1]}.{overload}".rstrip("."))):
        first, *rest = functional.arguments
        written = Argument("Tensor(a!)", first.name, None)
        return Schema(name, overload, [written, *rest], [written._replace(name="")])
    if overload.endswith("out") and (functional := schemas.get(f"{name}.{overload[:-3].rstrip('_')}".rstrip("."))):
        outs = [
            Argument(f"Tensor({letter}!)", one.name or "out", None)
            for letter, one in zip("abcdefgh", functional.returns, strict=False)
        ]
        return Schema(name, overload, [*functional.arguments, *outs], [one._replace(name="") for one in outs])
    raise KeyError(f"Functions.txt names {op}, for which no registration has a schema")


# --- C++ --------------------------------------------------------------------------------------------------------------


def cpp_type(schema_type: str) -> str:
    """Return the C++ type of an argument, such as ``const Tensor&`` for ``Tensor``."""
    plain = re.sub(r"\(\w!?\)", "", schema_type)
    if "!" in schema_type:
        return "Tensor&"
    optional = plain.endswith("?")
    plain = plain.removesuffix("?")
    if plain.endswith("]"):
        element = LISTS.get(plain.partition("[")[0])
        if element is None:
            raise ValueError(f"{schema_type} has no C++ type: add the type to LISTS in .ci/gen_functions.py")
        return f"std::optional<{element}>" if optional else element
    value = f"std::optional<{TYPES[plain]}>" if optional else TYPES[plain]
    return f"const {value}&" if plain in BY_REFERENCE else value


def cpp_return(returns: list[Argument]) -> str:
    """Return the C++ type of an op's results: references to tensors that the op writes to, or new tensors."""
    types = []
    for one in returns:
        if "!" in one.type:
            types.append("Tensor&")
        else:
            types.append("std::vector<Tensor>" if one.type.endswith("[]") else TYPES[one.type.partition("(")[0]])
    return types[0] if len(types) == 1 else f"std::tuple<{', '.join(types)}>"


def cpp_default(argument: Argument) -> str:
    """Return the C++ text of a default value."""
    default = str(argument.default)
    if default in DEFAULTS:
        return DEFAULTS[default]
    if default[0] in "'\"":
        return f'"{default[1:-1]}"'
    if argument.type.partition("[")[0] in ("int", "SymInt") and default.isdigit() and "[" in argument.type:
        return f"IntArrayRef(int64_t({default}))"  # the number lives until the call that has this default returns
    if "[" in argument.type:
        raise ValueError(f"the default {default} of {argument.type} {argument.name} has no C++ text yet")
    return default


def signature(schema: Schema) -> str:
    """Return the signature with which the op's kernel is registered, out last: ``Tensor&(const Tensor&, Tensor&)``."""
    return f"{cpp_return(schema.returns)}({', '.join(cpp_type(one.type) for one in schema.arguments)})"


def caller_type(argument: Argument) -> str:
    """Return the type of a parameter of the function.

    A list that may be None but has no default is a plain list here, because no C++ caller passes None. A
    ``std::optional<IntArrayRef>`` that is made from an int would keep the address of a temporary.
    """
    if argument.type.endswith("]?") and argument.default is None:
        return cpp_type(argument.type.removesuffix("?"))
    return cpp_type(argument.type)


def head(schema: Schema, *, defaults: bool) -> str:
    """Return ``Tensor& div_out(Tensor& out, const Tensor& self, const Tensor& other)``: outs first, as in PyTorch."""
    outs = [one for one in schema.arguments if one.is_out]
    others = [one for one in schema.arguments if not one.is_out and one.name not in NOT_FOR_CALLERS]
    parameters = []
    for one in [*outs, *others]:
        # In C++, only the last parameters can have defaults.
        last = all(later.default is not None for later in others[others.index(one) :]) if one in others else False
        value = f" = {cpp_default(one)}" if defaults and last else ""
        parameters.append(f"{caller_type(one)} {one.name}{value}")
    name = f"{schema.name}_out" if outs else schema.name
    return f"{cpp_return(schema.returns)} {name}({', '.join(parameters)})"


def declaration(schema: Schema) -> str:
    return f"TORCH_API {head(schema, defaults=True)};"


def definition(schema: Schema) -> str:
    """Return the definition of the function, which looks up the op on the first call."""
    values = ["std::nullopt" if one.name in NOT_FOR_CALLERS else one.name for one in schema.arguments]
    return f"""\
{head(schema, defaults=False)} {{
  using Signature = {signature(schema)};
  static const auto op = create_typed_handle<Signature>("aten::{schema.op}");
  return op.call({", ".join(values)});
}}"""


def header(schemas: list[Schema]) -> str:
    body = "\n".join(declaration(schema) for schema in schemas)
    return f"""\
{NOTICE.format(suffix="h")}// Each function calls its op through the Dispatcher, so that autograd records the op.
#pragma once

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>
#include <c10/core/Scalar.h>

#include <optional>
#include <string>
#include <tuple>

namespace reftorch::at {{

{body}

}} // namespace reftorch::at
"""


def source(schemas: list[Schema]) -> str:
    body = "\n\n".join(definition(schema) for schema in schemas)
    return f"""\
{NOTICE.format(suffix="cpp")}#include <ATen/Functions.h>

#include <ATen/core/dispatch/Dispatcher.h>

namespace reftorch::at {{

{body}

}} // namespace reftorch::at
"""


def signatures(schemas: list[Schema]) -> str:
    rows = [f'FUNCTION("aten::{schema.op}", {signature(schema)})' for schema in schemas]
    return NOTICE.format(suffix="h") + "// For the C++ tests: the ops and their signatures.\n" + "\n".join(rows) + "\n"


def ops_in(text: str) -> list[str]:
    """Return the ops in Functions.txt, which has one on each line; `#` begins a comment."""
    return [op for line in text.splitlines() if (op := line.partition("#")[0].strip())]


def files(listed: str, sources: Iterable[str]) -> dict[str, str]:
    """Return the files to write, with their texts, from the text of Functions.txt and of the C++ files."""
    known = registered(sources)
    schemas = [find(op, known) for op in ops_in(listed)]
    return {
        "Functions.h": wrapped(header(schemas)),
        "Functions.cpp": wrapped(source(schemas)),
        "FunctionSignatures.inc": wrapped(signatures(schemas)),
    }


def wrapped(text: str) -> str:
    """Return the text with lines of at most 120 columns, broken after commas."""
    lines = []
    for line in text.splitlines():
        code = line.lstrip()
        indent = line[: len(line) - len(code)]
        words = re.sub(r"(?<!,) ", "\0", code)  # a break at another space would separate a type from its name
        folded = textwrap.wrap(
            words, 120, initial_indent=indent, subsequent_indent=indent + "    ", break_long_words=False
        ) or [""]
        lines += [line] if len(line) <= 120 else [one.replace("\0", " ") for one in folded]
    return "\n".join(lines) + "\n"


def write(folder: Path, texts: Mapping[str, str]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        path = folder / name
        if not path.exists() or path.read_text() != text:
            path.write_text(text)


if __name__ == "__main__":
    out, listed, *sources = (Path(word) for word in sys.argv[1:])
    write(out, files(listed.read_text(), (path.read_text() for path in sources)))
