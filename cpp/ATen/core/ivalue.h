// Mirrors: aten/src/ATen/core/ivalue.h
//
// A value of any type that a schema can name, in 16 bytes. The Dispatcher passes IValues when it does not know the C++
// types (boxed calls). Left out: TorchScript's objects, futures, dicts and tuples.
//
// Note [Borrowed arguments]
// Problem: a tensor that is an argument lives as long as the call, because the caller holds it. If the stack counted
// the tensor again, every call of a small op would pay for two locked instructions for each argument, and, for an
// argument that only Python holds, for a reference to the Python object, which is added and dropped (Note [One PyObject
// per TensorImpl]). Trick: the stack borrows such an argument. An IValue made of a Borrowed tensor refers to the tensor
// and does not count it. Four rules keep this safe:
//   1. Only code that knows that the caller holds the tensor until the end of the call makes a borrowed IValue: the
//      argument parser, for an object that stands for itself in the call, and TypedOperatorHandle::call. The tensors of
//      a list are counted, because other code can change the list during the call.
//   2. A borrowed IValue stays in its place on the stack. A copy of it, and an IValue that it is moved to, count the
//      tensor. So whatever outlives the call, such as a result or a saved argument, is counted.
//   3. A kernel with a parameter `Tensor&` changes the elements and the geometry of the tensor. The kernel never moves
//      from the parameter, and assigns a tensor to the parameter only if the parameter is undefined.
//   4. If a tensor has one count, which is that of its Python object, the garbage collector reads the tensor's autograd
//      metadata. So a call that releases the GIL counts its arguments first (csrc/python_dispatch.cpp).
#pragma once

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>
#include <c10/core/Scalar.h>

#include <optional>
#include <string>
#include <vector>

namespace reftorch::at {

// The object that an IValue with a pointer owns.
template <typename T>
struct BoxedValue final : public c10::intrusive_ptr_target {
  explicit BoxedValue(T value) : value(std::move(value)) {}
  T value;
};

// A tensor that its user holds until the end of a call; see Note [Borrowed arguments].
struct Borrowed {
  const Tensor& tensor;
};

class TORCH_API IValue final {
 public:
  // The values from Tensor on have a pointer that the IValue owns.
  enum class Tag : uint8_t {
    Double,
    Int,
    UInt, // the bits of an integer past the largest int64
    Bool,
    Device,
    None,
    BorrowedTensor, // tag() returns Tensor
    Tensor,
    String,
    IntList,
    DoubleList,
    BoolList,
    ScalarList,
    TensorList,
    Generator
  };

  IValue() : tag_(Tag::None) {
    payload_.as_int = 0;
  }
  IValue(std::nullopt_t) : IValue() {}
  // An undefined tensor becomes None, for `Tensor?` in a schema.
  IValue(Tensor t) : tag_(t.defined() ? Tag::Tensor : Tag::None) {
    new (&payload_.as_tensor) Tensor(std::move(t));
  }
  explicit IValue(Borrowed b) : tag_(b.tensor.defined() ? Tag::BorrowedTensor : Tag::None) {
    payload_.as_borrowed = b.tensor.unsafeGetTensorImpl();
  }
  IValue(double d) : tag_(Tag::Double) {
    payload_.as_double = d;
  }
  IValue(int64_t i) : tag_(Tag::Int) {
    payload_.as_int = i;
  }
  IValue(int i) : IValue(int64_t(i)) {}
  IValue(bool b) : tag_(Tag::Bool) {
    payload_.as_int = b;
  }
  IValue(const Scalar& s) : IValue() {
    *this = s.isFloatingPoint() ? IValue(s.toDouble())
            : s.isBoolean()     ? IValue(s.toBool())
                                : IValue(s.wrapped_to<int64_t>());
    tag_ = s.isUnsigned() ? Tag::UInt : tag_;
  }
  IValue(ScalarType t) : IValue(int64_t(t)) {}
  IValue(c10::Layout l) : IValue(int64_t(l)) {}
  IValue(MemoryFormat f) : IValue(int64_t(f)) {}
  IValue(Device d) : tag_(Tag::Device) {
    payload_.as_int = (int64_t(d.type()) << 8) | uint8_t(d.index());
  }
  IValue(const char* s) : IValue(std::string(s)) {}
  IValue(std::string s) : IValue(Tag::String, new BoxedValue<std::string>(std::move(s))) {}
  IValue(IntArrayRef list) : IValue(Tag::IntList, new BoxedValue<DimVector>(DimVector(list))) {}
  IValue(DimVector list) : IValue(Tag::IntList, new BoxedValue<DimVector>(std::move(list))) {}
  IValue(std::vector<double> list) : IValue(Tag::DoubleList, new BoxedValue<std::vector<double>>(std::move(list))) {}
  IValue(std::vector<bool> list) : IValue(Tag::BoolList, new BoxedValue<std::vector<bool>>(std::move(list))) {}
  IValue(std::vector<Scalar> list) : IValue(Tag::ScalarList, new BoxedValue<std::vector<Scalar>>(std::move(list))) {}
  // Undefined elements are allowed, for `Tensor?[]` in a schema.
  IValue(std::vector<Tensor> list) : IValue(Tag::TensorList, new BoxedValue<std::vector<Tensor>>(std::move(list))) {}
  IValue(TensorList list) : IValue(list.vec()) {}
  IValue(const Generator& g);
  template <typename T>
  IValue(const std::optional<T>& value) : IValue() {
    if (value.has_value()) {
      *this = IValue(*value);
    }
  }

