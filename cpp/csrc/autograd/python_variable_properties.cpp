// Mirrors: torch/csrc/autograd/python_variable.cpp (THPVariable_properties)
//
// The properties and methods of a tensor that concern the graph. Left out: names, forward gradients.
#include <csrc/autograd/python_variable_methods.h>

#include <ATen/functorch/DynamicLayer.h>
#include <csrc/Exceptions.h>
#include <csrc/autograd/python_cpp_function.h>
#include <csrc/autograd/python_hook.h>
#include <csrc/autograd/python_variable.h>
#include <csrc/autograd/python_variable_properties.h>
#include <csrc/autograd/variable.h>
#include <csrc/python_dtype.h>
#include <csrc/python_torch_function.h>
#include <csrc/utils/python_other_library.h>

namespace reftorch::torch {

namespace impl = autograd::impl;

static PyObject* get_grad(PyObject* self, void*) {
  HANDLE_TH_ERRORS
  const autograd::AutogradMeta* meta = impl::get_autograd_meta(THPVariable_Unpack(self));
  if (const at::Tensor grad = impl::get_grad(THPVariable_Unpack(self)); grad.defined()) {
    return THPVariable_Wrap(grad);
  }
  if (meta != nullptr && meta->retained_grad_ == nullptr && !impl::is_leaf(THPVariable_Unpack(self))) {
    TORCH_WARN(
        "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad attribute won't be "
        "populated during autograd.backward(). If you indeed want the .grad field to be populated for a non-leaf "
        "Tensor, use .retain_grad() on the non-leaf Tensor. If you access the non-leaf Tensor by mistake, make sure "
        "you access the leaf Tensor instead. See github.com/pytorch/pytorch/pull/30531 for more information.");
  }
  Py_RETURN_NONE;
  END_HANDLE_TH_ERRORS
}

// The name of a dtype in those of PyTorch's messages that name the C++ type: "float".
static std::string cpp_name(at::ScalarType dtype) {
  switch (dtype) {
    case at::ScalarType::Float: return "float";
    case at::ScalarType::Double: return "double";
    case at::ScalarType::Half:
    case at::ScalarType::BFloat16: return c10::str("c10::", dtype);
    default: return c10::toString(dtype);
  }
}

static int set_grad(PyObject* self, PyObject* value, void*) {
  HANDLE_TH_ERRORS
  const at::Tensor& var = THPVariable_Unpack(self);
  if (value == nullptr || value == Py_None) {
    if (impl::get_autograd_meta(var) != nullptr) {
      impl::set_grad(var, at::Tensor());
    }
    return 0;
  }
  TORCH_CHECK_TYPE(THPVariable_Check(value), "assigned grad expected to be a Tensor or None but got grad of type ",
                   type_name_of(value));
  TORCH_CHECK(self != value, "can't assign Variable as its own grad");
  const at::Tensor& grad = THPVariable_Unpack(value);
  const at::ScalarType wanted = impl::grad_dtype(var);
  TORCH_CHECK(
      wanted == at::ScalarType::Undefined || grad.scalar_type() == wanted,
      "attempting to assign a gradient with dtype '", cpp_name(grad.scalar_type()), "' to a tensor with grad_dtype '",
      wanted,
      "'. The gradient must match the tensor's grad_dtype (defaults to the tensor's dtype). You can set "
      "the tensor's grad_dtype attribute with a specific dtype, or None to allow any dtype. Set grad_dtype with "
      "caution. Diverging the dtypes of a tensor and its gradient may break downstream systems that assume they "
      "match.");
  TORCH_CHECK(grad.device() == var.device(), "attempting to assign a gradient located on device '", grad.device(),
              "' to a tensor located on device '", var.device(),
              "'. Please ensure that the gradient and the tensor are on the same device");
  TORCH_CHECK(grad.sizes() == var.sizes(), "attempting to assign a gradient of size '", grad.sizes(),
              "' to a tensor of size '", var.sizes(),
              "'. Please ensure that the gradient and the tensor are the same size");
  impl::set_grad(var, grad);
  return 0;
  END_HANDLE_TH_ERRORS_RET(-1)
}

static PyObject* get_grad_dtype(PyObject* self, void*) {
  HANDLE_TH_ERRORS
  TORCH_CHECK(impl::is_leaf(THPVariable_Unpack(self)), "grad_dtype can only be accessed on leaf tensors.");
  const at::ScalarType dtype = impl::grad_dtype(THPVariable_Unpack(self));
  return Py_NewRef(dtype == at::ScalarType::Undefined ? Py_None : getTHPDtype(dtype));
  END_HANDLE_TH_ERRORS
}

static int set_grad_dtype(PyObject* self, PyObject* value, void*) {
  HANDLE_TH_ERRORS
  const at::Tensor& var = THPVariable_Unpack(self);
  TORCH_CHECK(value != nullptr && (value == Py_None || THPDtype_Check(value)),
              "grad_dtype must be a torch.dtype or None, but got ",
              value != nullptr ? Py_TYPE(value)->tp_name : "a deletion");
  TORCH_CHECK(impl::is_leaf(var), "grad_dtype can only be set on leaf tensors.");
  const at::ScalarType dtype = value == Py_None ? at::ScalarType::Undefined : scalar_type_from_python(value);
  const autograd::AutogradMeta* meta = impl::get_autograd_meta(var);
  if (dtype != at::ScalarType::Undefined && meta != nullptr && meta->grad().defined()) {
    TORCH_CHECK(meta->grad().scalar_type() == dtype, "Cannot set grad_dtype to '", dtype,
                "' because there is already a gradient with dtype '", cpp_name(meta->grad().scalar_type()),
                "'. Please clear the gradient (.grad = None) before changing grad_dtype, or ensure the new grad_dtype "
                "matches the existing gradient's dtype.");
  }
  impl::set_grad_dtype(var, dtype);
  return 0;
  END_HANDLE_TH_ERRORS_RET(-1)
}

static PyObject* get_grad_fn(PyObject* self, void*) {
  HANDLE_TH_ERRORS
  return autograd::functionToPyObject(impl::grad_fn(THPVariable_Unpack(self)));
  END_HANDLE_TH_ERRORS
}

static int set_grad_fn(PyObject* self, PyObject* value, void*) {
  HANDLE_TH_ERRORS
  TORCH_CHECK(value != nullptr, "Deletion of _grad_fn not allowed. Detach tensor instead!");
  TORCH_CHECK(value == Py_None, "_grad_fn can be only set to None");
  if (autograd::AutogradMeta* meta = impl::get_autograd_meta(THPVariable_Unpack(self))) {
    meta->grad_fn_ = nullptr;
    meta->output_nr_ = 0;
  }
  return 0;
  END_HANDLE_TH_ERRORS_RET(-1)
}

static PyObject* get_is_leaf(PyObject* self, void*) {
  HANDLE_TH_ERRORS
  return PyBool_FromLong(impl::is_leaf(THPVariable_Unpack(self)));
  END_HANDLE_TH_ERRORS
}

static PyObject* get_requires_grad(PyObject* self, void*) {
  return PyBool_FromLong(THPVariable_Unpack(self).requires_grad());
}

// Returns whether an op was recorded for the tensor when the tensor was made or last changed. impl::is_leaf() would
// bring the history of a view up to date, and would raise for a view that must not be used.
static bool has_recorded_op(const at::Tensor& var) {
  const autograd::AutogradMeta* meta = impl::get_autograd_meta(var);
  return meta != nullptr && meta->grad_fn_ != nullptr;
}

// The flag of a leaf is set even if the leaf requires a gradient already: a view that was made under no_grad requires
// one because its base does, and asks for a gradient of its own only with the flag.
static void change_requires_grad(PyObject* self, bool requires_grad) {
  at::Tensor var = THPVariable_Unpack(self);
  TORCH_CHECK(!has_recorded_op(var), "you can only change requires_grad flags of leaf variables.",
              requires_grad ? ""
                            : " If you want to use a computed variable in a subgraph that doesn't require "
                              "differentiation use var_no_grad = "
                              "var.detach().");
  TORCH_CHECK(!requires_grad || var.is_floating_point(), "only Tensors of floating point dtype can require gradients");
  if (requires_grad || var.requires_grad()) {
    impl::materialize_autograd_meta(var)->set_requires_grad(requires_grad, var);
  }
}

static int set_requires_grad(PyObject* self, PyObject* value, void*) {
  HANDLE_TH_ERRORS
  TORCH_CHECK(value != nullptr && PyBool_Check(value), "requires_grad must be a bool");
  change_requires_grad(self, value == Py_True);
  return 0;
  END_HANDLE_TH_ERRORS_RET(-1)
}

static PyObject* get_output_nr(PyObject* self, void*) {
  return PyLong_FromUnsignedLong(impl::output_nr(THPVariable_Unpack(self)));
}

static PyObject* get_version(PyObject* self, void*) {
  HANDLE_TH_ERRORS
  TORCH_CHECK(!THPVariable_Unpack(self).is_inference(), "Inference tensors do not track version counter.");
  return PyLong_FromUnsignedLong(impl::version(THPVariable_Unpack(self)));
  END_HANDLE_TH_ERRORS
}

static PyObject* get_base(PyObject* self, void*) {
  HANDLE_TH_ERRORS
  const autograd::DifferentiableViewMeta* view = impl::get_view_autograd_meta(THPVariable_Unpack(self));
  return view != nullptr ? THPVariable_Wrap(view->base_) : Py_NewRef(Py_None);
  END_HANDLE_TH_ERRORS
}

static PyObject* get_retains_grad(PyObject* self, void*) {
  return PyBool_FromLong(impl::retains_grad(THPVariable_Unpack(self)));
}

static PyObject* get_backward_hooks(PyObject* self, void*) {
  PyObject* hooks = reinterpret_cast<THPVariable*>(self)->backward_hooks;
  return Py_NewRef(hooks != nullptr ? hooks : Py_None);
}

static int set_backward_hooks(PyObject* self, PyObject* value, void*) {
  HANDLE_TH_ERRORS
  TORCH_CHECK(value != nullptr, "Deletion of _backwards_hooks not allowed!");
  const at::Tensor& var = THPVariable_Unpack(self);
  impl::clear_hooks(var);
  Py_XSETREF(reinterpret_cast<THPVariable*>(self)->backward_hooks, value == Py_None ? nullptr : Py_NewRef(value));
  if (value != Py_None) {
    impl::add_hook(var, std::make_unique<autograd::PyFunctionTensorPreHook>(value, 0));
  }
  return 0;
  END_HANDLE_TH_ERRORS_RET(-1)
}

static PyObject* get_post_accumulate_grad_hooks(PyObject* self, void*) {
  const auto hooks = impl::post_acc_grad_hooks(THPVariable_Unpack(self));
  if (hooks == nullptr) {
    Py_RETURN_NONE;
  }
  return Py_NewRef(static_cast<autograd::PyFunctionTensorPostAccGradHooks*>(hooks.get())->dict());
}

static int set_post_accumulate_grad_hooks(PyObject* self, PyObject* value, void*) {
  HANDLE_TH_ERRORS
  TORCH_CHECK(value != nullptr, "Deletion of _post_accumulate_grad_hooks not allowed!");
  impl::set_post_acc_grad_hooks(
      THPVariable_Unpack(self),
      value == Py_None ? nullptr : std::make_shared<autograd::PyFunctionTensorPostAccGradHooks>(value));
  return 0;
  END_HANDLE_TH_ERRORS_RET(-1)
}

PyGetSetDef* THPVariable_autograd_properties() {
  static PyGetSetDef properties[] = {
      {"grad", get_grad, set_grad, "The gradient that backward() accumulated; None before the first backward().",
       nullptr},
      {"_grad", get_grad, set_grad, nullptr, nullptr},
      {"grad_dtype", get_grad_dtype, set_grad_dtype,
       "The dtype to which the gradient of this leaf is cast. The default is the tensor's dtype; None allows any "
       "dtype.",
       nullptr},
      {"grad_fn", get_grad_fn, nullptr, "The node that made this tensor; None for a leaf.", nullptr},
      {"_grad_fn", get_grad_fn, set_grad_fn, nullptr, nullptr},
      {"is_leaf", get_is_leaf, nullptr, "Whether no recorded op made this tensor.", nullptr},
      {"requires_grad", get_requires_grad, set_requires_grad, "Whether autograd records the ops on this tensor.",
       nullptr},
      {"output_nr", get_output_nr, nullptr, "Which output of grad_fn this tensor is.", nullptr},
      {"_version", get_version, nullptr, "How often this tensor, or another view of its data, was changed in place.",
       nullptr},
      {"_base", get_base, nullptr, "The tensor that this tensor is a view of; None if it is not a view.", nullptr},
      {"retains_grad", get_retains_grad, nullptr, "Whether this tensor keeps its .grad although it is not a leaf.",
       nullptr},
      {"_backward_hooks", get_backward_hooks, set_backward_hooks, nullptr, nullptr},
      {"_post_accumulate_grad_hooks", get_post_accumulate_grad_hooks, set_post_accumulate_grad_hooks, nullptr, nullptr},
      {}};
  return properties;
}

// ---- methods

// Raises an error inside a function transform. A function under a transform works on the graph of the transform, where
// these methods would have another effect than the program expects.
static void refuse_under_transforms(const char* what) {
  TORCH_CHECK(at::functorch::current_layer() == nullptr, "You are attempting to call Tensor.", what,
              "() (or perhaps using torch.autograd.functional.* APIs) inside of a function being transformed by a "
              "functorch transform. This is unsupported, please attempt to use the functorch transforms (e.g. grad, "
              "vjp, jacrev, jacfwd, hessian) or call ",
              what, "() outside of a function being transformed instead.");
}

static PyObject* requires_grad_(PyObject* self, PyObject* args, PyObject* kwargs) {
  HANDLE_TH_ERRORS
  static const char* keywords[] = {"requires_grad", nullptr};
  int requires_grad = 1;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|p:requires_grad_", const_cast<char**>(keywords), &requires_grad)) {
    return nullptr;
  }
  refuse_under_transforms("requires_grad_");
  // requires_grad_(True) on a computed tensor changes nothing.
  if (!requires_grad || !has_recorded_op(THPVariable_Unpack(self))) {
    change_requires_grad(self, requires_grad != 0);
  }
  return Py_NewRef(self);
  END_HANDLE_TH_ERRORS
}

