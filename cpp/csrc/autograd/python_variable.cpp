// Mirrors: torch/csrc/autograd/python_variable.cpp
//
// Left out: per-interpreter objects, weak references from C++.
//
// Note [One PyObject per TensorImpl]
// Problem: a program drops its tensor `x`, but the graph still holds the tensor. When a hook or a saved variable
// returns the tensor, the program expects the same Python object, with its attributes, its class and its hooks. So the
// Python object must live for as long as the program or C++ needs the tensor, and no longer. Trick: two rules, which
// hold at any time.
//   1. The Python object owns one count on its TensorImpl. So the object never loses its tensor.
//   2. While other counts exist, all of them together own one reference to the Python object. So the object never dies
//      before C++ has dropped the tensor. The intrusive_ptr that makes the count 2 takes the reference, and the one
//      that makes the count 1 again drops it.
// So a tensor's object dies, and its __del__ runs, when both Python and C++ have dropped the tensor. No object is
// resurrected. PyTorch does the same. The context of a custom Function and its node follow the same two rules; see
// python_function.h. A call of an op counts no tensor that is an argument, because the caller holds the Python object
// until the call ends; see Note [Borrowed arguments]. Limits: the count may change on a thread without the GIL, which
// then takes the GIL; see Note [Locks and the GIL]. What the garbage collector is shown follows from the two rules; see
// Note [Cycles through the graph].
#include <csrc/autograd/python_variable.h>

#include <ATen/EmptyTensor.h>
#include <csrc/Exceptions.h>
#include <csrc/autograd/functions/accumulate_grad.h>
#include <csrc/autograd/python_traverse.h>
#include <csrc/autograd/python_variable_methods.h>
#include <csrc/python_gil.h>
#include <csrc/python_torch_dispatch.h>

namespace reftorch::torch {

PyTypeObject* THPVariableBaseType = nullptr;
PyObject* THPVariableClass = nullptr;

static THPVariable* as_variable(PyObject* obj) {
  return reinterpret_cast<THPVariable*>(obj);
}

PyObject* THPVariable_NewWithVar(PyTypeObject* type, at::Tensor var) {
  PyObject* obj = type->tp_alloc(type, 0);
  if (obj == nullptr) {
    return nullptr;
  }
  THPVariable* self = as_variable(obj);
  new (&self->cdata) at::Tensor(std::move(var));
  self->backward_hooks = nullptr;
  c10::TensorImpl* impl = self->cdata.unsafeGetTensorImpl();
  impl->set_pyobj(obj);
  if (reinterpret_cast<PyObject*>(type) != THPVariableClass && check_has_torch_dispatch(type)) {
    impl->key_set_ = impl->key_set_ | c10::DispatchKey::Python; // see Note [The Python key]
  }
  return obj;
}

PyObject* THPVariable_Wrap(at::Tensor var) {
  if (!var.defined()) {
    return Py_NewRef(Py_None);
  }
  if (PyObject* obj = var.unsafeGetTensorImpl()->pyobj()) {
    return Py_NewRef(obj);
  }
  if (var.scalar_type() == c10::kUInt64) { // a Python number past int64 that a graph saved; Python has no uint64 dtype
    var = at::detail::wrapped_scalar_tensor(at::detail::number_in(var).toDouble());
  }
  return THPVariable_NewWithVar(reinterpret_cast<PyTypeObject*>(THPVariableClass), std::move(var));
}

at::Tensor THPVariable_Take(PyObject* obj) {
  at::Tensor& cdata = as_variable(obj)->cdata;
  at::Tensor var;
  if (Py_REFCNT(obj) == 1 && cdata.use_count() == 1 && reinterpret_cast<PyObject*>(Py_TYPE(obj)) == THPVariableClass) {
    cdata.unsafeGetTensorImpl()->clear_pyobj();
    var = std::move(cdata);
  } else {
    var = cdata;
  }
  Py_DECREF(obj);
  return var;
}

void THPVariable_Return(PyObject* obj) {
  at::Tensor& cdata = as_variable(obj)->cdata;
  if (Py_REFCNT(obj) == 2 && cdata.use_count() > 1) { // the references of the caller and of C++
    cdata.unsafeGetTensorImpl()->clear_pyobj();
    cdata.reset();
    Py_DECREF(obj);
  }
  Py_DECREF(obj);
}

static void THPVariable_dealloc(PyObject* obj) {
  THPVariable* self = as_variable(obj);
  PyObject_GC_UnTrack(obj);
  Py_CLEAR(self->backward_hooks);
  if (self->cdata.defined()) {
    self->cdata.unsafeGetTensorImpl()->clear_pyobj();
  }
  self->cdata.~Tensor();
  PyTypeObject* type = Py_TYPE(obj);
  type->tp_free(obj);
  Py_DECREF(type);
}

static int THPVariable_traverse(PyObject* obj, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(obj));
  Py_VISIT(as_variable(obj)->backward_hooks);
  const at::Tensor& cdata = as_variable(obj)->cdata;
  if (cdata.use_count() != 1) {
    return 0; // C++ holds the tensor too, and may be changing it on another thread
  }
  autograd::GraphTraversal traversal(visit, arg);
  autograd::impl::visit_owned(cdata, traversal);
  return traversal.run();
}

