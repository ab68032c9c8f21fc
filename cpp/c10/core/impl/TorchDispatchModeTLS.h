// Mirrors: c10/core/impl/TorchDispatchModeTLS.h, c10/core/SafePyObject.h
//
// The modes (torch.utils._python_dispatch.TorchDispatchMode) that this thread is inside of, the innermost last. While
// there is one, the thread includes the Python key, so that every op reaches the mode. Left out: infrastructure modes
// (FakeTensorMode, ProxyTorchDispatchMode), which have places of their own below the user's modes in PyTorch.
#pragma once

#include <c10/core/impl/LocalDispatchKeySet.h>

#include <memory>
#include <vector>

struct _object;
using PyObject = _object;

namespace reftorch::c10::impl {

// Drops a reference of a Python object with the GIL; set by csrc/python_torch_dispatch.cpp, so that c10 knows no
// Python.
C10_API extern void (*pyobj_decref_hook)(PyObject* obj);

// Owns one reference to a Python object. Copies of the shared pointer need no GIL.
class SafePyObject final {
 public:
  // Takes over the caller's reference.
  explicit SafePyObject(PyObject* obj) : obj_(obj) {}
  ~SafePyObject() {
    pyobj_decref_hook(obj_);
  }
  SafePyObject(const SafePyObject&) = delete;
  SafePyObject& operator=(const SafePyObject&) = delete;

  PyObject* ptr() const {
    return obj_;
  }

 private:
  PyObject* obj_;
};

struct C10_API TorchDispatchModeTLS {
  using State = std::vector<std::shared_ptr<SafePyObject>>;

  static void push_onto_stack(std::shared_ptr<SafePyObject> mode);
  // Throws RuntimeError where the stack is empty.
  static std::shared_ptr<SafePyObject> pop_stack();
  static size_t stack_len();
  // The modes of the calling thread; for ThreadLocalState.
  static const State& get_state();
  static void set_state(State state);
};

} // namespace reftorch::c10::impl
