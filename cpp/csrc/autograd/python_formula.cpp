// Mirrors: nothing in PyTorch: see python_formula.h
#include <csrc/autograd/python_formula.h>

#include <csrc/Exceptions.h>
#include <csrc/autograd/operator_info.h>
#include <csrc/autograd/python_cpp_function.h>
#include <csrc/autograd/python_variable.h>
#include <csrc/python_dtype.h>
#include <csrc/python_gil.h>
#include <csrc/python_torch_function.h>
#include <csrc/utils/object_ptr.h>
#include <csrc/utils/pybind.h>
#include <csrc/utils/python_arg_parser.h>

namespace py = pybind11;

namespace reftorch::torch::autograd {
namespace {

// A parameter of a formula: the gradient, the list of gradients, the flags of needed gradients, or a saved field.
struct Parameter {
  enum class Kind : uint8_t { Grad, Grads, NeedsInputGrad, Saved };
  Kind kind;
  uint8_t field = 0; // for Saved: the index in DerivativeFormula::fields
};

struct Formula {
  PyObject* function; // lives as long as the program
  std::vector<Parameter> parameters;
};

struct PythonFormula final : public DerivativeFormula {
  std::shared_ptr<FormulaNode> make_node() const override;

  bool joint = false; // one formula for all inputs; otherwise one for each input, in the order of `inputs`
  std::vector<Formula> formulas;
  std::vector<bool> input_is_list;
  std::vector<at::TypeKind> argument_types;
};

constexpr size_t kMaxParameters = 24;

struct PythonFormulaNode final : public FormulaNode {
  using FormulaNode::FormulaNode;
  const PythonFormula& python_formula() const {
    return static_cast<const PythonFormula&>(formula);
  }

 protected:
  variable_list apply(variable_list&& grads) override;
};

std::shared_ptr<FormulaNode> PythonFormula::make_node() const {
  return c10::make_shared_small<PythonFormulaNode>(*this);
}

PyObject* checked(PyObject* obj) {
  if (obj == nullptr) {
    throw_python_error();
  }
  return obj;
}

// Note [Passing tensors]
// Problem: a formula sees a gradient only during one call. If the gradient kept its Python object afterwards, the
// engine would need the GIL to drop the gradient, and so pay for the object again. Trick: when the call is over, an
// object that nobody else refers to is separated from its tensor at once: by THPVariable_Return for an argument, by
// THPVariable_Take for a result.

// The Python values that one run of a node passes to its formulas. Each value is made when a formula first needs it.
class Arguments final {
 public:
  Arguments(PythonFormulaNode& node, const variable_list& grads)
      : node_(node), grads_(grads), saved_(node.formula.fields.size(), nullptr) {}
  ~Arguments() {
    if (grad_ != nullptr && fresh_grad_) {
      THPVariable_Return(grad_);
    } else {
      Py_XDECREF(grad_);
    }
    Py_XDECREF(grad_list_);
    Py_XDECREF(needs_input_grad_);
    for (PyObject* obj : saved_) {
      Py_XDECREF(obj);
    }
  }

  // Returns a borrowed reference.
  PyObject* get(const Parameter& parameter) {
    switch (parameter.kind) {
      case Parameter::Kind::Grad: return grad();
      case Parameter::Kind::Grads: return grad_list();
      case Parameter::Kind::NeedsInputGrad: return needs_input_grad();
      default: return saved(parameter.field);
    }
  }

  // Unpacks what no formula of this run has read. PyTorch's nodes unpack everything that they have saved. So a saved
  // tensor that was changed in place is an error, even if the gradient that needs the tensor is not wanted.
  void unpack_the_rest() {
    for (size_t i = 0; i < saved_.size(); i++) {
      const SavedField& field = node_.formula.fields[i];
      if (saved_[i] != nullptr) {
        continue;
      }
      if (field.kind == SavedField::Kind::Variable || field.kind == SavedField::Kind::Result) {
        node_.unpack(field);
      } else if (field.kind == SavedField::Kind::VariableList) {
        node_.unpack_list(field);
      }
    }
  }

