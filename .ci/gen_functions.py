"""Writes ``ATen/Functions.h`` and ``ATen/Functions.cpp``, the functions with which C++ calls ops: ``at::add(a, b)``.

Mirrors: torchgen/gen.py, torchgen/api/cpp.py
Leaves out: named dimensions, SymInt, and, for the library's own code, ``a.add(b)`` and ops that no C++ code calls.

    python .ci/gen_functions.py FOLDER cpp/ATen/Functions.txt cpp/ATen/native/*.cpp

CMake runs this program if a registration is newer than its output. The schemas are read from the text of the
registrations, ``m.def("add.Tensor(Tensor self, ...) -> Tensor", ...)``, because the functions are compiled before the
library exists. A file whose content does not change is not written, so that the files that include it are not compiled
again.

An extension is compiled when the library exists. Therefore reftorch/utils/cpp_extension.py calls ``extension_files``
with the schemas of all registered ops, and gets the other functions and the methods of Tensor. The file is more than
500 lines long because both kinds of functions follow the same rules.
"""

import itertools
import re
import sys
import textwrap
from collections.abc import Container, Iterable, Mapping
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
    "TensorOptions": "const TensorOptions&",
    "Device": "Device",
    "MemoryFormat": "MemoryFormat",
    "Generator": "Generator",
}
LISTS = {
    "Tensor": "TensorList",
    "Tensor?": "TensorList",
    "int": "IntArrayRef",
    "SymInt": "IntArrayRef",
    "float": "ArrayRef<double>",
    "Scalar": "ArrayRef<Scalar>",
}
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
    """Return the schemas in a C++ file: string literals, which may be in several pieces with macros between them.

    A schema with # counts three times, for one, two and three dimensions (ATen/native/ForDims.h).
    """
    macros = dict(MACRO.findall(text))
    piece = "|".join([LITERAL, *(rf"\b{name}\b" for name in macros)])
    joined = []
    for literal in re.findall(rf"(?:{piece})(?:\s+(?:{piece}))*", text):
        pieces = re.findall(piece, literal)
        whole = "".join(macros.get(one, one)[1:-1] for one in pieces).replace('\\"', '"')
        joined += [whole.replace("#", dims) for dims in "123"] if "#" in whole else [whole]
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
    if argument.type.partition("[")[0] in ("int", "SymInt") and "[" in argument.type:
        # The numbers live until the call that has this default returns.
        return f"IntArrayRef({{{default[1:-1]}}})" if default[0] == "[" else f"IntArrayRef(int64_t({default}))"
    if "[" in argument.type:
        raise ValueError(f"the default {default} of {argument.type} {argument.name} has no C++ text yet")
    return default


def signature(schema: Schema) -> str:
    """Return the signature with which the op's kernel is registered, out last: ``Tensor&(const Tensor&, Tensor&)``."""
    return f"{cpp_return(schema.returns)}({', '.join(cpp_type(one.type) for one in schema.arguments)})"


def caller_type(argument: Argument) -> str:
    """Return the type of a parameter of the function.

    A list that may be None but has no default is a plain list here, because no C++ caller passes None. Another list
    that may be None is an OptionalArrayRef: a ``std::optional<IntArrayRef>`` that is made from an int would keep the
    address of a temporary.
    """
    if argument.type.endswith("]?") and argument.default is None:
        return cpp_type(argument.type.removesuffix("?"))
    kernel = cpp_type(argument.type)
    return "c10::OptionalIntArrayRef" if kernel == "std::optional<IntArrayRef>" else kernel


def function_name(schema: Schema) -> str:
    return f"{schema.name}_out" if any(one.is_out for one in schema.arguments) else schema.name


def parameters(arguments: list[Argument], *, defaults: bool) -> list[str]:
    """Return ``const Tensor& self`` and so on, outs first, as in PyTorch."""
    outs = [one for one in arguments if one.is_out]
    others = [one for one in arguments if not one.is_out and one.name not in NOT_FOR_CALLERS]
    texts = []
    for one in [*outs, *others]:
        # In C++, only the last parameters can have defaults.
        last = all(later.default is not None for later in others[others.index(one) :]) if one in others else False
        value = f" = {cpp_default(one)}" if defaults and last else ""
        texts.append(f"{caller_type(one)} {one.name}{value}")
    return texts


def head(schema: Schema, *, defaults: bool) -> str:
    """Return ``Tensor& div_out(Tensor& out, const Tensor& self, const Tensor& other)``."""
    listed = ", ".join(parameters(schema.arguments, defaults=defaults))
    return f"{cpp_return(schema.returns)} {function_name(schema)}({listed})"


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
#include <c10/util/OptionalArrayRef.h>

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


