"""The glossary: the words of the course, what each means here, where it is taught, and where it lies in the source.

Mirrors: nothing in PyTorch: the course's own.
Leaves out: words that PyTorch's users know from using it.
"""

from __future__ import annotations

import difflib
from html import escape
from typing import Any, NamedTuple

from course._tools import layout, source_map
from course._tools.layout import chapters
from course._tools.listing import WIDE_TABLE, link, with_code


class Term(NamedTuple):
    """A word, what it means, where it is taught, and a name in the source map (or none).

    `chapter` is the number of a chapter, or `primer`, the page about C++.
    """

    word: str
    meaning: str
    chapter: str
    symbol: str = ""

    @property
    def place(self) -> str:
        """Where the word is taught, in words."""
        return f"chapter {self.chapter}" if self.chapter.isdigit() else f"the {self.chapter} of C++"


TERMS = (
    Term("accumulate", "To add a gradient to the `grad` of a leaf; the last step of backward.", "06"),
    Term("AccumulateGrad", "The last node of a chain: it owns a leaf, and adds to the leaf's `grad`.", "05"),
    Term("all-reduce", "To add up a tensor over all ranks and leave the sum on each of them.", "12"),
    Term("allow list", "The names that a file may ask for when it is loaded; every other name is an error.", "11",
         "serialization.add_safe_globals"),
    Term("anomaly mode", "A mode in which the engine looks for NaN after each node, and names its forward line.",
         "14", "autograd.anomaly_mode.detect_anomaly"),
    Term("attention", "A mean of values, each weighted by how well its key fits a query; GPTs are made of it.", "16"),
    Term("barrier", "A line at which all threads of a block wait for each other: `__syncthreads()`.", "15"),
    Term("batch statistics", "The mean and the variance of a batch itself, which a batch norm uses in training.", "08",
         "nn.functional.batch_norm"),
    Term("best fit", "To serve a request for memory with the smallest unused block that is large enough.", "15"),
    Term("bias correction", "Adam's divisions by `1 - beta**step`: both means begin at zero, and are small at first.",
         "09", "optim.Adam"),
    Term("binding", "Python's way into C++ and back: it finds the overload and makes values of the arguments.", "03",
         "PythonSignature::parse"),
    Term("block", "A part of a segment, which the allocator gives to a tensor; also a group of threads of a kernel.",
         "15"),
    Term("boxed call", "A call whose arguments are one stack of tagged values: one function serves every op.", "03",
         "OperatorHandle::callBoxed"),
    Term("broadcasting", "To read a dimension of size 1 as often as needed, with a stride of 0.", "03", "expand"),
    Term("bucket", "A flat buffer of several gradients, which all ranks add up in one message.", "12"),
    Term("buffer", "A tensor that belongs to a module and is not trained; a persistent one is saved with the module.",
         "07", "nn.Module.register_buffer"),
    Term("build", "The file of machine instructions that the compiler makes of the sources: Debug or Release.", "00"),
    Term("caching allocator", "It keeps freed memory of a device for later tensors, because to ask the device is slow.",
         "15"),
    Term("call tree", "Which functions ran, in which order, called by whom: in both languages.", "00"),
    Term("closure", "A function for `step()` that computes the loss and its gradients again, as LBFGS needs.", "09",
         "optim.Optimizer.step"),
    Term("collate", "To make one batch of a list of samples: numbers and tensors get a new first dimension.", "10",
         "utils.data.default_collate"),
    Term("collective", "A call that all ranks make together, such as an all-reduce.", "12"),
    Term("composite op", "An op made of other ops; those are recorded in its place.", "03", "Library"),
    Term("constexpr", "C++: what the compiler computes while it compiles; `if constexpr` drops the branch not taken.",
         "primer"),
    Term("contiguous", "Read in the order of its indices, a tensor's elements lie one after another.", "02",
         "TensorImpl"),
    Term("CopySlices", "The node of a base whose view was changed in place: it sends the view's part another way.",
         "05"),
    Term("current device", "The device that `cuda` without a number means; each thread has its own.", "15",
         "cuda.current_device"),
    Term("dead unit", "A unit that is 0 for every input of a batch, so that no gradient reaches its weights.",
         "14"),
    Term("dispatch key", "What a tensor brings to the choice of a kernel: its device, and Autograd.", "03",
         "DispatchKeySet"),
    Term("Dispatcher", "The table of all ops; for each op a row of kernels, one for each dispatch key.", "03",
         "Dispatcher"),
    Term("dropout", "To set random elements to zero in training, and scale the others up.", "16",
         "nn.functional.dropout"),
    Term("dtype", "What the bytes of an element mean: float32, int64, bool.", "02", "promoteTypes"),
    Term("edge", "A node and the number of one of its inputs: where a gradient goes next.", "05", "Edge"),
    Term("embedding", "A table with a trained row for each symbol; to read it is to take rows.", "16", "nn.Embedding"),
    Term("engine", "What walks the graph backwards, each node when all that it waits for has come.", "06",
         "Engine::execute"),
    Term("event", "A mark in a stream: other streams and the host can wait for it, and read when it was passed.", "15",
         "cuda.Event"),
    Term("exec info", "What a pass to some inputs does at each node: run it, take its gradient, or leave it out.", "06",
         "GraphTask"),
    Term("fading mean", "A mean that moves a little towards each new value, so that old values count less and less.",
         "09"),
    Term("fallback", "A kernel that serves every op for one dispatch key, where an op has no kernel of its own.", "03"),
    Term("fetcher", "The part of a loader that asks the dataset for the samples of a list of indices.", "10"),
    Term("file descriptor", "A small number by which the operating system knows a file, or memory, that a process has "
         "open.", "11"),
    Term("fork", "To start a process as a copy of the running one: its memory is copied unless it is shared.", "10"),
    Term("formula", "The derivative of one op: how the gradient of its result becomes that of an input.", "03"),
    Term("fragmentation", "Much memory is unused, and no unused block is large enough.", "15"),
    Term("graph task", "One call of backward: its counters, its buffers, what it has still to do.", "06", "GraphTask"),
    Term("GraphModule", "A module whose `forward` is generated from a graph, which can be read and changed.", "13",
         "fx.GraphModule"),
    Term("grid-stride loop", "A kernel's loop in which each thread steps by the number of all threads.", "15"),
    Term("guard", "C++: an object that changes something, and changes it back at the end of its block, like a Python "
         "`with`.", "primer"),
    Term("Hogwild", "Several processes train one model whose parameters they share, without locks.", "11"),
    Term("hook", "A function of yours that sees a gradient on its way, and may replace it; a module's hooks also see "
         "what goes in and comes out.", "05"),
    Term("in-place op", "An op that changes its first argument: most write into it, `t_` only its sizes and strides. "
         "The name ends in an underscore.", "02", "VariableVersion"),
    Term("intrusive_ptr", "C++: a pointer that counts references, with the count inside the object.", "primer",
         "intrusive_ptr"),
    Term("iterable dataset", "A dataset without indices, read from its beginning; each worker reads all of its copy.",
         "10", "utils.data.IterableDataset"),
    Term("Jacobian", "The matrix of all derivatives of a function: a row for each output, a column for each input.",
         "06"),
    Term("kernel", "The function that computes an op on one kind of device; in it, the loop over the elements.", "03",
         "cpu_kernel"),
    Term("lambda", "C++: a function without a name; the square brackets say which variables it takes along.", "primer"),
    Term("launcher", "A program that starts another one as several ranks, and ends all if one fails.", "12"),
    Term("leaf", "A tensor that no recorded op has made; its gradient is kept in `grad`.", "05", "AutogradMeta"),
    Term("leaf module", "A module that a tracer does not enter: a call of it becomes one node.", "13",
         "fx.Tracer.is_leaf_module"),
    Term("macro", "C++: text that is put in place of a name before the compiler reads the program.", "primer"),
    Term("momentum", "To follow a fading sum of the gradients of all steps instead of the newest gradient alone.",
         "09"),
    Term("node", "One recorded op in the graph; called with gradients, it returns gradients.", "05", "Node"),
    Term("offset", "The element of the storage at which a tensor begins.", "02", "TensorImpl"),
    Term("op", "A named operation with a schema, such as `aten::add.Tensor`.", "03", "add.Tensor"),
    Term("overload", "One of several ops of a name that differ in their arguments: `add.Tensor`, `add.out`.", "03",
         "PythonSignature::parse"),
    Term("param group", "Some parameters of an optimizer with their options, as the learning rate.", "09",
         "optim.Optimizer.add_param_group"),
    Term("parameter", "A leaf that a module has registered, so that an optimizer finds it and `state_dict()` saves it.",
         "07", "nn.Parameter"),
    Term("pass", "A function that changes the graph of a program; also called a transform.", "13", "fx.Graph"),
    Term("pickle", "Python's format for objects in files: a program for a stack, which can call any function.", "11"),
    Term("pinned memory", "Host memory that the system does not move, so that a GPU can copy from it by itself.", "10"),
    Term("promotion", "To find the one dtype in which an op on several dtypes is computed.", "02", "promoteTypes"),
    Term("proxy", "An object that represents a value of a traced program, and records what is done with it.", "13",
         "fx.Proxy"),
    Term("pull request", "A change that you offer to a project, with its reasons and its tests.", "16"),
    Term("race", "Two accesses to one place by two threads, at least one a write, that nothing puts in order.", "15"),
    Term("rank", "One of the processes that train together; also its number, from 0.", "12"),
    Term("reference", "C++: another name for a variable, written `&`, so that nothing is copied.", "primer"),
    Term("registration", "To enter an op, a kernel or a formula in its table; it happens during import.", "01",
         "Dispatcher::registerDef"),
    Term("registry", "One of a module's dicts `_parameters`, `_buffers`, `_modules`; a walk through a model reads "
         "nothing else.", "07", "nn.Module"),
    Term("reorder buffer", "Where a loader keeps the batches that came before their turn.", "10"),
    Term("replica", "A copy of a model on another device, with copies of its parameters.", "12"),
    Term("running statistics", "Two buffers of a batch norm that move towards the batch statistics in each training "
         "step, and replace them in evaluation.", "08", "nn.BatchNorm2d"),
    Term("sampler", "What yields the indices of a dataset in the order in which they are to be loaded.", "10",
         "utils.data.RandomSampler"),
    Term("saved variable", "A tensor that a node keeps for backward, with the version it had.", "05", "SavedVariable"),
    Term("scheduler", "What writes the next learning rate into the groups of an optimizer.", "09",
         "optim.lr_scheduler.StepLR"),
    Term("schema", "The name, arguments and results of an op, as text: `add.Tensor(Tensor self, ...) -> Tensor`.",
         "03"),
    Term("sector", "A piece of 32 bytes, in which a device's memory comes.", "15"),
    Term("segment", "A piece of memory that a caching allocator got from the device, and cuts into blocks.", "15"),
    Term("sequence number", "The number of a node in the order of recording; of ready nodes the highest runs first.",
         "06"),
    Term("shared memory", "Memory that several processes have mapped: what one writes, the others read; in a kernel, a "
         "small memory that the threads of a block have in common.", "10"),
    Term("shared_ptr", "C++: a pointer that owns an object together with others; `weak_ptr` points and does not own.",
         "primer"),
    Term("slot", "A place for a function of C in a type of Python: the interpreter calls `nb_add` for a plus sign.",
         "03"),
    Term("state dict", "A module's parameters and persistent buffers by dotted names; it shares their memory.", "07",
         "nn.Module.state_dict"),
    Term("static object", "An object at file scope; its constructor runs while the library is mapped.", "01",
         "RegisterDispatch"),
    Term("storage", "Bytes with an owner; several tensors may read them.", "02", "StorageImpl"),
    Term("stream", "A queue of work on a device; work of one stream runs in order.", "06"),
    Term("stride", "How many elements to step in the storage when an index grows by one.", "02", "TensorImpl"),
    Term("stub", "A table of function pointers, one for each device, between an op and its kernels.", "03",
         "DispatchStub"),
    Term("subgradient", "At a corner of a function, the slope of a line that touches it there and stays below it.",
         "14"),
    Term("SWA", "Stochastic weight averaging: the mean of the weights of many steps, as a model.", "09",
         "optim.swa_utils.AveragedModel"),
    Term("symbolic tracing", "To run a program once on proxies, so that its operations are recorded as a graph.", "13",
         "fx.symbolic_trace"),
    Term("tangent", "A direction in which an input moves, or the derivative of a result in that direction.", "06"),
    Term("task", "The indices of one batch, with a number: what a loader gives to a worker.", "10"),
    Term("template", "C++: a recipe from which the compiler writes a function or a class for each type.", "primer"),
    Term("TensorImpl", "What a tensor is: storage, sizes, strides, offset, dtype, version.", "02", "TensorImpl"),
    Term("TensorIterator", "What makes the loop: it broadcasts, promotes, allocates, orders dimensions.", "03",
         "TensorIterator::build"),
    Term("tied weights", "One parameter under two names.", "07"),
    Term("to the last bit", "Equal without any tolerance; only the same roundings in the same order give it.", "16"),
    Term("topological number", "The length of the longest way from a node down to a leaf.", "06"),
    Term("unbiased variance", "The sum of squared distances over n - 1 instead of n: its mean over many samples is the "
         "variance of what they were drawn from.", "08"),
    Term("vector-Jacobian product", "What backward computes: a gradient of the results times the derivatives.", "06"),
    Term("version", "A count of in-place changes, which a tensor shares with its views.", "02", "VariableVersion"),
    Term("view", "A tensor that reads another one's storage.", "02", "as_strided"),
    Term("warp", "32 threads of a block that run together.", "15"),
    Term("weight decay", "A pull of the weights towards zero in each step of an optimizer.", "09"),
    Term("wheel", "A library as pip installs it: compiled elsewhere, for speed, without tables for a debugger.", "00"),
    Term("worker", "A process that a loader has started: it has a copy of the dataset and makes batches.", "10",
         "utils.data.get_worker_info"),
)  # fmt: skip


