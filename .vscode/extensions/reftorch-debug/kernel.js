// Mirrors: nothing in PyTorch: it needs an extension of its own for each editor.
// Left out: Python without .venv; reftorch's Makefile makes one.
//
// A kernel as the notebook sees it: the process of notebook_kernel.py, which says what its lines mean. It ends when its
// input does, so also when the editor goes without a word.
const { spawn } = require("child_process");
const fs = require("fs");
const path = require("path");
const readline = require("readline");

// The checkout's Python, and the environment that `make lab` gives to its kernels.
function interpreter(checkout) {
  const venv = path.join(checkout, ".venv");
  const python = path.join(venv, "bin", "python");
  if (!fs.existsSync(python)) {
    throw new Error(`There is no ${python}. Run \`make lab\` in ${checkout}: it makes .venv.`);
  }
  const PATH = [path.join(venv, "bin"), process.env.PATH].filter(Boolean).join(path.delimiter);
  return { python, env: { ...process.env, VIRTUAL_ENV: venv, PATH } };
}

class Kernel {
  // `hear` has output(cell, kind, content), question({prompt, password}) and ended(why).
  constructor(checkout, folder, hear) {
    const { python, env } = interpreter(checkout);
    this.hear = hear;
    this.complaints = "";
    // -I: modules in the notebook's folder are for the kernel to import, not for the bridge.
    const program = path.join(__dirname, "notebook_kernel.py");
    this.bridge = spawn(python, ["-I", program], { cwd: folder, env, stdio: "pipe" });
    this.bridge.stderr.on("data", (data) => (this.complaints = (this.complaints + data).slice(-2000)));
    this.bridge.stdin.on("error", () => {}); // it went while we wrote: "close" tells
    this.bridge.on("error", (error) => this.over(`${python} does not start: ${error.message}`));
    const mend = "Run `make lab`, which mends .venv.";
    this.bridge.on("close", () => this.over(this.why || `No kernel: ${python} has ended. ${mend}\n${this.complaints}`));
    readline.createInterface({ input: this.bridge.stdout }).on("line", (line) => this.receive(JSON.parse(line)));
  }

  receive(said) {
    if ("kind" in said) this.hear.output(said.cell, said.kind, said.content);
    else if ("done" in said) this.settle(({ resolve }) => resolve(said));
    else if ("input" in said) this.hear.question(said.input);
    else if ("ready" in said) this.isReady = true;
    else if (!this.ending) this.why = [said.failed || said.died, this.complaints].filter(Boolean).join("\n");
  }

  // Resolves to {ok, count} when the code has run; one at a time.
  run(cell, code) {
    return new Promise((resolve, reject) => {
      this.running = { resolve, reject };
      if (this.isOver) this.settle(() => reject(new Error(this.why)));
      else this.send({ cell, code });
    });
  }

  settle(how) {
    const running = this.running;
    this.running = undefined;
    if (running) how(running);
  }

  send(command) {
    this.bridge.stdin.write(JSON.stringify(command) + "\n");
  }

  // A kernel that is still coming up has nothing to be interrupted in.
  interrupt() {
    if (this.isReady) this.send({ interrupt: true });
    else this.end("Interrupted before the kernel was there.");
  }

  input(text) {
    this.send({ input: text });
  }

  // Resolves when no process is left.
  end(why) {
    this.why = why;
    this.ending = this.ending || new Promise((resolve) => (this.isOver ? resolve() : this.bridge.on("close", resolve)));
    this.bridge.stdin.end();
    return this.ending;
  }

  over(why) {
    if (this.isOver) return;
    this.isOver = true;
    this.why = why;
    this.settle(({ reject }) => reject(new Error(why)));
    this.hear.ended(this.ending ? undefined : why);
  }
}

module.exports = { Kernel };