# --- extensions -------------------------------------------------------------------------------------------------------

# Templates, so that the compiler makes only those functions that the extension calls: there are about 1,800.
TEMPLATE = "template <int = 0>"
OPTIONS = ("dtype", "layout", "device", "pin_memory")
OPTIONS_ARGUMENT = Argument("TensorOptions", "options", None)
# A method with options takes nothing that only converts to options: x.to(device) is another overload.
EXACT = "template <typename Options, std::enable_if_t<std::is_same_v<Options, TensorOptions>, int> = 0>"
# Methods of PyTorch that Python writes in Python, or does not have.
ONLY_IN_CPP = ("alias", "index", "slice", "where")
# Methods that ATen/core/Tensor.h declares itself.
OWN_METHODS = ("contiguous", "data", "item", "requires_grad_", "retain_grad")


def has_options(schema: Schema) -> bool:
    names = [one.name for one in schema.arguments]
    return all(name in names for name in OPTIONS) and function_name(schema) == schema.name


def with_options(schema: Schema) -> list[Argument]:
    """Return the arguments with TensorOptions in place of dtype, layout, device and pin_memory, as in PyTorch.

    A generator in front of the options is left out, so that ``torch::rand({2, 3}, torch::kDouble)`` is a call.
    """
    return [
        OPTIONS_ARGUMENT if one.name == "dtype" else one
        for one in schema.arguments
        if one.name not in (*OPTIONS[1:], "generator")
    ]


FROM_OPTIONS = {name: f"options.{name}_opt()" for name in OPTIONS} | {"generator": "std::nullopt"}
LEFT_OUT = dict.fromkeys(NOT_FOR_CALLERS, "std::nullopt")


def body(schema: Schema, values: Mapping[str, str]) -> str:
    """Return the body of a function that calls the op through the Dispatcher.

    ``values`` has the values of the arguments that are not the parameters of their name.
    """
    given = ", ".join(["op", *(values.get(one.name, one.name) for one in schema.arguments)])
    lookup = f'static const auto op = Dispatcher::singleton().findSchemaOrThrow("aten::{schema.op}");'
    written = [one.name for one in schema.arguments if "!" in one.type]
    returned = cpp_return(schema.returns)
    if "&" not in returned:
        made = "options.made(call_boxed<Tensor>({}))" if values.get("dtype") else f"call_boxed<{returned}>({{}})"
        return f"{{\n  {lookup}\n  return {made.format(given)};\n}}"
    result = written[0] if returned == "Tensor&" else f"{returned}({', '.join(written[: len(schema.returns)])})"
    return f"{{\n  {lookup}\n  call_boxed<void>({given});\n  return {result};\n}}"


def extension_functions(schema: Schema, listed_ops: Container[str]) -> Iterable[str]:
    """Yield the functions of an op that ATen/Functions.h, which has the ops ``listed_ops``, does not have."""
    if not has_options(schema):
        if schema.op not in listed_ops:
            yield f"{TEMPLATE}\n{head(schema, defaults=True)} {body(schema, LEFT_OUT)}"
        return
    # If there is a function with dtype and device, options have no default: a call without them would be ambiguous.
    default = None if schema.op in listed_ops else "{}"
    arguments = [one._replace(default=default) if one is OPTIONS_ARGUMENT else one for one in with_options(schema)]
    listed = ", ".join(parameters(arguments, defaults=True))
    yield f"{TEMPLATE}\n{cpp_return(schema.returns)} {schema.name}({listed}) {body(schema, FROM_OPTIONS)}"


def without_ambiguity(schemas: list[Schema]) -> list[Schema]:
    """Return the overloads of one name without the defaults that would make a call a call of two of them.

    ``any(Tensor self)`` and ``any.dims(Tensor self, int[]? dim=None)``: the first one is called by ``x.any()``, so
    ``dim`` has no default. As in PyTorch, arguments have none up to the first one whose type tells the overloads apart.
    """
    chosen: list[Schema] = []
    for schema in sorted(schemas, key=lambda each: (len(each.arguments), each.overload != "")):
        types = callers_types(schema)
        needed = 0
        for other in map(callers_types, chosen):
            same = next((i for i, pair in enumerate(zip(types, other, strict=False)) if pair[0] != pair[1]), len(other))
            needed = max(needed, same + 1)
        names = [one.name for one in schema.arguments if one.name not in NOT_FOR_CALLERS][:needed]
        chosen.append(
            schema._replace(
                arguments=[one._replace(default=None) if one.name in names else one for one in schema.arguments]
            )
        )
    return chosen


