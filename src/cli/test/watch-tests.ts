import { dirname, join } from "node:path";
import { delay, systemClock } from "../../base/clock.ts";
import { createEngineCache, type EngineCache } from "../../workbench/patch-tests/engines.ts";
import type { SyncedKind } from "../../engine/reconcile/rules/rules.ts";
import type { Terminal } from "../process/terminal.ts";
import { discoverTests, type Discovery } from "./files/discover.ts";
import { FileStamps } from "./files/file-stamps.ts";
import { FolderWatch } from "./files/folder-watch.ts";
import { paintOf } from "./reporters/paint.ts";
import { reportOf, type RanSuite } from "./reporters/report.ts";
import type { Reporting } from "./reporters/reporters.ts";
import { oneLine } from "./reporters/result-text.ts";
import { runTests, type RunTestsOptions } from "./run-tests.ts";

/** Editors write a file in several steps; writes within this time belong together, in milliseconds. */
const SETTLE_MS = 30;
/** Maximum number of names in a message. */
const NAMES_MAX = 3;
/** Moves the cursor to the upper left corner and clears the screen below. */
const CLEAR = "\u001b[H\u001b[J";

/** Files that are watched, and how results are reported. */
export interface WatchTestsOptions {
  readonly terminal: Terminal;
  /** Files, folders and globs, as for `discoverTests`. */
  readonly named: readonly string[];
  readonly run: RunTestsOptions;
  readonly reporting: Reporting;
  /** The kinds that configurations are read for. Default: all that are synced. */
  readonly kinds?: readonly SyncedKind[];
}

/** Differences since the last check. */
interface Difference {
  readonly changed: readonly string[];
  readonly appeared: readonly string[];
  readonly removed: readonly string[];
}

/**
 * Runs all tests, and then, after each change, the tests that depend on it, until a stop signal. The summary after each run includes the
 * last results of files that did not run again.
 *
 * @throws USAGE if a named file does not exist at the start, or the system can watch no more folders.
 */
export async function watchTests(options: WatchTestsOptions): Promise<void> {
  const watch = new TestWatch(options);
  try {
    await watch.run();
  } finally {
    watch.close();
  }
}

class TestWatch {
  readonly #options: WatchTestsOptions;
  readonly #stop: AbortSignal;
  readonly #stamps = new FileStamps();
  readonly #folders = new FolderWatch((path) => this.#happened(path));
  /** Files that a test file read when it last ran, by test file. */
  readonly #reads = new Map<string, Set<string>>();
  readonly #ran = new Map<string, RanSuite>();
  #engines: EngineCache;
  #discovery: Discovery = { files: [], folders: [] };
  /** True if files may have appeared or been removed. */
  #stale = true;
  /** Ends the wait for an event; undefined while none is pending. */
  #wake: (() => void) | undefined;
  #awake = false;

  constructor(options: WatchTestsOptions) {
    this.#options = options;
    this.#engines = createEngineCache(options);
    this.#stop = options.terminal.stopSignal();
    this.#stop.addEventListener("abort", () => this.#ring(), { once: true });
  }

  async run(): Promise<void> {
    const { terminal, named } = this.#options;
    this.#discovery = { files: [], folders: (await discoverTests(named)).folders };
    for (let round = 0; !this.#stop.aborted; round += 1) {
      // The folders are watched before the check, so that no change is missed.
      this.#folders.follow(this.#watchedFolders());
      const difference = await this.#look();
      const message = messageOf(difference);
      if (message === "" && round > 0) {
        await this.#event();
        await delay(systemClock, SETTLE_MS, this.#stop);
        continue;
      }
      if (round > 0) terminal.out(`${terminal.screen === undefined ? "\n" : CLEAR}${message}\n`);
      await this.#rerun(difference);
    }
  }

  close(): void {
    this.#folders.close();
    this.#engines.dispose();
  }

  #happened(path: string): void {
    if (!this.#stamps.has(path)) this.#stale = true;
    this.#ring();
  }

  #ring(): void {
    this.#awake = true;
    this.#wake?.();
  }

  async #event(): Promise<void> {
    if (!this.#awake) await new Promise<void>((resolve) => (this.#wake = resolve));
    this.#wake = undefined;
    this.#awake = this.#stop.aborted;
  }

  /** Returns the searched folders, the folders of all files that tests have read, and those of named files, which may be missing. */
  #watchedFolders(): Set<string> {
    const { named } = this.#options;
    return new Set([...this.#discovery.folders, ...this.#stamps.folders, ...named.map((name) => dirname(join(name)))]);
  }

  async #look(): Promise<Difference> {
    const before = this.#discovery.files;
    const differing = await this.#stamps.changed();
    if (this.#stale || before.some((file) => !this.#stamps.isThere(file))) {
      this.#stale = false;
      this.#discovery = await discoverTests(this.#options.named, { missing: "passed over" });
    }
    const { files } = this.#discovery;
    const [appeared, removed] = [without(files, before), without(before, files)];
    const changed = without(differing, removed);
    return { changed, appeared, removed };
  }

  async #rerun({ changed, appeared, removed }: Difference): Promise<void> {
    const { terminal, reporting, run } = this.#options;
    for (const file of removed) this.#forget(file);
    const concerned = (file: string) => appeared.includes(file) || changed.some((name) => this.#reads.get(file)?.has(name) === true);
    const files = this.#discovery.files.filter(concerned);
    // Engines of a changed configuration are no longer used.
    if (without(changed, this.#discovery.files).length > 0) this.#renewEngines();
    for (const file of files) this.#forget(file);
    const read = (name: string, suite: string) => this.#read(name, suite);
    for (const file of files) this.#reads.set(file, new Set());
    const ran = await runTests(files, run, { terminal, engines: this.#engines, read }, (suite) => reporting.suite(suite));
    for (const one of ran) this.#ran.set(one.suite.file, one);
    // Files written by the run itself are not a change.
    if (run.update === true) for (const { suite } of ran) for (const { file } of suite.writes) await this.#stamps.note(file);
    this.#stamps.keep(new Set([...this.#reads.values()].flatMap((names) => [...names])));
    await reporting.end(reportOf([...this.#ran.values()].sort((left, right) => (left.suite.file < right.suite.file ? -1 : 1))));
    terminal.out(this.#waiting());
  }

  #forget(file: string): void {
    this.#ran.delete(file);
    this.#reads.delete(file);
  }

  #renewEngines(): void {
    this.#engines.dispose();
    this.#engines = createEngineCache(this.#options);
  }

  async #read(name: string, suite: string): Promise<string> {
    this.#reads.get(suite)?.add(join(name));
    await this.#stamps.note(name);
    return this.#options.terminal.read(name);
  }

  #waiting(): string {
    const count = this.#discovery.files.length;
    const files = count === 1 ? "1 test file" : `${count} test files`;
    return `${paintOf(this.#options.terminal)("quiet", `Watching ${files}. Press Ctrl-C to stop.`)}\n`;
  }
}

/** `Changed: vcluster.yaml`; "" if nothing has changed. */
function messageOf({ changed, appeared, removed }: Difference): string {
  const parts = Object.entries({ Changed: changed, New: appeared, Removed: removed }).filter(([, files]) => files.length > 0);
  return parts.map(([word, files]) => `${word}: ${listed(files)}`).join("; ");
}

function listed(files: readonly string[]): string {
  const more = files.length - NAMES_MAX;
  return `${files.slice(0, NAMES_MAX).map(oneLine).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}

function without(files: readonly string[], others: readonly string[]): string[] {
  const known = new Set(others);
  return files.filter((file) => !known.has(file));
}
