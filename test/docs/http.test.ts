/**
 * `docs/reference/http.md`: each request of its tables is made, and the codes, reasons and limits are those of the source.
 */
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startProbeServer, type ProbeAnswer, type ProbeServer } from "../../src/cli/process/probe-server.ts";
import { createProgram } from "../../src/cli/program.ts";
import { startManagement, type Management } from "../../src/management.ts";
import { SIGN_IN_LIMITS } from "../../src/management/sign-in/limits/limits.ts";
import {
  MANAGEMENT_BODY_VALUES_MAX,
  BYTES_PER_OWNER_MAX,
  LOGINS_PER_USER_MAX,
  OBJECTS_PER_OWNER_MAX,
} from "../../src/management/config/limits.ts";
import { createInFlight, type Shared } from "../../src/apiserver/http/limits/in-flight.ts";
import { createTestTerminal } from "../cli/support.ts";
import { tablesOf } from "../support/markdown.ts";

const ROOT = resolve(import.meta.dirname, "../..");
const PAGE = readFileSync(join(ROOT, "docs/reference/http.md"), "utf8");
const rowsOf = (name: string) =>
  tablesOf(PAGE)
    .filter((table) => table.name === name)
    .flatMap(({ rows }) => rows);

describe("the syncer", () => {
  const rows = rowsOf("syncer");
  const servers = new Map<string, ProbeServer>();
  beforeAll(async () => {
    const notReady: ProbeAnswer = () => ({ reason: "the first lists are not complete yet" });
    const probes = { "/healthz": () => "ok" as const, "/livez": () => "ok" as const, "/readyz": notReady };
    servers.set("--health-address", await startProbeServer({ address: "127.0.0.1:0", probes }));
    servers.set("--metrics-address", await startProbeServer({ address: "127.0.0.1:0", metrics: () => "# TYPE a counter\na 1\n" }));
  });
  afterAll(async () => void (await Promise.all([...servers.values()].map((server) => server.stop()))));

  test.each(rows)("$option $request", async ({ option = "", request = "", code, response = "" }) => {
    const [, name = "", address] = /^`?(--[\w-]+)`? \(`?([^`)]+)/.exec(option)!;
    const [method = "", path = ""] = request.split(" ");
    const got = await fetch(`http://${servers.get(name)!.address}${path}`, { method });
    const text = await got.text();
    expect(got.status).toBe(Number(code));
    expect(got.headers.get("content-type")).toBe("text/plain; charset=utf-8");
    const [, quoted] = /^`([a-z ]+)`/.exec(response) ?? [];
    if (quoted !== undefined) expect(text.trim()).toBe(quoted);
    const program = await createProgram({ terminal: createTestTerminal(), exit: () => undefined });
    const known = program.commands.find((command) => command.name() === "run")!.options.find(({ long }) => long === name);
    expect(known?.defaultValue).toBe(address);
  });

  test("has a row for every path that the sidecar serves", () => {
    const source = readFileSync(join(ROOT, "src/cli/run/sidecar.ts"), "utf8");
    const served = [...new Set(source.match(/(?<=")\/[a-z]+(?=")/g))];
    const paths = new Set(rows.map(({ request = "" }) => request.split(" ")[1]));
    expect(served.length).toBe(3);
    expect([...served, "/metrics"].filter((path) => !paths.has(path))).toEqual([]);
  });
});

