/** Tests are code of the workspace: they are run only where the user trusts it. Completions run nothing. */
import * as vscode from "vscode";
import type { Middleware } from "vscode-languageclient/node";

const FIX = "coder.fixTest";

/** Whether tests may be run; tells the user where they may not. */
export function mayRunTests(): boolean {
  if (!vscode.workspace.isTrusted) {
    void vscode.window.showWarningMessage("coder runs tests only in a trusted workspace.");
  }
  return vscode.workspace.isTrusted;
}

function runsTests(action: vscode.Command | vscode.CodeAction): boolean {
  const command = action.command;
  return (typeof command === "string" ? command : command?.command) === FIX;
}

/** Keeps what would run tests from the server, whichever way it is asked for. */
export const guarded: Middleware = {
  executeCommand: (command, args, next) => (command === FIX && !mayRunTests() ? undefined : next(command, args)),
  provideCodeActions: async (document, range, context, token, next) => {
    const actions = await next(document, range, context, token);
    return vscode.workspace.isTrusted ? actions : actions?.filter((action) => !runsTests(action));
  },
};
