import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, expect, test } from "vitest";
import { LEAN, startLean, type StartedProcess } from "../../../src/cli/process/lean-start.ts";
import { ROOT } from "../support.ts";

const folder = mkdtempSync(join(tmpdir(), "endpoint-sync-lean-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** The replacement of a process; undefined if it is not replaced. */
function replacement(changes: Partial<StartedProcess> = {}): unknown {
  let found: unknown;
  const execve = (...asked: unknown[]): never => {
    found = asked;
    return undefined as never;
  };
  startLean({ argv: ["node", "main.js", "run"], execArgv: [], env: {}, execPath: "/bin/node", execve, ...changes });
  return found;
}

test("a process that runs for long is replaced by the same one with bounded memory", () => {
  const changes = { argv: ["node", "main.js", "run", "--name", "blue"], execArgv: ["--inspect"], env: { PATH: "/bin" } };
  expect(replacement(changes)).toEqual([
    "/bin/node",
    ["/bin/node", "--max-semi-space-size=2", "--expose-gc", "--inspect", "main.js", "run", "--name", "blue"],
    { PATH: "/bin", MALLOC_ARENA_MAX: "1" },
  ]);
});

test("what was set for arenas stays", () => {
  expect(replacement({ env: { MALLOC_ARENA_MAX: "4" } })).toMatchObject({ 2: { MALLOC_ARENA_MAX: "4" } });
});

test.each<{ why: string; changes: Partial<StartedProcess> }>([
  { why: "of a command that ends by itself", changes: { argv: ["node", "main.js", "plan", "run"] } },
  { why: "without a command", changes: { argv: ["node", "main.js"] } },
  { why: "that was replaced already", changes: { execArgv: ["--max-semi-space-size=2"] } },
  { why: "with a size of its own", changes: { env: { NODE_OPTIONS: "--max_semi_space_size=16" } } },
  { why: "of a system that cannot replace it", changes: { execve: undefined } },
  { why: "whose parent listens to what it says", changes: { send: () => true } },
])("a process $why is left alone", ({ changes }) => {
  expect(replacement(changes)).toBeUndefined();
});

test("a process that may not be replaced runs on", () => {
  const execve = () => {
    throw new Error("Access to this API has been restricted");
  };
  expect(() => replacement({ execve })).not.toThrow();
});

test("a real process has the settings, once and under its own number", () => {
  const script = join(folder, "main.mjs");
  const module = JSON.stringify(pathToFileURL(join(ROOT, "src/cli/process/lean-start.ts")).href);
  const tell = "console.log(JSON.stringify([process.pid, process.argv.slice(2), process.execArgv, process.env.MALLOC_ARENA_MAX]))";
  writeFileSync(script, `import { startLean } from ${module};\nconsole.log(process.pid);\nstartLean(process);\n${tell};\n`);
  const { MALLOC_ARENA_MAX: _, NODE_OPTIONS: __, ...env } = process.env;
  const { pid, stdout, stderr } = spawnSync(process.execPath, [script, "run", "--name", "a b"], { encoding: "utf8", env });
  expect({ stdout, stderr }).toEqual({
    stdout: `${pid}\n${pid}\n${JSON.stringify([pid, ["run", "--name", "a b"], ["--max-semi-space-size=2", "--expose-gc"], "1"])}\n`,
    stderr: "",
  });
});

test("a process that was started so gives back what its start has left, any other goes on as it is", () => {
  const script = join(folder, "give-back.mjs");
  const module = JSON.stringify(pathToFileURL(join(ROOT, "src/cli/process/lean-start.ts")).href);
  writeFileSync(
    script,
    `import { giveBack } from ${module};
let list = Array.from({ length: 300_000 }, (_, at) => ({ name: \`object-\${at}\` }));
list = list.length;
const { heapUsed } = process.memoryUsage();
giveBack();
console.log(process.memoryUsage().heapUsed < heapUsed - 8_000_000);
`,
  );
  const run = (options: readonly string[]) => spawnSync(process.execPath, [...options, script], { encoding: "utf8" }).stdout;
  expect([run(LEAN.options), run([])]).toEqual(["true\n", "false\n"]);
});
