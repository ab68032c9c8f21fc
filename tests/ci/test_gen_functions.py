"""The functions by which C++ calls ops follow from the schemas, and only those that C++ calls are written.

Mirrors: tools/test/test_codegen.py
"""

import importlib.util
import os
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

import reftorch as torch

ROOT = Path(__file__).resolve().parents[2]
CPP = ROOT / "cpp"
FUNCTIONS = CPP / "ATen" / "Functions.txt"


def load_generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("gen_functions", ROOT / ".ci" / "gen_functions.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


gen = load_generator()
SOURCES = [*sorted((CPP / "ATen" / "native").glob("*.cpp")), CPP / "csrc" / "autograd" / "VariableTypeManual.cpp"]
REGISTERED = gen.registered(path.read_text() for path in SOURCES)
LISTED = gen.ops_in(FUNCTIONS.read_text())


@pytest.mark.parametrize(
    ("schema", "cpp"),
    [
        ("neg(Tensor self) -> Tensor", "Tensor neg(const Tensor& self)"),
        (
            "add_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)",
            "Tensor& add_(Tensor& self, const Tensor& other, const Scalar& alpha = 1)",
        ),
        (
            "mm.out(Tensor self, Tensor mat2, *, Tensor(a!) out) -> Tensor(a!)",
            "Tensor& mm_out(Tensor& out, const Tensor& self, const Tensor& mat2)",
        ),
        (
            "split.Tensor(Tensor(a) self, SymInt split_size, int dim=0) -> Tensor(a)[]",
            "std::vector<Tensor> split(const Tensor& self, int64_t split_size, int64_t dim = 0)",
        ),
        (
            "sort(Tensor self, int dim=-1, bool descending=False) -> (Tensor values, Tensor indices)",
            "std::tuple<Tensor, Tensor> sort(const Tensor& self, int64_t dim = -1, bool descending = false)",
        ),
        (
            "var(Tensor self, int[1]? dim=None, *, Scalar? correction=None) -> Tensor",
            "Tensor var(const Tensor& self, c10::OptionalIntArrayRef dim = std::nullopt, "
            "const std::optional<Scalar>& correction = std::nullopt)",
        ),
        (
            "index(Tensor self, Tensor?[] indices, Tensor? w=None, str? mode=None, Generator? g=None) -> Tensor",
            "Tensor index(const Tensor& self, TensorList indices, const std::optional<Tensor>& w = std::nullopt, "
            "const std::optional<std::string>& mode = std::nullopt, const std::optional<Generator>& g = std::nullopt)",
        ),
        (
            "f(Tensor[] ts, int[] dims=[], str mode='L', float p=2.5, MemoryFormat m=contiguous_format) -> Tensor",
            'Tensor f(TensorList ts, IntArrayRef dims = {}, const std::string& mode = "L", double p = 2.5, '
            "MemoryFormat m = MemoryFormat::Contiguous)",
        ),
        # a default in front of an argument that has none is none in C++
        (
            "g(Tensor self, int a=0, *, int b) -> Tensor",
            "Tensor g(const Tensor& self, int64_t a, int64_t b)",
        ),
        # layout and pin_memory are not for callers
        (
            "zeros(int[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
            "bool? pin_memory=None) -> Tensor",
            "Tensor zeros(IntArrayRef size, std::optional<ScalarType> dtype = std::nullopt, "
            "std::optional<Device> device = std::nullopt)",
        ),
        (
            "h(float[] fs, int[] dims=[-2,-1], int[2] size=1) -> Tensor",
            "Tensor h(ArrayRef<double> fs, IntArrayRef dims = IntArrayRef({-2,-1}), "
            "IntArrayRef size = IntArrayRef(int64_t(1)))",
        ),
        # a list that must be given is given
        (
            "sum.dim_IntList(Tensor self, int[1]? dim, bool keepdim=False) -> Tensor",
            "Tensor sum(const Tensor& self, IntArrayRef dim, bool keepdim = false)",
        ),
    ],
)
def test_a_schema_has_its_function(schema: str, cpp: str) -> None:
    assert gen.declaration(gen.parse(schema)) == f"TORCH_API {cpp};"


def test_the_call_is_by_the_kernel_s_signature_which_has_out_last() -> None:
    schema = gen.parse("zeros.out(int[] size, *, Layout? layout=None, Tensor(a!) out) -> Tensor(a!)")
    assert gen.signature(schema) == "Tensor&(IntArrayRef, std::optional<c10::Layout>, Tensor&)"
    assert gen.definition(schema).splitlines() == [
        "Tensor& zeros_out(Tensor& out, IntArrayRef size) {",
        "  using Signature = Tensor&(IntArrayRef, std::optional<c10::Layout>, Tensor&);",
        '  static const auto op = create_typed_handle<Signature>("aten::zeros.out");',
        "  return op.call(size, std::nullopt, out);",
        "}",
    ]


def test_schemas_are_found_in_pieces_with_macros_between() -> None:
    text = """
#define OPTIONS "Device? device=None"
  m.def("empty(int[] size, *, " OPTIONS
        ", bool b=False) -> Tensor", TORCH_FN(empty), tags(Tag::core));
  TORCH_CHECK(x, "f(", 1, ") -> Tensor");
  m.def_structured("floor(Tensor self) -> Tensor", TORCH_FN(floor_out));
"""
    assert gen.schemas_in(text) == [
        "empty(int[] size, *, Device? device=None, bool b=False) -> Tensor",
        "floor(Tensor self) -> Tensor",
    ]


@pytest.mark.parametrize(("text", "error"), [("double[] x", ValueError), ("float[2] x=[0, 1]", ValueError)])
def test_what_the_generator_does_not_know_is_an_error(text: str, error: type[Exception]) -> None:
    with pytest.raises((error, KeyError)):
        gen.declaration(gen.parse(f"f(Tensor self, {text}) -> Tensor"))


def test_an_op_that_is_not_registered_is_named() -> None:
    with pytest.raises(KeyError, match=r"Functions\.txt names no_such_op"):
        gen.files("no_such_op\n", [])


@pytest.mark.parametrize("op", LISTED)
def test_the_schema_read_from_the_text_is_the_registered_op_s(op: str) -> None:
    name, _, overload = op.partition(".")
    schema = getattr(getattr(torch.ops.aten, name), overload or "default")._schema
    registered = gen.parse(str(schema).removeprefix("aten::"))
    read = gen.find(op, REGISTERED)
    assert gen.signature(read) == gen.signature(registered)
    assert [one.name for one in read.arguments] == [one.name for one in registered.arguments]


def function_of(op: str) -> str:
    name, _, overload = op.partition(".")
    return f"{name}_out" if overload.endswith("out") else name


def test_only_ops_that_cpp_calls_are_listed() -> None:
    paths = [path for path in CPP.rglob("*") if path.suffix in (".h", ".cpp", ".cu", ".cuh")]
    called = {name for path in paths for name in re.findall(r"\bat::(\w+)[(>]", path.read_text())}
    assert [op for op in LISTED if function_of(op) not in called] == []
    assert len(LISTED) == len(set(LISTED)) > 100


def test_cpp_names_no_op_in_a_handwritten_call() -> None:
    """`typed<...>()` outside of the generated functions would be a wrapper by hand."""
    found = [path.name for path in CPP.rglob("*.cpp") if re.search(r"\.typed<", path.read_text())]
    assert found == []


def test_a_build_writes_only_what_has_changed(tmp_path: Path) -> None:
    texts = gen.files(FUNCTIONS.read_text(), (path.read_text() for path in SOURCES))
    gen.write(tmp_path, texts)
    for name in texts:
        os.utime(tmp_path / name, (1, 1))
    gen.write(tmp_path, {**texts, "Functions.h": texts["Functions.h"] + "\n"})
    written = {name for name in texts if (tmp_path / name).stat().st_mtime > 1}
    assert written == {"Functions.h"}


def test_the_generator_needs_nothing_but_the_standard_library() -> None:
    imported = re.findall(r"^(?:import|from) (\w+)", (ROOT / ".ci" / "gen_functions.py").read_text(), re.M)
    assert set(imported) <= sys.stdlib_module_names


def test_no_line_is_too_wide() -> None:
    texts = gen.files(FUNCTIONS.read_text(), (path.read_text() for path in SOURCES))
    assert max(len(line) for text in texts.values() for line in text.splitlines()) <= 120


# --- the functions and methods that extensions have in addition

OPS = [
    "add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
    "any(Tensor self) -> Tensor",
    "any.dims(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor",
    "relu_(Tensor(a!) self) -> Tensor(a!)",
    "rand(int[] size, *, Generator? generator=None, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
    "bool? pin_memory=None) -> Tensor",
    "new_zeros(Tensor self, int[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
    "bool? pin_memory=None) -> Tensor",
    "where.self(Tensor condition, Tensor self, Tensor other) -> Tensor",
    "masked(Tensor self, bool[2] mask) -> Tensor",
]
DECLARED = "TORCH_API Tensor add(const Tensor& self, const Tensor& other,\n    const Scalar& alpha = 1);"


def extension_texts() -> tuple[str, str]:
    texts = gen.extension_files(OPS, DECLARED, {"add", "any", "relu_", "new_zeros"})
    return " ".join(texts["ATen/ExtensionFunctions.h"].split()), " ".join(texts["ATen/core/TensorMethods.inc"].split())


def test_an_extension_has_the_functions_that_the_library_does_not_have() -> None:
    functions, _ = extension_texts()
    assert "Tensor add(const Tensor& self" not in functions
    assert (
        "Tensor any(const Tensor& self) { static const auto op = Dispatcher::singleton().findSchemaOrThrow("
        '"aten::any"); return call_boxed<Tensor>(op, self); }' in functions
    )
    assert "Tensor& relu_(Tensor& self) {" in functions and "call_boxed<void>(op, self); return self; }" in functions


def test_a_factory_takes_options_in_an_extension() -> None:
    functions, _ = extension_texts()
    assert "Tensor rand(IntArrayRef size, const TensorOptions& options = {}) {" in functions
    assert (
        "options.made(call_boxed<Tensor>(op, size, std::nullopt, options.dtype_opt(), options.layout_opt(), "
        "options.device_opt(), options.pin_memory_opt()))" in functions
    )


def test_the_methods_are_those_of_python_and_a_few() -> None:
    functions, methods = extension_texts()
    assert "template <int = 0> Tensor add(const Tensor& other, const Scalar& alpha = 1) const;" in methods
    assert (
        "Tensor Tensor::add(const Tensor& other, const Scalar& alpha) const { return at::add(*this, other, alpha);"
        in (functions)
    )
    assert "Tensor& relu_() const;" in methods and "at::relu_(const_cast<Tensor&>(*this))" in functions
    assert "Tensor where(const Tensor& condition, const Tensor& other) const;" in methods
    assert "at::where(condition, *this, other)" in functions
    assert "masked(" not in methods and "rand(" not in methods
    assert (
        "std::optional<Device> device = std::nullopt) const;" in methods and "const Options& options) const;" in methods
    )


def test_a_call_without_arguments_is_a_call_of_one_overload() -> None:
    functions, methods = extension_texts()
    assert "Tensor any() const;" in methods
    assert "Tensor any(IntArrayRef dim, bool keepdim = false) const;" in methods
    assert "Tensor any(const Tensor& self, IntArrayRef dim, bool keepdim = false) {" in functions
