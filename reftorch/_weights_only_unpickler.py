"""Reads a pickle from an untrusted source. Only functions that rebuild tensors and plain containers are called.

Mirrors: torch/_weights_only_unpickler.py, and ``StorageType`` of torch/serialization.py
Leaves out: sparse, quantized and nested tensors.
This file is more than 500 lines long because it has one function for each opcode.

Python's own unpickler cannot be used for an untrusted file, even if it finds only harmless classes: its opcodes set
attributes on any object on the stack, for example on a class, and call methods such as ``extend`` of any object. So
this module has its own loop over the opcodes. Each opcode checks the types of its operands, and opcodes that are not
needed for tensors and containers are errors.

Note [Bounded unpickling]
Problem: a short pickle can cause endless work without running any code of its own. With the memo, a tuple contains the
same tuple twice, which contains the same tuple twice, and so on: its hash, and its text in an error message, take time
that doubles with each level, and a hash of a million levels exhausts the stack. A long string of the memo can be copied
again and again, and ``bytearray(10**12)`` is short, too. Trick: keys are small, messages name types instead of values,
and everything that is copied was read from the file: the copies are together not longer than what was read.
"""

from __future__ import annotations

import contextlib
import functools
import os
from _codecs import encode
from _compat_pickle import IMPORT_MAPPING, NAME_MAPPING
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable
from pickle import (
    APPEND,
    APPENDS,
    BINFLOAT,
    BINGET,
    BININT,
    BININT1,
    BININT2,
    BINPERSID,
    BINPUT,
    BINUNICODE,
    BUILD,
    EMPTY_DICT,
    EMPTY_LIST,
    EMPTY_SET,
    EMPTY_TUPLE,
    GLOBAL,
    LONG1,
    LONG_BINGET,
    LONG_BINPUT,
    MARK,
    NEWFALSE,
    NEWOBJ,
    NEWTRUE,
    NONE,
    PROTO,
    REDUCE,
    SETITEM,
    SETITEMS,
    SHORT_BINSTRING,
    STOP,
    TUPLE,
    TUPLE1,
    TUPLE2,
    TUPLE3,
    UnpicklingError,
    decode_long,
)
from struct import error as StructError
from struct import unpack
from types import BuiltinFunctionType, FunctionType
from typing import Any

from reftorch._places import find, in_torch
from reftorch._utils import set_from_file
from reftorch._warnings import warn
from reftorch.storage import _get_dtype_from_pickle_storage_type

__all__ = [
    "StorageType",
    "Unpickler",
    "add_safe_globals",
    "clear_safe_globals",
    "find_global",
    "get_globals_in_pkl",
    "get_safe_globals",
    "safe_globals",
]

# Names from these modules are refused even if the user has declared them safe.
_BLOCKED_MODULES = ("sys", "os", "posix", "nt")
_SAFE_TORCH = {
    "torch": (
        "Size Tensor device float64 float32 float16 bfloat16 int64 int32 int16 int8 uint8 bool strided "
        "DoubleStorage FloatStorage HalfStorage BFloat16Storage LongStorage IntStorage ShortStorage CharStorage "
        "ByteStorage BoolStorage"
    ),
    "torch.storage": "UntypedStorage TypedStorage",
    "torch._utils": (
        "_rebuild_tensor _rebuild_tensor_v2 _rebuild_parameter _rebuild_parameter_with_state "
        "_rebuild_meta_tensor_no_storage"
    ),
    "torch._tensor": "_rebuild_from_type_v2",
    "torch.nn.parameter": "Parameter",
}


class StorageType:
    """Stands for a class such as ``torch.FloatStorage`` while a file is read.

    A file needs only the dtype of the class. With the class itself, a file could make storages of any size.
    """

    def __init__(self, name: str) -> None:
        self._dtype = _get_dtype_from_pickle_storage_type(name)

    @property
    def dtype(self) -> Any:
        """The type of the elements."""
        return self._dtype

    def __str__(self) -> str:
        return f"StorageType(dtype={self.dtype})"


