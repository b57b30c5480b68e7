// Bundles the extension into dist/, with the licences of everything that went into the bundle.
import { build } from "esbuild";
import { copyFileSync, readdirSync, readFileSync, writeFileSync } from "node:fs";

const { metafile } = await build({
  entryPoints: ["src/extension.ts"],
  outfile: "dist/extension.js",
  bundle: true,
  platform: "node",
  target: "node20",
  external: ["vscode"],
  minify: true,
  metafile: true,
});

const folders = Object.keys(metafile.inputs).map((path) => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1]);
const notices = [...new Set(folders.filter(Boolean))].sort().map((folder) => {
  const { name, version, license } = JSON.parse(readFileSync(`${folder}/package.json`, "utf8"));
  const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
  if (!file) {
    throw new Error(`${name} has no licence file`);
  }
  return `${name} ${version} (${license})\n\n${readFileSync(`${folder}/${file}`, "utf8").trim()}\n`;
});
writeFileSync("dist/third_party_licences.txt", notices.join(`\n${"-".repeat(80)}\n\n`));
copyFileSync("../../../LICENSE", "dist/LICENSE");
