"""The table of PyTorch's public names: the names and signatures are torch's, and the states are true.

Mirrors: nothing in PyTorch: it has no other library to be compared with.

The states are checked without torch too, because the table has torch's signatures.
"""

import importlib
import importlib.util
import re
import subprocess
import sys
from types import ModuleType

import pytest

import reftorch
from reftorch import _api
from tests._api import generate

MODULES = sorted({module for module, _ in _api.rows()})
RENEW = f"The table of the public names is out of date: run {generate.COMMAND}"


def of_module(module: str) -> list[_api.Row]:
    return [row for row in _api.rows().values() if row.module == module]


@pytest.mark.parametrize("module", MODULES)
def test_the_states_are_true(module: str) -> None:
    wrong = [
        f"{module}.{row.name}: the table says {(row.state, row.reason)}, but the state is {true}"
        for row in of_module(module)
        if (true := generate.state_of(module, row.name, row.signature, row.file)) != (row.state, row.reason)
    ]
    assert not wrong, "\n".join([RENEW, *wrong])


def test_the_names_and_signatures_are_torchs(real_torch: ModuleType) -> None:
    # One test: the table is torch's own answer, so that there is nothing to compare it with where torch is missing.
    for module in MODULES:
        assert of_module(module) == generate.rows_of(module), RENEW


def test_the_table_has_every_module_of_torch(real_torch: ModuleType) -> None:
    assert generate.names_of_modules() == MODULES, RENEW


def test_every_row_says_what_it_has_to_say() -> None:
    for row in _api.rows().values():
        assert row.state in ("there", "partly", "not yet", "not planned")
        assert bool(row.reason) == (row.state != "there"), row
    assert len(_api.rows()) > 3500
    assert sum(row.state == "there" for row in _api.rows().values()) > 2000


def test_every_line_of_the_reasons_is_used() -> None:
    used = generate.used_reasons(_api.rows().values())
    unused = [line for line in generate.reasons() if line not in used]
    assert not unused, RENEW


SPACES = ("nn", "nn.utils", "nn.init", "optim", "optim.lr_scheduler", "utils.data", "multiprocessing", "serialization",
          "linalg", "special", "func")  # fmt: skip


@pytest.mark.parametrize("module", SPACES)
def test_nothing_else_is_public(module: str) -> None:
    ours = importlib.import_module(f"reftorch.{module}")
    extra = {name for name in getattr(ours, "__all__", ()) if (f"torch.{module}", name) not in _api.rows()}
    assert extra <= SUBMODULES.get(module, set())


# Modules that stand in ``__all__`` here.
SUBMODULES = {
    "nn": {"common_types", "functional", "init", "modules", "parameter", "utils"},
    "nn.utils": {"fusion", "prune"},
}


# --- what a program is told -------------------------------------------------------------------------------------------


def test_a_missing_name_says_where_it_is_in_pytorch() -> None:
    with pytest.raises(AttributeError) as raised:
        reftorch.stft  # type: ignore[attr-defined]  # noqa: B018
    assert str(raised.value) == (
        "module 'reftorch' has no attribute 'stft': not in reftorch: torch.stft (PyTorch: torch/functional.py); "
        "complex dtypes do not exist here; see the table reftorch/_api/names.csv"
    )
    assert raised.value.name == "stft" and raised.value.obj is reftorch
    assert not hasattr(reftorch, "stft") and getattr(reftorch, "stft", 1) == 1


@pytest.mark.parametrize(
    "module", ["nn", "nn.functional", "linalg", "cuda", "utils", "autograd", "fx", "func", "special"]
)
def test_the_modules_say_it_too(module: str) -> None:
    ours = importlib.import_module(f"reftorch.{module}")
    with pytest.raises(AttributeError, match=f"^module 'reftorch.{module}' has no attribute 'no_such_name'$"):
        ours.no_such_name  # noqa: B018
    for row in of_module(f"torch.{module}"):
        if row.state in ("not yet", "not planned"):
            with pytest.raises(AttributeError, match=re.escape(f"not in reftorch: torch.{module}.{row.name}")):
                getattr(ours, row.name)


def test_an_import_of_a_missing_name_says_it() -> None:
    with pytest.raises(
        ImportError, match=r"^cannot import name 'stft' from 'reftorch': not in reftorch: torch.stft "
    ) as raised:
        from reftorch import stft  # type: ignore[attr-defined]  # noqa: F401
    assert type(raised.value) is ImportError and raised.value.name == "reftorch"
    with pytest.raises(ModuleNotFoundError, match=r"^No module named 'reftorch.onnx': not in reftorch: torch.onnx "):
        importlib.import_module("reftorch.onnx")
    with pytest.raises(ImportError, match=r"^cannot import name 'no_such_name' from 'reftorch' \("):
        from reftorch import no_such_name  # type: ignore[attr-defined]  # noqa: F401
    assert importlib.util.find_spec("reftorch.onnx") is None  # a question is no import


def test_a_program_that_stands_for_torch_says_it() -> None:
    code = "from torch import stft"
    done = subprocess.run([sys.executable, "-m", "reftorch", "-c", code], capture_output=True, text=True)
    assert done.returncode == 1 and "not in reftorch: torch.stft (PyTorch: torch/functional.py)" in done.stderr


def test_the_import_does_not_read_the_table() -> None:
    code = (
        "import sys, reftorch, reftorch._api as api\n"
        "hasattr(reftorch, '__path__'), hasattr(reftorch, '_no_such_name'), reftorch.ones(2)\n"
        "print(api.rows.cache_info().currsize, 'csv' in sys.modules)\n"
        "hasattr(reftorch, 'stft')\n"
        "print(api.rows.cache_info().currsize)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "0 False\n1\n"
