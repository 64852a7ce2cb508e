import { CODES, type Code } from "../../src/base/codes.ts";
import { code, GENERATED, prose, table } from "./markdown.ts";

/** Codes that have one subject. */
export interface ErrorGroup {
  readonly title: string;
  readonly intro: string;
  /** First words of the codes, up to an underscore. */
  readonly prefixes: readonly string[];
}

/** In the order of the page. A code that no group claims goes to the last one. */
export const ERROR_GROUPS: readonly ErrorGroup[] = [
  {
    title: "Configuration",
    intro: "These problems are found before anything starts, and are all reported together, with file, line and column.",
    prefixes: ["CONFIG"],
  },
  { title: "Patches and paths", intro: "These problems are reported when the configuration is read.", prefixes: ["PATCH", "PATH"] },
  {
    title: "Expressions",
    intro: "Syntax is checked when the configuration is read; the other codes appear when an expression runs on an object.",
    prefixes: ["EXPRESSION", "DNS"],
  },
  {
    title: "References",
    intro: "These problems occur when a reference patch is applied, or when a referenced object is copied.",
    prefixes: ["REFERENCE"],
  },
  {
    title: "Names and host objects",
    intro: "These codes explain why an object has no copy on the host, or why its copy is left alone.",
    prefixes: ["NAME", "HOST"],
  },
  {
    title: "API servers",
    intro: "These errors come from the API server of the tenant or of the host, and include missing responses.",
    prefixes: ["API"],
  },
  { title: "Sync and command line", intro: "These codes describe events of one object, or of the whole run.", prefixes: [] },
];

/** `reference/errors.md`: what each code means and what to do about it. */
export function errorsPage(): string {
  const groups = groupedCodes().filter(({ codes }) => codes.length > 0);
  const rows = groups.flatMap(({ codes }) => codes.map((name) => [`[${code(name)}](#${name.toLowerCase()})`, prose(CODES[name].meaning)]));
  return `${GENERATED}
# Errors and outcomes

Every error message includes one of these codes. A code never changes its meaning and is never used for something else, so scripts and
alerts can rely on it. \`endpoint-sync explain CODE\` prints the same information; Events carry the code as their reason, spelled
\`NameCollision\` for \`NAME_COLLISION\`.

## At a glance

${table(["Code", "Meaning"], rows)}
${groups.map(({ group, codes }) => section(group, codes)).join("\n")}`;
}

/** Every code once, in the order of the page. */
export function groupedCodes(): { group: ErrorGroup; codes: Code[] }[] {
  const sorted = (Object.keys(CODES) as Code[]).sort();
  return ERROR_GROUPS.map((group) => ({ group, codes: sorted.filter((name) => groupOf(name) === group) }));
}

function groupOf(name: Code): ErrorGroup {
  return ERROR_GROUPS.find(({ prefixes }) => prefixes.includes(name.split("_")[0]!)) ?? ERROR_GROUPS.at(-1)!;
}

function section({ title, intro }: ErrorGroup, codes: readonly Code[]): string {
  return `## ${title}\n\n${intro}\n\n${codes.map(entry).join("\n")}`;
}

function entry(name: Code): string {
  const { meaning, remedy } = CODES[name];
  return `### ${name}\n\n${prose(meaning)}\n\nWhat to do: ${prose(remedy)}\n`;
}
