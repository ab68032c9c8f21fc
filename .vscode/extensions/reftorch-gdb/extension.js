// Mirrors: nothing in PyTorch: it needs an extension of its own for each editor.
// Left out: starting the Python session as well; start "Python: current file" first, then attach.
const vscode = require("vscode");

const TYPE = "reftorch-gdb";

exports.activate = (context) => {
  context.subscriptions.push(
    vscode.debug.registerDebugConfigurationProvider(TYPE, {
      // The prompt gives text; gdb wants a number.
      resolveDebugConfigurationWithSubstitutedVariables: (folder, config) => ({ ...config, pid: Number(config.pid) }),
    }),
    vscode.debug.registerDebugAdapterDescriptorFactory(TYPE, {
      createDebugAdapterDescriptor: ({ configuration }) =>
        new vscode.DebugAdapterExecutable(configuration.gdb, configuration.gdbArgs),
    }),
  );
};