def callers_types(schema: Schema) -> list[str]:
    return [caller_type(one) for one in schema.arguments if one.name not in NOT_FOR_CALLERS]


def methods(schema: Schema) -> Iterable[tuple[str, str]]:
    """Yield the declaration and the definition of each method of an op."""
    name, returned = schema.name, cpp_return(schema.returns)
    # A Tensor is a pointer, so a method that writes to the elements is const, as in PyTorch.
    written = any(one.name == "self" and "!" in one.type for one in schema.arguments)
    self = {"self": "const_cast<Tensor&>(*this)" if written else "*this"}
    plain = [one for one in schema.arguments if one.name != "self" and one.name not in NOT_FOR_CALLERS]
    if has_options(schema):
        calls = body(schema, self | LEFT_OUT)
        others = [one for one in with_options(schema) if one.name != "self"]
        listed = parameters(others, defaults=False)
        yield (
            f"{EXACT}\n{returned} {name}({', '.join(parameters(others, defaults=True))}) const;".replace(
                "const TensorOptions&", "const Options&"
            ),
            "template <typename Options, std::enable_if_t<std::is_same_v<Options, TensorOptions>, int>>\n"
            + f"{returned} Tensor::{name}({', '.join(listed)}) const {body(schema, self | FROM_OPTIONS)}".replace(
                "const TensorOptions&", "const Options&"
            ),
        )
    else:
        given = [self.get(one.name, one.name) for one in schema.arguments if one.name not in NOT_FOR_CALLERS]
        calls = f"{{\n  return at::{name}({', '.join(given)});\n}}"
    yield (
        f"{TEMPLATE}\n{returned} {name}({', '.join(parameters(plain, defaults=True))}) const;",
        f"template <int>\n{returned} Tensor::{name}({', '.join(parameters(plain, defaults=False))}) const {calls}",
    )


def extension_files(texts: Iterable[str], declared: str, in_python: Container[str]) -> dict[str, str]:
    """Return the files for extensions, with their texts.

    Args:
        texts: the schemas of all ops.
        declared: the text of ATen/Functions.h.
        in_python: the names of the methods of Tensor in Python.
    """
    functions: dict[str, str] = {}  # by their heads: two ops may have one C++ signature, of which the first counts
    declarations: dict[str, str] = {}
    schemas = [schema for schema in map(parse, texts) if expressible(schema)]
    heads = " ".join(declared.split())
    listed_ops = {schema.op for schema in schemas if declaration(schema) in heads}
    overloads: dict[str, list[Schema]] = {}
    for schema in schemas:
        overloads.setdefault(function_name(schema), []).append(schema)
    for schema in itertools.chain(*map(without_ambiguity, overloads.values())):
        for function in extension_functions(schema, listed_ops):
            functions.setdefault(function.partition(" {\n")[0], function)
        takes_self = any(one.name == "self" and one.type.startswith("Tensor") for one in schema.arguments)
        is_method = (schema.name in in_python or schema.name in ONLY_IN_CPP) and schema.name not in OWN_METHODS
        if takes_self and is_method and function_name(schema) == schema.name:
            for declared_method, definition_of_method in methods(schema):
                declarations.setdefault(declared_method, definition_of_method)
    return {
        "ATen/core/TensorMethods.inc": wrapped("\n".join(declarations)),
        "ATen/ExtensionFunctions.h": wrapped(extension_header([*functions.values(), *declarations.values()])),
    }


def expressible(schema: Schema) -> bool:
    """Return whether every type of the schema has a C++ type here."""
    try:
        head(schema, defaults=True)
    except (KeyError, ValueError):
        return False
    return all(one.type.startswith("Tensor") for one in schema.returns) or len(schema.returns) == 1


def extension_header(functions: list[str]) -> str:
    definitions = "\n\n".join(functions)
    return f"""\
// Mirrors: aten/src/ATen/templates/Functions.h, aten/src/ATen/templates/TensorBody.h
//
// Written by .ci/gen_functions.py from the schemas of the library's ops: the functions that ATen/Functions.h does not
// have, and the methods of Tensor.
#pragma once

#include <ATen/Functions.h>
#include <ATen/core/dispatch/call_boxed.h>
#include <c10/core/TensorOptions.h>

namespace reftorch::at {{

{definitions}

}} // namespace reftorch::at
"""


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
