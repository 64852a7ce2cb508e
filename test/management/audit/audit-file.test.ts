import { execFile, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { gunzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { isEngineError } from "../../../src/base/errors.ts";
import { createLineLogger } from "../../../src/base/logger.ts";
import { openAuditFile, type AuditFile, type RotationSettings } from "../../../src/management/audit/audit-file.ts";
import { parseManagementConfig } from "../../../src/management/config/config.ts";
import { createFakeClock, until, type FakeClock } from "../../support/fake-clock.ts";

const DAY = 86_400_000;
const MB = 1_048_576;
const hasBash = spawnSync("bash", ["-c", "ulimit -f 4"]).status === 0;
const DEFAULTS: RotationSettings = { maxBytes: 100 * MB, maxAge: 0, maxBackups: 0, compress: false };

let folder: string;
let path: string;
let clock: FakeClock;
let log: string[];
let open: AuditFile[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "audit-"));
  path = join(folder, "audit.log");
  clock = createFakeClock();
  log = [];
  open = [];
});

afterEach(async () => {
  for (const file of open) await file.close();
  rmSync(folder, { recursive: true, force: true });
});

async function start(rotation: Partial<RotationSettings> = {}, at = path): Promise<AuditFile> {
  const logger = createLineLogger({ now: () => 0, write: (line) => log.push(line.slice(line.indexOf(" ") + 1)) });
  const file = await openAuditFile({ path: at, rotation: { ...DEFAULTS, ...rotation }, clock, logger });
  open.push(file);
  return file;
}

function files(): string[] {
  return readdirSync(folder).sort();
}

function textOf(name: string): string {
  const bytes = readFileSync(join(folder, name));
  return (name.endsWith(".gz") ? gunzipSync(bytes) : bytes).toString();
}

/** A line of `bytes` bytes that begins with its number. */
function line(number: number, bytes: number): string {
  return `${String(number).padEnd(bytes - 1, ".")}\n`;
}

/** Rotated files of other days; the youngest is one day old. */
function leave(days: number, ending = ".log"): string {
  const stamp = new Date(clock.now() - days * DAY).toISOString().replace("Z", "").replaceAll(":", "-");
  const name = `audit-${stamp}${ending}`;
  writeFileSync(join(folder, name), `${days} days\n`);
  return name;
}

describe("a file", () => {
  test("has every line in order once it is closed, after those that were there", async () => {
    writeFileSync(path, "before\n");
    const file = await start();
    for (let number = 0; number < 1_000; number++) file.write(line(number, 100));
    await file.close();
    expect(textOf("audit.log")).toBe(`before\n${Array.from({ length: 1_000 }, (_, number) => line(number, 100)).join("")}`);
  });

  test("is readable only by its owner, in a folder that is created", async () => {
    const deep = join(folder, "a", "b", "audit.log");
    await start({}, deep);
    expect([statSync(deep).mode & 0o777, statSync(join(folder, "a", "b")).mode & 0o777]).toEqual([0o600, 0o700]);
  });

  test("continues on a new line after one that a crash has broken", async () => {
    writeFileSync(path, 'whole\n{"bro');
    const file = await start();
    file.write("next\n");
    await file.close();
    expect(textOf("audit.log")).toBe('whole\n{"bro\nnext\n');
  });

  test.each<readonly [string, () => string, string]>([
    ["a folder", () => folder, "EISDIR|it is not a file"],
    ["below a file", () => join(folder, "plain", "audit.log"), "ENOTDIR|EEXIST"],
    ["a device", () => "/dev/null", "it is not a file"],
    ...(existsSync("/proc/self") ? [["where no folder can be made", () => "/proc/endpoint-sync/inner/audit.log", "ENOENT"] as const] : []),
  ])("row 170: a path that is %s is a clear error", async (_, at, why) => {
    writeFileSync(join(folder, "plain"), "");
    const error = await start({}, at()).catch((thrown: unknown) => thrown);
    if (!isEngineError(error, "CONFIG_FILE")) throw error;
    expect(error.message).toMatch(new RegExp(`^Cannot write the audit file "${at()}": .*(${why})`));
  });
});

