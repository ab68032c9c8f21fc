// Mirrors: aten/src/ATen/core/function_schema.cpp, torch/csrc/jit/frontend/function_schema_parser.cpp
#include <ATen/core/function_schema.h>

#include <algorithm>

#include <cctype>
#include <cstdlib>
#include <cstring>
#include <iomanip>
#include <limits>
#include <sstream>

namespace reftorch::at {
namespace {

struct TypeName {
  const char* name;
  TypeKind single;
  TypeKind list;
};
constexpr TypeKind kNoList = TypeKind::Generator;
constexpr TypeName kTypeNames[] = {
    {"Tensor", TypeKind::Tensor, TypeKind::TensorList},
    {"Scalar", TypeKind::Scalar, TypeKind::ScalarList},
    {"int", TypeKind::Int, TypeKind::IntList},
    {"SymInt", TypeKind::Int, TypeKind::IntList},
    {"float", TypeKind::Float, TypeKind::FloatList},
    {"bool", TypeKind::Bool, TypeKind::BoolList},
    {"str", TypeKind::String, kNoList},
    {"ScalarType", TypeKind::ScalarType, kNoList},
    {"Layout", TypeKind::Layout, kNoList},
    {"Device", TypeKind::Device, kNoList},
    {"MemoryFormat", TypeKind::MemoryFormat, kNoList},
    {"Generator", TypeKind::Generator, kNoList},
};

class SchemaParser {
 public:
  explicit SchemaParser(const std::string& text) : text_(text) {}

  FunctionSchema parse() {
    FunctionSchema schema;
    schema.name = identifier();
    if (accept(':')) {
      expect(':');
      schema.ns = std::move(schema.name);
      schema.name = identifier();
    }
    if (accept('.')) {
      schema.overload_name = identifier();
    }
    expect('(');
    bool kwarg_only = false;
    while (!accept(')')) {
      if (accept('*')) {
        kwarg_only = true;
      } else {
        schema.arguments.push_back(argument());
        schema.arguments.back().kwarg_only = kwarg_only;
      }
      if (!peek(')')) {
        expect(',');
      }
    }
    expect('-');
    expect('>');
    if (accept('(')) {
      while (!accept(')')) {
        schema.returns.push_back(return_value());
        if (!peek(')')) {
          expect(',');
        }
      }
    } else {
      schema.returns.push_back(return_value());
    }
    skip_space();
    check(pos_ == text_.size(), "the end");
    return schema;
  }

 private:
  Argument argument() {
    Argument arg = type();
    arg.name = identifier();
    if (accept('=')) {
      arg.has_default = true;
      arg.default_value = default_value(arg);
    }
    return arg;
  }

  Argument return_value() {
    Argument ret = type();
    skip_space();
    if (pos_ < text_.size() && (std::isalpha(text_[pos_]) || text_[pos_] == '_')) {
      ret.name = identifier();
    }
    return ret;
  }

  Argument type() {
    const std::string name = identifier();
    const TypeName* found = nullptr;
    for (const TypeName& candidate : kTypeNames) {
      if (name == candidate.name) {
        found = &candidate;
      }
    }
    check(found != nullptr, "a type");
    Argument arg;
    arg.type = found->single;
    arg.is_symint = name == "SymInt";
    if (accept('(')) {
      arg.alias.set = identifier();
      arg.alias.is_write = accept('!');
      expect(')');
    }
    bool optional = accept('?');
    if (accept('[')) {
      check(found->list != kNoList, "a type that has lists");
      arg.type = optional && found->single == TypeKind::Tensor ? TypeKind::OptionalTensorList : found->list;
      if (!peek(']')) {
        arg.list_size = static_cast<int>(std::strtol(number().c_str(), nullptr, 10));
      }
      expect(']');
      optional = accept('?');
    }
    arg.optional = optional;
    return arg;
  }

  IValue default_value(const Argument& arg) {
    if (accept('[')) {
      DimVector values;
      while (!accept(']')) {
        values.push_back(std::strtoll(number().c_str(), nullptr, 10));
        accept(',');
      }
      return list_default(arg, values);
    }
    skip_space();
    const char c = text_[pos_];
    if (c == '\'' || c == '"') {
      const size_t close = text_.find(c, pos_ + 1);
      check(close != std::string::npos, "a closing quote");
      std::string value = text_.substr(pos_ + 1, close - pos_ - 1);
      pos_ = close + 1;
      return IValue(std::move(value));
    }
    if (std::isalpha(c)) {
      return named_constant(identifier());
    }
    const std::string digits = number();
    if (arg.type == TypeKind::IntList) {
      return IValue(
          DimVector(static_cast<size_t>(std::max(arg.list_size, 1)), std::strtoll(digits.c_str(), nullptr, 10)));
    }
    if (arg.type == TypeKind::Float || digits.find_first_of(".e") != std::string::npos) {
      return IValue(std::strtod(digits.c_str(), nullptr));
    }
    return IValue(static_cast<int64_t>(std::strtoll(digits.c_str(), nullptr, 10)));
  }

  IValue list_default(const Argument& arg, const DimVector& values) {
    if (arg.type == TypeKind::TensorList || arg.type == TypeKind::OptionalTensorList) {
      return IValue(std::vector<Tensor>());
    }
    return IValue(values);
  }

  IValue named_constant(const std::string& name) {
    if (name == "None") {
      return IValue();
    }
    if (name == "True" || name == "False") {
      return IValue(name == "True");
    }
    // The reductions of torch.nn are numbers in the schemas' defaults; see reftorch/nn/_reduction.py.
    if (name == "Mean" || name == "Sum") {
      return IValue(int64_t(name == "Mean" ? 1 : 2));
    }
    if (name == "contiguous_format" || name == "preserve_format") {
      return IValue(name == "contiguous_format" ? MemoryFormat::Contiguous : MemoryFormat::Preserve);
    }
    check(false, "a default value");
    return IValue();
  }

