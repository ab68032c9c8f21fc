"""The classes of the extension, used against their rules: objects without a value, methods called on other objects.

Mirrors: nothing in PyTorch: there Generator, Stream and Event are plain C types, whose __new__ makes a whole object
"""

import pickle
import subprocess
import sys
from pathlib import Path

import pytest

import reftorch

# Makes objects of every class of the extension in every way that does not call __init__, and uses each of them. A crash
# ends the process.
EVERY_CLASS = r"""
import copy, os, pickle, types, warnings
import reftorch as torch

warnings.simplefilter("ignore")
os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # some methods print
classes = {}


def collect(module, depth=0):
    for value in vars(module).values():
        if isinstance(value, types.ModuleType) and depth < 3:
            collect(value, depth + 1)
        found = value if isinstance(value, type) else type(value)
        for cls in (*found.__mro__, type(found)):
            if str(cls.__module__).startswith(("reftorch", "pybind11", "<")):  # "<" of a descriptor: an op's class
                classes[cls] = None


def attempt(function, *args):
    try:
        return function(*args)
    except Exception:
        return None


def made_by_new(cls):
    yield attempt(cls.__new__, cls)
    yield attempt(object.__new__, cls)
    yield attempt(lambda: type("Sub", (cls,), {"__init__": lambda self, *args: None})())
    yield attempt(lambda: cls.__new__(type("Sub", (cls,), {})))
    yield attempt(lambda: type(cls)("Other", (), {})())


ARGUMENTS = ((), (None,), (0,), (None, None, None), ("x",), (torch.ones(2),), (print, print))
OTHERS = (repr, str, hash, bool, len, iter, int, float, copy.copy, copy.deepcopy, lambda o: o == o, lambda o: o[0],
          lambda o: torch.rand(2, generator=o), lambda o: torch.ones(2, dtype=o), lambda o: torch.ones(2, device=o))


def use(o):
    for name in dir(o):
        # A store that was made by __init__ would wait five minutes for each key.
        member = None if name in ("__class__", "__subclasshook__", "__init__") else attempt(getattr, o, name)
        if callable(member):
            for args in (*ARGUMENTS, (o,)):
                attempt(member, *args)
        else:
            attempt(setattr, o, name, None)
    for function in OTHERS:
        attempt(function, o)
    for protocol in range(6):
        attempt(pickle.dumps, o, protocol)


collect(torch._C)
collect(torch.cuda)
assert len(classes) > 60, len(classes)
for cls in classes:
    for o in made_by_new(cls):
        if o is not None:
            use(o)
    for name in dir(cls):  # methods without an object, or with one of another class
        member = attempt(getattr, cls, name)
        if callable(member) and name not in ("__class__", "__subclasshook__", "__init_subclass__"):
            for args in (*ARGUMENTS, (cls,)):
                attempt(member, *args)
os._exit(0)
"""


def test_no_class_crashes_without_a_value(tmp_path: Path) -> None:
    """It runs in a folder of its own, because a store in a file makes the file."""
    command = [sys.executable, "-X", "faulthandler", "-c", EVERY_CLASS]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("name", "use"),
    [
        ("Generator", lambda o: o.initial_seed()),
        ("Generator", lambda o: reftorch.rand(2, generator=o)),
        ("Event", lambda o: o.synchronize()),
        ("Event", repr),
        ("Stream", lambda o: o.stream_id),
        ("Stream", lambda o: o.__enter__()),
    ],
)
def test_an_object_without_a_value_says_so(name: str, use: object) -> None:
    cls = getattr(reftorch, name)
    with pytest.raises(TypeError, match=r"the object has no value, because its class's __init__\(\) was never called"):
        use(cls.__new__(cls))


@pytest.mark.parametrize("protocol", [0, 1])
def test_old_protocols_of_pickle_raise_an_error(protocol: int) -> None:
    for o in (reftorch.Event("cpu"), reftorch.Stream("cpu"), reftorch._C.DisableTorchFunctionSubclass()):
        with pytest.raises(TypeError, match="cannot create 'pybind11_object' instances"):
            pickle.dumps(o, protocol)


def test_a_subclass_may_have_its_own_new() -> None:
    class Seeded(reftorch.Generator):
        def __new__(cls, seed: int) -> "Seeded":
            return super().__new__(cls)

        def __init__(self, seed: int) -> None:
            super().__init__()
            self.manual_seed(seed)

    assert Seeded(5).initial_seed() == 5


def test_a_method_wants_an_object_of_its_class() -> None:
    for cls, method in ((reftorch.Event, "query"), (reftorch._C.DispatchKeySet, "raw_repr")):
        with pytest.raises(TypeError, match="incompatible function arguments"):
            getattr(cls, method)(None)
