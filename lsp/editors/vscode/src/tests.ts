/** Names of Python tests. */

/** The pytest node id of the test function around a line (from 0), or undefined where there is none. */
export function testAt(path: string, lines: readonly string[], line: number): string | undefined {
  const indentOf = (text: string) => text.length - text.trimStart().length;
  let limit = Infinity;
  let test = "";
  for (let at = line; at >= 0; at--) {
    const text = lines[at];
    const opens = /^\s*(?:async\s+)?(def|class)\s+(\w+)/.exec(text);
    if (text.trim() === "" || indentOf(text) >= limit || (!opens && limit !== Infinity)) {
      continue;
    }
    limit = indentOf(text);
    if (opens?.[1] === "def") {
      test = opens[2].startsWith("test") ? opens[2] : "";
    } else if (opens && test) {
      test = `${opens[2]}::${test}`;
    }
  }
  return test ? `${path}::${test}` : undefined;
}
