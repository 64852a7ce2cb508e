import { connect } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { systemClock } from "../../../src/base/clock.ts";
import type { ApiServerOptions } from "../../../src/apiserver/api-server-options.ts";
import { sourceIPsOf, type AuditFacts } from "../../../src/apiserver/access/audit.ts";
import { forbiddenRequest } from "../../../src/apiserver/types/status.ts";
import { until } from "../../support/fake-clock.ts";
import { LOCKS_PATH, startLockServer } from "../support/lock-server.ts";
import { createLocks, LOCKS, MADE_CODE, markOf } from "../support/locks-kind.ts";

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

type Entry = readonly [stage: string, ...told: unknown[]];
interface Told {
  readonly facts: AuditFacts;
  readonly entries: Entry[];
}

const allowing = { decide: () => ({ allowed: true, reason: "" }), rulesFor: () => [] };

/** A server that audits everything; `told` has the records by request. */
async function start(options: Partial<ApiServerOptions> = {}, definition = createLocks()) {
  const told: Told[] = [];
  const started = await startLockServer(
    {
      audit(facts) {
        const entries: Entry[] = [];
        told.push({ facts, entries });
        return {
          requestObject: (body) => void entries.push(["request", body]),
          annotate: (name, value) => void entries.push(["annotate", name, value]),
          responseStarted: (code) => void entries.push(["started", code]),
          complete: (code, object) => void entries.push(["complete", code, object?.()]),
          panic: (error) => void entries.push(["panic", error]),
        };
      },
      ...options,
    },
    definition,
  );
  cleanups.push(started.close);
  return { ...started, told };
}

const body = { metadata: { name: "a" }, spec: { door: "front" } };

