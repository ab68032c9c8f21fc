"""Printers for the autograd engine: the state of a backward pass, with the names of nodes instead of their addresses.

Mirrors: nothing in PyTorch: its gdb script knows tensors only.
Left out: hooks and callbacks, which gdb prints without these printers.
"""

import gdb
import gdb.types

from reftorch_gdb import printers, values

AUTOGRAD = "reftorch::torch::autograd::"
POINTERS = ("std::shared_ptr<", "std::weak_ptr<")
TABLES = tuple(f"std::unordered_{kind}<{AUTOGRAD}Node" for kind in ("map", "set"))
MOST = 16  # at most this many entries of a table are shown


def node_pointer(value):
    """Print a raw, shared or weak pointer to a node as `MulBackward0 #4`.

    A pointer to an AccumulateGrad is printed as `AccumulateGrad of f32[2, 3] at 0x...`, with the address because
    several leaves often have the same size."""
    if value.type.strip_typedefs().code == gdb.TYPE_CODE_STRUCT:
        counts = value["_M_refcount"]["_M_pi"]
        if int(counts) and not int(printers.read(int(counts), counts.type.target())["_M_use_count"]):
            return "expired"
        value = value["_M_ptr"]
    node = printers.pointee_of(value)
    if node is None:
        return "nullptr"
    name = printers.node_name(node)
    if not gdb.types.has_field(node.type, "variable"):
        return f"{name} #{int(node['sequence_nr_'])}"
    leaf = values.as_tensor(node["variable"])
    return f"{name} of {leaf.dtype}{leaf.sizes} at {int(value):#x}" if leaf else name


def std_vector(value):
    begin, end = value["_M_impl"]["_M_start"], value["_M_impl"]["_M_finish"]
    size, rest = divmod(int(end) - int(begin), begin.type.strip_typedefs().target().sizeof)
    if rest:
        raise values.Garbage("vector")
    return values.run_of(begin, size)


def entries(hashtable):
    """Yield the entries of an unordered_map or unordered_set whose keys are pointers, at most `MOST`.

    Each entry is stored after the address of the next one."""
    kind = hashtable.type.strip_typedefs().template_argument(1).pointer()
    address = int(hashtable["_M_before_begin"]["_M_nxt"])
    for _ in range(min(int(hashtable["_M_element_count"]), MOST)):
        yield gdb.Value(address + 8).cast(kind).dereference()
        address = int(gdb.Value(address).cast(gdb.lookup_type("long").pointer()).dereference())


def table(value):
    """Print a map as `{MulBackward0 #4: 2, ExpBackward0 #3: 1}` and a set as `{MulBackward0 #4, ExpBackward0 #3}`."""
    found = []
    for entry in entries(value["_M_h"]):
        if entry.type.strip_typedefs().code == gdb.TYPE_CODE_PTR:
            found.append(node_pointer(entry))
        else:
            found.append(f"{node_pointer(entry['first'])}: {printers.text(entry['second'])}")
    left_out = int(value["_M_h"]["_M_element_count"]) - len(found)
    return "{" + ", ".join(found + [f"{left_out} more"] * (left_out > 0)) + "}"


def exec_info(value):
    if int(value["needed_"]) not in (0, 1):
        raise values.Garbage("flag")
    said = ["runs"] if int(value["needed_"]) else []
    said += [
        f"its gradient {int(capture['input_idx'])} is result {int(capture['output_idx'])}"
        for capture in std_vector(value["captures_"])
    ]
    return " and ".join(said) or "not wanted"


def graph_task(value):
    """Print the options and roots of the pass, then the gradients that are still to come."""
    flags = {flag: int(value[flag + "_"]) for flag in ("keep_graph", "create_graph")}
    if any(flag not in (0, 1) for flag in flags.values()):
        raise values.Garbage("flags")
    said = [f"GraphTask {int(value['id_'])}" + "".join(f" {name}" for name, on in flags.items() if on)]
    if int(value["roots_"]):
        said.append("from " + printers.text(value["roots_"].dereference()))
    said.append("gradients still to come " + table(value["dependencies_"]))
    if int(value["not_ready_"]["_M_h"]["_M_element_count"]):
        said.append("of nodes that wait for more " + table(value["not_ready_"]))
    if int(value["exec_info_"]["_M_h"]["_M_element_count"]):
        said.append("wanted " + table(value["exec_info_"]))
        said.append("results so far " + printers.text(value["captured_vars_"]))
    return "; ".join(said)


def node_task(value):
    return f"{node_pointer(value['fn_'])} of {printers.text(value['inputs_'])}"


def ready_queue(value):
    """Print the tasks of the queue, the next one first."""
    tasks = [(task, printers.pointee_of(task["fn_"])) for task in std_vector(value["heap_"])]
    if any(node is None for _, node in tasks):
        raise values.Garbage("task without a node")
    tasks.sort(key=lambda task: -int(task[1]["sequence_nr_"]))
    return "ReadyQueue [" + ", ".join(node_task(task) for task, _ in tasks) + "]"


PRINTERS = {
    AUTOGRAD + "GraphTask": graph_task,
    AUTOGRAD + "GraphTask::ExecInfo": exec_info,
    AUTOGRAD + "InputBuffer": lambda value: printers.text(value["buffer"]),
    AUTOGRAD + "NodeTask": node_task,
    AUTOGRAD + "ReadyQueue": ready_queue,
}


def points_to_node(kind):
    """Return whether a type is a raw, shared or weak pointer to a node."""
    if kind.code == gdb.TYPE_CODE_PTR:
        target = kind.target()
    elif (kind.name or "").startswith(POINTERS):
        target = kind.template_argument(0)
    else:
        return False
    target = target.strip_typedefs().unqualified()
    return (target.name or "").startswith(AUTOGRAD) and printers.is_node(target)


def lookup(value):
    """Return the printer for a value, or None. gdb calls this function with every value that it prints."""
    try:
        value = values.raw(value)
        kind = value.type.strip_typedefs().unqualified()
        if (kind.name or "").startswith(TABLES):
            return printers.Printer(value, table)
        return printers.Printer(value, node_pointer) if points_to_node(kind) else None
    except (gdb.error, RuntimeError):
        return None


def stand_first(event):
    """Put `lookup` before libstdc++'s printers of pointers, which are the printers of an object file.

    gdb tries the printers of object files before all others.
    """
    first = event.new_objfile.progspace.objfiles()[0]
    if lookup not in first.pretty_printers:
        first.pretty_printers.insert(0, lookup)


def register():
    printers.PRINTERS.update(PRINTERS)
    gdb.pretty_printers.insert(0, lookup)
    gdb.events.new_objfile.connect(stand_first)
