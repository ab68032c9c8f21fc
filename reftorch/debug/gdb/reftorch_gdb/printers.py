"""Pretty printers that show each object of reftorch as one line.

Mirrors: tools/gdb/pytorch-gdb.py
Left out: children by default, because many front ends show a printer with children as `{...}`. `set reftorch-children
on` gives tensors children in front ends that can expand them (the command line, gdb -i=dap).
"""

import re

import gdb
import gdb.types

from reftorch_gdb import values

ENUMS = ("ScalarType", "DispatchKey", "DeviceType", "MemoryFormat")
IVALUE_FIELDS = {"Double": "as_double", "Int": "as_int", "Tensor": "as_tensor"}


def tensor(value):
    found = values.as_tensor(value)
    return "Tensor " + (found.summary() if found else "<undefined>")


def storage(value):
    target = values.raw(value)
    if gdb.types.has_field(target.type.strip_typedefs(), "storage_impl_"):
        target = target["storage_impl_"]["target_"]
        if not int(target):
            return "Storage <empty>"
        target = target.dereference()
    count = values.use_count(target)
    nbytes = int(target["size_bytes_"])
    where = values.device(target["data_ptr_"]["device_"])
    return f"Storage {nbytes} bytes on {where}, shared by {count}"


def list_of(items):
    return "[" + ", ".join(text(item) for item in items) + "]"


def array_ref(value):
    shown = min(int(value["length_"]), values.MAX_DIM)
    items = list_of(values.run_of(value["data_"], shown))
    return items if shown == int(value["length_"]) else items[:-1] + ", ...]"


def scalar(value):
    tag = last_name(value["tag_"])
    i, d = (value["payload_"][field] for field in "id")
    if tag == "Bool":
        return "Scalar " + values.number(bool(int(i)))
    if tag in ("Int", "UInt", "Double"):
        return "Scalar " + values.number(float(d) if tag == "Double" else int(i) + (tag == "UInt") * 2**64)
    raise values.Garbage("tag")


def ivalue(value):
    tag = last_name(value["tag_"])
    if tag == "None":
        return "IValue None"
    if tag in ("Tensor", "BorrowedTensor"):
        return "IValue " + tensor(value["payload_"]["as_tensor"])
    if tag == "Bool":
        return "IValue " + values.number(bool(int(value["payload_"]["as_int"])))
    if tag in IVALUE_FIELDS:
        return "IValue " + text(value["payload_"][IVALUE_FIELDS[tag]])
    if not tag[0].isalpha():
        raise values.Garbage("tag")
    return "IValue of kind " + tag


def intrusive_ptr(value):
    target = value["target_"]
    if not int(target):
        return "nullptr"
    pointee = target.dereference()
    if values.raw(pointee).type.strip_typedefs().tag.endswith("::TensorImpl"):
        return tensor(pointee)
    count = values.use_count(pointee)
    return f"{short_type(object_at(int(target), pointee.type).type)}, shared by {count}"


def dispatch_keys():
    """Return the names of the dispatch keys by their bits, read from the debug info; None without debug info."""
    try:
        fields = gdb.lookup_type("reftorch::c10::DispatchKey").fields()
    except gdb.error:
        return None
    numbers = {field.name.rpartition("::")[2]: int(field.enumval) for field in fields}
    rows = range(1, numbers["NumDispatchKeys"])  # 0 is Undefined, and the alias keys come after NumDispatchKeys
    return {number: name for name, number in numbers.items() if number in rows}


def dispatch_key_set(value):
    bits = int(value["repr_"])
    present = [bit for bit in range(bits.bit_length()) if bits >> bit & 1]
    names = dispatch_keys()
    if names is None:
        return "{" + ", ".join(f"key {bit}" for bit in present) + "}"
    if not names.keys() >= set(present):
        raise values.Garbage("keys")
    return "{" + ", ".join(names[bit] for bit in present) + "}"


def half(value):
    bits = int(value["x"])
    return values.number(values.struct.unpack("e", values.struct.pack("H", bits))[0])


def bfloat16(value):
    return values.number(values.widened(int(value["x"])))


def enum(value):
    name = last_name(value)
    if not name.isidentifier():
        raise values.Garbage("no such enumerator")
    return name


def edge(value):
    function = pointee_of(value["function"])
    if function is None:
        return "Edge to nothing"
    return f"Edge to {node_name(function)}, input {int(value['input_nr'])}"