describe("rotation", () => {
  test("row 176: rotates before a line that would make it longer than maxSize", async () => {
    const file = await start({ maxBytes: MB });
    file.write(line(0, MB - 100));
    file.write(line(1, 100));
    file.write(line(2, 100));
    await file.close();
    expect(files()).toEqual(["audit-2026-01-01T00-00-00.000.log", "audit.log"]);
    expect(textOf("audit-2026-01-01T00-00-00.000.log")).toBe(line(0, MB - 100) + line(1, 100));
    expect(textOf("audit.log")).toBe(line(2, 100));
  });

  test("loses and repeats nothing over many rotations within one moment", async () => {
    const file = await start({ maxBytes: 1_000 });
    const lines = Array.from({ length: 200 }, (_, number) => line(number, 90 + (number % 20)));
    for (const one of lines) file.write(one);
    await file.close();
    const names = files();
    expect(names.length).toBeGreaterThan(15);
    expect(names.every((name) => statSync(join(folder, name)).size <= 1_000)).toBe(true);
    expect(names.map(textOf).join("")).toBe(lines.join(""));
  });

  test("counts what was in the file before", async () => {
    writeFileSync(path, line(0, 900));
    const file = await start({ maxBytes: 1_000 });
    file.write(line(1, 200));
    await file.close();
    expect(files().map(textOf)).toEqual([line(0, 900), line(1, 200)]);
  });

  test("gives a line that is longer than the whole file a file of its own", async () => {
    const file = await start({ maxBytes: 100 });
    for (const [number, bytes] of [10, 500, 10].entries()) file.write(line(number, bytes));
    await file.close();
    expect(files().map(textOf)).toEqual([line(0, 10), line(1, 500), line(2, 10)]);
  });

  test("row 176: maxSize is 100 by default, and shown", () => {
    expect(parseManagementConfig("")).toMatchObject({ config: { audit: { maxSize: 100 } } });
  });

  test("row 175: with maxBackups 1 one is kept, the youngest", async () => {
    leave(2);
    leave(1);
    const file = await start({ maxBytes: 100, maxBackups: 1 });
    for (let number = 0; number < 3; number++) file.write(line(number, 90));
    await file.close();
    expect(files().map(textOf)).toEqual([line(1, 90), line(2, 90)]);
  });

  test("row 175: all are kept by default, and the default is shown", async () => {
    const file = await start({ maxBytes: 100 });
    for (let number = 0; number < 10; number++) file.write(line(number, 90));
    await file.close();
    expect(files()).toHaveLength(10);
    expect(parseManagementConfig("")).toMatchObject({ config: { audit: { maxBackups: 0 } } });
  });

  test("row 174: with maxAge 1 an older file is removed, compressed or not", async () => {
    const young = leave(0.9);
    leave(1.1);
    leave(30, ".log.gz");
    await (await start({ maxAge: 1 })).close();
    expect(files()).toEqual([young, "audit.log"]);
  });

  test("row 174: with maxAge a file is removed once it is old enough, though nothing is written", async () => {
    const name = leave(0.9);
    const file = await start({ maxAge: 1 });
    await clock.advance(3.5 * 3_600_000);
    await until("the file is gone", () => !files().includes(name));
    await file.close();
  });

  test("row 174: nothing is removed by age by default, and the default is shown", async () => {
    const old = leave(3_000);
    await (await start()).close();
    expect(files()).toEqual([old, "audit.log"]);
    expect(parseManagementConfig("")).toMatchObject({ config: { audit: { maxAge: 0 } } });
  });

  test("leaves other files alone", async () => {
    const others = ["audit-2020-01-01.log", "audit-notes.log", "audit.log.1", "other-2020-01-01T00-00-00.000.log"];
    for (const name of others) writeFileSync(join(folder, name), "");
    await (await start({ maxAge: 1, maxBackups: 1, compress: true })).close();
    expect(files()).toEqual([...others, "audit.log"].sort());
  });

  test("row 177: with compress rotated files are gzip files", async () => {
    const file = await start({ maxBytes: 100, compress: true });
    for (let number = 0; number < 3; number++) file.write(line(number, 90));
    await file.close();
    expect(files()).toEqual(["audit-2026-01-01T00-00-00.000.log.gz", "audit-2026-01-01T00-00-00.001.log.gz", "audit.log"]);
    expect(files().map(textOf)).toEqual([0, 1, 2].map((number) => line(number, 90)));
    expect(statSync(join(folder, files()[0]!)).mode & 0o777).toBe(0o600);
  });

  test("row 177: without compress, the default, they are as they were", async () => {
    expect(parseManagementConfig("")).toMatchObject({ config: { audit: { compress: false } } });
    const file = await start({ maxBytes: 100 });
    for (let number = 0; number < 2; number++) file.write(line(number, 90));
    await file.close();
    expect(files()).toEqual(["audit-2026-01-01T00-00-00.000.log", "audit.log"]);
  });

  test("goes on compressing where a crash has interrupted it", async () => {
    const half = leave(3);
    writeFileSync(join(folder, `${half}.gz.part`), "half");
    const both = leave(2);
    leave(2, ".log.gz");
    await (await start({ compress: true })).close();
    expect(files()).toEqual([`${half}.gz`, `${both}.gz`, "audit.log"]);
    expect(textOf(`${half}.gz`)).toBe("3 days\n");
  });

  test("applies changed settings while it is open", async () => {
    for (const days of [1, 2, 3]) leave(days);
    const file = await start({ maxBytes: 1_000 });
    file.configure({ ...DEFAULTS, maxBytes: 100, maxBackups: 1 });
    for (let number = 0; number < 2; number++) file.write(line(number, 90));
    await file.close();
    expect(files().map(textOf)).toEqual([line(0, 90), line(1, 90)]);
  });
});

