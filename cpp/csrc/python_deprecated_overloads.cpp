// Mirrors: tools/autograd/deprecated.yaml
#include <csrc/python_deprecated_overloads.h>

#include <c10/util/Exception.h>
#include <csrc/Exceptions.h>

#include <unordered_map>

namespace reftorch::torch {

// The old order of the arguments of one op: the number of tensors, and the factors that a caller could pass among them.
// A factor was never the last argument, and the first one only if `may_be_first`.
struct OldOrder {
  Py_ssize_t tensors;
  std::vector<const char*> factors;
  bool may_be_first;
};

static const OldOrder* old_order(std::string name) {
  static const OldOrder sum = {2, {"alpha"}, false}, pointwise = {3, {"value"}, false},
                        product = {3, {"beta", "alpha"}, true};
  static const std::unordered_map<std::string, const OldOrder*> orders = {
      {"add", &sum},       {"sub", &sum},      {"addcmul", &pointwise}, {"addcdiv", &pointwise}, {"addmm", &product},
      {"addmv", &product}, {"addr", &product}, {"addbmm", &product},    {"baddbmm", &product}};
  if (!name.empty() && name.back() == '_') {
    name.pop_back();
  }
  const auto found = orders.find(name);
  return found == orders.end() ? nullptr : found->second;
}

ModernCall::ModernCall(std::string name, const PythonArgs& call) : name_(std::move(name)) {
  const OldOrder* order = old_order(name_);
  const Py_ssize_t extra = order != nullptr ? call.nargs - order->tensors : 0;
  if (extra < 1 || extra > static_cast<Py_ssize_t>(order->factors.size())) {
    return;
  }
  std::vector<PyObject*> factors;
  for (Py_ssize_t i = 0; i < call.nargs; i++) {
    const bool is_factor = static_cast<Py_ssize_t>(factors.size()) < extra && i + 1 < call.nargs &&
                           (i > 0 || order->may_be_first) && is_python_number(call.args[i]);
    (is_factor ? factors : args_).push_back(call.args[i]);
  }
  if (static_cast<Py_ssize_t>(factors.size()) < extra) {
    return;
  }
  positional_ = static_cast<Py_ssize_t>(args_.size());
  keywords_ = PyTuple_New(call.nkwargs() + extra);
  if (keywords_ == nullptr) {
    throw_python_error();
  }
  for (Py_ssize_t k = 0; k < call.nkwargs(); k++) {
    args_.push_back(call.keyword_value(k));
    PyTuple_SET_ITEM(keywords_, k, Py_NewRef(call.keyword(k)));
  }
  for (Py_ssize_t k = 0; k < extra; k++) {
    args_.push_back(factors[k]);
    PyTuple_SET_ITEM(keywords_, call.nkwargs() + k, PyUnicode_InternFromString(order->factors[k]));
  }
}

ModernCall::~ModernCall() {
  Py_XDECREF(keywords_);
}

void ModernCall::warn(const std::vector<PythonSignature>& signatures) const {
  static bool warned = false;
  if (warned) {
    return;
  }
  warned = true;
  std::string instead;
  for (const PythonSignature& signature : signatures) {
    instead += "\n\t" + name_ + signature.str();
  }
  TORCH_WARN("This overload of ", name_, " is deprecated: it takes a factor before the tensors.\n",
             "Consider using one of the following signatures instead:", instead);
}

} // namespace reftorch::torch
