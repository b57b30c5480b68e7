// Drives VS Code in a browser: opens a file, types, waits for ghost text, takes a picture, accepts with Tab.
// Arguments: one JSON object {library, browser, url, file, text, picture}; prints {before, ghost, after}.
import { createRequire } from "node:module";

const { library, browser: executablePath, url, file, text, picture } = JSON.parse(process.argv[2]);
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

try {
  await page.goto(url);
  await page.waitForSelector(".monaco-workbench .statusbar-item");
  await page.waitForFunction(() => /(^|\s)coder/.test(document.querySelector("#coder\\.coder\\.coder\\.status")?.textContent ?? ""));
  await page.keyboard.press("Control+P");
  await page.waitForSelector(".quick-input-widget input");
  await page.keyboard.type(file);
  await page.waitForSelector(`.quick-input-list .monaco-list-row[aria-label*="${file}"]`);
  await page.keyboard.press("Enter");
  await page.waitForSelector(".editor-instance .view-line");
  await page.click(".editor-instance .view-lines");
  await page.keyboard.press("Control+End");
  await page.waitForFunction(() => document.querySelector("#coder\\.coder\\.coder\\.status .codicon-check"));
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
  console.log(JSON.stringify({ ...seen, after: await lines() }));
} catch (reason) {
  await page.screenshot({ path: "failure.png" });
  throw reason;
} finally {
  await browser.close();
}