describe("a disk in trouble", () => {
  test("loses lines, counts them, and says so once, and once more when it is over", async () => {
    const below = join(folder, "below");
    const file = await start({ maxBytes: 100 }, join(below, "audit.log"));
    file.write(line(0, 90));
    await until("the first line is written", () => textOf("below/audit.log") === line(0, 90));
    rmSync(below, { recursive: true });
    let written = 0;
    const writeOne = () => file.write(line(++written, 90));
    await until("lines are lost", () => {
      writeOne();
      return log.length > 1;
    });
    mkdirSync(below);
    await until("lines are written again", () => {
      writeOne();
      return log.length > 2;
    });
    await file.close();
    expect(log.map((text) => text.replace(/ path=.*/, ""))).toEqual([
      "error The audit file cannot be rotated",
      "error Audit lines cannot be written",
      "warn  Audit lines can be written again",
    ]);
    const lost = Number(/lost=(\d+)/.exec(log[2]!)![1]);
    const lines = readdirSync(below)
      .sort()
      .map((name) => textOf(join("below", name)));
    expect(lost).toBeGreaterThan(0);
    expect(lines).toEqual(lines.map((_, index) => line(lost + 1 + index, 90)));
    expect(lines.length + lost).toBe(written);
  });

  test("a file that cannot be rotated grows, and loses nothing", async () => {
    // With the moment in its name it would have more than 255 characters.
    const name = `${"a".repeat(240)}.log`;
    const file = await start({ maxBytes: 100 }, join(folder, name));
    for (let number = 0; number < 4; number++) file.write(line(number, 90));
    await file.close();
    expect(files().map(textOf)).toEqual([[0, 1, 2, 3].map((number) => line(number, 90)).join("")]);
    expect(log.map((text) => text.replace(/ path=.*/, ""))).toEqual(["error The audit file cannot be rotated"]);
  });

  test.runIf(hasBash)("a full disk leaves whole lines, and lines go on when there is room again", async () => {
    const script = join(import.meta.dirname, "small-disk.ts");
    const command = `ulimit -f 4; exec "$0" --no-warnings "$1" "$2"`;
    const { stdout } = await promisify(execFile)("bash", ["-c", command, process.execPath, script, path]);
    const { full, log: told } = JSON.parse(stdout) as { full: string; log: string[] };
    expect(full).toBe(Array.from({ length: 40 }, (_, number) => line(number, 100)).join(""));
    expect(textOf("audit.log")).toBe("after\n");
    expect(told).toEqual([
      expect.stringMatching(/^error Audit lines cannot be written .*EFBIG/),
      expect.stringMatching(/^warn {2}Audit lines can be written again .*lost=60$/),
    ]);
  });
});
