// Mirrors: torch/csrc/dynamo/cpython_defs.c (reading the interpreter's own frames)
//
// Left out: values of locals, frames of other threads, interpreters other than CPython 3.10 to 3.14.
//
// This file is compiled against the headers of the Python that loads it. So it can read the frames even if Python
// itself is stripped and no debugger script knows the layout of the frames.
#define Py_BUILD_CORE 1
#include <Python.h>
#if PY_VERSION_HEX >= 0x030E0000
#include <internal/pycore_interpframe.h>
#elif PY_VERSION_HEX >= 0x030B0000
#include <internal/pycore_frame.h>
#else
#include <frameobject.h>
#endif
#undef Py_BUILD_CORE

#include <csrc/debug/hooks.h>

#include <cstdio>

namespace {

#if PY_VERSION_HEX >= 0x030B0000
using Frame = _PyInterpreterFrame;
#else
using Frame = PyFrameObject;
#endif

class Text {
 public:
  void put(char c) {
    if (used_ + 1 < sizeof(buffer_)) {
      buffer_[used_++] = c;
      buffer_[used_] = 0;
    }
  }

  void put(const char* s) {
    for (; *s; s++) {
      put(*s);
    }
  }

  // Encodes UTF-8 by hand, because PyUnicode_AsUTF8 may allocate.
  void put(PyObject* s) {
    for (Py_ssize_t i = 0, n = PyUnicode_GET_LENGTH(s); i < n; i++) {
      const Py_UCS4 c = PyUnicode_READ_CHAR(s, i);
      if (c < 0x80) {
        put(c < ' ' ? ' ' : static_cast<char>(c));
        continue;
      }
      const int tail = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
      put(static_cast<char>((0xFF00 >> (tail + 1) & 0xFF) | c >> 6 * tail));
      for (int k = tail - 1; k >= 0; k--) {
        put(static_cast<char>(0x80 | (c >> 6 * k & 0x3F)));
      }
    }
  }

  void clear() {
    buffer_[used_ = 0] = 0;
  }
  const char* c_str() const {
    return buffer_;
  }

 private:
  char buffer_[1 << 16];
  std::size_t used_ = 0;
};

Text text;

// `marker` is what lies on the C stack below an entry, or null where nothing is known to lie there.
void put_frame(bool entry, const void* marker, PyCodeObject* code, int line) {
  char number[24];
  if (entry && marker) {
    std::snprintf(number, sizeof(number), "E%zx\t", reinterpret_cast<std::size_t>(marker));
    text.put(number);
  } else {
    text.put(entry ? "E\t" : "-\t");
  }
  std::snprintf(number, sizeof(number), "\t%d\t", line);
  text.put(code->co_filename);
  text.put(number);
#if PY_VERSION_HEX >= 0x030B0000
  text.put(code->co_qualname);
#else
  text.put(code->co_name);
#endif
  text.put('\n');
}

#if PY_VERSION_HEX >= 0x030B0000

Frame* newest_frame(PyThreadState* thread) {
#if PY_VERSION_HEX >= 0x030D0000
  return thread->current_frame;
#else
  return thread->cframe ? thread->cframe->current_frame : nullptr;
#endif
}

// Since Python 3.12 an entry from C pushes a marker frame, which lies on the C stack, below the frame that it calls.
// Python 3.14 gives the marker another owner.
bool is_marker(Frame* frame) {
#if PY_VERSION_HEX >= 0x030E0000
  return frame->owner == FRAME_OWNED_BY_INTERPRETER;
#elif PY_VERSION_HEX >= 0x030C0000
  return frame->owner == FRAME_OWNED_BY_CSTACK;
#else
  return false;
#endif
}

Frame* marker_below(Frame* frame) {
  return frame->previous && is_marker(frame->previous) ? frame->previous : nullptr;
}

bool is_entry(Frame* frame) {
#if PY_VERSION_HEX >= 0x030C0000
  return !frame->previous || marker_below(frame);
#else
  return frame->is_entry;
#endif
}

PyCodeObject* code_of(Frame* frame) {
#if PY_VERSION_HEX >= 0x030D0000
  return _PyFrame_GetCode(frame);
#else
  return frame->f_code;
#endif
}

void put_stack(PyThreadState* thread) {
  for (Frame* frame = newest_frame(thread); frame; frame = frame->previous) {
    if (is_marker(frame)) {
      continue;
    }
    PyCodeObject* code = code_of(frame);
    const int offset = _PyInterpreterFrame_LASTI(frame) * static_cast<int>(sizeof(_Py_CODEUNIT));
    // A frame that has not reached its first instruction is still being built and has no line.
    put_frame(is_entry(frame), marker_below(frame), code,
              _PyFrame_IsIncomplete(frame) ? code->co_firstlineno : PyCode_Addr2Line(code, offset));
  }
}

#else

void put_stack(PyThreadState* thread) {
  for (Frame* frame = thread->frame; frame; frame = frame->f_back) {
    put_frame(true, nullptr, frame->f_code, PyFrame_GetLineNumber(frame));
  }
}

#endif

} // namespace

extern "C" __attribute__((visibility("default"), noinline, used)) const char* reftorch_debug_py_stack() {
  text.clear();
  if (PyThreadState* thread = PyGILState_GetThisThreadState()) {
    put_stack(thread);
  }
  return text.c_str();
}
