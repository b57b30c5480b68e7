/** Starts `coder lsp` and joins it to VS Code: completions come through the client's own LSP 3.18 feature. */
import * as vscode from "vscode";
import { LanguageClient, RevealOutputChannelOn, type ServerOptions } from "vscode-languageclient/node";
import { clearCache, completeFunction, fixTest } from "./commands";
import { explained, type Status, StatusItem } from "./status";
import { guarded } from "./trust";

let client: LanguageClient | undefined;

async function start(status: StatusItem): Promise<void> {
  const [command, ...args] = vscode.workspace.getConfiguration("coder").get<string[]>("server", ["coder", "lsp"]);
  const server: ServerOptions = { command, args };
  client = new LanguageClient("coder", "coder", server, {
    documentSelector: [{ scheme: "file" }, { scheme: "untitled" }, { notebook: "*" }],
    synchronize: { configurationSection: "coder" },
    revealOutputChannelOn: RevealOutputChannelOn.Never,
    middleware: guarded,
  });
  client.onNotification("coder/status", (news: Status) => status.show(news));
  status.show({ state: "reading", message: "starting" });
  try {
    await client.start();
    status.show({ state: "idle", message: "" });
  } catch (reason) {
    status.show({ state: "error", message: explained(command, reason) });
  }
}

async function stop(): Promise<void> {
  const running = client;
  client = undefined;
  if (running?.isRunning()) {
    await running.stop();
  }
}

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const status = new StatusItem();
  const restart = async () => {
    await stop();
    await start(status);
  };
  const register = (name: string, run: (client: LanguageClient) => Promise<void>) =>
    vscode.commands.registerCommand(name, async () => {
      if (client?.isRunning()) {
        await run(client);
      } else {
        void vscode.window.showWarningMessage("coder is not running. See the log for the reason.");
      }
    });
  context.subscriptions.push(
    status,
    register("coder.fixTestHere", fixTest),
    register("coder.completeFunctionHere", completeFunction),
    register("coder.clearCacheNow", clearCache),
    vscode.commands.registerCommand("coder.restart", restart),
    vscode.commands.registerCommand("coder.showLog", () => client?.outputChannel.show()),
    vscode.workspace.onDidChangeConfiguration((change) => change.affectsConfiguration("coder.server") && restart()),
  );
  await start(status);
}

export async function deactivate(): Promise<void> {
  await stop();
}