@functools.lru_cache(maxsize=1)
def _get_allowed_globals() -> dict[str, Any]:
    """Return the objects that every file may name, by PyTorch's full names."""
    allowed: dict[str, Any] = {
        "collections.OrderedDict": OrderedDict,
        "collections.Counter": Counter,
        "_codecs.encode": encode,  # bytes
        "builtins.bytearray": bytearray,
        "builtins.set": set,
        "builtins.complex": complex,
    }
    for module, names in _SAFE_TORCH.items():
        for name in names.split():
            found = find_global(module, name)
            legacy = module == "torch" and name.endswith("Storage")
            allowed[f"{module}.{name}"] = StorageType(name) if legacy else found
    return allowed


_user_globals: list[Any] = []  # the arguments of add_safe_globals


def add_safe_globals(safe_globals: list[Any]) -> None:
    """Let :func:`load` with ``weights_only=True`` find these classes and functions.

    Args:
        safe_globals: classes and functions. A pair (class or function, name) gives the full name that the file uses.

    Example:
        >>> import decimal
        >>> torch.serialization.add_safe_globals([decimal.Decimal])
        >>> torch.serialization.get_safe_globals()
        [<class 'decimal.Decimal'>]
        >>> torch.serialization.clear_safe_globals()

    Mirrors torch/serialization.py, ``add_safe_globals``.
    """
    _user_globals.extend(safe_globals)


def get_safe_globals() -> list[Any]:
    """Return the classes and functions that :func:`add_safe_globals` was given."""
    return list(_user_globals)


def clear_safe_globals() -> None:
    """Forget the classes and functions that :func:`add_safe_globals` was given."""
    _user_globals.clear()


class safe_globals(contextlib.AbstractContextManager):
    """A context in which :func:`load` with ``weights_only=True`` finds these classes and functions.

    Example:
        >>> import fractions, io
        >>> file = io.BytesIO()
        >>> torch.save(fractions.Fraction(1, 2), file)
        >>> with torch.serialization.safe_globals([fractions.Fraction]):
        ...     torch.load(io.BytesIO(file.getvalue()))
        Fraction(1, 2)

    Mirrors torch/serialization.py, ``safe_globals``.
    """

    def __init__(self, safe_globals: list[Any]) -> None:
        self.safe_globals = safe_globals

    def __enter__(self) -> None:
        self.before = get_safe_globals()
        add_safe_globals(self.safe_globals)

    def __exit__(self, *args: Any) -> None:
        _user_globals[:] = self.before


def _get_user_allowed_globals() -> dict[str, Any]:
    """Return the user's classes and functions by their full names, or by the name in a pair."""
    allowed = {}
    for entry in _user_globals:
        if not isinstance(entry, tuple):
            allowed[".".join(in_torch(entry.__module__, entry.__qualname__))] = entry
            continue
        if len(entry) != 2:
            raise ValueError(
                f"Expected tuple of length 2 (global, str of callable full path), but got tuple of length: {len(entry)}"
            )
        if type(entry[1]) is not str:
            raise TypeError(f"Expected second item in tuple to be str of callable full path, but got: {type(entry[1])}")
        allowed[entry[1]] = entry[0]
    return allowed


def _is_allowed(obj: Any) -> bool:
    """Whether ``obj`` is one of the classes and functions that a file may name.

    The comparison is by identity: ``==`` could be an operator of an object that the file has made.
    """
    allowed = (*_get_allowed_globals().values(), *_get_user_allowed_globals().values())
    return any(obj is known for known in allowed)


def find_global(module: str, name: str) -> Any:
    """Return the object for a name in a file. PyTorch's names are looked up in this library."""
    return find("builtins" if module == "__builtin__" else module, name)  # protocols up to 2 write Python 2's name


def _read_global_instruction(readline: Callable[[], bytes]) -> tuple[str, str]:
    """Read the module and the name after a GLOBAL, and convert names of Python 2, which protocol 2 writes."""
    module, name = readline()[:-1].decode("utf-8"), readline()[:-1].decode("utf-8")
    if (module, name) in NAME_MAPPING:
        return NAME_MAPPING[(module, name)]
    return IMPORT_MAPPING.get(module, module), name


