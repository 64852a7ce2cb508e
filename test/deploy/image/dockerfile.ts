/**
 * Dockerfiles and their ignore files, as far as `deploy/Dockerfile` uses them.
 */

/** One instruction. */
export interface Instruction {
  /** In capitals. */
  readonly name: string;
  /** What stands behind it, on one line. */
  readonly text: string;
  /** Its first line, from 1. */
  readonly line: number;
}

/** What is built from one base. */
export interface Stage {
  /** The name after AS; its number for a stage without one. */
  readonly name: string;
  /** An image, or the name of an earlier stage; arguments are filled in. */
  readonly base: string;
  /** The same as it is written. */
  readonly from: Instruction;
  readonly steps: readonly Instruction[];
}

/** A whole file. */
export interface Dockerfile {
  /** The defaults of arguments before the first stage. */
  readonly args: Readonly<Record<string, string>>;
  readonly stages: readonly Stage[];
}

/** Reads a Dockerfile. */
export function parseDockerfile(text: string): Dockerfile {
  const instructions = instructionsOf(text);
  const first = instructions.findIndex(({ name }) => name === "FROM");
  const before = instructions.slice(0, first);
  const args = Object.fromEntries(
    before.flatMap(({ name, text: pair }) => (name === "ARG" ? [pair.split(/=(.*)/).slice(0, 2)] : [])),
  ) as Record<string, string>;
  const stages: { name: string; base: string; from: Instruction; steps: Instruction[] }[] = [];
  for (const instruction of instructions.slice(first)) {
    if (instruction.name !== "FROM") {
      stages.at(-1)!.steps.push(instruction);
      continue;
    }
    const [, image = "", name = String(stages.length)] = /^(\S+)(?:\s+AS\s+(\S+))?$/i.exec(instruction.text) ?? [];
    stages.push({
      name,
      base: image.replace(/\$\{(\w+)\}|\$(\w+)/g, (_all, one: string, two: string) => args[one ?? two] ?? ""),
      from: instruction,
      steps: [],
    });
  }
  return { args, stages };
}

function instructionsOf(text: string): readonly Instruction[] {
  const found: Instruction[] = [];
  let open: { text: string; line: number } | undefined;
  for (const [index, line] of text.split("\n").entries()) {
    if (/^\s*(#.*)?$/.test(line)) continue;
    open = { text: `${open?.text ?? ""} ${line.replace(/\\\s*$/, "")}`.trim(), line: open?.line ?? index + 1 };
    if (/\\\s*$/.test(line)) continue;
    const [, name = "", rest = ""] = /^(\w+)\s*(.*)$/.exec(open.text) ?? [];
    found.push({ name: name.toUpperCase(), text: rest, line: open.line });
    open = undefined;
  }
  return found;
}

/** The words of an instruction in exec form; undefined when it is written for a shell. */
export function execForm({ text }: Instruction): readonly string[] | undefined {
  if (!text.startsWith("[")) return undefined;
  const words: unknown = JSON.parse(text);
  return Array.isArray(words) && words.every((word) => typeof word === "string") ? words : undefined;
}

/** What a COPY copies, and from where. */
export interface Copy {
  /** The stage that it copies from; undefined for the context. */
  readonly from: string | undefined;
  readonly sources: readonly string[];
  readonly target: string;
}

/** Reads a COPY. */
export function copyOf({ text }: Instruction): Copy {
  const words = text.split(/\s+/);
  const flags = words.filter((word) => word.startsWith("--"));
  const paths = words.filter((word) => !word.startsWith("--"));
  const from = flags.find((flag) => flag.startsWith("--from="))?.slice("--from=".length);
  return { from, sources: paths.slice(0, -1), target: paths.at(-1)! };
}

/** Reports whether an ignore file keeps a path out of the context: the last pattern that fits it, or a folder above it, says so. */
export function ignores(ignoreFile: string, path: string): boolean {
  const parts = path.split("/");
  const above = parts.map((_part, index) => parts.slice(0, index + 1).join("/"));
  let ignored = false;
  for (const line of ignoreFile.split("\n").map((one) => one.trim())) {
    if (line === "" || line.startsWith("#")) continue;
    const pattern = patternOf(line.replace(/^!/, "").replace(/^\/|\/$/g, ""));
    if (above.some((one) => pattern.test(one))) ignored = !line.startsWith("!");
  }
  return ignored;
}

function patternOf(text: string): RegExp {
  const source = text.replace(/\*\*\/|\*\*|\*|\?|[.+^${}()|[\]\\]/g, (found) => {
    if (found === "**/") return "(?:.*/)?";
    if (found === "**") return ".*";
    if (found === "*") return "[^/]*";
    return found === "?" ? "[^/]" : `\\${found}`;
  });
  return new RegExp(`^${source}$`);
}