static PyObject* retain_grad(PyObject* self, PyObject*) {
  HANDLE_TH_ERRORS
  if (THPVariable_Unpack(self).requires_grad()) {
    refuse_under_transforms("retain_grad");
  }
  impl::retain_grad(THPVariable_Unpack(self));
  Py_RETURN_NONE;
  END_HANDLE_TH_ERRORS
}

static PyObject* is_view(PyObject* self, PyObject*) {
  return PyBool_FromLong(impl::is_view(THPVariable_Unpack(self)));
}

static PyObject* is_inference(PyObject* self, PyObject*) {
  return PyBool_FromLong(THPVariable_Unpack(self).is_inference());
}

static const PyMethodDef methods[] = {
    {"requires_grad_", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(requires_grad_)),
     METH_VARARGS | METH_KEYWORDS,
     "requires_grad_($self, requires_grad=True)\n--\n\nSet whether autograd records the ops on this tensor. Return "
     "the tensor."},
    {"retain_grad", retain_grad, METH_NOARGS,
     "retain_grad($self, /)\n--\n\nLet this tensor keep its .grad although it is not a leaf."},
    {"is_inference", is_inference, METH_NOARGS,
     "is_inference($self, /)\n--\n\nReturn whether this tensor was made in inference mode."},
    {"_is_view", is_view, METH_NOARGS, nullptr},
    {}};

void autograd::initVariableMethods() {
  for (PyMethodDef* def = overridable_methods<methods>(); def->ml_name != nullptr; def++) {
    PyObject* method = PyDescr_NewMethod(THPVariableBaseType, def);
    if (method == nullptr ||
        PyObject_SetAttrString(reinterpret_cast<PyObject*>(THPVariableBaseType), def->ml_name, method) < 0) {
      throw_python_error();
    }
    Py_DECREF(method);
  }
}

} // namespace reftorch::torch
