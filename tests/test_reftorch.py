"""The front page of the package: what completion offers, and what stays out of its sight.

Mirrors: test/test_public_bindings.py
"""

import subprocess
import sys
from types import ModuleType

import pytest

import reftorch

# Here on the front page; in torch in `torch.random` and `torch._tensor_str`. `debug`, once imported, is our own.
EXTRA = {"debug"}


def shown(value: object) -> set[str]:
    return {name for name in dir(value) if not name.startswith("_")}


def test_completion_shows_what_torch_shows(real_torch: ModuleType) -> None:
    assert shown(reftorch) - shown(real_torch) <= EXTRA


@pytest.mark.parametrize("name", ["linalg", "special", "nn", "types", "utils.data"])
def test_completion_in_a_module_shows_what_torch_shows(name: str, real_torch: ModuleType) -> None:
    ours, theirs = reftorch, real_torch
    for part in name.split("."):
        ours, theirs = getattr(ours, part), getattr(theirs, part)
    assert shown(ours) <= shown(theirs)


def test_completion_offers_no_helpers_and_no_internal_ops() -> None:
    names = set(dir(reftorch))
    assert names.isdisjoint({"Any", "annotations", "slice", "slice_backward", "index", "add_"})
    assert not hasattr(reftorch, "unique_dim")  # programs ask for unique with a dim
    assert {"add", "Tensor", "nn", "float32", "pi", "__version__"} <= names
    assert reftorch.add_(reftorch.ones(1), 1).item() == 2  # hidden, but there


def test_a_missing_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'reftorch' has no attribute 'no_such_op'"):
        reftorch.no_such_op  # type: ignore[attr-defined]  # noqa: B018


LAZY = ("debug", "distributed", "distributions", "fx", "library", "nn.parallel.distributed", "nn.utils.prune", "optim",
        "overrides", "profiler", "testing", "utils.data")  # fmt: skip


def test_modules_that_nothing_needs_are_imported_at_their_first_use() -> None:
    program = f"""
import sys, reftorch
print([name for name in {LAZY} if f"reftorch.{{name}}" in sys.modules])
print([name for name in ("ctypes", "json", "pdb") if name in sys.modules])
print([name for name in {LAZY} if eval(f"reftorch.{{name}}").__name__ != f"reftorch.{{name}}"])
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n[]\n[]\n"


def test_lazy_modules_are_offered_and_can_be_imported_from_their_packages() -> None:
    program = f"""
from importlib import import_module
for name in {LAZY}:
    package, _, last = f"reftorch.{{name}}".rpartition(".")
    assert last in dir(import_module(package)), name
    scope = {{}}
    exec(f"from {{package}} import {{last}}", scope)
    assert scope[last].__name__ == f"reftorch.{{name}}"
"""
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.parametrize("name", ["is_floating_point", "numel", "get_device"])
def test_a_question_about_no_tensor(name: str, real_torch_or_none: ModuleType | None) -> None:
    for library in filter(None, (reftorch, real_torch_or_none)):
        with pytest.raises(TypeError, match=rf"{name}\(\): argument 'input' \(position 1\) must be Tensor, not int"):
            getattr(library, name)(3)
    assert reftorch.get_device(reftorch.ones(1)) == -1


def test_a_float_argument_may_be_a_tensor(real_torch_or_none: ModuleType | None) -> None:
    for library in filter(None, (reftorch, real_torch_or_none)):
        x, tolerance = library.tensor([1.0, 2.0]), library.tensor(0.5)
        assert library.isclose(x, x + 0.25, rtol=tolerance, atol=0).tolist() == [True, True]
        with pytest.raises(TypeError, match="argument 'rtol' must be float, not Tensor"):
            library.isclose(x, x, rtol=x)
        assert library.quantile(
            x, tolerance.requires_grad_()
        ).requires_grad  # the tensor's overload, where there is one
        assert library.normal(library.zeros(2), library.tensor(0.0)).tolist() == [0, 0]


def test_type_of_something_else(real_torch_or_none: ModuleType | None) -> None:
    for library in filter(None, (reftorch, real_torch_or_none)):
        with pytest.raises(TypeError, match="dtype must be a type, str, or dtype object"):
            library.ones(2).type(3)


def test_split_by_the_name_of_the_function(real_torch_or_none: ModuleType | None) -> None:
    for library in filter(None, (reftorch, real_torch_or_none)):
        x = library.arange(5)
        assert [t.tolist() for t in library.split(x, split_size_or_sections=3)] == [[0, 1, 2], [3, 4]]
        assert [t.tolist() for t in library.split(x, split_size_or_sections=[1, 4], dim=0)] == [[0], [1, 2, 3, 4]]
        assert [t.tolist() for t in x.split(split_size=3)] == [[0, 1, 2], [3, 4]]


def test_a_list_of_tensors_is_a_list_of_numbers(real_torch_or_none: ModuleType | None) -> None:
    for library in filter(None, (reftorch, real_torch_or_none)):
        one, two = library.tensor([1]), library.tensor([[2.0]])
        assert library.tensor([one, two]).tolist() == [1, 2] and library.tensor([[one], [two]]).shape == (2, 1)
        for data in ([library.ones(2), library.ones(2)], [[library.ones(2)]], [library.ones(0)]):
            with pytest.raises(ValueError, match="only one element tensors can be converted to Python scalars"):
                library.tensor(data)


def test_refused_as_torch_refuses(real_torch_or_none: ModuleType | None) -> None:
    for library in filter(None, (reftorch, real_torch_or_none)):
        with pytest.raises(
            RuntimeError, match="Input shapes should be of type ints, a tuple of ints, or a list of ints"
        ):
            library.broadcast_shapes(2.0, (3,))
        with pytest.raises(RuntimeError, match="Device index must not be negative"):
            library.device(-1)
    with pytest.raises(RuntimeError, match="Cannot access accelerator device when none is available"):
        reftorch.device(1)


@pytest.mark.filterwarnings("always")  # torch warns once a process, and may have done so
def test_deprecated_ways_to_call() -> None:
    x = reftorch.eye(3)
    with pytest.warns(UserWarning, match="torch.cross without specifying the dim arg is deprecated"):
        assert reftorch.cross(x, x).shape == (3, 3)
    with pytest.warns(UserWarning, match="where received a uint8 condition tensor"):
        assert reftorch.where(reftorch.tensor([1, 0], dtype=reftorch.uint8), 1, 2).tolist() == [1, 2]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
@pytest.mark.parametrize("bounds", [(-1e39, 0), (0, float("inf")), (float("nan"), 1), (-3e38, 3e38), (2, 1)])
def test_uniform_out_of_bounds(dtype: str, bounds: tuple, real_torch_or_none: ModuleType | None) -> None:
    said = []
    for library in filter(None, (reftorch, real_torch_or_none)):
        with pytest.raises(RuntimeError) as caught:
            library.ones(1, dtype=getattr(library, dtype)).uniform_(*bounds)
        said.append(str(caught.value).split("\n")[0].partition(" std::numeric_limits")[0])
    assert len(set(said)) == 1 and ("out of bounds for" in said[0] or "uniform_ expects" in said[0])
