"""Launches kernels that were compiled at run time.

Mirrors: torch/cuda/_utils.py
Leaves out: the driver's modules. ``_kernel_compiler.py`` makes libraries that know the types of a kernel's parameters,
so a launch checks its arguments.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

from reftorch import _C
from reftorch.cuda import _kernel_compiler
from reftorch.cuda._device import get_device_properties
from reftorch.cuda._kernel_compiler import CompiledKernels
from reftorch.cuda.streams import current_stream

# The types of numbers by the code that cpp/c10/cuda/CUDAKernelEntry.h gives them: the C type for a parameter, the name
# in messages.
_NUMBERS: dict[str, tuple[Any, str]] = {
    "b1": (ctypes.c_bool, "bool"),
    "i1": (ctypes.c_int8, "signed char"),
    "i2": (ctypes.c_int16, "short"),
    "i4": (ctypes.c_int32, "int"),
    "i8": (ctypes.c_int64, "long long"),
    "u1": (ctypes.c_uint8, "unsigned char"),
    "u2": (ctypes.c_uint16, "unsigned short"),
    "u4": (ctypes.c_uint32, "unsigned"),
    "u8": (ctypes.c_uint64, "unsigned long long"),
    "f4": (ctypes.c_float, "float"),
    "f8": (ctypes.c_double, "double"),
}
_LIMIT = 48 * 1024  # bytes of dynamic shared memory that a kernel may have without set_shared_memory_config


class _CudaKernel:
    """A kernel that was compiled at run time, and that Python calls.

    Mirrors torch/cuda/_utils.py, ``_CudaKernel``, which passes Python's integers as ``int`` and its floats as
    ``double``. Here, the kernel's own parameters decide, and an argument that does not fit raises an error.
    """

    def __init__(self, func: str, module: CompiledKernels) -> None:
        self.func, self.module = func, module
        self._max_shared_mem_bytes = 0
        self._number = module.names.index(func)
        codes = getattr(module.loaded, f"kernel_codes_{self._number}")
        codes.restype = ctypes.c_char_p
        self._codes = codes().decode().split()
        self._parameters = module.parameters(func)
        self._error = getattr(module.loaded, f"kernel_error_{self._number}")
        self._error.restype = ctypes.c_char_p

    def __repr__(self) -> str:
        return f"<CUDA kernel {self.func}({', '.join(self._parameters)})>"

    def __call__(
        self,
        grid: int | Sequence[int] = (1, 1, 1),
        block: int | Sequence[int] = (1, 1, 1),
        args: Sequence[Any] | None = None,
        shared_mem: int = 0,
        stream: Any = None,
    ) -> None:
        """Launch the kernel.

        Args:
            grid, block: how many blocks there are, and how many threads a block has: one to three numbers.
            args: one argument for each parameter of the kernel. For a tensor, the kernel gets the address of the
                tensor's first element: shape and strides do not travel along.
            shared_mem: the bytes of dynamic shared memory of a block.
            stream: the stream on which the kernel runs; None means the current stream.

        Raises:
            TypeError: the number of arguments or the type of one is wrong.
            ValueError: a tensor is in memory that the kernel cannot reach, or a number does not fit.
            RuntimeError: CUDA refuses the launch.
        """
        stream = current_stream() if stream is None else stream
        if shared_mem >= _LIMIT and shared_mem > self._max_shared_mem_bytes:
            configured = f"only {self._max_shared_mem_bytes} bytes configured"
            raise RuntimeError(
                f"Kernel requires {shared_mem} bytes of shared memory (>= 48KB), "
                f"but {configured if self._max_shared_mem_bytes else 'not configured'}. "
                "Call kernel.set_shared_memory_config(shared_mem) after compilation and before launching the kernel."
            )
        sizes = [_three(grid, "grid"), _three(block, "block")]
        if _is_tensor(args):
            raise TypeError(f"{self.func}: args must be a list with one argument for each parameter, got a tensor")
        values = self._values([] if args is None else args, stream.device)
        pointers = (ctypes.c_void_p * len(values))(*(ctypes.addressof(value) for value in values))
        unsigned = ctypes.c_uint * 3
        launch = getattr(self.module.to_launch().loaded, f"kernel_launch_{self._number}")
        launch.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p, ctypes.c_void_p]
        error = launch(unsigned(*sizes[0]), unsigned(*sizes[1]), shared_mem, stream.cuda_stream, pointers)
        if error:
            raise RuntimeError(
                f"CUDA error: {self._error(error).decode()}\nThe launch was {self.func} with grid={sizes[0]}, "
                f"block={sizes[1]}, shared_mem={shared_mem}. A block has 1 to 1024 threads, at most 64 along z; a grid "
                "has at least one block."
            )

    def _values(self, args: Sequence[Any], device: Any) -> list[Any]:
        if len(args) != len(self._codes):
            takes = f"{len(self._codes)} argument{'s' * (len(self._codes) != 1)} ({', '.join(self._parameters)})"
            raise TypeError(f"{self.func} takes {takes}, got {len(args)}")
        return [self._value(arg, code, i, device) for i, (arg, code) in enumerate(zip(args, self._codes, strict=True))]

    def _value(self, arg: Any, code: str, position: int, device: Any) -> Any:
        name = f"{self.func}: {self._parameters[position]}"
        if _is_tensor(arg):
            if not code.startswith("*"):
                raise TypeError(f"{name} is {_described(code)}, got a tensor. Hint: x.item() is the number in a tensor")
            if not arg.is_cuda and not (arg.device.type == "cpu" and arg.is_pinned()):
                raise ValueError(
                    f"All tensor arguments must be CUDA tensors or pinned CPU tensors; {name} is on {arg.device}"
                )
            if arg.is_cuda and arg.device != device:
                raise ValueError(
                    f"{name} is on {arg.device}, but the kernel runs on {device}, the device of its stream"
                )
            if not _points_to(code[1:], arg):
                raise TypeError(f"{name} is {_described(code)}, got a tensor of {arg.dtype}")
            if _kernel_compiler.watching is not None:
                _kernel_compiler.watching.name(self._parameters[position], arg)
            return ctypes.c_void_p(arg.data_ptr())
        if not isinstance(arg, (int, float)):
            raise TypeError(f"Unsupported argument type: {type(arg)}; {name} is {_described(code)}")
        if code not in _NUMBERS:
            raise TypeError(f"{name} is {_described(code)}, got {arg!r}")
        kind, _ = _NUMBERS[code]
        if code[0] == "f":
            return kind(arg)
        if not float(arg).is_integer():
            raise TypeError(f"{name} is {_described(code)}, got {arg!r}")
        value = kind(int(arg))
        if value.value != arg:
            raise ValueError(f"{name} is {_described(code)}, and {arg!r} does not fit into it")
        return value

    def set_shared_memory_config(self, shared_mem_bytes: int) -> None:
        """Allow launches with this many bytes of dynamic shared memory.

        Raises:
            RuntimeError: the device has not as much.
        """
        properties = get_device_properties()
        most = max(getattr(properties, "shared_memory_per_block_optin", 0), _LIMIT)
        if shared_mem_bytes > most:
            raise RuntimeError(
                f"Requested shared memory ({shared_mem_bytes} bytes) exceeds device limit ({most} bytes). "
                "Consider reducing block size or shared memory usage."
            )
        self._max_shared_mem_bytes = shared_mem_bytes


def _is_tensor(arg: Any) -> bool:
    return isinstance(arg, _C.TensorBase)


def _three(sizes: int | Sequence[int], what: str) -> tuple[int, int, int]:
    if not isinstance(sizes, (int, Sequence)):
        hint = (
            "n // 128 is a whole number"
            if isinstance(sizes, float)
            else "the kernel's own arguments go into args=[...]"
        )
        raise TypeError(f"{what} must be one to three whole numbers, got {type(sizes).__name__}. Hint: {hint}")
    values = [sizes] if isinstance(sizes, int) else list(sizes)
    if not 1 <= len(values) <= 3 or not all(isinstance(value, int) and 0 <= value < 1 << 32 for value in values):
        raise ValueError(f"{what} must be one to three numbers from 0 on, got {sizes!r}")
    first, second, third = [*values, 1, 1][:3]
    return first, second, third


def _described(code: str) -> str:
    """Return what a parameter is, in words."""
    if code.startswith("*"):
        return f"a pointer to {_name_of(code[1:])}"
    return f"a number of type {_name_of(code)}" if code in _NUMBERS else f"a value of type {_name_of(code)}"


def _name_of(code: str) -> str:
    named = {"v1": "void", "h2": "__half", "g2": "__nv_bfloat16"} | {each: name for each, (_, name) in _NUMBERS.items()}
    if code.startswith("*"):
        return f"{_name_of(code[1:])}*"
    return named.get(code, f"a struct of {code[1:]} bytes")


def _points_to(code: str, tensor: Any) -> bool:
    """Return whether elements of the tensor can be what a pointer points to.

    Signed and unsigned integers of one size count as equal. A struct, for example float4, is not compared.
    """
    dtype = tensor.dtype
    if code == "v1" or code[0] in "?*":
        return True
    if code in ("h2", "g2"):
        return dtype == (_C.float16 if code == "h2" else _C.bfloat16)
    if dtype.is_complex or dtype.itemsize != int(code[1:]):
        return False
    if code[0] == "f":
        return dtype.is_floating_point and dtype not in (_C.float16, _C.bfloat16)
    return not dtype.is_floating_point
