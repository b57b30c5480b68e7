/** The commands of the palette: each works out where the cursor is and has the server do the work. */
import * as vscode from "vscode";
import { ExecuteCommandRequest, type LanguageClient } from "vscode-languageclient/node";
import { testAt } from "./tests";
import { mayRunTests } from "./trust";

function execute(client: LanguageClient, command: string, ...args: unknown[]): Promise<unknown> {
  return client.sendRequest(ExecuteCommandRequest.type, { command, arguments: args });
}

/**
 * Fixes the test that the cursor is in, or the one that the user names. The server answers with `workspace/applyEdit`;
 * its change annotation wants to be confirmed, so VS Code shows the diff in its refactoring preview. The client refuses
 * it when the document has changed meanwhile.
 */
export async function fixTest(client: LanguageClient): Promise<void> {
  const editor = vscode.window.activeTextEditor;
  if (!editor || !mayRunTests()) {
    return;
  }
  const { document, selection } = editor;
  const lines = Array.from({ length: document.lineCount }, (_, line) => document.lineAt(line).text);
  const path = vscode.workspace.asRelativePath(document.uri, false);
  const node =
    testAt(path, lines, selection.active.line) ??
    (await vscode.window.showInputBox({ title: "Fix Failing Test", prompt: "The test, as pytest names it", value: `${path}::` }));
  if (node) {
    await vscode.window.withProgress(
      { location: vscode.ProgressLocation.Notification, title: `coder: fixing ${node}` },
      () => execute(client, "coder.fixTest", client.code2ProtocolConverter.asUri(document.uri), node),
    );
  }
}

export async function completeFunction(client: LanguageClient): Promise<void> {
  const editor = vscode.window.activeTextEditor;
  if (editor) {
    const converter = client.code2ProtocolConverter;
    const position = converter.asPosition(editor.selection.active);
    await execute(client, "coder.completeFunction", converter.asUri(editor.document.uri), position);
  }
}

export async function clearCache(client: LanguageClient): Promise<void> {
  await execute(client, "coder.clearCache");
}