def node(value):
    edges = values.small_vector(value["next_edges_"])
    plural = "" if len(edges) == 1 else "s"
    return f"{node_name(value)} #{int(value['sequence_nr_'])} with {len(edges)} next edge{plural}"


def operand_tensor(operand):
    """Return the values.Tensor of an OperandInfo, or None."""
    handles = (operand["owned"].address, operand["output"], operand["input"])
    held = next((h for h in handles if int(h) and int(h["impl_"]["target_"])), None)
    return values.as_tensor(held) if held is not None else None


def tensor_iterator(value):
    """Print the shape of the loop (fastest dimension first), then each operand as the kernel reads or writes it."""
    shape = [int(x) for x in values.small_vector(value["shape_"])]
    outputs, operands = int(value["num_outputs_"]), values.small_vector(value["operands_"])
    if not 0 <= outputs <= len(operands):
        raise values.Garbage("outputs")
    shown = []
    for i, operand in enumerate(operands):
        found = operand_tensor(operand)
        if found is None:
            shown.append("<undefined>")
        elif i < outputs:  # without values: an output is usually not yet written and has old contents
            shown.append(f"out {found.geometry()}")
        else:
            shown.append(f"in {found.summary()}")
    return f"TensorIterator {shape}: {'; '.join(shown)}"


def optional(value):
    """Print what a std::optional holds. The printers of each libstdc++ print something else."""
    payload = value["_M_payload"]
    return text(payload["_M_payload"]["_M_value"]) if payload["_M_engaged"] else "nullopt"


PRINTERS = {
    "reftorch::at::Tensor": tensor,
    "reftorch::c10::TensorImpl": tensor,
    "reftorch::c10::Storage": storage,
    "reftorch::c10::StorageImpl": storage,
    "reftorch::c10::Scalar": scalar,
    "reftorch::c10::Device": values.device,
    "reftorch::c10::DispatchKeySet": dispatch_key_set,
    "reftorch::c10::Half": half,
    "reftorch::c10::BFloat16": bfloat16,
    "reftorch::at::IValue": ivalue,
    "reftorch::at::TensorIterator": tensor_iterator,
    "reftorch::torch::autograd::Edge": edge,
}
NODE = "reftorch::torch::autograd::Node"
FORMULA_NODE = "reftorch::torch::autograd::FormulaNode"
VTABLE = re.compile(r"vtable for (.+?) \+ \d+ in section")
TEMPLATES = {
    "reftorch::c10::ArrayRef<": array_ref,
    "reftorch::c10::SmallVector<": lambda v: list_of(values.small_vector(v)),
    "reftorch::c10::intrusive_ptr<": intrusive_ptr,
    "std::optional<": optional,
}


def last_name(value):
    return value.format_string(raw=True).split("::")[-1]


def short_type(kind):
    name, bracket, arguments = str(kind.strip_typedefs().unqualified()).replace("reftorch::", "").partition("<")
    return name.split("::")[-1] + bracket + arguments


def text(value):
    """Return a value as one line, by these printers or by gdb's own formatting."""
    value = values.raw(value)
    printer = lookup(value) or gdb.default_visualizer(value)  # gdb itself asks the printers of libstdc++ first
    if printer is not None and hasattr(printer, "to_string"):
        shown = printer.to_string()
        if isinstance(shown, str):
            return shown
    return value.format_string(max_elements=8, symbols=False)


def pointee_of(pointer):
    """Return the object behind a raw, shared or intrusive pointer, with its dynamic type; None for null."""
    kind = pointer.type.strip_typedefs()
    for field in ("target_", "_M_ptr"):
        if kind.code == gdb.TYPE_CODE_STRUCT and gdb.types.has_field(kind, field):
            pointer = pointer[field]
    return object_at(int(pointer), pointer.type.strip_typedefs().target()) if int(pointer) else None


def object_at(address, declared):
    """Return the object of a class with virtual functions at an address, with its dynamic type if that is known.

    The object is read as bytes. gdb's own cast to the dynamic type warns for each class without debug information, and
    the classes of the binding files have none. All classes here have one base, at the same address."""
    name = class_of(read(address, declared))
    known = FORMULA_NODE if name.endswith("::PythonFormulaNode") else name
    try:
        return read(address, gdb.lookup_type(known))
    except gdb.error:
        return read(address, declared)


