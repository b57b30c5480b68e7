// Drives VS Code in a browser: opens a file and, at its end, types, waits for ghost text, takes a picture, accepts with
// Tab; or, with `fix`, has the test there fixed, reads the preview, confirms and applies it.
// Arguments: one JSON object {library, browser, url, file, text, picture, fix}; prints {before, ghost, after}, or
// {preview, before, after}.
import { createRequire } from "node:module";

const { library, browser: executablePath, url, file, text, picture, fix } = JSON.parse(process.argv[2]);
const { chromium } = createRequire(import.meta.url)(library);
const offline = ["--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-quic"];
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu", ...offline] });
const page = await browser.newPage({ viewport: { width: 1100, height: 620 } });
page.setDefaultTimeout(60_000);

// Lines as the editor draws them, ghost text of one line included.
const lines = () =>
  page.$$eval(".editor-instance .view-lines .view-line", (all) =>
    all
      .sort((a, b) => parseFloat(a.style.top) - parseFloat(b.style.top))
      .map((line) => line.textContent.replaceAll("\u00a0", " ").trimEnd()),
  );
const ghost = () =>
  page.$$eval("[class*='ghost-text-decoration']", (parts) =>
    parts.map((part) => part.textContent.replaceAll("\u00a0", " ")).join(""),
  );

async function open() {
  await page.keyboard.press("Control+P");
  await page.waitForSelector(".quick-input-widget input");
  await page.keyboard.type(file);
  await page.waitForSelector(`.quick-input-list .monaco-list-row[aria-label*="${file}"]`);
  await page.keyboard.press("Enter");
  await page.waitForSelector(".editor-instance .view-line");
  await page.click(".editor-instance .view-lines");
  await page.keyboard.press("Control+End");
}

async function complete() {
  await page.keyboard.type(text, { delay: 60 });
  await page.waitForSelector("[class*='ghost-text-decoration']");
  await page.waitForTimeout(1000);
  const seen = { before: await lines(), ghost: await ghost() };
  if (picture) {
    await page.screenshot({ path: picture });
  }
  await page.keyboard.press("Tab");
  await page.waitForFunction(() => !document.querySelector("[class*='ghost-text-decoration']"));
  await page.waitForTimeout(500);
  return { ...seen, after: await lines() };
}

// Edits that want to be confirmed are shown unticked.
async function applyFix() {
  const before = await lines();
  await page.keyboard.press("F1");
  await page.waitForSelector(".quick-input-widget input");
  await page.keyboard.type("coder: Fix Failing Test");
  await page.waitForSelector('.quick-input-list .monaco-list-row[aria-label*="Fix Failing Test"]');
  await page.keyboard.press("Enter");
  await page.waitForSelector(".bulk-edit-panel .monaco-list-row .edit-checkbox");
  await page.waitForTimeout(1000);
  const preview = await page.$$eval(".bulk-edit-panel .monaco-list-row", (rows) => rows.map((row) => row.textContent));
  if (picture) {
    await page.screenshot({ path: picture });
  }
  await page.click(".bulk-edit-panel .monaco-list-row .edit-checkbox");
  await page.click(".bulk-edit-panel .monaco-button:has-text('Apply')");
  await page.waitForFunction(() => !document.querySelector(".bulk-edit-panel .monaco-list-row"));
  await open();
  return { preview, before, after: await lines() };
}

try {
  await page.goto(url);
  await page.waitForSelector(".monaco-workbench .statusbar-item");
  await page.waitForFunction(() => /(^|\s)coder/.test(document.querySelector("#coder\\.coder\\.coder\\.status")?.textContent ?? ""));
  await open();
  await page.waitForFunction(() => document.querySelector("#coder\\.coder\\.coder\\.status .codicon-check"));
  console.log(JSON.stringify(await (fix ? applyFix() : complete())));
} catch (reason) {
  await page.screenshot({ path: "failure.png" });
  throw reason;
} finally {
  await browser.close();
}
