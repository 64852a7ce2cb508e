/**
 * `endpoint-sync demo` as it runs, with the two changes that it proposes made by kubectl, as events on a screen.
 *
 * @module
 */
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { delay, systemClock } from "../../src/base/clock.ts";
import { runCli } from "../../src/cli/program.ts";
import { COLUMNS, type ScreenEvent } from "./recording.ts";

/** Longest time for a change to come through, in milliseconds. */
const PATIENCE_MS = 240_000;
const LOOK_MS = 50;

/** The folder of the kubeconfigs, which is another one each time. */
const FOLDER = /\S*endpoint-sync-demo-\w+[/\\]/g;

/**
 * Runs the demonstration, makes both changes, and waits until each has come through.
 *
 * @throws Error when a change does not come through.
 */
export async function recordDemo(kubectl: string): Promise<ScreenEvent[]> {
  const startMs = systemClock.monotonic();
  const events: ScreenEvent[] = [{ atMs: 0, text: "npx endpoint-sync demo", typed: true }];
  const stop = new AbortController();
  let printed = "";
  const show = (text: string, typed = false) => {
    const event = { atMs: systemClock.monotonic() - startMs, text: text.replaceAll(FOLDER, "") };
    events.push(typed ? { ...event, typed } : event);
  };
  let over = false;
  const demo = runCli(["demo"], {
    out(text) {
      printed += String(text);
      show(String(text));
    },
    err(line) {
      printed += `${line}\n`;
      show(`${line}\n`);
    },
    read: (path) => readFile(path, "utf8"),
    env: process.env,
    // Too low for a table that is drawn again in its place: what changed is written below.
    screen: { columns: COLUMNS, rows: 1 },
    colours: false,
    ask: undefined,
    stopSignal: () => stop.signal,
    onHangUp: () => () => {},
  }).finally(() => (over = true));
  const until = async (what: string, holds: () => boolean) => {
    for (const endMs = systemClock.monotonic() + PATIENCE_MS; !holds();) {
      if (over || systemClock.monotonic() > endMs) throw new Error(`${what} did not come:\n${printed}`);
      await delay(systemClock, LOOK_MS);
    }
  };
  try {
    await until("The proposals", () => (printed.match(/^ {2}kubectl .* annotate .*--overwrite$/gm) ?? []).length === 2);
    for (const [, command] of printed.matchAll(/^ {2}(kubectl .* annotate .*--overwrite)$/gm)) {
      const known = printed.length;
      show(command!, true);
      const [, ...args] = command!.split(" ");
      show((await promisify(execFile)(kubectl, args)).stdout);
      const value = /=(?:blue-)?(\w+) --overwrite$/.exec(command!)![1]!;
      const isTold = new RegExp(`^ {2}tenant .*"${value}"$`, "m");
      await until(`The change to ${value}`, () => isTold.test(printed.slice(known)) && printed.slice(known).includes(`"blue-${value}"`));
    }
  } finally {
    stop.abort();
    await demo;
  }
  return events;
}