  void skip_space() {
    while (pos_ < text_.size() && text_[pos_] == ' ') {
      pos_++;
    }
  }
  bool peek(char c) {
    skip_space();
    return pos_ < text_.size() && text_[pos_] == c;
  }
  bool accept(char c) {
    if (!peek(c)) {
      return false;
    }
    pos_++;
    return true;
  }
  void expect(char c) {
    check(accept(c), std::string("'") + c + "'");
  }
  std::string identifier() {
    skip_space();
    const size_t start = pos_;
    while (pos_ < text_.size() && (std::isalnum(text_[pos_]) || text_[pos_] == '_')) {
      pos_++;
    }
    check(pos_ > start, "a name");
    return text_.substr(start, pos_ - start);
  }
  std::string number() {
    skip_space();
    const size_t start = pos_;
    while (pos_ < text_.size() &&
           (std::isdigit(text_[pos_]) || (text_[pos_] != 0 && std::strchr("+-.e", text_[pos_])))) {
      pos_++;
    }
    check(pos_ > start, "a number");
    return text_.substr(start, pos_ - start);
  }
  void check(bool ok, const std::string& expected) {
    TORCH_CHECK(ok, "schema parser: expected ", expected, " at position ", pos_, " of: ", text_.substr(0, pos_),
                " <HERE> ", pos_ < text_.size() ? text_.substr(pos_) : "");
  }

  const std::string& text_;
  size_t pos_ = 0;
};

} // namespace

FunctionSchema FunctionSchema::parse(const std::string& text) {
  return SchemaParser(text).parse();
}

std::string Argument::type_str() const {
  std::string text;
  for (const TypeName& candidate : kTypeNames) {
    const bool list = candidate.list != kNoList && candidate.list == type;
    const bool tensors = type == TypeKind::OptionalTensorList && candidate.single == TypeKind::Tensor;
    if (candidate.single == type || list || tensors) {
      text = candidate.name;
      if (!alias.set.empty()) {
        text += "(" + alias.set + (alias.is_write ? "!)" : ")");
      }
      if (list || tensors) {
        text += tensors ? "?[" : "[";
        text += (list_size > 0 ? std::to_string(list_size) : "") + "]";
      }
      break;
    }
  }
  return optional ? text + "?" : text;
}

static std::string default_str(const Argument& arg) {
  const IValue& v = arg.default_value;
  switch (v.tag()) {
    case IValue::Tag::None: return "None";
    case IValue::Tag::Bool: return v.toBool() ? "True" : "False";
    case IValue::Tag::Double: {
      std::ostringstream text; // with enough digits to read the same number back
      text << std::setprecision(std::numeric_limits<double>::max_digits10) << v.toDouble();
      const bool whole = text.str().find_first_not_of("-0123456789") == std::string::npos;
      return text.str() + (whole ? "." : "");
    }
    case IValue::Tag::IntList: return c10::str(IntArrayRef(v.toIntList()));
    case IValue::Tag::TensorList: return "[]";
    case IValue::Tag::String: return '"' + v.toStringRef() + '"';
    default: break;
  }
  if (arg.type == TypeKind::MemoryFormat) {
    return c10::str(static_cast<MemoryFormat>(v.toInt()));
  }
  return std::to_string(v.toInt());
}

std::string FunctionSchema::operator_name() const {
  return qualified_name() + (overload_name.empty() ? "" : "." + overload_name);
}

// Returns the type as the text of a schema writes it, with SymInt as in PyTorch; the docs of a function say int.
static std::string schema_type_str(const Argument& arg) {
  return (arg.is_symint ? "SymI" + arg.type_str().substr(1) : arg.type_str());
}

std::string FunctionSchema::str() const {
  std::string text = operator_name() + "(";
  bool kwarg_only = false;
  for (size_t i = 0; i < arguments.size(); i++) {
    const Argument& arg = arguments[i];
    text += i == 0 ? "" : ", ";
    if (arg.kwarg_only && !kwarg_only) {
      text += "*, ";
      kwarg_only = true;
    }
    text += schema_type_str(arg) + " " + arg.name + (arg.has_default ? "=" + default_str(arg) : "");
  }
  text += ") -> ";
  if (returns.size() == 1) {
    return text + schema_type_str(returns[0]) + (returns[0].name.empty() ? "" : " " + returns[0].name);
  }
  text += "(";
  for (size_t i = 0; i < returns.size(); i++) {
    text += (i == 0 ? "" : ", ") + schema_type_str(returns[i]) + (returns[i].name.empty() ? "" : " " + returns[i].name);
  }
  return text + ")";
}

int FunctionSchema::argument_index(const std::string& wanted) const {
  for (size_t i = 0; i < arguments.size(); i++) {
    if (arguments[i].name == wanted) {
      return static_cast<int>(i);
    }
  }
  return -1;
}

bool FunctionSchema::is_inplace() const {
  return !arguments.empty() && arguments[0].alias.is_write && name.back() == '_' && name.substr(0, 2) != "__";
}

bool FunctionSchema::is_out() const {
  return !arguments.empty() && arguments.back().kwarg_only && arguments.back().alias.is_write;
}

bool FunctionSchema::is_changed(const Argument& argument) const {
  const auto is_returned = [&](const Argument& ret) { return ret.alias.set == argument.alias.set; };
  return argument.alias.is_write &&
         (ns != "aten" || returns.empty() || std::any_of(returns.begin(), returns.end(), is_returned));
}

} // namespace reftorch::at
