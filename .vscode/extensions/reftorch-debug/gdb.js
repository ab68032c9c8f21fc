// Mirrors: nothing in PyTorch: it needs an extension of its own for each editor.
// Left out: gdb's other interfaces; -i=dap is the one that an editor speaks.
const { execFile } = require("child_process");
const path = require("path");
const { Adapter } = require("./adapter");

const OLDEST = 14; // the first that speaks DAP
const LIBRARY = /\/_C\.[^/]*$/;
const PENDING = /^.*(No source file named .*|Function ".*" not defined)\.$\n?|^Breakpoint \d+ .* pending\.$\n?/gm;
const CLEAN = ["-u", "PYTHONHOME", "-u", "PYTHONPATH"]; // they would reach the Python inside gdb

// Why the gdb at `command` will not do, or null where it will.
function objection(command) {
  const probe = "python print('reftorch', gdb.VERSION)";
  return new Promise((resolve) => {
    execFile("env", [...CLEAN, command, "-nx", "-batch", "-ex", probe], { timeout: 60000 }, (error, stdout) => {
      const version = /reftorch (\d+)\.(\d+)/.exec(stdout);
      if (version) resolve(Number(version[1]) >= OLDEST ? null : `is version ${version[1]}.${version[2]}`);
      else resolve(error && error.code === 127 ? "is not there" : "has no Python inside, or does not start");
    });
  });
}

// The first gdb that will do: the checkout's or one of the system's; of another that was asked for (cuda-gdb), that one.
async function findGdb(configured, folder) {
  const own = folder && path.join(folder, ".venv", "bin", "gdb");
  const places = configured && configured !== own ? [configured] : [own, "gdb", "/usr/bin/gdb"];
  const tried = [];
  for (const place of places.filter(Boolean)) {
    const problem = await objection(place);
    if (problem === null) return place;
    tried.push(`${place} ${problem}`);
  }
  throw new Error(
    `No gdb of version ${OLDEST} or newer with Python was found: ${tried.join("; ")}. ` +
      "`make lab` installs one into .venv; `make doctor` tells what is there.",
  );
}

// gdb's own debug adapter. An attached process runs on at once: the editor never sees the stop that attaching is.
class GdbAdapter extends Adapter {
  constructor(vscode, gdb, args) {
    super(vscode, /\.py$/);
    this.running = new Promise((resolve, reject) => {
      this.onRunning = resolve;
      this.onRefused = reject;
    });
    this.running.catch(() => {}); // who waits for it hears of it; without a pair nobody waits
    this.seen = { stop: false, attached: false };
    this.spawn("env", [...CLEAN, gdb, ...args], {});
  }

  handleMessage(message) {
    if (message.command === "attach") this.attach = message.seq;
    super.handleMessage(message);
  }

  // Of a breakpoint in C++ gdb says that no source file has its name, as long as Python has not imported the library. Once
  // the library is there, the same words say that a file is not a part of it.
  withoutPending(message) {
    if (this.seen.library) return message;
    const output = message.body.output.replace(PENDING, "");
    return output ? { ...message, body: { ...message.body, output } } : undefined;
  }

  fromAdapter(message) {
    if (message.type === "event" && message.event === "module") {
      this.seen.library = this.seen.library || LIBRARY.test(message.body.module.path || message.body.module.name);
    }
    if (message.type === "event" && message.event === "output") {
      const rest = this.withoutPending(message);
      return rest && super.fromAdapter(rest);
    }
    if (message.type === "response" && message.command === "initialize" && message.body) {
      const filters = message.body.exceptionBreakpointFilters || [];
      message.body.exceptionBreakpointFilters = filters.filter(({ label }) => !/\bAda\b/.test(label));
    }
    if (message.type === "event" && message.event === "stopped" && this.attach && !this.seen.stop) {
      this.seen.stop = true;
      this.thread = message.body.threadId;
      this.goOn();
      return;
    }
    if (message.type === "response" && message.request_seq === this.attach) {
      this.seen.attached = message.success;
      if (!message.success) {
        message.message = `gdb could not attach: ${message.message} Run \`make doctor\` to see why.`;
        this.onRefused(new Error(message.message));
      }
      this.goOn();
    }
    super.fromAdapter(message);
  }

  // Not before the attach is answered: gdb would refuse.
  async goOn() {
    if (!this.seen.stop || !this.seen.attached) return;
    try {
      await this.request("continue", { threadId: this.thread || 1 });
      this.onRunning();
    } catch (error) {
      this.onRefused(error);
    }
  }

  // Detach: the process runs on, whatever it stood at.
  async release() {
    if (this.ended) return;
    await this.request("disconnect", { terminateDebuggee: false }).catch(() => {});
    this.event("terminated", {});
  }

  end(complaint) {
    this.onRefused(new Error(complaint || "gdb has ended"));
    super.end(complaint);
  }
}

module.exports = { GdbAdapter, findGdb };
