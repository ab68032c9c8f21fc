// Mirrors: c10/core/impl/TorchDispatchModeTLS.h, c10/core/SafePyObject.h
//
// The stack of modes (torch.utils._python_dispatch.TorchDispatchMode) that this thread has entered, the innermost last.
// While the stack is not empty, the thread includes the Python key, so that every op reaches the innermost mode. Left
// out: the infrastructure modes FakeTensorMode and ProxyTorchDispatchMode, which PyTorch keeps below the user's modes.
#pragma once

#include <c10/core/impl/LocalDispatchKeySet.h>

#include <memory>
#include <vector>

struct _object;
using PyObject = _object;

namespace reftorch::c10::impl {

// Takes the GIL and drops a reference to a Python object. csrc/python_torch_dispatch.cpp sets the pointer, so that c10
// needs no Python.
C10_API extern void (*pyobj_decref_hook)(PyObject* obj);

// Owns one reference to a Python object. A shared_ptr to this class can be copied without the GIL.
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
  // Raises RuntimeError if the stack is empty.
  static std::shared_ptr<SafePyObject> pop_stack();
  static size_t stack_len();
  // The modes of the calling thread. ThreadLocalState copies them to other threads.
  static const State& get_state();
  static void set_state(State state);
};

} // namespace reftorch::c10::impl
