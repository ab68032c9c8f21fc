"""Pretty printers: reftorch's objects as one line each.

Mirrors: tools/gdb/pytorch-gdb.py
Left out: children by default: a printer with children shows as `{...}` in the views of many front ends. `set
reftorch-children on` gives tensors children where the front end can unfold them (the command line, gdb -i=dap).
"""

import re

import gdb
import gdb.types

from reftorch_gdb import values

ENUMS = ("ScalarType", "DispatchKey", "DeviceType", "MemoryFormat")
IVALUE_FIELDS = {"Double": "as_double", "Int": "as_int", "Tensor": "as_tensor"}
DISPATCH_KEYS = {
    1: "CPU",
    2: "CUDA",
    3: "Meta",
    4: "Python",
    5: "FuncTorchDynamicLayerBackMode",
    6: "Autograd",
    7: "FuncTorchDynamicLayerFrontMode",
}


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
    if tag == "Tensor":
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


def dispatch_key_set(value):
    bits = int(value["repr_"])
    known = [name for bit, name in DISPATCH_KEYS.items() if bits >> bit & 1]
    if bits != sum(1 << bit for bit in DISPATCH_KEYS if bits >> bit & 1):
        raise values.Garbage("keys")
    return "{" + ", ".join(known) + "}"


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


def tensor_iterator(value):
    """The shape of the loop (fastest dimension first), then each operand as the kernel sees it."""
    shape = [int(x) for x in values.small_vector(value["shape_"])]
    outputs, operands = int(value["num_outputs_"]), values.small_vector(value["operands_"])
    if not 0 <= outputs <= len(operands):
        raise values.Garbage("outputs")
    shown = []
    for i, operand in enumerate(operands):
        handles = (operand["owned"].address, operand["output"], operand["input"])
        held = next((h for h in handles if int(h) and int(h["impl_"]["target_"])), None)
        found = values.as_tensor(held) if held is not None else None
        if found is None:
            shown.append("<undefined>")
        elif i < outputs:  # most often not yet written: whatever the memory held before would be shown
            shown.append(f"out {found.geometry()}")
        else:
            shown.append(f"in {found.summary()}")
    return f"TensorIterator {shape}: {'; '.join(shown)}"


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
}


def last_name(value):
    return value.format_string(raw=True).split("::")[-1]


def short_type(kind):
    name, bracket, arguments = str(kind.strip_typedefs().unqualified()).replace("reftorch::", "").partition("<")
    return name.split("::")[-1] + bracket + arguments


def text(value):
    """One value as one line, by our printers or gdb's own formatting."""
    value = values.raw(value)
    printer = gdb.default_visualizer(value)
    if printer is not None and hasattr(printer, "to_string"):
        shown = printer.to_string()
        if isinstance(shown, str):
            return shown
    return value.format_string(max_elements=8, symbols=False)


def pointee_of(pointer):
    """What a raw, shared or intrusive pointer points to, as its dynamic type; None for null."""
    kind = pointer.type.strip_typedefs()
    for field in ("target_", "_M_ptr"):
        if kind.code == gdb.TYPE_CODE_STRUCT and gdb.types.has_field(kind, field):
            pointer = pointer[field]
    return object_at(int(pointer), pointer.type.strip_typedefs().target()) if int(pointer) else None


def object_at(address, declared):
    """The object of a class with virtual functions at an address, as what it is, as far as its type is known.

    By its bytes, for gdb's own way to get there warns of each class that it has no description of: those of the binding
    files, which are built without. All classes here have one base, at the same address."""
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
    """The name of the class of an object with virtual functions; empty for what is no such object."""
    field = virtual_table(value.type.strip_typedefs())
    found = field and VTABLE.match(gdb.execute(f"info symbol {int(value[field])}", to_string=True))
    return found[1] if found else ""


def virtual_table(kind):
    """The name of the field of a class, or of its bases, that points to its virtual functions."""
    for field in kind.fields():
        if field.is_base_class:
            found = virtual_table(field.type.strip_typedefs())
            if found is not None:
                return found
        elif (field.name or "").startswith("_vptr"):
            return field.name
    return None


def node_name(value):
    """`MulBackward0`, as Node::name() gives it, but without a call into the process."""
    name = class_of(value)
    if not name.startswith("reftorch::torch::autograd::"):
        raise values.Garbage("node")
    if value.address is not None:  # what gdb itself followed a pointer to has the pointer's type
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
    """Whether a class is autograd's Node or derives from it."""
    if kind.name == NODE:
        return True
    if kind.code != gdb.TYPE_CODE_STRUCT:
        return False
    return any(field.is_base_class and is_node(field.type.strip_typedefs()) for field in kind.fields())


class Printer:
    """to_string() by one of the functions above; whatever goes wrong is text, never an error."""

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
    """The same for tensors, with children."""

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


def lookup(value):
    """gdb calls this with every value it is about to print."""
    try:
        kind = values.raw(value).type.strip_typedefs().unqualified()
        name = kind.name or kind.tag or ""
        if not name.startswith("reftorch::"):
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
    """Whether tensors can be unfolded into sizes, strides and elements."""

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
