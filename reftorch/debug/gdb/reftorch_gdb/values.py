"""Reads reftorch's objects from the memory of the debugged process.

Mirrors: tools/gdb/pytorch-gdb.py (which calls into the process; this module only reads, so it works on core files too)
Left out: the values of tensors on devices other than the CPU.

Note [Garbage]
A local variable whose constructor has not run yet holds whatever the stack held. So every value that is read here is
checked with the invariants of a live object, and Garbage is raised if a check fails. Elements are read only after the
checks.
"""

import struct

import gdb
import gdb.types

# number of c10::ScalarType -> (short name, struct format, size); bfloat16 has no format and is converted to float
DTYPES = {
    0: ("u8", "B", 1),
    1: ("i8", "b", 1),
    2: ("i16", "h", 2),
    3: ("i32", "i", 4),
    4: ("i64", "q", 8),
    5: ("f16", "e", 2),
    6: ("f32", "f", 4),
    7: ("f64", "d", 8),
    11: ("bool", "?", 1),
    15: ("bf16", "H", 2),
}
DEVICE_TYPES = ("cpu", "cuda", "meta")  # in the order of c10::DeviceType
MAX_DIM = 64
MAX_COUNT = 1 << 32
HAS_PYOBJECT = 1 << 63  # the bit of a reference count that says that the target has a Python object


class Garbage(Exception):
    """The value that was read cannot be a live object."""


def raw(value):
    """Return the value behind a reference."""
    if value.type.strip_typedefs().code in (gdb.TYPE_CODE_REF, gdb.TYPE_CODE_RVALUE_REF):
        value = value.referenced_value()
    return value


def run_of(begin, count, limit=MAX_DIM):
    """Return `count` values, beginning at the pointer `begin`."""
    count = int(count)
    if not 0 <= count <= limit:
        raise Garbage(f"length {count}")
    if count and not int(begin):
        raise Garbage("null data")
    return [begin[i] for i in range(count)]


def small_vector(value, limit=MAX_DIM):
    size, capacity = int(value["size_"]), int(value["capacity_"])
    if size > capacity:
        raise Garbage(f"size {size} of capacity {capacity}")
    return run_of(value["begin_"], size, limit)


def use_count(target):
    """Return the number of references to a c10::intrusive_ptr_target."""
    count = int(target["refcount_"]["_M_i"]) & ~HAS_PYOBJECT
    if not 0 < count < MAX_COUNT:
        raise Garbage(f"use count {count}")
    return count


class Tensor:
    """The geometry and the first elements of a c10::TensorImpl."""

    def __init__(self, impl):
        use_count(impl)
        both = [int(x) for x in small_vector(impl["sizes_and_strides_"]["values_"], 2 * MAX_DIM)]
        half = len(both) // 2
        self.sizes, self.strides = both[:half], both[half:]
        number = int(impl["data_type_"])
        if number not in DTYPES or len(both) % 2:
            raise Garbage(f"dtype {number}")
        self.dtype, self._format, self._itemsize = DTYPES[number]
        self.numel, self.offset = int(impl["numel_"]), int(impl["storage_offset_"])
        product = 1
        for size in self.sizes:
            product *= size
        if self.numel != product or min(self.sizes, default=0) < 0 or self.offset < 0:
            raise Garbage(f"sizes {self.sizes}")
        self.device = device(impl["device_"])
        storage = impl["storage_"]["storage_impl_"]["target_"]
        self._data = int(storage["data_ptr_"]["data_"]) if int(storage) else 0
        self._bytes = int(storage["size_bytes_"]) if int(storage) else 0

    def element(self, index):
        """Return the element at a linear index in row-major order."""
        at = self.offset
        for size, stride in zip(reversed(self.sizes), reversed(self.strides), strict=True):
            at += (index % size) * stride
            index //= size
        if not 0 <= at * self._itemsize <= self._bytes - self._itemsize:
            raise Garbage("element outside its storage")
        return self.number_at(self._data + at * self._itemsize)

    def number_at(self, address):
        """Return the number of this tensor's dtype at an address."""
        memory = gdb.selected_inferior().read_memory(address, self._itemsize)
        value = struct.unpack(self._format, bytes(memory))[0]
        if self.dtype == "bf16":
            value = widened(value)
        return value

    def elements(self, limit):
        if self.device != "cpu":
            return []
        return [self.element(i) for i in range(min(self.numel, limit))]

    def geometry(self):
        """Return dtype, sizes and strides: `f32[2, 2] strides=[2, 1]`"""
        text = f"{self.dtype}{self.sizes} strides={self.strides}"
        if self.offset:
            text += f" offset={self.offset}"
        return text if self.device == "cpu" else f"{text} {self.device}"

    def summary(self, limit=8):
        """Return the geometry and the first values: `f32[2, 2] strides=[2, 1] [1, 2, 3, 4]`"""
        if self.device != "cpu":
            return self.geometry()
        values = ", ".join(number(x) for x in self.elements(limit))
        return f"{self.geometry()} [{values}{', ...' if self.numel > limit else ''}]"

    def nested(self, limit=1000):
        """Return the values in brackets, one row on each line, as Python prints them."""
        if self.numel > limit:
            raise Garbage(f"{self.numel} elements are too many to print; see: print")
        texts = [number(x) for x in self.elements(limit)]
        cell = max((len(t) for t in texts), default=0)

        def block(dim, start, count):
            if dim == len(self.sizes):
                return texts[start].rjust(cell)
            size = self.sizes[dim]
            step = count // size if size else 0
            parts = [block(dim + 1, start + i * step, step) for i in range(size)]
            gap = ", " if dim == len(self.sizes) - 1 else ",\n" + " " * (dim + 1)
            return "[" + gap.join(parts) + "]"

        return block(0, 0, self.numel)


def widened(bits):
    """Return the float whose upper half is the bfloat16."""
    return struct.unpack("f", struct.pack("I", bits << 16))[0]


def number(x):
    if isinstance(x, bool):
        return "True" if x else "False"
    return f"{x:g}" if isinstance(x, float) else str(x)


def device(value):
    kind, index = int(value["type_"]), int(value["index_"])
    if kind not in range(len(DEVICE_TYPES)):
        raise Garbage(f"device type {kind}")
    name = DEVICE_TYPES[kind]
    return name if index == -1 else f"{name}:{index}"


def as_tensor(value):
    """Read a Tensor, a TensorImpl, an intrusive_ptr or a pointer to one of them; None if the tensor is undefined."""
    impl = tensor_impl(value)
    return None if impl is None else Tensor(impl)


def tensor_impl(value):
    """Return the TensorImpl of such a value as a gdb.Value; None if the tensor is undefined."""
    value = raw(value)
    for _ in range(6):
        kind = value.type.strip_typedefs()
        if kind.code == gdb.TYPE_CODE_PTR:
            if not int(value):
                return None
            value = value.dereference()
            continue
        if kind.code != gdb.TYPE_CODE_STRUCT:
            break
        if gdb.types.has_field(kind, "sizes_and_strides_"):
            return value
        field = next((name for name in ("impl_", "target_") if gdb.types.has_field(kind, name)), None)
        if field is None:
            break
        value = value[field]
    raise Garbage(f"of type {value.type}, which is not a tensor")
