/** What the server is doing, in the status bar. */
import * as vscode from "vscode";

/** The notification `coder/status`; `progress` is a share from 0 to 1. */
export interface Status {
  state: "idle" | "reading" | "thinking" | "fixing" | "error";
  message: string;
  progress?: number | null;
}

const ICONS: Record<Status["state"], string> = {
  idle: "$(check)",
  reading: "$(sync~spin)",
  thinking: "$(loading~spin)",
  fixing: "$(beaker)",
  error: "$(error)",
};

export class StatusItem implements vscode.Disposable {
  private readonly item = vscode.window.createStatusBarItem("coder.status", vscode.StatusBarAlignment.Right, 100);

  constructor() {
    this.item.name = "coder";
    this.item.command = "coder.showLog";
    this.item.show();
  }

  show(status: Status): void {
    const share = typeof status.progress === "number" ? ` ${Math.floor(status.progress * 100)} %` : "";
    this.item.text = `${ICONS[status.state] ?? ""} coder${share}`;
    this.item.tooltip = status.message || status.state;
    this.item.backgroundColor =
      status.state === "error" ? new vscode.ThemeColor("statusBarItem.errorBackground") : undefined;
  }

  dispose(): void {
    this.item.dispose();
  }
}

/** Why the server did not start, and what to do about it. */
export function explained(command: string, reason: unknown): string {
  const text = reason instanceof Error ? reason.message : String(reason);
  return text.includes("ENOENT")
    ? `There is no program "${command}". Install coder, or name the program in the setting coder.server.`
    : `The server did not start: ${text}`;
}
