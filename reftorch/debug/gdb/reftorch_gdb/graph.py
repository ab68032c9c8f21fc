"""The autograd graph of a tensor, as text.

Mirrors: nothing in PyTorch: its gdb script knows tensors only.
Left out: the tensors that the nodes save, which `print` shows.
"""

import gdb
import gdb.types

from reftorch_gdb import printers, values

MAX_NODES = 200


def node_behind(value):
    """Return the address of the Node that `value` is, points to or was made by; None for a tensor that requires no
    gradient.
    """
    value = values.raw(value)
    kind = pointee_type(value)
    if kind is not None and printers.is_node(kind):
        return pointer_of(value) or None
    if printers.is_node(value.type.strip_typedefs().unqualified()):
        return int(value.address)
    impl = values.tensor_impl(value)
    if impl is None:
        return None
    values.Tensor(impl)  # raises for garbage
    meta = owned_by(impl["autograd_meta_"])
    if meta is None:
        return None
    return pointer_of(meta["grad_fn_"]) or pointer_of(meta["grad_accumulator_"]) or None


def pointee_type(value):
    """Return the target of a raw or shared pointer; None for a value that is not a pointer."""
    kind = value.type.strip_typedefs()
    if kind.code == gdb.TYPE_CODE_STRUCT and gdb.types.has_field(kind, "_M_ptr"):
        kind = value["_M_ptr"].type.strip_typedefs()
    return kind.target().strip_typedefs().unqualified() if kind.code == gdb.TYPE_CODE_PTR else None


def pointer_of(value):
    kind = value.type.strip_typedefs()
    return int(value["_M_ptr"] if kind.code == gdb.TYPE_CODE_STRUCT else value)


def owned_by(owner):
    """Return the object that a c10::LazyPtr owns, with its dynamic type; None if the LazyPtr is empty."""
    target = owner.type.strip_typedefs().template_argument(0)
    pointer = owner.address.cast(target.pointer().pointer()).dereference()
    return printers.pointee_of(pointer)


def lines(address):
    """Return one line for each node, under the node whose gradient it receives; a node that was shown before is
    only named.
    """
    out: list = []
    seen: set = set()
    declared = gdb.lookup_type(printers.NODE)

    def walk(address, first, rest):
        if len(seen) > MAX_NODES:
            return
        node = printers.object_at(address, declared)
        out.append(first + headline(node) + (" (above)" if address in seen else ""))
        if address in seen:
            return
        seen.add(address)
        edges = values.small_vector(node["next_edges_"])
        for i, edge in enumerate(edges):
            last = i == len(edges) - 1
            branch, below = rest + ("`- " if last else "|- "), rest + ("   " if last else "|  ")
            function = pointer_of(edge["function"])
            if function:
                walk(function, branch, below)
            else:
                out.append(branch + "no gradient")

    walk(address, "", "")
    if len(seen) > MAX_NODES:
        out.append(f"... more than {MAX_NODES} nodes")
    return out


def headline(node):
    """Return `MulBackward0 #4`, or for an AccumulateGrad its name and the leaf whose gradient it accumulates."""
    name = printers.node_name(node)
    if gdb.types.has_field(node.type, "variable"):
        return f"{name} of {printers.text(node['variable'])}"
    return f"{name} #{int(node['sequence_nr_'])}"