class Glossary:
    """Terms as a table; in a terminal, as lines."""

    def __init__(self, terms: tuple[Term, ...]) -> None:
        self.terms = terms

    def __repr__(self) -> str:
        return "\n".join(f"{term.word}: {term.meaning} ({term.place})" for term in self.terms)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self._html()}

    def _html(self) -> str:
        lessons = {chapter.number: chapter.lesson for chapter in chapters()}
        lessons |= {page.stem: page for page in layout.pages()}
        cell = 'style="padding:5px 12px;text-align:left;vertical-align:top"'
        rows = ""
        for term in self.terms:
            lesson = lessons.get(term.chapter)
            chapter = link(str(lesson), term.chapter) if lesson else term.chapter
            place = source_map.find(term.symbol)[0] if term.symbol else None
            where = link(place.path, f"{place.path}:{place.line}", line=place.line) if place else ""
            columns = (f"<b>{escape(term.word)}</b>", with_code(term.meaning), chapter, where)
            rows += "<tr>" + "".join(f"<td {cell}>{column}</td>" for column in columns) + "</tr>"
        head = "".join(f"<th {cell}>{name}</th>" for name in ("word", "what it means here", "chapter", "in the source"))
        return f'<table style="{WIDE_TABLE}"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>'


def glossary(*words: str) -> Glossary:
    """All terms, or those asked for.

    Raises:
        LookupError: a word is not in the glossary; the message names what comes near.

    Example::

        >>> glossary("stride")
        stride: How many elements to step in the storage when an index grows by one. (chapter 02)
    """
    known = {term.word.lower(): term for term in TERMS}
    for word in words:
        if word.lower() not in known:
            near = ", ".join(difflib.get_close_matches(word.lower(), known, n=4, cutoff=0.4)) or "nothing comes near"
            raise LookupError(f"the glossary has no {word!r}; did you mean: {near}?")
    return Glossary(tuple(known[word.lower()] for word in words) if words else TERMS)