# The number of bytes that follow an opcode, for opcodes for which the number is fixed.
_BYTES_AFTER = dict.fromkeys(
    NEWOBJ + REDUCE + BUILD + APPEND + APPENDS + SETITEM + SETITEMS + MARK + TUPLE + TUPLE1 + TUPLE2 + TUPLE3, 0
)
_BYTES_AFTER |= dict.fromkeys(NONE + NEWFALSE + NEWTRUE + EMPTY_TUPLE + EMPTY_LIST + EMPTY_DICT + EMPTY_SET, 0)
_BYTES_AFTER |= dict.fromkeys(BINPERSID, 0) | dict.fromkeys(BININT1 + BINGET + BINPUT + PROTO, 1)
_BYTES_AFTER |= dict.fromkeys(BININT2, 2) | dict.fromkeys(BININT + LONG_BINGET + LONG_BINPUT, 4)
_BYTES_AFTER |= dict.fromkeys(BINFLOAT, 8)


def get_globals_in_pkl(file: Any) -> set[str]:
    """Return the full names in a pickle. The opcodes are only read; none of them is run."""
    found: set[str] = set()
    while True:
        key = file.read(1)
        if not key:
            raise EOFError
        if key == STOP:
            return found
        if key == GLOBAL:
            module, name = _read_global_instruction(file.readline)
            found.add(".".join(in_torch(module, name)))
        elif key == BINUNICODE:
            file.read(unpack("<I", file.read(4))[0])
        elif key in (SHORT_BINSTRING, LONG1):
            file.read(file.read(1)[0])
        elif key[0] in _BYTES_AFTER:
            file.read(_BYTES_AFTER[key[0]])
        else:
            raise UnpicklingError(f"Unsupported operand {key[0]}")


# Errors of an opcode that does not find the operands that it needs.
_DAMAGE = (IndexError, KeyError, TypeError, ValueError, AttributeError, OverflowError, AssertionError, StructError)
_PIECE = 1 << 20  # bytes that are read at once


def _is_of_the_user(error: BaseException) -> bool:
    """Return whether code of the user raised the error, such as a ``map_location`` or an allowed class."""
    ours, standard_library = os.path.dirname(__file__), os.path.dirname(os.__file__)
    folders = (ours + os.sep, standard_library + os.sep)
    traceback, files = error.__traceback__, []
    while traceback is not None:
        files.append(traceback.tb_frame.f_code.co_filename)
        traceback = traceback.tb_next
    installed = f"{os.sep}site-packages{os.sep}"
    return any(installed in file or not file.startswith((*folders, "<frozen")) for file in files)


