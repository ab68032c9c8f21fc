// Mirrors: torch/csrc/utils/python_arg_parser.cpp
#include <csrc/utils/python_arg_parser.h>

#include <csrc/Exceptions.h>
#include <csrc/autograd/python_variable.h>
#include <csrc/python_dtype.h>
#include <csrc/python_generator.h>
#include <csrc/python_torch_function.h>
#include <csrc/utils/python_other_library.h>

#include <algorithm>
#include <array>

namespace reftorch::torch {

using at::IValue;
using at::TypeKind;

std::vector<at::Tensor> PythonArgs::tensors() const {
  std::vector<at::Tensor> found;
  for (Py_ssize_t i = 0; i < nargs + nkwargs(); i++) {
    if (THPVariable_Check(args[i])) {
      found.push_back(THPVariable_Unpack(args[i]));
    }
  }
  return found;
}

// ---- signatures

static PyObject* intern(const char* text) {
  PyObject* str = PyUnicode_InternFromString(text);
  if (str == nullptr) {
    throw_python_error();
  }
  return str;
}

// Returns a second name of a parameter: numpy's name, or the name in PyTorch's Python function that wraps the op.
static PyObject* other_name(const std::string& name) {
  const char* other = name == "split_size" ? "split_size_or_sections"
                      : name == "dim"      ? "axis"
                      : name == "keepdim"  ? "keepdims"
                      : name == "other"    ? "x2"
                                           : nullptr;
  return other != nullptr ? intern(other) : nullptr;
}

// The default of an argument in a function such as torch.kl_div. The schema says reduction=Mean, which is 1, and the
// ops of torch.ops take the mean. PyTorch's functions read this word as the number 0, so they reduce nothing.
static at::IValue default_of_function(const at::Argument& arg) {
  const bool is_reduction = arg.name == "reduction" && arg.type == TypeKind::Int && arg.has_default;
  return is_reduction ? at::IValue(int64_t(0)) : arg.default_value;
}

PythonSignature::PythonSignature(at::OperatorEntry* entry, bool is_method, bool of_torch_ops)
    : entry_(entry), is_method_(is_method) {
  const at::FunctionSchema& schema = entry->schema;
  is_factory_ = schema.argument_index("dtype") >= 0 && schema.argument_index("pin_memory") >= 0 &&
                schema.argument_index("non_blocking") < 0; // an op with non_blocking is a conversion
  // In PyTorch, `where` has separate overloads for numbers, and these have no out=.
  const bool operands_only = entry->hasTag(at::Tag::numbers_as_operands);
  const bool numbers = operands_only || entry->hasTag(at::Tag::numbers_as_tensors);
  numbers_with_out_ = !operands_only;
  for (size_t i = 0; i < schema.arguments.size(); i++) {
    const at::Argument& arg = schema.arguments[i];
    const bool renamed = arg.name == "self" && !is_method;
    const bool none_is_default = !arg.optional && arg.has_default && arg.type == TypeKind::IntList &&
                                 !arg.default_value.isNone() && arg.default_value.toIntList().empty();
    const bool takes_number =
        numbers && arg.type == TypeKind::Tensor && !(arg.alias.is_write) && !(i == 0 && (is_method || operands_only));
    Param param{intern(renamed ? "input" : arg.name.c_str()),
                {other_name(arg.name)},
                arg.type,
                arg.optional,
                arg.kwarg_only,
                takes_number,
                arg.has_default,
                none_is_default,
                arg.list_size,
                arg.is_symint,
                of_torch_ops ? arg.default_value : default_of_function(arg)};
    for (size_t k = 0; renamed && k < 4; k++) {
      param.other_names[k] = intern(std::array<const char*, 4>{"self", "x", "a", "x1"}[k]);
    }
    params_.push_back(std::move(param));
    max_positional_ += arg.kwarg_only ? 0 : 1;
  }
}

const char* PythonSignature::Param::type_name() const {
  switch (type) {
    case TypeKind::Tensor: return "Tensor";
    case TypeKind::Scalar: return "Number";
    case TypeKind::Int: return "int";
    case TypeKind::Float: return "float";
    case TypeKind::Bool: return "bool";
    case TypeKind::String: return "str";
    case TypeKind::IntList: return "tuple of ints";
    case TypeKind::FloatList: return "tuple of floats";
    case TypeKind::BoolList: return "tuple of bools";
    case TypeKind::ScalarList: return "tuple of Scalars";
    case TypeKind::TensorList: return "tuple of Tensors";
    case TypeKind::OptionalTensorList: return "tuple of Tensors";
    case TypeKind::ScalarType: return "torch.dtype";
    case TypeKind::Layout: return "torch.layout";
    case TypeKind::Device: return "torch.device";
    case TypeKind::MemoryFormat: return "torch.memory_format";
    case TypeKind::Generator: return "torch.Generator";
  }
  return "?";
}

bool PythonSignature::names(const Param& param, PyObject* keyword) const {
  if (param.name == keyword) {
    return true;
  }
  const auto is = [&](PyObject* name) {
    // Two interned strings with equal text are one object. So an interned keyword at another address is another name.
    return name == keyword ||
           (name != nullptr && !PyUnicode_CHECK_INTERNED(keyword) && PyUnicode_Compare(name, keyword) == 0);
  };
  return is(param.name) || std::any_of(std::begin(param.other_names), std::end(param.other_names), is);
}

static bool is_bool(PyObject* obj) {
  return PyBool_Check(obj) != 0;
}

static bool is_tensor_argument(PyObject* obj) {
  return THPVariable_Check(obj);
}

// Only the first item is examined. If a later item is not an int, that is an error and no reason to try another
// overload.
static bool is_int_list(PyObject* obj) {
  return (PyTuple_Check(obj) || PyList_Check(obj)) &&
         (PySequence_Fast_GET_SIZE(obj) == 0 || is_index(PySequence_Fast_GET_ITEM(obj, 0)));
}

static bool is_tensor_or_none(PyObject* obj) {
  return obj == Py_None || THPVariable_Check(obj);
}

bool PythonSignature::check(const Param& param, PyObject* obj) const {
  if (obj == Py_None) {
    return param.optional || param.none_is_default;
  }
  switch (param.type) {
    case TypeKind::Tensor: return THPVariable_Check(obj) || (param.allow_numbers_as_tensors && is_python_number(obj));
    case TypeKind::Scalar: return is_scalar(obj);
    case TypeKind::Int: return param.is_symint ? is_index(obj) : is_int(obj);
    case TypeKind::Float: return is_float(obj);
    case TypeKind::Bool: return is_bool(obj);
    case TypeKind::String: return PyUnicode_Check(obj);
    case TypeKind::IntList: return is_int_list(obj) || (param.list_size > 0 && is_index(obj));
    case TypeKind::FloatList: return is_sequence_of(obj, is_float);
    case TypeKind::BoolList: return is_sequence_of(obj, is_bool);
    case TypeKind::ScalarList: return is_sequence_of(obj, is_python_number); // no tensors, as in PyTorch
    case TypeKind::TensorList: return is_sequence_of(obj, is_tensor_argument);
    case TypeKind::OptionalTensorList: return is_sequence_of(obj, is_tensor_or_none);
    case TypeKind::ScalarType: return scalar_type_from_python(obj) != c10::ScalarType::Undefined;
    case TypeKind::Layout: return Py_TYPE(obj) == THPLayoutType;
    case TypeKind::Device: return THPDevice_Check(obj) || PyUnicode_Check(obj) || PyLong_CheckExact(obj);
    case TypeKind::MemoryFormat: return Py_TYPE(obj) == THPMemoryFormatType;
    case TypeKind::Generator: return is_generator(obj);
  }
  return false;
}

bool PythonSignature::accepts(const Param& param, PyObject* obj, const PythonArgs& call) const {
  if (param.allow_numbers_as_tensors && !numbers_with_out_ && target(call) != entry_ && !THPVariable_Check(obj)) {
    return false;
  }
  return check(param, obj) || (call.overridden && argument_has_torch_function(obj));
}

// Returns whether x.view(2, 3) may stand for x.view((2, 3)). The only positional parameter besides self must be a list
// of ints.
bool PythonSignature::ints_may_stand_alone() const {
  const Py_ssize_t at = is_method_ ? 1 : 0;
  return max_positional_ == at + 1 && params_[at].type == TypeKind::IntList;
}

bool PythonSignature::takes_varargs(const PythonArgs& call) const {
  const Py_ssize_t at = is_method_ ? 1 : 0;
  if (!ints_may_stand_alone() || call.nargs <= at) {
    return false;
  }
  return is_index(call.args[at]);
}

template <typename Unpack>
IValue PythonSignature::unpack(const Param& param, const Unpack& value) const {
  try {
    return IValue(value());
  } catch (const c10::TypeError& error) { // the error of a list's item does not name the argument
    TORCH_CHECK_TYPE(false, entry_->schema.name, "(): argument '", unpack_string(param.name), "' ", error.what());
  }
}

static const char* kOut = "out";
static const char* kRequiresGrad = "requires_grad";

bool PythonSignature::parse(const PythonArgs& call, at::Stack& stack) const {
  const bool varargs = takes_varargs(call);
  if (call.nargs > max_positional_ && !varargs) {
    return false;
  }
  Py_ssize_t used_keywords = 0;
  for (size_t i = 0; i < params_.size(); i++) {
    const Param& param = params_[i];
    const Py_ssize_t pos = static_cast<Py_ssize_t>(i);
    PyObject* obj = nullptr;
    if (varargs && pos == max_positional_ - 1) {
      stack.emplace_back(unpack(param, [&] { return unpack_ints(call.args + pos, call.nargs - pos); }));
      continue;
    }
    if (pos < call.nargs && !param.kwarg_only) {
      obj = call.args[pos];
    } else {
      for (Py_ssize_t k = 0; k < call.nkwargs(); k++) {
        if (names(param, call.keyword(k))) {
          obj = call.keyword_value(k);
          used_keywords++;
          break;
        }
      }
    }
    if (obj == nullptr) {
      if (!param.has_default) {
        return false;
      }
      stack.emplace_back(param.default_value);
      continue;
    }
    if (param.type == TypeKind::Tensor && THPVariable_Check(obj) && !call.overridden) {
      stack.emplace_back(at::Borrowed{THPVariable_Unpack(obj)}); // the caller of the op holds the object
      continue;
    }
    if (!accepts(param, obj, call)) {
      return false;
    }
    if (obj == Py_None || call.overridden) {
      stack.emplace_back(param.none_is_default ? param.default_value : IValue());
    } else {
      stack.emplace_back(unpack(param, [&] { return unpack_argument(param.type, param.list_size, obj); }));
    }
  }
  if (used_keywords == call.nkwargs()) {
    return true;
  }
  // The remaining keywords may be out=, for the out variant, or requires_grad=, for factories.
  for (Py_ssize_t k = 0; k < call.nkwargs(); k++) {
    PyObject* keyword = call.keyword(k);
    if (PyUnicode_CompareWithASCIIString(keyword, kOut) == 0 && entry_->out != nullptr) {
      PyObject* out = call.keyword_value(k);
      used_keywords++;
      if (out == Py_None) {
        continue;
      }
      const size_t num_outputs = entry_->schema.returns.size();
      if (call.overridden && argument_has_torch_function(out)) {
        continue;
      }
      if (num_outputs == 1 && THPVariable_Check(out)) {
        stack.emplace_back(at::Borrowed{THPVariable_Unpack(out)});
      } else if (num_outputs > 1 && is_sequence_of(out, is_tensor_argument) &&
                 PySequence_Fast_GET_SIZE(out) == static_cast<Py_ssize_t>(num_outputs)) {
        for (size_t i = 0; i < num_outputs; i++) {
          stack.emplace_back(THPVariable_Unpack(PySequence_Fast_GET_ITEM(out, i)));
        }
      } else {
        return false;
      }
    } else if (is_factory_ && PyUnicode_CompareWithASCIIString(keyword, kRequiresGrad) == 0 &&
               PyBool_Check(call.keyword_value(k))) {
      used_keywords++;
    }
  }
  return used_keywords == call.nkwargs();
}

bool PythonSignature::takes_as_many(const PythonArgs& call) const {
  const Py_ssize_t given = call.nargs + call.nkwargs();
  const auto required = std::count_if(params_.begin(), params_.end(), [](const Param& p) { return !p.has_default; });
  const size_t most = params_.size() + (entry_->out != nullptr ? 1 : 0) + (is_factory_ ? 1 : 0);
  return given >= required && given <= static_cast<Py_ssize_t>(most);
}

at::OperatorEntry* PythonSignature::target(const PythonArgs& call) const {
  if (entry_->out != nullptr) {
    for (Py_ssize_t k = 0; k < call.nkwargs(); k++) {
      if (PyUnicode_CompareWithASCIIString(call.keyword(k), kOut) == 0 && call.keyword_value(k) != Py_None) {
        return entry_->out;
      }
    }
  }
  return entry_;
}

bool PythonSignature::requires_grad(const PythonArgs& call) const {
  if (is_factory_) {
    for (Py_ssize_t k = 0; k < call.nkwargs(); k++) {
      if (PyUnicode_CompareWithASCIIString(call.keyword(k), kRequiresGrad) == 0) {
        return call.keyword_value(k) == Py_True;
      }
    }
  }
  return false;
}

bool PythonSignature::precedes(const PythonSignature& other) const {
  for (size_t i = 0; i < std::min(params_.size(), other.params_.size()); i++) {
    const TypeKind mine = params_[i].type, theirs = other.params_[i].type;
    if (mine != theirs) {
      return mine == TypeKind::Tensor &&
             (theirs == TypeKind::Scalar || theirs == TypeKind::Int || theirs == TypeKind::Float);
    }
  }
  return false;
}

std::string PythonSignature::str() const {
  std::string text = "(";
  bool kwarg_only = false;
  for (size_t i = is_method_ ? 1 : 0; i < params_.size(); i++) {
    const Param& param = params_[i];
    text += text.size() == 1 ? "" : ", ";
    if (param.kwarg_only && !kwarg_only) {
      text += "*, ";
      kwarg_only = true;
    }
    text += std::string(param.type_name()) + " " + PyUnicode_AsUTF8(param.name);
    if (param.has_default) {
      PyObject* value = wrap_ivalue(param.default_value, param.type);
      PyObject* repr = value != nullptr ? PyObject_Repr(value) : nullptr;
      text += std::string(" = ") + (repr != nullptr ? PyUnicode_AsUTF8(repr) : "?");
      Py_XDECREF(repr);
      Py_XDECREF(value);
    }
  }
  if (entry_->out != nullptr) {
    text += std::string(text.size() == 1 ? "" : ", ") + (kwarg_only ? "" : "*, ") + "Tensor out = None";
  }
  return text + ")";
}

PyObject* PythonSignature::describe() const {
  const at::FunctionSchema& schema = entry_->schema;
  PyObject* parameters = PyList_New(0);
  for (size_t i = 0; i < params_.size(); i++) {
    const Param& param = params_[i];
    PyObject* value = param.has_default ? wrap_ivalue(param.default_value, param.type) : Py_NewRef(Py_None);
    PyObject* item = Py_BuildValue("{sOsssNsNsNsN}", "name", param.name, "type", schema.arguments[i].type_str().c_str(),
                                   "takes_number", PyBool_FromLong(param.allow_numbers_as_tensors), "kwarg_only",
                                   PyBool_FromLong(param.kwarg_only), "has_default", PyBool_FromLong(param.has_default),
                                   "default", value);
    if (item == nullptr || PyList_Append(parameters, item) < 0) {
      throw_python_error();
    }
    Py_DECREF(item);
  }
  PyObject* returns = PyList_New(0);
  for (const at::Argument& ret : schema.returns) {
    PyObject* item = Py_BuildValue("(ss)", ret.name.c_str(), ret.type_str().c_str());
    if (item == nullptr || PyList_Append(returns, item) < 0) {
      throw_python_error();
    }
    Py_DECREF(item);
  }
  return Py_BuildValue("{sssssssNsNsNsNsNsz}", "operator", schema.operator_name().c_str(), "schema",
                       schema.str().c_str(), "file", entry_->file.c_str(), "parameters", parameters, "returns", returns,
                       "out", PyBool_FromLong(entry_->out != nullptr), "requires_grad", PyBool_FromLong(is_factory_),
                       "varargs", PyBool_FromLong(ints_may_stand_alone()), "alias_of",
                       entry_->alias_of != nullptr ? entry_->alias_of->schema.name.c_str() : nullptr);
}

std::string describe_arguments(const PythonArgs& call, Py_ssize_t first) {
  std::string text = "(";
  for (Py_ssize_t i = first; i < call.nargs; i++) {
    text += (i == first ? "" : ", ") + type_name_of(call.args[i]);
  }
  for (Py_ssize_t k = 0; k < call.nkwargs(); k++) {
    text += (text.size() == 1 ? "" : ", ") + unpack_string(call.keyword(k)) + "=" + type_name_of(call.keyword_value(k));
  }
  return text + ")";
}

// Returns the position of the item that makes a list unfit; -1 if the reason is another.
static Py_ssize_t misfit_in_list(TypeKind type, PyObject* obj) {
  if (!PyTuple_Check(obj) && !PyList_Check(obj)) {
    return -1;
  }
  switch (type) {
    case TypeKind::IntList: return is_int_list(obj) ? -1 : 0;
    case TypeKind::FloatList: return index_of_misfit(obj, is_float);
    case TypeKind::BoolList: return index_of_misfit(obj, is_bool);
    case TypeKind::ScalarList: return index_of_misfit(obj, is_python_number);
    case TypeKind::TensorList: return index_of_misfit(obj, is_tensor_argument);
    case TypeKind::OptionalTensorList: return index_of_misfit(obj, is_tensor_or_none);
    default: return -1;
  }
}

// `item` is the position of the unfit item in a list; -1 if the argument itself is unfit.
void PythonSignature::raise_misfit(const Param& param, Py_ssize_t position, PyObject* misfit, Py_ssize_t item) const {
  const std::string type = type_name_of(misfit);
  if (item >= 0 && (param.type == TypeKind::TensorList || param.type == TypeKind::OptionalTensorList)) {
    const Py_ssize_t index = &param - params_.data() - (is_method_ ? 1 : 0);
    TORCH_CHECK_TYPE(false, "expected Tensor as element ", item, " in argument ", index, ", but got ", type);
  }
  TORCH_CHECK_TYPE(false, entry_->schema.name, "(): argument '", unpack_string(param.name), "'",
                   position >= 0 ? c10::str(" (position ", position + 1, ")") : "", " must be ", param.type_name(),
                   item < 0 ? ", not " + type : c10::str(", but found element of type ", type, " at pos ", item));
}

// Reports a keyword that is not a parameter. The value of out= or requires_grad= may have the wrong type; any other
// keyword is unknown.
void PythonSignature::raise_bad_keyword(const PythonArgs& call, Py_ssize_t k) const {
  const std::string keyword = unpack_string(call.keyword(k));
  PyObject* value = call.keyword_value(k);
  const std::string fname = entry_->schema.name + "()";
  if (keyword == kRequiresGrad && is_factory_) {
    TORCH_CHECK_TYPE(PyBool_Check(value), fname, ": argument '", keyword, "' must be bool, not ", type_name_of(value));
  } else if (keyword == kOut && entry_->out != nullptr) {
    const bool one = entry_->schema.returns.size() == 1;
    TORCH_CHECK_TYPE(one ? THPVariable_Check(value) : PyTuple_Check(value) || PyList_Check(value), fname,
                     ": argument '", keyword, "' must be ", one ? "Tensor" : "tuple of Tensors", ", not ",
                     type_name_of(value));
  } else {
    TORCH_CHECK_TYPE(false, fname, " got an unexpected keyword argument '", keyword, "'");
  }
}

void PythonSignature::raise_mismatch(const PythonArgs& call) const {
  const std::string fname = entry_->schema.name + "()";
  const Py_ssize_t first = is_method_ ? 1 : 0;
  const bool varargs = takes_varargs(call);
  if (call.nargs > max_positional_ && !varargs) {
    TORCH_CHECK_TYPE(false, fname, " takes ", max_positional_ - first, " positional argument",
                     max_positional_ - first == 1 ? "" : "s", " but ", call.nargs - first,
                     (call.nargs - first == 1 ? " was" : " were"), " given");
  }
  std::string missing;
  int num_missing = 0;
  for (size_t i = 0; i < params_.size(); i++) {
    const Param& param = params_[i];
    const Py_ssize_t pos = static_cast<Py_ssize_t>(i);
    if (varargs && pos == first) {
      continue;
    }
    const bool is_positional = pos < call.nargs && !param.kwarg_only;
    PyObject* obj = is_positional ? call.args[pos] : nullptr;
    for (Py_ssize_t k = 0; obj == nullptr && k < call.nkwargs(); k++) {
      obj = names(param, call.keyword(k)) ? call.keyword_value(k) : nullptr;
    }
    if (obj == nullptr && !param.has_default) {
      missing += std::string(num_missing++ == 0 ? "" : ", ") + "\"" + unpack_string(param.name) + "\"";
    } else if (obj != nullptr && !accepts(param, obj, call)) {
      const Py_ssize_t item = misfit_in_list(param.type, obj);
      raise_misfit(param, is_positional ? pos - first : -1, item < 0 ? obj : PySequence_Fast_GET_ITEM(obj, item), item);
    }
  }
  TORCH_CHECK_TYPE(num_missing == 0, fname, " missing ", num_missing, " required positional arguments: ", missing);
  for (Py_ssize_t k = 0; k < call.nkwargs(); k++) {
    const bool known =
        std::any_of(params_.begin(), params_.end(), [&](const Param& param) { return names(param, call.keyword(k)); });
    if (!known) {
      raise_bad_keyword(call, k);
    }
  }
  TORCH_CHECK_TYPE(false, fname, " received an invalid combination of arguments - got ",
                   describe_arguments(call, first), ", but expected ", str());
}

} // namespace reftorch::torch
