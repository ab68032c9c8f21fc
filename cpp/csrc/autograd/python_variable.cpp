// Mirrors: torch/csrc/autograd/python_variable.cpp
// Left out: per-interpreter objects, weak references from C++.
//
// Note [One PyObject per TensorImpl]
// Problem: `y.grad_fn`'s saved `x`, a parameter in a hook and the `x` of the program must be one object, attributes
// included, even when the program has dropped its `x` and only the graph still holds the tensor. Trick: the TensorImpl
// keeps a pointer to its Python object, and one of the two owns the other.
//   Python owns: the object's `cdata` holds a count on the impl (the usual state).
//   C++ owns: when Python drops its last reference while C++ still holds the impl, tp_finalize turns the ownership
//   around: the impl now owns one reference to the object, and `cdata` is a borrowed pointer. When C++ hands the tensor
//   to Python again, THPVariable_Wrap turns it back; when the last C++ holder lets go, ~TensorImpl releases the object.
// What the impl owns is shown to the garbage collector by the impl's owner: by the object in the first state, by the
// graph in the second. See Note [Cycles through the graph].
#include <csrc/autograd/python_variable.h>

#include <ATen/EmptyTensor.h>
#include <csrc/Exceptions.h>
#include <csrc/autograd/python_traverse.h>
#include <csrc/autograd/python_variable_methods.h>
#include <csrc/python_gil.h>
#include <csrc/python_torch_dispatch.h>
#include <csrc/utils/python_finalize.h>

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
  impl->pyobj_ = obj;
  if (reinterpret_cast<PyObject*>(type) != THPVariableClass && check_has_torch_dispatch(type)) {
    impl->key_set_ = impl->key_set_ | c10::DispatchKey::Python; // see Note [The Python key]
  }
  return obj;
}

PyObject* THPVariable_Wrap(at::Tensor var) {
  if (!var.defined()) {
    return Py_NewRef(Py_None);
  }
  c10::TensorImpl* impl = var.unsafeGetTensorImpl();
  PyObject* obj = impl->pyobj_;
  if (obj == nullptr) {
    if (var.scalar_type() == c10::kUInt64) { // a number past int64 that a graph keeps: no dtype of Python's
      var = at::detail::wrapped_scalar_tensor(var.item().toDouble());
    }
    return THPVariable_NewWithVar(reinterpret_cast<PyTypeObject*>(THPVariableClass), std::move(var));
  }
  if (impl->owns_pyobj_) {
    // The impl's reference becomes the caller's, and the object holds a count on the impl again.
    impl->owns_pyobj_ = false;
    var.unsafeReleaseTensorImpl();
    clear_finalized_bit(obj);
    return obj;
  }
  return Py_NewRef(obj);
}

static void THPVariable_finalize(PyObject* obj) {
  THPVariable* self = as_variable(obj);
  if (!self->cdata.defined() || self->cdata.use_count() <= 1) {
    return;
  }
  c10::TensorImpl* impl = self->cdata.unsafeGetTensorImpl();
  if (impl->owns_pyobj_) {
    return; // asked by the garbage collector, which found the tensor's graph unreachable too
  }
  impl->owns_pyobj_ = true;
  Py_INCREF(obj);
  // Drops the count but keeps the pointer. If C++ let go in the meantime this is the last count, and the hook below
  // undoes it all.
  c10::intrusive_ptr<c10::TensorImpl>::reclaim(impl);
}

// ~TensorImpl of a tensor that owns its Python object, on whatever thread.
static void release_pyobj(PyObject* obj) {
  if (!Py_IsInitialized()) {
    // Python is ending: the object stays where it is, but the last collection must not follow it here.
    as_variable(obj)->cdata.unsafeReleaseTensorImpl();
    return;
  }
  GilAcquire gil;
  as_variable(obj)->cdata.unsafeReleaseTensorImpl();
  if (Py_REFCNT(obj) > 1) {
    // The garbage collector is taking a cycle apart that still refers to the object: no crash for who meets it now.
    at::Tensor empty = at::detail::empty_generic({0}, c10::kFloat, c10::Device(c10::DeviceType::CPU));
    empty.unsafeGetTensorImpl()->pyobj_ = obj;
    as_variable(obj)->cdata = std::move(empty);
  }
  Py_DECREF(obj);
}

static void THPVariable_dealloc(PyObject* obj) {
  THPVariable* self = as_variable(obj);
  PyObject_GC_UnTrack(obj);
  Py_CLEAR(self->backward_hooks);
  if (self->cdata.defined()) {
    self->cdata.unsafeGetTensorImpl()->pyobj_ = nullptr;
  }
  self->cdata.~Tensor();
  PyTypeObject* type = Py_TYPE(obj);
  type->tp_free(obj);
  Py_DECREF(type);
}

static int THPVariable_traverse(PyObject* obj, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(obj));
  const at::Tensor& cdata = as_variable(obj)->cdata;
  const bool cpp_owns = cdata.defined() && cdata.unsafeGetTensorImpl()->owns_pyobj_;
  if (!cpp_owns && cdata.use_count() > 1) {
    return 0; // while C++ holds the tensor too, its hooks are needed whatever Python thinks
  }
  Py_VISIT(as_variable(obj)->backward_hooks);
  if (cpp_owns || !cdata.defined()) {
    return 0;
  }
  autograd::GraphTraversal traversal(visit, arg);
  autograd::impl::visit_owned(cdata, traversal);
  return traversal.run();
}

static int THPVariable_clear(PyObject* obj) {
  if (as_variable(obj)->cdata.defined()) {
    const at::Tensor keep_alive = as_variable(obj)->cdata; // also where the object only borrows it
    autograd::impl::clear_owned(keep_alive);
  }
  Py_CLEAR(as_variable(obj)->backward_hooks);
  return 0;
}

// hash(x) is id(x): a tensor is equal to itself only, whatever its values.
static Py_hash_t THPVariable_hash(PyObject* obj) {
  return static_cast<Py_hash_t>(reinterpret_cast<intptr_t>(obj));
}

void initTensorBase(PyObject* module) {
  std::vector<PyType_Slot> slots = {
      {Py_tp_dealloc, reinterpret_cast<void*>(THPVariable_dealloc)},
      {Py_tp_finalize, reinterpret_cast<void*>(THPVariable_finalize)},
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
  c10::pyobj_release_hook = release_pyobj;
  autograd::init_traversal();
  Py_INCREF(type);
  PyModule_AddObject(module, "TensorBase", type);
}

} // namespace reftorch::torch