class Unpickler:
    """The loop over the opcodes of one pickle.

    Args:
        file: the bytes, as an object with ``read`` and ``readline``.
        encoding: how strings of Python 2 are decoded; ``"bytes"`` leaves them as bytes.
    """

    def __init__(self, file: Any, *, encoding: str = "bytes") -> None:
        self.file, self.encoding = file, encoding
        self.position = 0  # the number of bytes that were read
        self.copied = 0  # see Note [Bounded unpickling]
        self.memo: dict[int, Any] = {}
        self.metastack: list[list[Any]] = []  # the stacks below each open MARK
        self.stack: list[Any] = []

    def persistent_load(self, pid: Any) -> Any:
        """Return the storage of a persistent id. The caller, who knows the file, replaces this function."""
        raise UnpicklingError("unsupported persistent id encountered")

    def load(self) -> Any:
        """Read the pickle and return its object.

        Raises:
            UnpicklingError: an opcode is unknown, or an operand has a type that the opcode does not allow.
            EOFError: the pickle ends before its STOP.
        """
        key = b""
        try:
            while (key := self.read(1)) != STOP:
                step = _STEPS.get(key)
                if step is None:
                    raise UnpicklingError(f"Unsupported operand {key[0]}")
                step(self)
            return self.stack.pop()
        except _DAMAGE as error:
            if _is_of_the_user(error):
                raise
            import pickletools  # here, because `import reftorch` would pay for it

            name = next((opcode.name for opcode in pickletools.opcodes if opcode.code.encode("latin1") == key), "")
            raise UnpicklingError(
                f"the opcode {name} before byte {self.position} of the pickle failed. The file is damaged, or was made "
                f"by something else than torch.save. {type(error).__name__}: {error!s:.200}"
            ) from error

    def read(self, count: int) -> bytes:
        """Return the next ``count`` bytes. Memory is used only for bytes that the file has.

        Raises:
            EOFError: the file ends before.
        """
        data = self.file.read(min(count, _PIECE))
        while len(data) < count:
            more = self.file.read(min(count - len(data), _PIECE))
            if not more:
                raise EOFError("Ran out of input: the file ends within a pickle")
            data += more
        self.position += count
        return data

    def readline(self) -> bytes:
        """Return the bytes up to the next end of a line."""
        line = self.file.readline()
        self.position += len(line)
        return line

    def pop_mark(self) -> list[Any]:
        """Return the objects that were pushed since the last MARK."""
        items, self.stack = self.stack, self.metastack.pop()
        return items

    # ---- opcodes that find, call or change something

    def load_global(self) -> None:
        """Push an allowed class or function. The name from the file is never searched for in a module."""
        module, name = _read_global_instruction(self.readline)
        full_path = f"{module}.{name}"
        if module in _BLOCKED_MODULES:
            raise UnpicklingError(f"Trying to load unsupported GLOBAL {full_path} whose module {module} is blocked.")
        there = ".".join(in_torch(module, name))
        user = _get_user_allowed_globals()
        for known, path in ((_get_allowed_globals(), there), (user, full_path), (user, there)):
            if path in known:
                self.stack.append(known[path])
                return
        if there.startswith("torch."):
            try:
                find_global(*in_torch(module, name))
            except (ImportError, AttributeError):
                raise UnpicklingError(f"the file contains {there} of PyTorch, which this library lacks") from None
        full_path = full_path.removeprefix("builtins.")
        raise UnpicklingError(
            f"Unsupported global: GLOBAL {full_path} was not an allowed global by default. Please use "
            f"`torch.serialization.add_safe_globals([{full_path}])` or the "
            f"`torch.serialization.safe_globals([{full_path}])` context manager to allowlist this global if you trust "
            "this class/function."
        )

    def load_newobj(self) -> None:
        """Push a new instance of an allowed class. ``__init__`` is not called, except for Parameter."""
        args, cls = self.stack.pop(), self.stack.pop()
        if any(cls is named for named in _not_called()) and args != ():
            raise UnpicklingError(f"Expected no arguments for a new {cls.__name__}")
        if cls is _get_allowed_globals()["torch.nn.parameter.Parameter"]:
            self.stack.append(cls(*args))
        elif _is_allowed(cls):
            self.stack.append(cls.__new__(cls, *args))
        else:
            raise UnpicklingError(
                "Can only create new object for nn.Parameter or classes allowlisted via `add_safe_globals` but got "
                f"{_described(cls)}"
            )

    def load_reduce(self) -> None:
        """Call an allowed function."""
        args, func = self.stack.pop(), self.stack[-1]
        if not _is_allowed(func) or any(func is named for named in _not_called()):
            raise UnpicklingError(f"Trying to call reduce for unrecognized function {_described(func)}")
        if func in (encode, bytearray, set, Counter, OrderedDict):
            self.check_copies(func, args)
        self.stack[-1] = func(*args)

    def check_copies(self, func: Any, args: Any) -> None:
        """Raise if a call of a function that copies its arguments would take endless memory or time."""
        sound = func is not encode or args[1:] == ("latin1",)
        if not sound or any(type(arg) not in (str, bytes, list, tuple, dict) for arg in args):
            raise UnpicklingError(f"Expected the arguments of {func.__name__} that pickle writes")
        self.copied += sum(map(len, args))
        if self.copied > self.position:
            raise UnpicklingError("The pickle copies more than it contains")
        if func in (set, Counter):
            _check_keys(args[0] if args else ())
        elif func is OrderedDict:
            _check_keys(pair[0] for pair in (args[0] if args else ()))

    def load_build(self) -> None:
        """Set the state of an instance of an allowed class. Classes are refused: no class is such an instance."""
        state, instance = self.stack.pop(), self.stack[-1]
        allowed = _get_allowed_globals()
        if type(instance) is allowed["torch.Tensor"]:
            set_from_file(instance, *state)
        elif type(instance) is allowed["torch.nn.parameter.Parameter"]:
            instance.__setstate__(state)
        elif type(instance) is OrderedDict:
            if type(state) is not dict:
                raise UnpicklingError(f"Expected a dict as the state of an OrderedDict, but got {type(state)}")
            instance.__dict__.update(state)
        elif not _is_allowed(type(instance)):
            raise UnpicklingError(
                "Can only build Tensor, Parameter, OrderedDict or types allowlisted via `add_safe_globals`, but got "
                f"{type(instance)}"
            )
        elif hasattr(instance, "__setstate__"):
            instance.__setstate__(state)
        else:
            slots = None
            if isinstance(state, tuple) and len(state) == 2:
                state, slots = state
            if state:
                instance.__dict__.update(state)
            for name, value in (slots or {}).items():
                setattr(instance, name, value)

    def load_append(self) -> None:
        """Append the top of the stack to the list below."""
        item = self.stack.pop()
        if type(self.stack[-1]) is not list:
            raise UnpicklingError(f"Can only append to lists, but got {type(self.stack[-1])}")
        self.stack[-1].append(item)

    def load_appends(self) -> None:
        """Append the objects that were pushed since the MARK to the list below them."""
        items = self.pop_mark()
        if type(self.stack[-1]) is not list:
            raise UnpicklingError(f"Can only extend lists, but got {type(self.stack[-1])}")
        self.stack[-1].extend(items)

    def check_set_item_target(self, opcode: str) -> None:
        """Raise unless the top of the stack is a dict and not of a class with its own ``__setitem__``."""
        if type(self.stack[-1]) not in (dict, OrderedDict, Counter):
            raise UnpicklingError(
                f"Can only {opcode} for dict, collections.OrderedDict, collections.Counter, but got "
                f"{type(self.stack[-1])}"
            )

    def load_setitem(self) -> None:
        """Set one item of a dict."""
        value, key = self.stack.pop(), self.stack.pop()
        self.check_set_item_target("SETITEM")
        _check_keys([key])
        self.stack[-1][key] = value

    def load_setitems(self) -> None:
        """Set items of a dict. Their keys and values were pushed since the MARK."""
        items = self.pop_mark()
        self.check_set_item_target("SETITEMS")
        _check_keys(items[::2])
        for i in range(0, len(items), 2):
            self.stack[-1][items[i]] = items[i + 1]

    def load_binpersid(self) -> None:
        """Replace a persistent id by the storage that it names."""
        pid = self.stack.pop()
        if type(pid) is not tuple and type(pid) is not int:
            raise UnpicklingError(f"persistent_load id must be tuple or int, but got {type(pid)}")
        if type(pid) is tuple and len(pid) > 0 and _maybe_decode_ascii(pid[0]) != "storage":
            raise UnpicklingError(f"Only persistent_load of storage is allowed, but got {type(pid[0])}")
        self.stack.append(self.persistent_load(pid))

    # ---- the stack and the memo

    def load_mark(self) -> None:
        """Start a new stack on top of the present one."""
        self.metastack.append(self.stack)
        self.stack = []

    def load_tuple(self) -> None:
        """Push a tuple of the objects that were pushed since the MARK."""
        items = self.pop_mark()
        self.stack.append(tuple(items))

    def load_last(self, n: int) -> None:
        """Replace the last ``n`` objects by a tuple of them."""
        self.stack[-n:] = [tuple(self.stack[-k] for k in range(n, 0, -1))]

    def load_get(self, index: int) -> None:
        """Push an object of the memo."""
        self.stack.append(self.memo[index])

    def load_put(self, index: int) -> None:
        """Store the top of the stack in the memo."""
        self.memo[index] = self.stack[-1]

    def load_proto(self) -> None:
        """Read the version of the pickle format, and warn if it is not 2."""
        proto = self.read(1)[0]
        if proto != 2:
            warn(
                f"Detected pickle protocol {proto} in the checkpoint, which was not the default pickle protocol used "
                "by `torch.load` (2). The weights_only Unpickler might not support all instructions implemented by "
                "this protocol, please file an issue for adding support if you encounter this.",
            )

    # ---- plain values

    def number(self, form: str, size: int) -> Any:
        """Read ``size`` bytes as a number."""
        return unpack(form, self.read(size))[0]

    def load_short_binstring(self) -> None:
        """Push a string of Python 2."""
        data = self.read(self.read(1)[0])
        self.stack.append(data if self.encoding == "bytes" else data.decode(self.encoding, "strict"))