describe("the management API", () => {
  const rows = rowsOf("management");
  let management: Management;
  beforeAll(async () => void (management = await startManagement({ tls: false })));
  afterAll(() => management.stop());

  test.each(rows)("$request", async ({ request = "", ...codes }) => {
    const [method = "", path = ""] = request.split(" ");
    const ask = async (headers: Record<string, string>) =>
      (await fetch(management.url + path, { method, headers, redirect: "manual" })).status;
    const without = await ask({});
    const having = await ask({ Authorization: `Bearer ${management.adminKey}` });
    expect([without, having]).toEqual([Number(codes["without a key"]), Number(codes["with a key"])]);
  });

  test("has a row for each path of sign-in, and for what the root of the API names", async () => {
    const listed = rows.map(({ request = "" }) => request.split(" ")[1]!);
    const source = readFileSync(join(ROOT, "src/management/sign-in/routes.ts"), "utf8");
    const paths = [...new Set(source.match(/(?<=")\/auth\/[a-z/]+(?=")/g))];
    expect(paths.length).toBe(7);
    expect(paths.filter((path) => !listed.includes(path))).toEqual([]);
    const headers = { Authorization: `Bearer ${management.adminKey}` };
    const root = (await (await fetch(`${management.url}/kubernetes/management`, { headers })).json()) as { paths: string[] };
    const short = root.paths.map((path) => path.replace("/kubernetes/management", "")).filter((path) => !path.startsWith("/apis/"));
    expect(short.filter((path) => !listed.some((known) => known.endsWith(path)))).toEqual([]);
  });

  test("refuses with the codes and reasons of the page, and no others", () => {
    const source = readFileSync(join(ROOT, "src/apiserver/types/status.ts"), "utf8");
    const found = [...source.matchAll(/code: (\d{3}),\s+reason: "(\w+)"/g)].map(([, code, reason]) => `${code} ${reason}`);
    const told = rowsOf("codes").flatMap(({ code, reason = "" }) => reason.split(", ").map((one) => `${code} ${one}`));
    expect(told.sort()).toEqual([...new Set(found)].sort());
  });

  test("has the limits of the source", () => {
    const numbers = new Map([...PAGE.matchAll(/^\| ([a-z ,0-9]+) \| ([\d,]+)[a-z ]* \|$/gm)].map(([, name, number]) => [name, number]));
    const body = /BODY_BYTES_MAX = ([\d *]+);/.exec(readFileSync(join(ROOT, "src/apiserver/http/limits/limits.ts"), "utf8"))![1]!;
    const most = (what: Shared, callerOf = (_count: number) => ({ name: "root", administers: true })) => {
      const inFlight = createInFlight({});
      for (let count = 0; ; count += 1) {
        try {
          inFlight.take(what, callerOf(count));
        } catch {
          return count;
        }
      }
    };
    const ofJane = (what: Shared) => most(what, () => ({ name: "jane", administers: false }));
    const kept = (what: Shared) => most(what) - most(what, (count) => ({ name: String(count), administers: false }));
    const constant = (name: string) => {
      const found = new RegExp(`const ${name} = ([0-9_]+);`).exec(
        readFileSync(join(ROOT, "src/apiserver/http/limits/limits.ts"), "utf8"),
      )![1]!;
      return Number(found.replaceAll("_", ""));
    };
    const seconds = (name: string) => constant(name) / 1_000;
    const minutes = (ms: number) => ms / 60_000;
    const { failuresPerPair, failuresPerUsername, failuresPerAddress, failureWindowMs, checksMax, pendingLifetimeMs, codeLifetimeMs } =
      SIGN_IN_LIMITS;
    const wanted: [string, number][] = [
      ["body of a request", body.split("*").reduce((product, factor) => product * Number(factor), 1)],
      ["fields and items in a body", MANAGEMENT_BODY_VALUES_MAX],
      ["concurrent watches", most("watches")],
      ["concurrent connections", constant("CONNECTIONS_MAX")],
      ["concurrent reads", most("reads")],
      ["concurrent writes", most("writes")],
      ["concurrent reads per caller who is not an administrator", ofJane("reads")],
      ["concurrent writes per caller who is not an administrator", ofJane("writes")],
      ["concurrent reads reserved for administrators", kept("reads")],
      ["concurrent writes reserved for administrators", kept("writes")],
      ["objects of one kind stored per user or team", OBJECTS_PER_OWNER_MAX],
      ["size of all objects stored per user or team", BYTES_PER_OWNER_MAX / 1024 / 1024],
      ["logins per user", LOGINS_PER_USER_MAX],
      ["time for the headers of a request to arrive", seconds("HEADERS_MS")],
      ["time for a whole request to arrive", seconds("REQUEST_MS")],
      [`wrong passwords for one user name from one address, within ${minutes(failureWindowMs)} minutes`, failuresPerPair],
      [`wrong passwords for one user name, within ${minutes(failureWindowMs)} minutes`, failuresPerUsername],
      [`wrong passwords from one address, within ${minutes(failureWindowMs)} minutes`, failuresPerAddress],
      ["passwords checked at the same time", checksMax],
      ["time for a login at a provider", minutes(pendingLifetimeMs)],
      ["time to exchange a code", minutes(codeLifetimeMs)],
      ["groups per user at a provider", SIGN_IN_LIMITS.groupsMax],
      ["a name, id or group that a provider sends", SIGN_IN_LIMITS.textLengthMax],
      ["all stored data from a provider about one user", SIGN_IN_LIMITS.identityBytesMax],
    ];
    expect([...numbers].map(([name, number]) => [name, Number(number!.replaceAll(",", ""))])).toEqual(wanted);
  });
});
