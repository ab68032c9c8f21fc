"""A library, or anything that came from one, behind a wall that notes what is learned of it.

Mirrors: nothing in PyTorch: it has no other library to be compared with.

``watch(library, log)`` stands for the library. What comes out of it is watched, too, as long as it is one of the
library's objects: a function, a class, a tensor, a module. What is plain (a number, a text, a shape, an array of numpy)
comes out as it is, and is noted, and so is an error. On the way in the wall is taken off again, inside lists as well. A
function of the test's own that the library calls meets watched objects, as it would without the library in between.
"""

from __future__ import annotations

import copy
import functools
import types
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from tests.answers.fingerprint import TOLERANCE, Log

_LIBRARIES = ("torch", "reftorch")
_PLAIN = (
    bool,
    int,
    float,
    complex,
    str,
    bytes,
    bytearray,
    memoryview,
    type(None),
    np.ndarray,
    np.generic,
    BaseException,
)
_PLAIN_NAMES = ("dtype", "layout", "memory_format", "device", "Size", "qscheme", "Signature", "PyCapsule", "code")
# Places in memory and numbers of objects and threads, which are others in every process, or on every machine.
_CHANCE = ("data_ptr", "untyped_storage", "storage", "get_device_name", "thread_id", "get_num_threads")
_DUNDERS = """
    abs add and bool call ceil complex contains delitem divmod enter eq exit float floor floordiv ge getitem gt iadd
    iand ifloordiv imatmul imul index int invert ior ipow irshift isub iter itruediv ixor le len lshift lt matmul mod
    mul ne neg next or pos pow radd rand rdivmod repr reversed rfloordiv rlshift rmatmul rmod rmul ror round rpow
    rrshift rshift rsub rtruediv rxor setitem str sub truediv trunc xor array format
""".split()  # noqa: SIM905


class _ClassOfWalls(type):
    """What a test asks of ``type(wall)`` is answered by the class behind."""

    def __getattr__(cls, name: str) -> Any:
        if name == "_behind":
            raise AttributeError(name)
        return getattr(cls._behind, name)


class Watched(metaclass=_ClassOfWalls):
    """The wall; each class of objects has a class of walls, with the same name and the same special methods."""

    __slots__ = ("__weakref__", "_it", "_path", "_tolerance", "_watcher")

    def __getattribute__(self, name: str) -> Any:
        if name in ("_it", "_path", "_tolerance", "_watcher"):
            return object.__getattribute__(self, name)
        it = object.__getattribute__(self, "_it")
        if name == "__class__":
            return type(it)
        if name in ("__mro_entries__", "__deepcopy__", "__reduce_ex__"):
            return object.__getattribute__(self, name)
        return object.__getattribute__(self, "_watcher").attribute(self, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._it, name, self._watcher.inside(value))

    def __delattr__(self, name: str) -> None:
        delattr(self._it, name)

    def __dir__(self) -> list[str]:
        return dir(self._it)

    def __hash__(self) -> int:
        return hash(self._it)

    def __instancecheck__(self, instance: Any) -> bool:
        return isinstance(bare(instance), self._it)

    def __subclasscheck__(self, subclass: Any) -> bool:
        return issubclass(bare(subclass), self._it)

    def __mro_entries__(self, bases: Any) -> tuple[Any, ...]:
        return (self._watcher.base(self._it),)

    def __deepcopy__(self, memo: Any) -> Any:
        return self._watcher.outside(copy.deepcopy(self._it), self._path + "'", self._tolerance)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return self._it.__reduce_ex__(protocol)


def bare(value: Any) -> Any:
    return object.__getattribute__(value, "_it") if issubclass(type(value), Watched) else value


def _special(name: str) -> Callable[..., Any]:
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        return self._watcher.special(self, name, args, kwargs)

    method.__name__ = name
    return method


@functools.cache
def _class_of_walls(cls: type) -> type:
    names = [f"__{name}__" for name in _DUNDERS if hasattr(cls, f"__{name}__")]
    body: dict[str, Any] = {name: _special(name) for name in names}
    body |= {"__slots__": (), "__module__": cls.__module__, "__hash__": Watched.__hash__, "_behind": cls}
    return type(cls.__name__, (Watched,), body)