def _described(obj: Any) -> str:
    """Return text for an object of a file: a class or a function itself, or the type of another object."""
    return f"{obj}" if isinstance(obj, (type, FunctionType, BuiltinFunctionType)) else f"of {type(obj)}"


@functools.cache
def _not_called() -> tuple[Any, ...]:
    """Return the classes that a pickle only names. If they are called, they allocate memory of any size."""
    allowed = _get_allowed_globals()
    return tuple(allowed[f"torch.{name}"] for name in ("Tensor", "storage.UntypedStorage", "storage.TypedStorage"))


def _check_keys(keys: Iterable[Any]) -> None:
    """Raise if the hash of a key takes long: a tuple of tuples of tuples. See Note [Bounded unpickling]."""
    for key in keys:
        items, work = 0, [key] if type(key) is tuple else []
        while work:
            inner = work.pop()
            items += len(inner)
            if items > 1000:
                raise UnpicklingError("Expected keys with at most 1000 items")
            work.extend(item for item in inner if type(item) is tuple)


def _maybe_decode_ascii(text: Any) -> Any:
    return text.decode("ascii") if isinstance(text, bytes) else text


_STEPS: dict[bytes, Callable[[Unpickler], None]] = {
    GLOBAL: Unpickler.load_global,
    NEWOBJ: Unpickler.load_newobj,
    REDUCE: Unpickler.load_reduce,
    BUILD: Unpickler.load_build,
    APPEND: Unpickler.load_append,
    APPENDS: Unpickler.load_appends,
    SETITEM: Unpickler.load_setitem,
    SETITEMS: Unpickler.load_setitems,
    BINPERSID: Unpickler.load_binpersid,
    MARK: Unpickler.load_mark,
    TUPLE: Unpickler.load_tuple,
    TUPLE1: lambda self: self.load_last(1),
    TUPLE2: lambda self: self.load_last(2),
    TUPLE3: lambda self: self.load_last(3),
    BINGET: lambda self: self.load_get(self.read(1)[0]),
    LONG_BINGET: lambda self: self.load_get(self.number("<I", 4)),
    BINPUT: lambda self: self.load_put(self.read(1)[0]),
    LONG_BINPUT: lambda self: self.load_put(self.number("<I", 4)),
    PROTO: Unpickler.load_proto,
    NONE: lambda self: self.stack.append(None),
    NEWFALSE: lambda self: self.stack.append(False),
    NEWTRUE: lambda self: self.stack.append(True),
    EMPTY_TUPLE: lambda self: self.stack.append(()),
    EMPTY_LIST: lambda self: self.stack.append([]),
    EMPTY_DICT: lambda self: self.stack.append({}),
    EMPTY_SET: lambda self: self.stack.append(set()),
    BININT: lambda self: self.stack.append(self.number("<i", 4)),
    BININT1: lambda self: self.stack.append(self.read(1)[0]),
    BININT2: lambda self: self.stack.append(self.number("<H", 2)),
    BINFLOAT: lambda self: self.stack.append(self.number(">d", 8)),
    BINUNICODE: lambda self: self.stack.append(str(self.read(self.number("<I", 4)), "utf-8", "surrogatepass")),
    SHORT_BINSTRING: Unpickler.load_short_binstring,
    LONG1: lambda self: self.stack.append(decode_long(self.read(self.read(1)[0]))),
}
