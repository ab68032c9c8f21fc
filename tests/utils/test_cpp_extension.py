"""C++ from a string: compiled against the loaded build, called from Python, complained about in its own lines.

Mirrors: test/test_cpp_extensions_jit.py
"""

from __future__ import annotations

import pytest

import reftorch as torch
from reftorch import _compiled_code
from reftorch.utils import cpp_extension
from reftorch.utils.cpp_extension import load, load_inline


@pytest.fixture(scope="module", autouse=True)
def own_folder(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("extensions")
        patch.setenv("REFTORCH_EXTENSIONS_DIR", str(folder))
        yield folder


TYPES = r"""
at::Tensor same(const at::Tensor& t) { return t; }
at::Tensor twice(const at::Tensor& t) { return at::add(t, t, 1); }
std::vector<int64_t> sizes(const at::Tensor& t) { return t.sizes().vec(); }
double half(double x) { return x / 2; }
int64_t next(int64_t x) { return x + 1; }
bool negated(bool x) { return !x; }
void nothing() {}
std::vector<at::Tensor> both(const std::vector<at::Tensor>& ts) { return {ts[1], ts[0]}; }
void wrong(int64_t which) {
  TORCH_CHECK_INDEX(which != 0, "an index error");
  TORCH_CHECK_TYPE(which != 1, "a type error");
  TORCH_CHECK_VALUE(which != 2, "a value error");
  TORCH_CHECK_NOT_IMPLEMENTED(which != 3, "not implemented");
  TORCH_CHECK(which != 4, "a runtime error");
}
"""
NAMES = ["same", "twice", "sizes", "half", "next", "negated", "nothing", "both", "wrong"]


@pytest.fixture(scope="module")
def types(own_folder):
    return load_inline("types", TYPES, functions=NAMES)


def test_tensors_go_in_and_out_as_they_are(types):
    x = torch.ones(2, 3, requires_grad=True)
    assert types.same(x) is x
    assert types.sizes(x) == [2, 3]
    assert [t.tolist() for t in types.both([torch.zeros(1), torch.ones(1)])] == [[1.0], [0.0]]


def test_an_op_called_from_it_is_recorded(types):
    x = torch.ones(2, requires_grad=True)
    types.twice(x).sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]


def test_numbers_are_converted(types):
    assert (types.half(3), types.half(3.0), types.next(2), types.negated(True), types.nothing()) == (
        1.5,
        1.5,
        3,
        False,
        None,
    )


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda m: m.same(1), "expected a Tensor, got int"),
        (lambda m: m.next(1.5), "expected an int, got float"),
        (lambda m: m.negated(1), "expected a bool, got int"),
        (lambda m: m.half("x"), "expected a float, got str"),
        (lambda m: m.both(torch.ones(2)), "expected a list or a tuple, got Tensor"),
        (lambda m: m.half(), "expected 1 arguments, got 0"),
    ],
)
def test_wrong_arguments_are_type_errors(types, call, message):
    with pytest.raises(TypeError, match=message):
        call(types)


def test_a_number_too_large_is_an_overflow_error(types):
    with pytest.raises(OverflowError):
        types.next(2**80)


@pytest.mark.parametrize(
    ("which", "kind"),
    [(0, IndexError), (1, TypeError), (2, ValueError), (3, NotImplementedError), (4, RuntimeError)],
)
def test_checks_raise_pythons_own_types(types, which, kind):
    with pytest.raises(kind) as error:
        types.wrong(which)
    assert type(error.value) is kind


def test_the_same_text_is_compiled_once(types, own_folder):
    before = sorted(own_folder.iterdir())
    assert load_inline("types", TYPES, functions=NAMES) is types
    assert sorted(own_folder.iterdir()) == before


def test_another_text_under_the_same_name_is_another_module(own_folder):
    first = load_inline("one", "int64_t f() { return 1; }", functions="f")
    second = load_inline("one", "int64_t f() { return 2; }", functions="f")
    assert (first.f(), second.f()) == (1, 2)


def test_an_error_in_the_text_is_told_with_its_line(own_folder):
    with pytest.raises(RuntimeError, match=r"Error building extension 'bad':\nbad\.cpp:2:\d+: error:") as error:
        load_inline("bad", "int64_t f() {\n  return missing;\n}", functions="f")
    assert str(own_folder) not in str(error.value)


def test_an_error_for_each_dtype_is_told_once(own_folder):
    text = """void twice(const at::Tensor& self) {
      AT_DISPATCH_FLOATING_TYPES(self.scalar_type(), "twice", [&] { missing(scalar_t(2)); });
    }"""
    with pytest.raises(RuntimeError) as error:
        load_inline("twice_missing", text, functions="twice")
    assert str(error.value).count("error:") == 1


