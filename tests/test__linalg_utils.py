"""Functions that are gone, and the old name of the LU factors.

Mirrors: test/test_linalg.py (test_lu, test_deprecated_*)
"""

from types import ModuleType

import pytest

import reftorch
from tests.answers.watched import asked
from tests.native.differential import Program, assert_same, assert_same_error, numbers

RESULTS: dict[str, Program] = {
    "lu": lambda t: t.lu(numbers(t, 3, 3)),
    "the method lu": lambda t: t.Tensor.lu(numbers(t, 3, 3)),
    "the method lu with infos": lambda t: t.zeros(2, 2).lu(get_infos=True),
    "lu infos": lambda t: tuple(t.lu(t.zeros(2, 2), get_infos=True)),
    "lu out": lambda t: t.lu(numbers(t, 3, 3), out=(t.empty(0), t.empty(0, dtype=t.int32))),
}

ERRORS: dict[str, Program] = {
    "lu out of none": lambda t: t.lu(t.eye(2), out=t.empty(0)),
    "lu out of one": lambda t: t.lu(t.eye(2), out=(t.empty(0),)),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", RESULTS)
def test_result(name: str, real_torch: ModuleType) -> None:
    assert_same(RESULTS[name], real_torch)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ERRORS)
def test_error(name: str, real_torch: ModuleType) -> None:
    assert_same_error(ERRORS[name], real_torch)


@pytest.mark.parametrize("name", ["solve", "lstsq", "eig", "symeig", "reinforce"])
def test_methods_that_are_gone(name: str, real_torch_or_none: ModuleType | None) -> None:
    for t in filter(None, (reftorch, real_torch_or_none)):
        with pytest.raises(RuntimeError, match="removed"):
            getattr(t.eye(2), name)(*([t.eye(2)] if name not in ("eig", "symeig") else []))


@pytest.mark.parametrize("name", ["matrix_rank", "solve", "lstsq", "eig", "symeig"])
def test_what_is_gone_names_its_successor(name: str, real_torch_or_none: ModuleType | None) -> None:
    def program(t: ModuleType) -> None:
        with pytest.raises(RuntimeError, match=r"(?s)now removed.*linalg"):
            getattr(t, name)(t.eye(2), *([t.eye(2)] if name in ("lstsq", "solve") else []))

    program(reftorch)
    if real_torch_or_none is not None:
        asked(real_torch_or_none, program)
