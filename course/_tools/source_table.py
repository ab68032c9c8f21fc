"""The small table of the source map: what a debugger shows that is neither an op nor a public name of Python.

Mirrors: nothing in PyTorch: the course's own.
Leaves out: what the map finds by itself; see `source_map`.

A name in PyTorch is one that its libraries export, or that its headers define, so that a test can hold it. Many
functions there are neither (they are static, or generated into one file): then the row names the nearest symbol.
"""

from __future__ import annotations

from typing import NamedTuple


class Row(NamedTuple):
    """`name` in `path` here, `there` in `there_path` in PyTorch (empty: what the file mirrors), what `more` it does."""

    path: str
    name: str
    there: str
    more: str
    there_path: str = ""


ROWS = (
    # --- import (chapter 01)
    Row("reftorch/_load.py", "load", "torch._load_global_deps", "preloads CUDA's libraries; Windows",
        "torch/__init__.py"),
    Row("cpp/ATen/core/library.h", "Library", "torch::Library", "any namespace; what registers can deregister"),
    Row("cpp/ATen/native/DispatchStub.h", "DispatchStub", "at::native::DispatchStub", "a pointer per instruction set"),
    Row("cpp/ATen/native/DispatchStub.h", "RegisterDispatch", "REGISTER_ARCH_DISPATCH", "a macro per instruction set"),
    Row("cpp/csrc/Module.cpp", "PYBIND11_MODULE", "initModule", "dozens of init functions: JIT, distributed, profiler"),
    Row("cpp/csrc/python_dispatch.cpp", "initOps", "torch._C._VariableFunctions", "is generated for each op",
        "torch/csrc/autograd/python_torch_functions_manual.cpp"),
    Row("cpp/csrc/python_dtype.cpp", "initDtypes", "torch::utils::initializeDtypes", "complex, quantized",
        "torch/csrc/utils/tensor_dtypes.h"),
    # --- tensors (chapter 02)
    Row("cpp/csrc/autograd/python_variable.h", "THPVariable", "THPVariable", "backward hooks of its own"),
    Row("cpp/csrc/autograd/python_variable.cpp", "THPVariable_Wrap", "THPVariable_Wrap", "several interpreters"),
    Row("cpp/ATen/core/Tensor.h", "Tensor", "at::Tensor", "some thousand generated methods"),
    Row("cpp/c10/core/TensorImpl.h", "TensorImpl", "c10::TensorImpl", "symbolic sizes; subclasses; sparse kinds"),
    Row("cpp/c10/core/TensorImpl.h", "VariableVersion", "c10::VariableVersion", "the same"),
    Row("cpp/c10/core/StorageImpl.h", "StorageImpl", "c10::StorageImpl", "copy on write; storages of other devices"),
    Row("cpp/c10/util/intrusive_ptr.h", "intrusive_ptr", "c10::intrusive_ptr", "weak references"),
    Row("cpp/ATen/TensorUtils.cpp", "computeStride", "at::detail::computeStride", "symbolic sizes"),
    Row("cpp/csrc/utils/python_tensor_numpy.cpp", "tensor_from_numpy", "torch::utils::tensor_from_numpy",
        "numpy's C interface; complex dtypes"),
    Row("cpp/c10/core/ScalarType.cpp", "promoteTypes", "c10::promoteTypes", "complex and 8-bit float types"),
    # --- operators (chapter 03)
    Row("cpp/csrc/utils/python_arg_parser.cpp", "PythonSignature::parse", "torch::PythonArgParser::raw_parse",
        "signatures as text; deprecated forms; symbolic sizes"),
    Row("cpp/ATen/core/dispatch/Dispatcher.h", "Dispatcher", "c10::Dispatcher", "locks, listeners, deregistration"),
    Row("cpp/ATen/core/dispatch/Dispatcher.cpp", "Dispatcher::registerDef", "c10::Dispatcher::registerDef",
        "a handle"),
    Row("cpp/ATen/core/dispatch/Dispatcher.cpp", "OperatorHandle::callBoxed", "c10::OperatorHandle::callBoxed",
        "some 140 keys, observers", "aten/src/ATen/core/dispatch/Dispatcher.h"),
    Row("cpp/c10/core/DispatchKeySet.h", "DispatchKeySet", "c10::DispatchKeySet", "functionality beside backend bits"),
    Row("cpp/ATen/TensorIterator.cpp", "TensorIterator::build", "at::TensorIteratorBase::build",
        "named dimensions, 32-bit indexing, GPU loops"),
    Row("cpp/ATen/TypePromotion.cpp", "result_type", "at::native::result_type", "complex, quantized, 8-bit floats"),
    Row("cpp/ATen/native/cpu/Loops.h", "cpu_kernel", "at::native::cpu_kernel", "vector registers by hand"),
    # --- autograd (chapters 05 and 06)
    Row("cpp/csrc/autograd/variable.h", "AutogradMeta", "torch::autograd::AutogradMeta", "hooks that retain gradients"),
    Row("cpp/csrc/autograd/function.h", "Node", "torch::autograd::Node", "compiled autograd",
        "torch/csrc/autograd/node.h"),
    Row("cpp/csrc/autograd/edge.h", "Edge", "torch::autograd::Edge", "the same"),
    Row("cpp/csrc/autograd/saved_variable.h", "SavedVariable", "torch::autograd::SavedVariable", "the same"),
    Row("cpp/csrc/autograd/engine.cpp", "Engine::execute", "torch::autograd::Engine::execute", "compiled autograd"),
    Row("cpp/csrc/autograd/graph_task.h", "GraphTask", "torch::autograd::GraphTask", "futures, local threads"),
    Row("cpp/csrc/autograd/input_buffer.h", "InputBuffer", "torch::autograd::InputBuffer", "sparse gradients"),
)  # fmt: skip

TABLE = {row.name: row for row in ROWS}

# Public names of Python that PyTorch keeps elsewhere, or in another file than the rest of ours: the name and the path.
ELSEWHERE = {
    "utils.RemovableHandle": ("torch.utils.hooks.RemovableHandle", "torch/utils/hooks.py"),
    "is_storage": ("torch.is_storage", "torch/__init__.py"),
    "is_tensor": ("torch.is_tensor", "torch/__init__.py"),
    "set_default_dtype": ("torch.set_default_dtype", "torch/__init__.py"),
    "Tensor.is_shared": ("torch.Tensor.is_shared", "torch/_tensor.py"),
}

# Overloads that have another name there. One more rule needs no table: an overload with `out` is in the row of its op.
OVERLOADS = {
    "empty": "empty.memory_format",
    "floor_divide_": "floor_divide_.Tensor",
    "ldexp_.Tensor": "ldexp_",
    "pow_.Tensor_Scalar": "pow_.Scalar",
    "pow_.Tensor_Tensor": "pow_.Tensor",
}