  IValue(const IValue& other) : tag_(other.tag()) {
    payload_.as_int = other.payload_.as_int;
    if (owns()) {
      new (&payload_.as_ptr) intrusive_ptr<c10::intrusive_ptr_target>(other.payload_.as_ptr);
    }
  }
  IValue(IValue&& other) noexcept : tag_(other.tag_) {
    payload_.as_int = other.payload_.as_int;
    if (__builtin_expect(tag_ == Tag::BorrowedTensor, 0)) {
      new (&payload_.as_tensor) Tensor(other.payload_.as_tensor);
      tag_ = Tag::Tensor;
    }
    other.payload_.as_int = 0;
    other.tag_ = Tag::None;
  }
  IValue& operator=(IValue other) noexcept {
    std::swap(tag_, other.tag_);
    std::swap(payload_.as_int, other.payload_.as_int);
    return *this;
  }
  ~IValue() {
    if (owns()) {
      payload_.as_ptr.reset();
    }
  }

  Tag tag() const {
    return tag_ == Tag::BorrowedTensor ? Tag::Tensor : tag_;
  }
  bool isNone() const {
    return tag_ == Tag::None;
  }
  bool isTensor() const {
    return tag_ == Tag::Tensor || tag_ == Tag::BorrowedTensor;
  }
  bool isTensorList() const {
    return tag_ == Tag::TensorList;
  }
  bool isScalar() const {
    return tag_ == Tag::Double || tag_ == Tag::Int || tag_ == Tag::UInt || tag_ == Tag::Bool;
  }

  // None is returned as an undefined tensor.
  const Tensor& toTensor() const& {
    check(isTensor() || isNone(), "Tensor");
    return payload_.as_tensor;
  }
  Tensor& toTensor() & {
    check(isTensor() || isNone(), "Tensor");
    return payload_.as_tensor;
  }
  // Moves the tensor out.
  Tensor toTensor() && {
    check(isTensor() || isNone(), "Tensor");
    IValue owner(std::move(*this)); // counts a borrowed tensor
    return std::move(owner.payload_.as_tensor);
  }
  double toDouble() const {
    check(isScalar(), "float");
    return tag_ == Tag::Double ? payload_.as_double : static_cast<double>(payload_.as_int);
  }
  int64_t toInt() const {
    check(tag_ == Tag::Int || tag_ == Tag::Bool, "int");
    return payload_.as_int;
  }
  bool toBool() const {
    check(tag_ == Tag::Bool, "bool");
    return payload_.as_int != 0;
  }
  Scalar toScalar() const {
    check(isScalar(), "Scalar");
    return tag_ == Tag::Double ? Scalar(payload_.as_double)
           : tag_ == Tag::Int  ? Scalar(payload_.as_int)
           : tag_ == Tag::UInt ? Scalar(static_cast<uint64_t>(payload_.as_int))
                               : Scalar(payload_.as_int != 0);
  }
  ScalarType toScalarType() const {
    return static_cast<ScalarType>(toInt());
  }
  Device toDevice() const {
    check(tag_ == Tag::Device, "Device");
    return Device(static_cast<c10::DeviceType>(payload_.as_int >> 8),
                  static_cast<c10::DeviceIndex>(payload_.as_int & 0xff));
  }
  const std::string& toStringRef() const {
    return boxed<std::string>(Tag::String, "str");
  }
  const DimVector& toIntList() const {
    return boxed<DimVector>(Tag::IntList, "int[]");
  }
  const std::vector<double>& toDoubleList() const {
    return boxed<std::vector<double>>(Tag::DoubleList, "float[]");
  }
  const std::vector<bool>& toBoolList() const {
    return boxed<std::vector<bool>>(Tag::BoolList, "bool[]");
  }
  const std::vector<Scalar>& toScalarList() const {
    return boxed<std::vector<Scalar>>(Tag::ScalarList, "Scalar[]");
  }
  const std::vector<Tensor>& toTensorVector() const {
    return boxed<std::vector<Tensor>>(Tag::TensorList, "Tensor[]");
  }
  Generator toGenerator() const;

  const char* tagKind() const;

 private:
  IValue(Tag tag, c10::intrusive_ptr_target* owned) : tag_(tag) {
    new (&payload_.as_ptr) intrusive_ptr<c10::intrusive_ptr_target>(
        intrusive_ptr<c10::intrusive_ptr_target>::unsafe_reclaim_from_nonowning(owned));
  }
  bool owns() const {
    return tag_ >= Tag::Tensor;
  }
  // Every argument of every op passes here, so the compiler is told to put the comparison in place and to leave the
  // message, which is long, behind a call.
  __attribute__((always_inline)) void check(bool ok, const char* expected) const {
    if (__builtin_expect(!ok, 0)) {
      report_kind(expected);
    }
  }
  [[noreturn]] TORCH_API void report_kind(const char* expected) const;
  template <typename T>
  const T& boxed(Tag tag, const char* expected) const {
    check(tag_ == tag, expected);
    return static_cast<const BoxedValue<T>*>(payload_.as_ptr.get())->value;
  }

  // A Tensor is one intrusive_ptr, so the three pointer members have the same representation.
  union Payload {
    Payload() {}
    ~Payload() {}
    int64_t as_int;
    double as_double;
    Tensor as_tensor;
    TensorImpl* as_borrowed;
    intrusive_ptr<c10::intrusive_ptr_target> as_ptr;
  } payload_;
  Tag tag_;
};

// The arguments of a boxed call, in schema order. The callee pops them and pushes its results.
using Stack = SmallVector<IValue, 8>;

// Returns the last n values of the stack, in schema order.
inline const IValue* last(const Stack& stack, size_t n) {
  return stack.end() - n;
}
inline IValue* last(Stack& stack, size_t n) {
  return stack.end() - n;
}
inline void drop(Stack& stack, size_t n) {
  while (n-- > 0) {
    stack.pop_back();
  }
}

} // namespace reftorch::at
