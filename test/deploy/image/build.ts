/**
 * Carries out a Dockerfile without an engine for containers: each stage is a folder, COPY copies, RUN runs with the Node of this process.
 */
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, statSync } from "node:fs";
import { delimiter, dirname, join, relative } from "node:path";
import { copyOf, execForm, ignores, type Dockerfile, type Stage } from "./dockerfile.ts";

/** What is built, and where. */
export interface BuildOptions {
  readonly dockerfile: Dockerfile;
  readonly ignoreFile: string;
  /** Folder of the context. */
  readonly context: string;
  /** A folder, for the stages. */
  readonly into: string;
  /** Told of each step. */
  readonly say: (line: string) => void;
}

/** The last stage. */
export interface Image {
  /** Its root folder. */
  readonly root: string;
  /** Absolute, in the image. */
  readonly workdir: string;
  readonly env: Readonly<Record<string, string>>;
  readonly user: string;
  readonly entrypoint: readonly string[];
  readonly command: readonly string[];
}

/** Builds all stages in order. Throws when a step fails. */
export function buildImage(options: BuildOptions): Image {
  const built = new Map<string, Image>();
  for (const stage of options.dockerfile.stages) built.set(stage.name, buildStage(stage, built, options));
  return [...built.values()].at(-1)!;
}

function buildStage(stage: Stage, built: ReadonlyMap<string, Image>, options: BuildOptions): Image {
  const root = join(options.into, stage.name);
  const base = built.get(stage.base);
  mkdirSync(root, { recursive: true });
  if (base !== undefined) cpSync(base.root, root, { recursive: true, verbatimSymlinks: true });
  let image: Image = base === undefined ? { root, workdir: "/", env: {}, user: "0", entrypoint: [], command: [] } : { ...base, root };
  for (const step of stage.steps) {
    options.say(`${stage.name}: ${step.name} ${step.text}`);
    const here = join(root, image.workdir);
    if (step.name === "WORKDIR") mkdirSync(join(root, step.text), { recursive: true });
    if (step.name === "COPY") copy(copyOf(step), here, { root, built, options });
    if (step.name === "RUN") runStep(step.text, here, image.env);
    image = { ...image, ...settingOf(step.name, step.text, image), ...wordsOf(step.name, execForm(step) ?? []) };
  }
  return image;
}

function settingOf(name: string, text: string, { env }: Image): Partial<Image> {
  if (name === "WORKDIR") return { workdir: text };
  if (name === "USER") return { user: text };
  return name === "ENV" ? { env: { ...env, [text.split("=")[0]!]: text.split("=")[1] ?? "" } } : {};
}

function wordsOf(name: string, words: readonly string[]): Partial<Image> {
  if (name === "ENTRYPOINT") return { entrypoint: words };
  return name === "CMD" ? { command: words } : {};
}

interface Place {
  readonly root: string;
  readonly built: ReadonlyMap<string, Image>;
  readonly options: BuildOptions;
}

function copy({ from, sources, target }: ReturnType<typeof copyOf>, here: string, { root, built, options }: Place): void {
  const base = from === undefined ? options.context : built.get(from)!.root;
  const into = target.startsWith("/") ? join(root, target) : join(here, target);
  for (const source of sources) {
    const path = join(base, source);
    // A folder is copied as its contents; a file into what ends in a slash.
    const place = !statSync(path).isDirectory() && target.endsWith("/") ? join(into, source.split("/").at(-1)!) : into;
    mkdirSync(dirname(place), { recursive: true });
    const filter = (file: string) => from !== undefined || !ignores(options.ignoreFile, relative(base, file));
    cpSync(path, place, { recursive: true, verbatimSymlinks: true, filter });
  }
}

function runStep(command: string, cwd: string, env: Readonly<Record<string, string>>): void {
  const { PATH = "", HOME = "" } = process.env;
  const path = [dirname(process.execPath), PATH].join(delimiter);
  execFileSync("sh", ["-c", command], { cwd, env: { PATH: path, HOME, ...env }, stdio: ["ignore", "ignore", "inherit"] });
}