 private:
  Variable defined_grad(size_t i) const {
    return grads_[i].defined() ? grads_[i] : node_.input_metadata(i).zeros_like();
  }
  PyObject* grad() {
    if (grad_ == nullptr) {
      Variable g = defined_grad(0);
      fresh_grad_ = g.unsafeGetTensorImpl()->pyobj() == nullptr;
      grad_ = checked(THPVariable_Wrap(std::move(g)));
    }
    return grad_;
  }
  PyObject* grad_list() {
    if (grad_list_ == nullptr) {
      grad_list_ = checked(PyList_New(static_cast<Py_ssize_t>(grads_.size())));
      for (size_t i = 0; i < grads_.size(); i++) {
        PyList_SET_ITEM(grad_list_, i, checked(THPVariable_Wrap(defined_grad(i))));
      }
    }
    return grad_list_;
  }
  PyObject* needs_input_grad() {
    if (needs_input_grad_ == nullptr) {
      const PythonFormula& formula = node_.python_formula();
      py::tuple flags(formula.inputs.size());
      for (size_t input = 0; input < formula.inputs.size(); input++) {
        py::list list;
        for (uint32_t e = node_.edge_begin(input); e < node_.edge_end(input); e++) {
          list.append(node_.task_should_compute_output(e));
        }
        flags[input] = formula.input_is_list[input] ? py::object(list) : py::object(list[0]);
      }
      needs_input_grad_ = flags.release().ptr();
    }
    return needs_input_grad_;
  }
  PyObject* saved(uint8_t index) {
    if (saved_[index] == nullptr) {
      saved_[index] = checked(wrap_saved_field(node_, node_.formula.fields[index]));
    }
    return saved_[index];
  }