class Watcher:
    """Puts the wall up and takes it off; one for each test."""

    def __init__(self, log: Log) -> None:
        self.log = log
        self.walls: weakref.WeakValueDictionary[int, Watched] = weakref.WeakValueDictionary()
        self.bases: dict[type, type] = {}

    # --- out ----------------------------------------------------------------------------------------------------------

    def outside(self, value: Any, path: str, tolerance: float, note: bool = True) -> Any:
        """What a test sees of a value that a library gave."""
        if type(value) in (tuple, list):
            if _is_plain(value):
                return self._noted(value, path, tolerance, note)
            return type(value)(self.outside(v, f"{path}[{i}]", tolerance, note) for i, v in enumerate(value))
        if _is_plain(value):
            return self._noted(value, path, tolerance, note)
        if isinstance(value, Watched) or value is NotImplemented or value is Ellipsis:
            return value
        if isinstance(value, type) and issubclass(value, BaseException):
            return value
        if isinstance(value, types.ModuleType) and not value.__name__.startswith(_LIBRARIES):
            return value
        return self.wall(value, path, tolerance)

    def wall(self, value: Any, path: str, tolerance: float) -> Any:
        known = self.walls.get(id(value))
        if known is not None and known._it is value:
            return known
        wall = object.__new__(_class_of_walls(type(value)))
        dtype = str(getattr(value, "dtype", "")) if not isinstance(value, (type, types.ModuleType)) else ""
        object.__setattr__(wall, "_it", value)
        object.__setattr__(wall, "_path", path)
        object.__setattr__(wall, "_watcher", self)
        object.__setattr__(wall, "_tolerance", max(tolerance, TOLERANCE.get(dtype.removeprefix("torch."), 0)))
        self.walls[id(value)] = wall
        return wall

    def _noted(self, value: Any, path: str, tolerance: float, note: bool) -> Any:
        if note:
            self.log.answer(path, value, tolerance or TOLERANCE["float32"])
        return value

    # --- in -----------------------------------------------------------------------------------------------------------

    def inside(self, value: Any) -> Any:
        """What the library sees of a value that a test gave."""
        kind = type(value)
        if issubclass(kind, Watched):
            return object.__getattribute__(value, "_it")
        if kind in (tuple, list, set):
            return kind(self.inside(v) for v in value) if any(_holds_a_wall(v) for v in value) else value
        if issubclass(kind, dict):
            if not any(map(_holds_a_wall, value.values())):
                return value
            bare_items = copy.copy(value)  # of its own class, with what a state_dict says about itself
            for key, item in value.items():
                bare_items[key] = self.inside(item)
            return bare_items
        if kind is slice:
            return slice(self.inside(value.start), self.inside(value.stop), self.inside(value.step))
        if kind in (types.FunctionType, types.MethodType, functools.partial):
            return self._callback(value)
        if kind in (types.GeneratorType, map, filter, zip):
            return (self.inside(v) for v in value)
        return value

    def _callback(self, function: Any) -> Any:
        if getattr(function, "__module__", "").split(".")[0] in _LIBRARIES:
            return function

        def called(*args: Any, **kwargs: Any) -> Any:
            seen = [self.outside(a, "argument", 0, note=False) for a in args]
            return self.inside(function(*seen, **{k: self.outside(a, k, 0, note=False) for k, a in kwargs.items()}))

        if isinstance(function, functools.partial):
            return called
        return functools.wraps(function)(called)

    # --- classes of the test's own ------------------------------------------------------------------------------------

    def base(self, cls: type) -> type:
        """What a class of the test's own derives from, in the place of ``cls``: its methods, which the library calls,
        return what the library knows, and the test sees its objects through the wall."""
        if cls not in self.bases:
            self.bases[cls] = self._new_base(cls)
        return self.bases[cls]

    def _new_base(self, cls: type) -> type:
        watcher, meta = self, type(cls)

        class Meta(meta):  # type: ignore[misc, valid-type]
            def __call__(self, *args: Any, **kwargs: Any) -> Any:
                made = super().__call__(*map(watcher.inside, args), **{k: watcher.inside(v) for k, v in kwargs.items()})
                return watcher.outside(made, self.__name__, 0, note=False)

        def init_subclass(subclass: Any, **kwargs: Any) -> None:
            super(base, subclass).__init_subclass__(**kwargs)  # type: ignore[misc]
            for name, value in list(vars(subclass).items()):
                if isinstance(value, staticmethod):  # of autograd's Function: all its arguments are the library's
                    type.__setattr__(subclass, name, staticmethod(watcher._callback(value.__func__)))
                elif isinstance(value, classmethod):
                    type.__setattr__(subclass, name, classmethod(watcher._method(value.__func__)))
                elif isinstance(value, types.FunctionType) and name not in ("__new__", "__torch_function__"):
                    type.__setattr__(subclass, name, watcher._method(value))

        apply = getattr(cls, "apply", None)
        if isinstance(apply, types.MethodType):  # of autograd's Function, which is called by its class
            Meta.apply = property(lambda self: watcher.wall(apply.__func__.__get__(self), "apply", 0))
        body = {"__init_subclass__": classmethod(init_subclass), "__module__": cls.__module__, "__doc__": cls.__doc__}
        base = type.__new__(Meta, cls.__name__, (cls,), body)
        return base

    def _method(self, function: Any) -> Any:
        @functools.wraps(function)
        def called(*args: Any, **kwargs: Any) -> Any:
            return self.inside(function(*args, **kwargs))

        return called

    # --- what is asked ------------------------------------------------------------------------------------------------

    def attribute(self, wall: Watched, name: str) -> Any:
        value = getattr(wall._it, name)
        note = not name.startswith("_") and name not in _CHANCE
        path = f"{wall._path}.{name}"
        if type(value) in (list, dict):  # it may be changed in its place
            return self.wall(value, path, wall._tolerance)
        return self.outside(value, path, wall._tolerance, note)

    def special(self, wall: Watched, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        it = wall._it
        path = wall._path if name == "__call__" else f"{wall._path}.{name}"
        tolerance = max([wall._tolerance, *map(_tolerance_of, args), *map(_tolerance_of, kwargs.values())])
        given = [self.inside(a) for a in args]
        options = {key: self.inside(a) for key, a in kwargs.items()}
        asked = name == "__call__" and getattr(it, "__name__", "") in _CHANCE
        private = name == "__call__" and getattr(it, "__name__", "").startswith("_")
        try:
            if name == "__call__":
                value = it(*given, **options)
            else:
                value = getattr(type(it), name)(it, *given, **options)
        except (StopIteration, AttributeError):
            raise
        except Exception as error:
            if not private:
                self.log.error(path, error)
            raise
        return self.outside(value, path, tolerance, not asked and not private)


def _tolerance_of(value: Any) -> float:
    if type(value) in (list, tuple):
        return max(map(_tolerance_of, value), default=0)
    return value._tolerance if issubclass(type(value), Watched) else 0


def _holds_a_wall(value: Any) -> bool:
    kind = type(value)
    if kind in (tuple, list, set):
        return any(map(_holds_a_wall, value))
    if issubclass(kind, dict):
        return any(map(_holds_a_wall, value.values()))
    return issubclass(kind, Watched) or kind in (types.FunctionType, types.MethodType, functools.partial, slice)


def _is_plain(value: Any) -> bool:
    if type(value) in (tuple, list):
        return all(map(_is_plain, value))
    return not issubclass(type(value), Watched) and (
        isinstance(value, _PLAIN) or type(value).__name__ in _PLAIN_NAMES or not _of_a_library(value)
    )


def _of_a_library(value: Any) -> bool:
    """Whether it is one of the library's own objects, or one that hands them out."""
    if isinstance(value, (type, types.FunctionType, types.BuiltinFunctionType, types.ModuleType)):
        module = value.__name__ if isinstance(value, types.ModuleType) else getattr(value, "__module__", "") or ""
        return module.startswith(_LIBRARIES) or isinstance(value, (types.BuiltinFunctionType, types.FunctionType))
    return True


def asked(library: Any, program: Callable[[Any], Any]) -> Any:
    """What ``program(library)`` gives, noted as a whole, while the program itself meets no wall.

    This is the simple way for a test that runs one program with each library and compares two plain values: numbers,
    texts, and lists and dicts of them. The program may then give its objects to anything.
    """
    if not issubclass(type(library), Watched):
        return program(library)
    log, name = library._watcher.log, getattr(program, "__name__", "program")
    try:
        value = program(bare(library))
    except Exception as error:
        log.error(name, error)
        raise
    log.answer(name, value, TOLERANCE["float32"])
    return value


def note(library: Any, value: Callable[[], Any], tolerance: float = TOLERANCE["float32"]) -> None:
    """Note a plain value of the test's own making, if notes are taken; the test met no wall while it made the value.

    This is the way for a test that compares other things than it asks for: only that goes into the notes which has to
    be the same in both libraries.
    """
    if issubclass(type(library), Watched):
        library._watcher.log.answer("what is compared", value(), tolerance)


def watch(library: Any, log: Log) -> Any:
    """``library``, as a test is to see it whose answers ``log`` is to hold."""
    return Watcher(log).wall(library, "torch", 0)
