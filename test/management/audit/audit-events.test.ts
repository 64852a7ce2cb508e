/**
 * Audit lines in a database, from the request that leaves them to the administrator who reads them.
 */
import { join } from "node:path";
import { expect, test } from "vitest";
import { silentLogger } from "../../../src/base/logger.ts";
import { createMetrics } from "../../../src/base/metrics.ts";
import { createAuditLog } from "../../../src/management/audit/audit-log.ts";
import { AUDIT_PAGE, AUDIT_PAGE_MAX, createAuditEvents } from "../../../src/management/audit/audit-events.ts";
import { AUDIT_ROW_BYTES_MAX } from "../../../src/management/audit/store/audit-row.ts";
import { nextMacrotask } from "../../../src/base/clock.ts";
import { AUDIT_GATHERING_MS } from "../../../src/management/audit/store/audit-store.ts";
import { PATIENCE_MS } from "../../support/patience.ts";
import { createFakeClock } from "../../support/fake-clock.ts";
import { configOf, folder, freshFolder, linesIn, path, start } from "./audit-setting.ts";
import { createTestDatabase, rowOf } from "./store/rows.ts";

freshFolder();

const EVENTS = "/kubernetes/management/audit/events";

interface Page {
  readonly kind: string;
  readonly metadata: { readonly continue?: string };
  readonly items: readonly {
    readonly requestURI: string;
    readonly auditID: string;
    readonly annotations?: object;
    readonly requestObject?: object;
  }[];
}

const withDatabase = (more: object = {}) => start({ level: 3, dataStoreEndpoint: `sqlite://${folder}/audit.db`, ...more });
/** The events of a query, once there are this many: lines reach the database a moment after the answer. */
async function eventually(
  { send, clock }: Pick<Awaited<ReturnType<typeof start>>, "send" | "clock">,
  query: string,
  count: number,
): Promise<Page> {
  const end = performance.now() + PATIENCE_MS;
  for (;;) {
    const page = pageOf(await send("GET", `${EVENTS}?${query}`));
    if (page.items.length >= count || performance.now() > end) return page;
    // Each query leaves a line of its own.
    await clock.advance(AUDIT_GATHERING_MS);
    await nextMacrotask();
  }
}
const pageOf = ({ text }: { readonly text: string }) => JSON.parse(text) as Page;

test("an administrator reads what the file has, newest first, by filters and in pages", async () => {
  const started = await withDatabase();
  const { send, lines } = started;
  for (const name of ["a", "b", "c"]) await send("POST", "/teams", { metadata: { name } });
  await send("GET", "/teams/none");
  await send("GET", "/users");
  await eventually(started, "resource=users", 1);
  const read = pageOf(await send("GET", `${EVENTS}?resource=teams&verb=create`));
  expect(read).toMatchObject({ kind: "EventList", apiVersion: "audit.k8s.io/v1", metadata: {} });
  expect(read.items.map((item) => (item as unknown as { objectRef: { name: string } }).objectRef.name)).toEqual(["c", "b", "a"]);
  expect(pageOf(await send("GET", `${EVENTS}?code=404`)).items).toHaveLength(1);
  expect(pageOf(await send("GET", `${EVENTS}?name=b`)).items).toMatchObject([{ requestObject: { metadata: { name: "b" } } }]);
  const first = pageOf(await send("GET", `${EVENTS}?resource=teams&limit=3`));
  const second = pageOf(await send("GET", `${EVENTS}?resource=teams&limit=3&continue=${first.metadata.continue!}`));
  expect([first.items.length, second.items.length, second.metadata.continue]).toEqual([3, 1, undefined]);
  expect(pageOf(await send("GET", `${EVENTS}?until=2026-05-31T00:00:00Z`)).items).toEqual([]);
  expect(pageOf(await send("GET", `${EVENTS}?since=2026-06-02T00:00:00Z`)).items).toEqual([]);
  const all = pageOf(await send("GET", EVENTS)).items.map(({ auditID }) => auditID);
  const inFile = (await lines()).map(({ auditID }) => String(auditID));
  expect(inFile.slice(0, all.length).reverse()).toEqual(all);
});

test("lines that were read are not logged again, with everything that was read before", async () => {
  const started = await withDatabase({ level: 4 });
  await started.send("GET", "/teams");
  await eventually(started, "resource=teams", 1);
  await started.send("GET", EVENTS);
  const lines = (await started.lines()).filter(({ requestURI }) => String(requestURI).startsWith(EVENTS));
  expect(lines.length).toBeGreaterThan(0);
  for (const line of lines) {
    expect(line).not.toHaveProperty("responseObject");
    expect(line["annotations"]).toEqual({ "management.platform/response-object": "left out: these lines are already in the log" });
  }
});