  PythonFormulaNode& node_;
  const variable_list& grads_;
  PyObject* grad_ = nullptr;
  PyObject* grad_list_ = nullptr;
  PyObject* needs_input_grad_ = nullptr;
  c10::SmallVector<PyObject*, 6> saved_;
  bool fresh_grad_ = false;
};

std::string formula_name(const Formula& formula) {
  return py::str(py::handle(formula.function).attr("__name__"));
}

// Returns the tensor of a gradient that a formula returned. Takes over the reference.
Variable unwrap_gradient(PyObject* obj, const Formula& formula) {
  if (obj == Py_None) {
    Py_DECREF(obj);
    return Variable();
  }
  if (!THPVariable_Check(obj)) {
    const std::string got = Py_TYPE(obj)->tp_name;
    Py_DECREF(obj);
    TORCH_CHECK_TYPE(false, "derivative formula ", formula_name(formula), ": expected a Tensor or None, but got ", got);
  }
  return THPVariable_Take(obj);
}

// Stores the gradients that a formula returned for a Tensor[] argument. Takes over the reference.
void unwrap_list(PyObject* obj, const Formula& formula, variable_list& results, uint32_t begin, uint32_t end) {
  const py::object holder = py::reinterpret_steal<py::object>(obj);
  if (obj == Py_None) {
    return;
  }
  TORCH_CHECK_TYPE(PyTuple_Check(obj) || PyList_Check(obj), "derivative formula ", formula_name(formula),
                   ": expected a list of gradients for an argument that is a list of tensors, but got ",
                   Py_TYPE(obj)->tp_name);
  const Py_ssize_t count = PySequence_Fast_GET_SIZE(obj);
  TORCH_CHECK(count == end - begin, "derivative formula ", formula_name(formula), ": expected ", end - begin,
              " gradients, but got ", count);
  for (Py_ssize_t i = 0; i < count; i++) {
    results[begin + i] = unwrap_gradient(Py_NewRef(PySequence_Fast_GET_ITEM(obj, i)), formula);
  }
}

PyObject* call_formula(const Formula& formula, Arguments& arguments) {
  PyObject* stack[kMaxParameters + 1]; // one more place, in which the callee may put its self
  for (size_t i = 0; i < formula.parameters.size(); i++) {
    stack[i + 1] = arguments.get(formula.parameters[i]);
  }
  return checked(PyObject_Vectorcall(formula.function, stack + 1,
                                     formula.parameters.size() | PY_VECTORCALL_ARGUMENTS_OFFSET, nullptr));
}

bool any_defined(const variable_list& list) {
  for (const Variable& v : list) {
    if (v.defined()) {
      return true;
    }
  }
  return false;
}

variable_list PythonFormulaNode::apply(variable_list&& grads) {
  variable_list results(num_outputs());
  if (!any_defined(grads)) {
    return results;
  }
  const PythonFormula& formula = python_formula();
  const GilAcquire gil;
  const DisableTorchFunction no_overrides;
  Arguments arguments(*this, grads);

  auto assign = [&](size_t input, PyObject* value, const Formula& from) {
    if (formula.input_is_list[input]) {
      unwrap_list(value, from, results, edge_begin(input), edge_end(input));
    } else {
      results[edge_begin(input)] = unwrap_gradient(value, from);
    }
  };
  if (formula.joint) {
    const Formula& joint = formula.formulas[0];
    const py::object values = py::reinterpret_steal<py::object>(call_formula(joint, arguments));
    TORCH_CHECK_TYPE(
        PyTuple_Check(values.ptr()) && PyTuple_GET_SIZE(values.ptr()) == static_cast<Py_ssize_t>(formula.inputs.size()),
        "derivative formula ", formula_name(joint), ": expected a tuple of ", formula.inputs.size(),
        " gradients, one per differentiable input");
    for (size_t input = 0; input < formula.inputs.size(); input++) {
      assign(input, Py_NewRef(PyTuple_GET_ITEM(values.ptr(), input)), joint);
    }
  } else {
    for (size_t input = 0; input < formula.inputs.size(); input++) {
      bool needed = false;
      for (uint32_t e = edge_begin(input); e < edge_end(input); e++) {
        needed = needed || task_should_compute_output(e);
      }
      if (needed) {
        assign(input, call_formula(formula.formulas[input], arguments), formula.formulas[input]);
      }
    }
    arguments.unpack_the_rest();
  }
  return results;
}

// ---- registration

Formula resolve_formula(PythonFormula& target, const at::FunctionSchema& schema, const py::object& function,
                        const std::vector<std::string>& names, uint64_t asked_by) {
  TORCH_CHECK(names.size() <= kMaxParameters, "derivative of ", schema.operator_name(), ": more than ", kMaxParameters,
              " parameters");
  Formula formula;
  for (const std::string& name : names) {
    if (name == "grad") {
      formula.parameters.push_back({Parameter::Kind::Grad});
    } else if (name == "grads") {
      formula.parameters.push_back({Parameter::Kind::Grads});
    } else if (name == "needs_input_grad") {
      formula.parameters.push_back({Parameter::Kind::NeedsInputGrad});
    } else {
      const SavedField& field = target.field(schema, name, asked_by);
      formula.parameters.push_back({Parameter::Kind::Saved, static_cast<uint8_t>(&field - target.fields.data())});
    }
  }
  formula.function = py::object(function).release().ptr();
  return formula;
}

bool holds_tensors(const at::Argument& arg) {
  return arg.type == at::TypeKind::Tensor || arg.type == at::TypeKind::TensorList ||
         arg.type == at::TypeKind::OptionalTensorList;
}

void add_input(PythonFormula& target, const at::FunctionSchema& schema, const std::string& name) {
  const int index = schema.argument_index(name);
  TORCH_CHECK(index >= 0 && holds_tensors(schema.arguments[index]), "derivative of ", schema.operator_name(), ": '",
              name, "' is not a tensor argument of ", schema.str());
  TORCH_CHECK(target.inputs.empty() || target.inputs.back() < index, "derivative of ", schema.operator_name(),
              ": inputs must be named in the order of the schema");
  const bool is_list = schema.arguments[index].type != at::TypeKind::Tensor;
  target.inputs.push_back(static_cast<uint8_t>(index));
  target.input_is_list.push_back(is_list);
  target.has_list_inputs = target.has_list_inputs || is_list;
}

// `output_differentiability` has a bool for each result, or is empty if all results are differentiable.
std::unique_ptr<PythonFormula> new_formula(const at::FunctionSchema& schema, const std::string& node_name,
                                           const std::vector<bool>& output_differentiability) {
  auto formula = std::make_unique<PythonFormula>();
  formula->node_name = node_name;
  TORCH_CHECK(output_differentiability.empty() || output_differentiability.size() == schema.returns.size(),
              "derivative of ", schema.operator_name(), ": output_differentiability must have ", schema.returns.size(),
              " entries, one for each result, but has ", output_differentiability.size());
  for (size_t i = 0; i < output_differentiability.size(); i++) {
    formula->undifferentiable_results |= uint64_t(!output_differentiability[i]) << i;
  }
  for (const at::Argument& arg : schema.arguments) {
    formula->argument_types.push_back(arg.type);
  }
  return formula;
}

using Row = std::tuple<std::string, py::object, std::vector<std::string>>; // input, formula, the formula's parameters

void register_rows(const std::string& op, const std::string& node_name, const std::vector<Row>& rows,
                   const std::vector<bool>& output_differentiability) {
  at::OperatorEntry& entry = at::Dispatcher::singleton().findSchemaOrThrow(op).entry();
  auto formula = new_formula(entry.schema, node_name, output_differentiability);
  for (const Row& row : rows) {
    add_input(*formula, entry.schema, std::get<0>(row));
    formula->formulas.push_back(resolve_formula(*formula, entry.schema, std::get<1>(row), std::get<2>(row),
                                                uint64_t(1) << (formula->inputs.size() - 1)));
  }
  register_derivative(entry, std::move(formula));
}

void register_joint(const std::string& op, const std::string& node_name,
                    const std::optional<std::vector<std::string>>& inputs, const py::object& function,
                    const std::vector<std::string>& parameters, const std::vector<bool>& output_differentiability) {
  at::OperatorEntry& entry = at::Dispatcher::singleton().findSchemaOrThrow(op).entry();
  auto formula = new_formula(entry.schema, node_name, output_differentiability);
  formula->joint = true;
  for (const at::Argument& arg : entry.schema.arguments) {
    if (inputs.has_value() ? std::find(inputs->begin(), inputs->end(), arg.name) != inputs->end()
                           : holds_tensors(arg)) {
      add_input(*formula, entry.schema, arg.name);
    }
  }
  formula->formulas.push_back(resolve_formula(*formula, entry.schema, function, parameters, ~uint64_t(0)));
  register_derivative(entry, std::move(formula));
}

const char* state_name(DerivativeState state) {
  switch (state) {
    case DerivativeState::Formula: return "formula";
    case DerivativeState::NonDifferentiable: return "non_differentiable";
    case DerivativeState::Composite: return "composite";
    default: return "missing";
  }
}

} // namespace

PyObject* wrap_saved_field(FormulaNode& node, const SavedField& field) {
  switch (field.kind) {
    case SavedField::Kind::Variable:
    case SavedField::Kind::Result: return THPVariable_Wrap(node.unpack(field));
    case SavedField::Kind::VariableList: return py::cast(node.unpack_list(field)).release().ptr();
    case SavedField::Kind::SizesList: {
      py::list list;
      for (const at::DimVector& sizes : node.saved_sizes_lists()[field.slot]) {
        list.append(steal(THPSize_New(sizes)));
      }
      return list.release().ptr();
    }
    case SavedField::Kind::Sizes:
    case SavedField::Kind::Strides: return wrap_ivalue(node.saved_values()[field.slot], at::TypeKind::IntList);
    case SavedField::Kind::StorageOffset: return wrap_ivalue(node.saved_values()[field.slot], at::TypeKind::Int);
    case SavedField::Kind::ScalarType: return wrap_ivalue(node.saved_values()[field.slot], at::TypeKind::ScalarType);
    case SavedField::Kind::Device: return wrap_ivalue(node.saved_values()[field.slot], at::TypeKind::Device);
    default:
      return wrap_ivalue(node.saved_values()[field.slot],
                         static_cast<const PythonFormula&>(node.formula).argument_types[field.index]);
  }
}

// Returns the Python functions that compute a node's gradients; an empty list for a node of another kind.
static py::list formulas_of(const py::object& obj) {
  py::list functions;
  const auto node = std::dynamic_pointer_cast<PythonFormulaNode>(nodeFromPyObject(obj.ptr()));
  if (node != nullptr) {
    for (const Formula& formula : node->python_formula().formulas) {
      functions.append(py::reinterpret_borrow<py::object>(formula.function));
    }
  }
  return functions;
}

void initFormulas(PyObject* module) {
  py::module_ m = py::reinterpret_borrow<py::module_>(module);
  m.def("_register_derivative", &register_rows);
  m.def("_node_formulas", &formulas_of);
  m.def("_register_joint_derivative", &register_joint);
  m.def("_register_non_differentiable", [](const std::string& op) {
    register_non_differentiable(at::Dispatcher::singleton().findSchemaOrThrow(op).entry());
  });
  m.def("_derivative_state", [](const std::string& op) {
    return state_name(derivative_state(at::Dispatcher::singleton().findSchemaOrThrow(op).entry()));
  });
}

} // namespace reftorch::torch::autograd