static int THPVariable_clear(PyObject* obj) {
  Py_CLEAR(as_variable(obj)->backward_hooks);
  if (as_variable(obj)->cdata.defined()) {
    autograd::impl::clear_owned(as_variable(obj)->cdata);
  }
  return 0;
}

// The hash depends on the object's identity, not on the values.
static Py_hash_t THPVariable_hash(PyObject* obj) {
  return static_cast<Py_hash_t>(reinterpret_cast<intptr_t>(obj));
}

// _swap_tensor_impl(a, b): the objects exchange their tensors, with the histories and hooks of these. The references
// that C++ owns while it holds a tensor move to the object that has the tensor now. PyTorch: torch/csrc/Module.cpp.
static PyObject* swap_tensor_impl(PyObject*, PyObject* args) {
  HANDLE_TH_ERRORS
  PyObject *a = nullptr, *b = nullptr;
  if (!PyArg_ParseTuple(args, "O!O!:_swap_tensor_impl", THPVariableBaseType, &a, THPVariableBaseType, &b)) {
    return nullptr;
  }
  if (a == b) {
    Py_RETURN_NONE;
  }
  std::swap(as_variable(a)->cdata, as_variable(b)->cdata);
  std::swap(as_variable(a)->backward_hooks, as_variable(b)->backward_hooks);
  bool were_held[2];
  PyObject* objects[2] = {a, b};
  for (int i : {0, 1}) {
    c10::TensorImpl* impl = as_variable(objects[i])->cdata.unsafeGetTensorImpl();
    were_held[i] = impl->clear_pyobj() > 1;
    impl->set_pyobj(objects[i]);
  }
  for (int i : {0, 1}) { // last, because an object may have no other reference than that of C++
    if (were_held[i]) {
      Py_DECREF(objects[1 - i]);
    }
  }
  Py_RETURN_NONE;
  END_HANDLE_TH_ERRORS
}

static PyMethodDef functions[] = {
    {"_swap_tensor_impl", swap_tensor_impl, METH_VARARGS, "Exchange the tensors of two objects."}, {}};

void initTensorBase(PyObject* module) {
  std::vector<PyType_Slot> slots = {
      {Py_tp_dealloc, reinterpret_cast<void*>(THPVariable_dealloc)},
      {Py_tp_traverse, reinterpret_cast<void*>(THPVariable_traverse)},
      {Py_tp_clear, reinterpret_cast<void*>(THPVariable_clear)},
      {Py_tp_new, reinterpret_cast<void*>(THPVariable_pynew)},
      {Py_tp_hash, reinterpret_cast<void*>(THPVariable_hash)},
  };
  append_variable_slots(slots);
  slots.push_back({0, nullptr});
  PyType_Spec spec = {"reftorch._C.TensorBase", sizeof(THPVariable), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, slots.data()};
  PyObject* type = PyType_FromSpec(&spec);
  if (type == nullptr) {
    throw_python_error();
  }
  THPVariableBaseType = reinterpret_cast<PyTypeObject*>(type);
  THPVariableClass = type;
  c10::pyobject_hooks = {incref_anywhere, decref_anywhere};
  // The function may be called without the GIL: if only C++ refers to the object, no other thread can reach the object
  // and add a reference.
  autograd::impl::has_unique_reference = [](PyObject* obj) { return Py_REFCNT(obj) == 1; };
  autograd::init_traversal();
  Py_INCREF(type);
  // PyTorch's metaclass of tensors is a class of its own, which programs import for their annotations.
  auto* const meta = reinterpret_cast<PyObject*>(Py_TYPE(type));
  if (PyModule_AddObject(module, "TensorBase", type) < 0 || PyModule_AddObjectRef(module, "_TensorMeta", meta) < 0 ||
      PyModule_AddFunctions(module, functions) < 0) {
    throw_python_error();
  }
}

} // namespace reftorch::torch