def read(address, kind):
    kind = kind.strip_typedefs().unqualified()
    return gdb.Value(bytes(gdb.selected_inferior().read_memory(address, kind.sizeof)), kind)


def class_of(value):
    """Return the class name of an object with virtual functions; empty if the value is not such an object."""
    field = virtual_table(value.type.strip_typedefs())
    found = field and VTABLE.match(gdb.execute(f"info symbol {int(value[field])}", to_string=True))
    return found[1] if found else ""


def virtual_table(kind):
    """Return the name of the field that points to the table of virtual functions, in the class or in a base."""
    for field in kind.fields():
        if field.is_base_class:
            found = virtual_table(field.type.strip_typedefs())
            if found is not None:
                return found
        elif (field.name or "").startswith("_vptr"):
            return field.name
    return None


def node_name(value):
    """Return `MulBackward0`, the result of Node::name(), without a call into the process."""
    name = class_of(value)
    if not name.startswith("reftorch::torch::autograd::"):
        raise values.Garbage("node")
    if value.address is not None:  # gdb gives a value behind a pointer the static type of the pointer
        value = object_at(int(value.address), value.type)
    if not gdb.types.has_field(value.type, "formula"):
        return name.split("::")[-1]
    formula = value["formula"]  # a reference
    name = read(int(formula.address), formula.type.strip_typedefs().target())["node_name"]
    length = int(name["_M_string_length"])
    if not 0 < length < 200:
        raise values.Garbage("node name")
    return name["_M_dataplus"]["_M_p"].string(length=length)


def is_node(kind):
    """Return whether a class is autograd's Node or derives from it."""
    if kind.name == NODE:
        return True
    if kind.code != gdb.TYPE_CODE_STRUCT:
        return False
    return any(field.is_base_class and is_node(field.type.strip_typedefs()) for field in kind.fields())


class Printer:
    """A printer that calls one of the functions above. An error becomes a text."""

    def __init__(self, value, describe):
        self.value, self.describe = value, describe

    def to_string(self):
        try:
            return "<optimized out>" if self.value.is_optimized_out else self.describe(self.value)
        except values.Garbage as garbage:
            return f"<not a live {short_type(self.value.type)}: {garbage}>"
        except Exception:  # gdb raises many types for memory that cannot be read
            return f"<not a live {short_type(self.value.type)}>"


class UnfoldingPrinter(Printer):
    """A printer for tensors with children."""

    def children(self):
        try:
            found = values.as_tensor(self.value)
            if found is None:
                return
            yield "sizes", str(found.sizes)
            yield "strides", str(found.strides)
            yield "storage_offset", found.offset
            yield "dtype", found.dtype
            yield "device", found.device
            for i, x in enumerate(found.elements(100)):
                yield f"[{i}]", values.number(x)
        except Exception:
            return


def device_index(value):
    """Return the number of a device. Its type has one byte, so gdb itself would print a character beside the number."""
    return str(int(value))


def lookup(value):
    """Return the printer for a value, or None. gdb calls this function with every value that it prints."""
    try:
        if (value.type.unqualified().name or "").endswith("c10::DeviceIndex"):
            return Printer(value, device_index)
        kind = values.raw(value).type.strip_typedefs().unqualified()
        name = kind.name or kind.tag or ""
        if not name.startswith(("reftorch::", "std::optional<")):
            return None
        describe = PRINTERS.get(name)
        if kind.code == gdb.TYPE_CODE_ENUM and name.split("::")[-1] in ENUMS:
            describe = enum
        for prefix, function in TEMPLATES.items():
            if name.startswith(prefix):
                describe = function
        if describe is None and name.startswith("reftorch::torch::autograd::") and is_node(kind):
            describe = node
        if describe is None:
            return None
        unfold = describe is tensor and gdb.parameter("reftorch-children")
        return (UnfoldingPrinter if unfold else Printer)(values.raw(value), describe)
    except (gdb.error, RuntimeError):
        return None


class Children(gdb.Parameter):
    """Return whether front ends can expand tensors into sizes, strides and elements."""

    set_doc = show_doc = __doc__

    def __init__(self):
        super().__init__("reftorch-children", gdb.COMMAND_DATA, gdb.PARAM_BOOLEAN)
        self.value = False

    def get_set_string(self):
        return ""

    def get_show_string(self, value):
        return f"Tensors have children: {value}."


def register():
    Children()
    gdb.pretty_printers.insert(0, lookup)