describe("an audit", () => {
  test("is told who wants what, in which words, and from where", async () => {
    const before = systemClock.now();
    const { raw, told } = await start({ authorizer: allowing, basePath: "/base" });
    const headers = { "impersonate-user": "bob", "user-agent": "tool/1", "x-forwarded-for": "203.0.113.7, nonsense, 203.0.113.8" };
    const answer = await raw.send("GET", `/base${LOCKS_PATH}/a?pretty=0`, { headers });
    await until("the audit is told", () => told[0]?.entries.length === 1);
    const { facts, entries } = told[0]!;
    expect(facts).toEqual({
      auditID: answer.headers["audit-id"],
      user: { name: "jane", groups: [] },
      impersonatedUser: { name: "bob", groups: ["system:authenticated"] },
      attributes: { verb: "get", group: "example.com", version: "v1", resource: "locks", subresource: "", namespace: "shop", name: "a" },
      method: "GET",
      requestURI: `/base${LOCKS_PATH}/a?pretty=0`,
      sourceIPs: ["203.0.113.7", "203.0.113.8", "127.0.0.1"],
      userAgent: "tool/1",
      receivedAt: facts.receivedAt,
    });
    expect(facts.receivedAt).toBeGreaterThanOrEqual(before);
    expect(entries).toMatchObject([["complete", 404, { kind: "Status", reason: "NotFound" }]]);
  });

  test("is told bodies and answers, without what the author alone is told", async () => {
    const { raw, told } = await start();
    const patch = [{ op: "replace", path: "/spec/door", value: "back" }];
    const headers = { "content-type": "application/json-patch+json", "x-groups": "nosy" };
    expect((await raw.send("POST", LOCKS_PATH, { body })).json["spec"]).toEqual({ door: "front", code: MADE_CODE });
    await raw.send("PATCH", `${LOCKS_PATH}/a`, { body: patch, headers });
    await raw.send("GET", LOCKS_PATH);
    await raw.send("DELETE", `${LOCKS_PATH}/a`, { body: { gracePeriodSeconds: 0 } });
    await until("the audit is told", () => told[3]?.entries.length === 2);
    expect(told.map(({ entries }) => entries)).toMatchObject([
      [
        ["request", body],
        ["complete", 201, { kind: "Lock", spec: { door: "front" } }],
      ],
      [
        ["request", patch],
        ["complete", 200, { kind: "Lock", spec: { door: "back", mark: markOf(MADE_CODE) } }],
      ],
      [["complete", 200, { kind: "LockList", items: [{ spec: { door: "back" } }] }]],
      [
        ["request", { gracePeriodSeconds: 0 }],
        ["complete", 200, { kind: "Status", status: "Success" }],
      ],
    ]);
    expect(JSON.stringify(told)).not.toContain(MADE_CODE);
  });

  test("records requests of unknown callers, refused ones and malformed ones", async () => {
    const refusing = {
      decide: () => ({ allowed: false, reason: "" }),
      rulesFor: () => [],
    };
    const { raw, told } = await start({ authorizer: refusing });
    await raw.send("GET", LOCKS_PATH, { headers: { "x-user": "nobody" } });
    await raw.send("GET", LOCKS_PATH);
    await raw.send("GET", LOCKS_PATH, { headers: { "impersonate-user": "bob" } });
    await raw.send("GET", "/apis/%ff/x/y");
    await until("the audit is told", () => told[3]?.entries.length === 1);
    expect(
      told.map(({ facts, entries }) => [facts.user?.name, facts.impersonatedUser, facts.attributes.verb, entries[0]!.slice(0, 2)]),
    ).toEqual([
      [undefined, undefined, "list", ["complete", 401]],
      ["jane", undefined, "list", ["complete", 403]],
      ["jane", undefined, "list", ["complete", 403]],
      ["jane", undefined, "get", ["complete", 400]],
    ]);
  });

  test("is told when a watch begins and when it is over", async () => {
    const { raw, told } = await start();
    const lines = raw.watch(`${LOCKS_PATH}?watch=1`, 1);
    await until("the audit is told", () => told[0]?.entries.length === 1);
    expect(told[0]!.entries).toEqual([["started", 200]]);
    await raw.send("POST", LOCKS_PATH, { body });
    await lines;
    await until("the audit is told", () => told[0]!.entries.length === 2);
    expect(told[0]!.entries[1]).toEqual(["complete", 200, undefined]);
  });

  test("is told once when the server fails, and of documents without a body", async () => {
    const locks = createLocks();
    const failure = new Error("broken");
    const { raw, told } = await start(
      {},
      {
        ...locks,
        strategy: {
          ...locks.strategy,
          admit() {
            throw failure;
          },
        },
      },
    );
    expect((await raw.send("POST", LOCKS_PATH, { body })).code).toBe(500);
    await raw.send("GET", "/healthz");
    await until("the audit is told", () => told[1]?.entries.length === 1);
    expect(told.map(({ entries }) => entries)).toEqual([
      [
        ["request", body],
        ["panic", failure],
      ],
      [["complete", 200, undefined]],
    ]);
  });

  test("of a server that fails is complete with 500 for those who know no panic", async () => {
    const ends: unknown[] = [];
    const locks = createLocks();
    const definition = { ...locks, shown: () => { throw new Error("broken"); } }; // prettier-ignore
    const { raw } = await start({ audit: () => ({ complete: (code) => void ends.push(code) }) }, definition);
    await raw.send("POST", LOCKS_PATH, { body });
    await until("the trail ends", () => ends.length === 1);
    expect(ends).toEqual([500]);
  });

  test("ends for a client that disconnects in the middle of a request", async () => {
    const { server, told } = await start();
    const socket = connect(server.port, "127.0.0.1");
    socket.write(`POST ${LOCKS_PATH} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{`);
    await until("the audit is told", () => told.length === 1);
    socket.destroy();
    await until("the audit is told", () => told[0]!.entries.length === 1);
    expect(told[0]!.entries[0]![0]).toBe("complete");
  });

  test("is asked about paths outside of the base path too, as such, and not told the values of their queries", async () => {
    const routes: ApiServerOptions["routes"] = async ({ response, path, audit }) => {
      if (path !== "/door") return false;
      audit?.annotate("example.com/came", "jane");
      response.writeHead(204).end();
      return true;
    };
    const { raw, told } = await start({ basePath: "/base", routes });
    await raw.send("GET", "/healthz");
    await raw.send("POST", "/door?code=secret&state=a=b&flag");
    // Not below the base path, so it is not a resource.
    await raw.send("GET", LOCKS_PATH);
    await raw.send("GET", "/base/healthz");
    await until(
      "the audit is told",
      () => told.length === 4 && told.every(({ entries }) => entries.some(([stage]) => stage === "complete")),
    );
    expect(told.map(({ facts }) => [facts.requestURI, facts.attributes, facts.user?.name])).toEqual([
      ["/healthz", { verb: "get", path: "/healthz" }, undefined],
      ["/door?code=********&state=********&********", { verb: "post", path: "/door" }, undefined],
      [LOCKS_PATH, { verb: "get", path: LOCKS_PATH }, undefined],
      ["/base/healthz", { verb: "get", path: "/healthz" }, "system:anonymous"],
    ]);
    expect(told.map(({ entries }) => entries.map(([stage, code]) => [stage, code]))).toEqual([
      [["complete", 200]],
      [
        ["annotate", "example.com/came"],
        ["complete", 204],
      ],
      [["complete", 404]],
      [["complete", 200]],
    ]);
  });

  test("of a refusal by the kind carries the refusal", async () => {
    const locks = createLocks();
    const admit = () => {
      throw forbiddenRequest(LOCKS, "a", "not you");
    };
    const { raw, told } = await start({}, { ...locks, strategy: { ...locks.strategy, admit } });
    await raw.send("POST", LOCKS_PATH, { body });
    await until("the audit is told", () => told[0]?.entries.length === 2);
    expect(told[0]!.entries[1]).toMatchObject(["complete", 403, { reason: "Forbidden" }]);
  });
});

test("addresses are those of proxies, then that of the connection, each once", () => {
  const socket = { remoteAddress: "10.0.0.1" } as Parameters<typeof sourceIPsOf>[0]["socket"];
  expect(sourceIPsOf({ headers: { "x-forwarded-for": "a, ::1,10.0.0.1", "x-real-ip": "::1" }, socket })).toEqual(["::1", "10.0.0.1"]);
  expect(sourceIPsOf({ headers: {}, socket: {} as typeof socket })).toEqual([]);
});
