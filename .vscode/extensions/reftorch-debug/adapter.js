// Mirrors: nothing in PyTorch: it needs an extension of its own for each editor.
// Left out: adapters that run on another machine.
//
// A debug adapter with a hand in what passes between it and the editor. The editor talks to this object instead of the
// adapter itself; a subclass may hold back a message, swallow it, or put a question of its own between.
const { spawn } = require("child_process");
const net = require("net");

const OWN_REQUESTS = 1000000000; // numbers far above the editor's, so that answers to us are known by their number

class Adapter {
  // `vscode` is handed in: outside an editor (in tests) there is no module of that name. `foreign` matches the files of
  // the other language.
  constructor(vscode, foreign) {
    this.foreign = foreign;
    this.emitter = new vscode.EventEmitter();
    this.onDidSendMessage = this.emitter.event;
    this.asked = new Map();
    this.number = OWN_REQUESTS;
    this.ended = false;
    this.terminated = false;
    this.complaints = "";
  }

  // Over the standard input and output of a new process.
  spawn(command, args, options) {
    const child = spawn(command, args, { ...options, stdio: "pipe" });
    child.on("error", (error) => this.end(`${command} does not start: ${error.message}\n`));
    child.on("exit", () => this.end(this.complaints));
    child.stderr.on("data", (data) => (this.complaints = (this.complaints + data).slice(-2000)));
    this.close = () => {
      // Not by SIGTERM: a gdb that gets it while it disconnects waits for itself for ever.
      child.stdin.end();
      if (child.exitCode !== null || child.signalCode !== null) return;
      const patience = setTimeout(() => child.kill("SIGKILL"), 5000);
      child.on("exit", () => clearTimeout(patience));
    };
    return this.over(child.stdout, child.stdin);
  }

  // Over a socket: how debugpy is reached for a process that the program started.
  connect(host, port) {
    const socket = net.connect(port, host);
    socket.on("close", () => this.end(""));
    this.close = () => socket.destroy();
    return this.over(socket, socket);
  }

  over(input, output) {
    let buffer = Buffer.alloc(0);
    input.on("data", (data) => {
      buffer = Buffer.concat([buffer, data]);
      for (;;) {
        const header = buffer.indexOf("\r\n\r\n");
        if (header < 0) return;
        const start = header + 4;
        const length = Number(/Content-Length: *(\d+)/i.exec(buffer.toString("ascii", 0, header))[1]);
        if (buffer.length < start + length) return;
        const message = JSON.parse(buffer.toString("utf8", start, start + length));
        buffer = buffer.subarray(start + length);
        this.receive(message);
      }
    });
    input.on("error", () => this.end(""));
    output.on("error", () => this.end("")); // the adapter went while we wrote
    this.output = output;
    return this;
  }

  send(message) {
    if (this.ended) return;
    const body = Buffer.from(JSON.stringify(message));
    this.output.write(`Content-Length: ${body.length}\r\n\r\n`);
    this.output.write(body);
  }

  // A question of our own, whose answer the editor does not see.
  request(command, args) {
    return new Promise((resolve, reject) => {
      if (this.ended) return reject(new Error("the debug adapter has ended"));
      const seq = ++this.number;
      this.asked.set(seq, { resolve, reject });
      this.send({ type: "request", seq, command, arguments: args });
    });
  }

  receive(message) {
    const asked = message.type === "response" && this.asked.get(message.request_seq);
    if (!asked) return this.fromAdapter(message);
    this.asked.delete(message.request_seq);
    if (message.success) asked.resolve(message.body || {});
    else asked.reject(new Error(message.message));
  }

  // What a subclass changes: messages on their way to the editor, and to the adapter.
  fromAdapter(message) {
    this.fire(message);
  }
  handleMessage(message) {
    if (message.command !== "setBreakpoints" || !this.foreign.test(message.arguments.source.path)) return this.send(message);
    // The editor tells every session of every breakpoint. Of one in the other language gdb would complain, and debugpy
    // would confirm it, met or not.
    this.answer(message, { breakpoints: message.arguments.breakpoints.map(() => ({ verified: false })) });
  }

  // An answer to the editor that the adapter has no part in.
  answer({ seq, command }, body) {
    this.fire({ type: "response", seq: 0, request_seq: seq, command, success: true, body });
  }

  event(event, body) {
    this.fire({ type: "event", seq: 0, event, body });
  }

  // To the editor. That it is over is told once, whoever noticed it first.
  fire(message) {
    if (message.type === "event" && message.event === "terminated") {
      if (this.terminated) return;
      this.terminated = true;
    }
    this.emitter.fire(message);
  }

  end(complaint) {
    if (this.ended) return;
    this.ended = true;
    if (complaint) this.event("output", { category: "important", output: complaint });
    this.event("terminated", {});
    for (const { reject } of this.asked.values()) reject(new Error(complaint || "the debug adapter has ended"));
    this.asked.clear();
  }

  dispose() {
    this.close();
  }
}

module.exports = { Adapter };