test("between two queries other work proceeds", async () => {
  const turns: string[] = [];
  const look = async () => {
    turns.push("look");
    setImmediate(() => turns.push("other"));
    return { lines: [], next: turns.length > 3 ? undefined : { at: 1, writer: "a", seq: 1 } };
  };
  await createAuditEvents({ store: () => ({ look }), logger: silentLogger })(new URLSearchParams());
  expect(turns).toEqual(["look", "other", "look", "other", "look"]);
});

test("a row that holds no event is left out and logged, and does not hide the others", async () => {
  const told: string[] = [];
  const logger = {
    ...silentLogger,
    warn: (message: string, fields: object = {}) => void told.push(`${message} ${JSON.stringify(fields)}`),
  };
  const look = async () => ({
    lines: ['{"kind":"Event","auditID":"a"}', '{"kind":"Ev', "7", "null", "", '{"auditID":"b"}'],
    next: undefined,
  });
  const page = await createAuditEvents({ store: () => ({ look }), logger })(new URLSearchParams());
  expect(page).toMatchObject({ items: [{ auditID: "a" }, { auditID: "b" }], metadata: {} });
  expect(told).toEqual(['Rows of the audit database that contain no event are skipped {"rows":4}']);
});

test("no other caller reads them, by any method, and no key whose scope excludes them", async () => {
  const { send } = await withDatabase();
  const keyOf = async (name: string, spec: object) => {
    const { text } = await send("POST", "/ownedaccesskeys", { metadata: { name }, spec });
    return (JSON.parse(text) as { spec: { key: string } }).spec.key;
  };
  const jane = await keyOf("jane", { user: "jane" });
  const team = await keyOf("ops", { team: "ops" });
  const scoped = await keyOf("scoped", { user: "admin", groups: ["platform:admins"], scope: { projects: [{ project: "a" }] } });
  for (const key of [jane, team, scoped, "wrong", ""]) {
    for (const at of [EVENTS, `${EVENTS}/`, `${EVENTS}?limit=1`, `${EVENTS}/x`, "/kubernetes/management/audit"]) {
      const { code, text } = await send("GET", at, undefined, { headers: { authorization: `Bearer ${key}` } });
      expect([401, 403], `${at} ${text}`).toContain(code);
      expect(text).not.toContain("EventList");
    }
  }
  for (const method of ["POST", "PUT", "PATCH", "DELETE"])
    expect((await send(method, EVENTS, method === "DELETE" ? undefined : {})).code).toBe(405);
  expect((await send("GET", "/audit/events")).code).toBe(404);
});

test.each([
  "limit=-1",
  "limit=x",
  "unknown=1",
  "since=yesterday",
  "until=2026-13-01T00:00:00Z",
  "continue=!!",
  "continue=YQ",
  "code=abc",
  "user=a&user=b",
  `user=${"x".repeat(254)}`,
])("the query %s is refused", async (query) => {
  const { send } = await withDatabase();
  const { code, text } = await send("GET", `${EVENTS}?${query}`);
  expect([code, text]).toEqual([400, expect.stringContaining("parameter")]);
});

test("without a database there is nothing to read, and one that fails is reported without its address", async () => {
  const { send, log } = await start({ level: 3 });
  expect(await send("GET", EVENTS)).toMatchObject({ code: 503, text: expect.stringContaining("audit.dataStoreEndpoint") as string });
  await log.configure(configOf({ level: 3, dataStoreEndpoint: "mysql://audit:hidden@tcp(127.0.0.1:1)/audit" }).audit);
  const failed = await send("GET", EVENTS);
  expect([failed.code, failed.text.includes("hidden"), failed.text.includes("127.0.0.1")]).toEqual([503, false, false]);
});

test("a changed configuration switches the database at once", async () => {
  const started = await withDatabase();
  const { send, log } = started;
  await send("GET", "/teams");
  const other = { level: 3, dataStoreEndpoint: `sqlite:${join(folder, "other.db")}` };
  await log.configure(configOf(other).audit);
  await send("GET", "/users");
  expect((await eventually(started, "verb=list", 1)).items.map(({ requestURI }) => requestURI)).toEqual([
    expect.stringMatching(/\/users$/),
  ]);
  await log.configure(configOf({ ...other, dataStoreEndpoint: "" }).audit);
  expect((await send("GET", EVENTS)).code).toBe(503);
});