def test_a_forgotten_return_is_an_error(own_folder):
    with pytest.raises(RuntimeError, match="return-type"):
        load_inline(
            "forgetful", "at::Tensor forgetful(const at::Tensor& self) { at::relu(self); }", functions="forgetful"
        )


def test_no_compiler_is_told_with_the_mend(monkeypatch):
    monkeypatch.setenv("CXX", "no-such-compiler")
    with pytest.raises(RuntimeError, match="no compiler 'no-such-compiler'; install"):
        load_inline("none", "int64_t g() { return 1; }", functions="g")


def test_a_folder_of_path_that_may_not_be_read_is_no_compiler(monkeypatch, tmp_path):
    # For root every folder may be read. A file without the right to execute it gives the same PermissionError to all.
    (tmp_path / "c++").write_text("")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CXX", raising=False)
    with pytest.raises(RuntimeError, match=r"no compiler 'c\+\+'; install"):
        load_inline("unreadable", "int64_t g() { return 2; }", functions="g")


def test_a_name_must_be_an_identifier():
    with pytest.raises(ValueError, match="'a-b'"):
        load_inline("a-b", "")


def test_a_registered_op_goes_through_the_dispatcher_and_takes_a_formula():
    source = r"""
    static void cpp_extension_cube_out(const at::Tensor& self, at::Tensor& out) {
      auto iter = at::TensorIterator::unary_op(out, self);
      AT_DISPATCH_FLOATING_TYPES(iter.dtype(), "cube", [&] {
        at::native::cpu_kernel(iter, [](scalar_t x) -> scalar_t { return x * x * x; });
      });
      iter.cast_outputs();
    }
    TORCH_LIBRARY_FRAGMENT(aten, m) {
      m.def_structured("cpp_extension_cube(Tensor self) -> Tensor", TORCH_FN(cpp_extension_cube_out));
    }
    at::Tensor cube(const at::Tensor& self) {
      const auto op = at::Dispatcher::singleton().findSchemaOrThrow("cpp_extension_cube");
      return op.typed<at::Tensor(const at::Tensor&)>().call(self);
    }
    """
    cube = load_inline("cube", source, functions="cube").cube
    x = torch.tensor([2.0, -3.0], requires_grad=True)
    torch.autograd.derivatives.derivative("cpp_extension_cube", self=lambda grad, self: grad * 3 * self * self)
    y = cube(x)
    assert y.tolist() == [8.0, -27.0]
    y.sum().backward()
    assert x.grad.tolist() == [12.0, 27.0]
    with pytest.raises(RuntimeError, match="Restart the kernel"):
        load_inline("cube", source + "\n// another text", functions="cube")


def test_a_text_without_functions_is_an_empty_module():
    assert load_inline("empty", "int64_t h() { return 1; }").__name__.startswith("empty_")


def test_files_with_pybind11_are_compiled_together(tmp_path):
    (tmp_path / "one.h").write_text("#include <cstdint>\nint64_t one();\n")
    (tmp_path / "one.cpp").write_text('#include "one.h"\nint64_t one() { return 1; }\n')
    (tmp_path / "module.cpp").write_text(
        '#include <torch/extension.h>\n#include "one.h"\n'
        "at::Tensor plus_one(const at::Tensor& t) { return at::add(t, at::ones_like(t), one()); }\n"
        'PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("plus_one", &plus_one); }\n'
    )
    module = load("files", [str(tmp_path / "one.cpp"), str(tmp_path / "module.cpp")])
    assert module.plus_one(torch.zeros(2)).tolist() == [1.0, 1.0]


def test_the_include_paths_exist():
    from pathlib import Path

    assert all(Path(path).is_dir() for path in cpp_extension.include_paths())


def test_the_default_folder_is_the_first_that_may_be_written_into(monkeypatch, tmp_path):
    """A folder below a file cannot be made, not even by root, who may write into a read-only folder."""
    file = tmp_path / "file"
    file.touch()
    folder = _compiled_code._extensions.__wrapped__
    monkeypatch.setattr(_compiled_code, "ROOT", tmp_path / "checkout")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert folder() == tmp_path / "checkout" / "build" / "extensions"
    monkeypatch.setattr(_compiled_code, "ROOT", file)
    assert folder() == tmp_path / "cache" / "reftorch_extensions"
    monkeypatch.setenv("XDG_CACHE_HOME", str(file))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    assert folder().parent == tmp_path


def test_cuda_sources_need_a_build_with_cuda(monkeypatch):
    monkeypatch.delattr(torch._C, "_cuda_is_simulated", raising=False)
    with pytest.raises(RuntimeError, match="there are CUDA sources, but this build of reftorch has no CUDA"):
        load_inline("kernels", "", "__global__ void k() {}")
