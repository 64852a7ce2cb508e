/** Each part of a glob as a regular expression; all other characters match themselves. */
const PARTS: readonly [RegExp, (part: string) => string][] = [
  [/^\*\*\//, () => "(?:[^/]+/)*"],
  [/^\*\*$/, () => ".*"],
  [/^\*+/, () => "[^/]*"],
  [/^\?/, () => "[^/]"],
  [/^\{[^{}]*\}/, (part) => `(?:${part.slice(1, -1).split(",").map(globSource).join("|")})`],
  [/^[^]/u, (part) => part.replace(/[$()*+.?[\\\]^{|}]/, "\\$&")],
];

/** Reports whether a name is a glob, provided that there is no file with this name. */
export function isGlob(name: string): boolean {
  return /[*?{]/.test(name);
}

/** The folder that contains all files that a glob can match. */
export function globRoot(glob: string): string {
  const [fixed = ""] = /^[^*?{]*(?=\/)/.exec(glob) ?? [];
  return fixed === "" ? (glob.startsWith("/") ? "/" : ".") : fixed;
}

/**
 * Converts a glob to a regular expression for whole paths: `*` and `?` match within a name, `**` matches across folders, and `{a,b}`
 * matches one of several texts.
 *
 * @example
 * globPattern("patches/*.yaml").test("patches/a.yaml"); // true
 */
export function globPattern(glob: string): RegExp {
  return new RegExp(`^${globSource(glob)}$`);
}

function globSource(glob: string): string {
  let rest = glob;
  let source = "";
  while (rest !== "") {
    for (const [part, meaning] of PARTS) {
      const found = part.exec(rest)?.[0];
      if (found === undefined) continue;
      source += meaning(found);
      rest = rest.slice(found.length);
      break;
    }
  }
  return source;
}