test("the bodies of a long line are only in the file, and secrets in neither", async () => {
  const started = await withDatabase();
  const { send, lines } = started;
  await send("POST", "/teams", { metadata: { name: "long" }, spec: { description: "x".repeat(AUDIT_ROW_BYTES_MAX) } });
  await send("POST", "/namespaces/default/sharedsecrets", { metadata: { name: "s" }, spec: { data: { a: "Y2FuYXJ5LWh1bnRlcjI=" } } });
  const { items } = await eventually(started, "verb=create", 2);
  expect(items[1]!.annotations).toEqual({ "management.platform/bodies": expect.stringContaining("the audit file contains it") as string });
  expect(items[1]).not.toHaveProperty("requestObject");
  expect(JSON.stringify(items)).not.toMatch(/Y2FuYXJ5|canary/);
  expect((await lines())[0]).toHaveProperty("requestObject");
});

test("pages have at most 500 events and end early where they are long", async () => {
  const rows = Array.from({ length: 2_000 }, (_, seq) => rowOf({ seq, line: JSON.stringify({ seq, text: "x".repeat(100_000) }) }));
  const look = async ({ most }: { readonly most: number }) => ({
    lines: rows.slice(0, most).map(({ line }) => line),
    next: { at: 1, writer: "a", seq: 1 },
  });
  const long = (await createAuditEvents({ store: () => ({ look }), logger: silentLogger })(new URLSearchParams("limit=9999"))) as Page;
  expect([long.items.length < 100, long.metadata.continue !== undefined]).toEqual([true, true]);
  const short = async ({ most }: { readonly most: number }) => ({
    lines: Array<string>(most).fill("{}"),
    next: { at: 1, writer: "a", seq: 1 },
  });
  const pages = [];
  for (const query of ["limit=9999", "", "limit=0"]) {
    const page = (await createAuditEvents({ store: () => ({ look: short }), logger: silentLogger })(new URLSearchParams(query))) as Page;
    pages.push(page.items.length);
  }
  expect(pages).toEqual([AUDIT_PAGE_MAX, AUDIT_PAGE, AUDIT_PAGE]);
  let looks = 0;
  const empty = async () => ({ lines: [], next: { at: 1, writer: "a", seq: ++looks } });
  const none = (await createAuditEvents({ store: () => ({ look: empty }), logger: silentLogger })(new URLSearchParams())) as Page;
  expect([none.items, looks, none.metadata.continue !== undefined]).toEqual([[], 50, true]);
});

test("the file has each of 100,000 lines, whatever happens to the database meanwhile", async () => {
  const [clock, metrics, database] = [createFakeClock(Date.UTC(2026, 5, 1)), createMetrics(), createTestDatabase()];
  const log = createAuditLog({ clock, metrics, logger: silentLogger, openDatabase: () => database.open() });
  await log.configure(configOf({ level: 2, dataStoreEndpoint: "sqlite:/not-opened.db" }).audit);
  const facts = (index: number) => ({
    ...{
      auditID: `id-${index}`,
      user: { name: "jane", groups: [] },
      method: "GET",
      requestURI: `/x/${index}`,
      sourceIPs: ["127.0.0.1"],
      userAgent: "",
    },
    attributes: { verb: "list", group: "management.platform", version: "v1", resource: "teams", subresource: "", namespace: "", name: "" },
    receivedAt: clock.now(),
  });
  const faults = [undefined, "connect ECONNREFUSED", "database or disk is full", undefined];
  for (let index = 0; index < 100_000; index++) {
    if (index % 5_000 === 0) {
      database.failure = faults[Math.floor(index / 25_000)];
      await clock.advance(15_000);
    }
    log.audit(facts(index))!.complete(200);
  }
  database.failure = undefined;
  await clock.advance(60_000);
  await log.stop();
  const inFile = linesIn(path).map(({ requestURI }) => requestURI);
  expect(inFile.length).toBe(100_000);
  expect(new Set(inFile).size).toBe(100_000);
  const lost = metrics.value("apiserver_audit_error_total", { plugin: "database" });
  expect([metrics.value("apiserver_audit_error_total", { plugin: "log" }), database.rows.size + lost]).toEqual([0, 100_000]);
  expect(lost).toBeGreaterThan(0);
});
