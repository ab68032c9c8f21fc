// Mirrors: nothing in PyTorch: it needs an extension of its own for each editor.
// Left out: Python's debugger without gdb; that is the configuration type `debugpy`.
const { Adapter } = require("./adapter");
const { untraced } = require("./processes");

// Python's debugger, with gdb attached to the same process before its first line runs, and to each process it starts.
//
// Note [When gdb attaches]
// A program under debugpy waits until the editor says that it is configured. That word is held back here: meanwhile
// gdb attaches and lets the process run on, so no breakpoint can be missed and nothing has to stop at entry for it.
// A process that runs already is different: debugpy gets into it by a gdb of its own, which leaves only after that word.
//
// Note [Who starts the session of a child]
// Of an editor that can start sessions at an adapter's request, debugpy asks this for each process that the program starts.
// The editor would then name the session by its process. A rank has a better name, so debugpy is told that the editor cannot
// do this. It sends an event instead, which is not of the protocol, and the session is started here.
//
// Note [That the program runs is said at once]
// debugpy's answer to "continue" may stay away for long: a breakpoint in C++ may be met first, and while gdb holds the
// process nothing in it answers. The editor would go on showing where Python stood, and not the kernel. So it is
// answered here, and debugpy's own answer is dropped when it comes.
const RUNS_ON = ["continue", "next", "stepIn", "stepOut"];

class PythonAdapter extends Adapter {
  // startNative(pid) gives the GdbAdapter of a new C++ session; startPython(configuration) starts a session for a child.
  constructor(vscode, { startNative, startPython, warn }) {
    super(vscode, /\.(c|cc|cpp|cu|h|hpp)$/);
    Object.assign(this, { startNative, startPython, warn });
    this.answered = new Set(); // requests of the editor that were answered here
  }

  async handleMessage(message) {
    if (message.command === "initialize") {
      message = { ...message, arguments: { ...message.arguments, supportsStartDebuggingRequest: false } };
    }
    if (message.command === "attach" && message.arguments.processId) this.isRunning = true;
    if (message.command === "configurationDone" && !this.isRunning) await this.attachNative();
    // While gdb holds the process, Python's debugger cannot answer: gdb goes first.
    if (message.command === "disconnect" || message.command === "terminate") {
      if (this.native) await this.native.release();
    }
    super.handleMessage(message);
    if (this.native && RUNS_ON.includes(message.command)) {
      this.answered.add(message.seq);
      this.answer(message, { allThreadsContinued: message.command === "continue" });
    }
    if (message.command === "configurationDone" && this.isRunning) await this.attachNative();
  }

  async attachNative() {
    try {
      const { process } = await this.request("pydevdSystemInfo", {});
      await untraced(process.pid);
      this.native = await this.startNative(process.pid);
      await this.native.running;
    } catch (error) {
      this.warn(`reftorch: only Python is debugged: ${error.message}`);
    }
  }

  fromAdapter(message) {
    if (message.type === "response" && this.answered.delete(message.request_seq)) return;
    if (message.type === "event" && message.event === "debugpyAttach") this.startPython(message.body);
    else super.fromAdapter(message);
  }
}

module.exports = { PythonAdapter };
