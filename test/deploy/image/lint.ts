/**
 * What is asked of a Dockerfile that goes to clusters.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { copyOf, execForm, ignores, parseDockerfile, type Dockerfile, type Instruction, type Stage } from "./dockerfile.ts";

/** A Dockerfile and what it is built from. */
export interface Linted {
  readonly dockerfile: string;
  readonly ignoreFile: string;
  /** Folder of the context. */
  readonly context: string;
}

/** Never part of a context: large, recreated, or secret. */
const OUT = [
  "node_modules/left-pad/index.js",
  ".git/HEAD",
  "dist/cli/main.js",
  "platform.kubeconfig",
  "platform-data/journal",
  ".env",
  "test/tidy.test.ts",
];
const KNOWN = ["ARG", "CMD", "COPY", "ENTRYPOINT", "ENV", "RUN", "STOPSIGNAL", "USER", "WORKDIR"];
const FORBIDDEN: Readonly<Record<string, string>> = {
  ADD: "ADD fetches and unpacks: use COPY",
  HEALTHCHECK: "Kubernetes does not look at HEALTHCHECK: Pods have probes",
  MAINTAINER: "MAINTAINER is deprecated",
  ONBUILD: "ONBUILD runs in another build",
  SHELL: "SHELL changes what the other lines mean",
};

/** What is wrong with it, a line each, with the line that it is about. */
export function lintDockerfile({ dockerfile: text, ignoreFile, context }: Linted): readonly string[] {
  const file = parseDockerfile(text);
  const last = file.stages.at(-1);
  if (last === undefined) return ["1: no FROM: nothing is built"];
  return [
    ...file.stages.flatMap((stage, index) => baseFaults(stage, file.stages.slice(0, index))),
    ...file.stages.flatMap((stage, index) => stage.steps.flatMap((step) => stepFaults(step, { file, index, ignoreFile, context }))),
    ...endFaults(last),
    ...dependencyFaults(file),
    ...OUT.filter((path) => !ignores(ignoreFile, path)).map((path) => `ignore file: ${path} is in the context`),
  ];
}

const at = ({ line }: Instruction, what: string) => `${line}: ${what}`;

function baseFaults({ base, from }: Stage, before: readonly Stage[]): readonly string[] {
  if (before.some(({ name }) => name === base)) return [];
  const [path = "", digest] = base.split("@");
  const [first = "", ...rest] = path.split("/");
  const tag = /:([\w][\w.-]*)$/.exec(rest.at(-1) ?? first)?.[1];
  return [
    ...(rest.length > 0 && /[.:]|^localhost$/.test(first) ? [at(from, `the base ${base} names a registry: say it with --build-arg`)] : []),
    ...(tag === undefined ? [at(from, `the base ${base} has no tag`)] : []),
    ...(tag === "latest" ? [at(from, `the base ${base} is another one tomorrow: name a version`)] : []),
    ...(digest !== undefined || /^\$/.test(from.text) ? [] : [at(from, "the base is not an argument: it cannot be given a digest")]),
  ];
}

interface Place {
  readonly file: Dockerfile;
  readonly index: number;
  readonly ignoreFile: string;
  readonly context: string;
}

function stepFaults(step: Instruction, place: Place): readonly string[] {
  const { name, text } = step;
  if (Object.hasOwn(FORBIDDEN, name)) return [at(step, FORBIDDEN[name]!)];
  if (!KNOWN.includes(name)) return [at(step, `${name} is not an instruction`)];
  if (name === "COPY") return copyFaults(step, place);
  if (name === "WORKDIR" && !text.startsWith("/")) return [at(step, `WORKDIR ${text} depends on the lines before: begin with /`)];
  if (["ARG", "ENV"].includes(name) && /key|token|password|secret/i.test(text.split("=")[0]!))
    return [at(step, `${name} ${text.split("=")[0]} stays readable in the image: mount a Secret`)];
  if (name === "RUN" && /\bnpm (i|install|add)\b/.test(text)) return [at(step, "npm install takes what is newest: use npm ci")];
  if (name === "RUN" && /\b(curl|wget)\b/.test(text)) return [at(step, "RUN fetches unchecked content")];
  return [];
}

function copyFaults(step: Instruction, { file, index, ignoreFile, context }: Place): readonly string[] {
  const { from, sources } = copyOf(step);
  if (from !== undefined) {
    const known = file.stages.slice(0, index).some(({ name }) => name === from);
    return known ? [] : [at(step, `COPY --from=${from}: there is no such stage before`)];
  }
  return sources.flatMap((source) => {
    if (source === "." || source === "./") return [at(step, "COPY . copies unnamed files")];
    if (!existsSync(join(context, source))) return [at(step, `COPY ${source}: there is no such file`)];
    return ignores(ignoreFile, source) ? [at(step, `COPY ${source}: the ignore file keeps it out`)] : [];
  });
}

/** Of the stage that becomes the image. */
function endFaults({ from, steps }: Stage): readonly string[] {
  const lastOf = (name: string) => steps.filter((step) => step.name === name).at(-1);
  const [user, entrypoint, command] = [lastOf("USER"), lastOf("ENTRYPOINT"), lastOf("CMD")];
  return [
    ...(user === undefined ? [at(from, "no USER: it runs as root")] : []),
    ...(user !== undefined && !/^[1-9]\d*(:[1-9]\d*)?$/.test(user.text)
      ? [at(user, `USER ${user.text}: runAsNonRoot asks for a number other than 0`)]
      : []),
    ...(entrypoint === undefined ? [at(from, "no ENTRYPOINT: it does not run by itself")] : []),
    ...[entrypoint, command].flatMap((step) =>
      step !== undefined && execForm(step) === undefined
        ? [at(step, `${step.name} in shell form: a shell gets the signals, and keeps them`)]
        : [],
    ),
    ...steps.flatMap((step) => (step.name === "RUN" ? [at(step, "RUN in the last stage: what it leaves behind is in the image")] : [])),
  ];
}

/** What the image needs at run time is installed without what is needed to build it. */
function dependencyFaults({ stages }: Dockerfile): readonly string[] {
  const copies = stages.at(-1)!.steps.flatMap((step) => (step.name === "COPY" ? [{ step, ...copyOf(step) }] : []));
  return copies.flatMap(({ step, from, sources }) => {
    if (!sources.some((source) => source.endsWith("node_modules"))) return [];
    const runs = stages.find(({ name }) => name === from)?.steps.filter(({ name }) => name === "RUN") ?? [];
    return runs.some(({ text }) => text.includes("npm ci") && text.includes("--omit=dev"))
      ? []
      : [at(step, "the image has development dependencies: npm ci --omit=dev")];
  });
}
