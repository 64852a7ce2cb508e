/**
 * The metrics of a management server: requests by verb, kind and status, watches while they are open, sign-ins, keys by state. Labels have
 * no name that a user chose.
 */
import { afterEach, expect, test } from "vitest";
import { createMetrics } from "../../src/base/metrics.ts";
import { until } from "../support/fake-clock.ts";
import { API, BASE, startPlatform, type Platform } from "./platform.ts";

let platform: Platform;
afterEach(() => platform.stop());

async function start(options: Parameters<typeof startPlatform>[0] = {}) {
  const metrics = createMetrics();
  platform = await startPlatform({ metrics, ...options });
  return metrics;
}

const TEAMS = { group: "management.platform", version: "v1", resource: "teams", subresource: "" };
const at = (subresource: string) => ({ group: "", version: "", resource: "", subresource });
const KEYS = "management_access_keys";

test("requests count by verb, kind and answer", async () => {
  const metrics = await start();
  const { admin } = platform;
  const total = (labels: object) => metrics.value("apiserver_request_total", labels as Record<string, string>);
  await admin.send("POST", "/teams", { metadata: { name: "shop" } });
  await admin.send("POST", "/teams", { metadata: { name: "shop" } });
  await admin.send("GET", "/teams/shop");
  await admin.send("GET", "/teams");
  const apply = { apiVersion: "management.platform/v1", kind: "Team", metadata: { name: "shop" } };
  await admin.send("PATCH", "/teams/shop?fieldManager=me", apply, { type: "application/apply-patch+yaml" });
  await admin.send("PATCH", "/teams/shop", {}, { type: "application/merge-patch+json" });
  await admin.send("DELETE", "/teams/shop");
  await platform.as("wrong").send("GET", "/teams");
  expect([
    total({ ...TEAMS, verb: "POST", code: "201" }),
    total({ ...TEAMS, verb: "POST", code: "409" }),
    total({ ...TEAMS, verb: "GET", code: "200" }),
    total({ ...TEAMS, verb: "LIST", code: "200" }),
    total({ ...TEAMS, verb: "APPLY", code: "200" }),
    total({ ...TEAMS, verb: "PATCH", code: "200" }),
    total({ ...TEAMS, verb: "DELETE", code: "200" }),
    total({ ...TEAMS, verb: "LIST", code: "401" }),
  ]).toEqual([1, 1, 1, 1, 1, 1, 1, 1]);
  expect(metrics.value("apiserver_request_duration_seconds_count", { ...TEAMS, verb: "POST" })).toBe(2);
  expect(metrics.value("apiserver_storage_request_duration_seconds_count", { operation: "delete" })).toBe(1);
});

test("paths count by their first part, and unknown paths without one", async () => {
  const metrics = await start();
  const { admin } = platform;
  const total = (labels: object) => metrics.value("apiserver_request_total", labels as Record<string, string>);
  await admin.send("GET", `${BASE}/readyz`);
  await admin.send("GET", `${BASE}/openapi/v3`);
  await admin.send("GET", "/elsewhere/jane");
  await admin.send("GET", "/boxes/jane");
  await admin.send("GET", "/teams/shop/boxes");
  await admin.send("BREW", "/teams");
  expect([
    total({ ...at("/readyz"), verb: "GET", code: "200" }),
    total({ ...at("/openapi"), verb: "GET", code: "200" }),
    total({ ...at(""), verb: "GET", code: "404" }),
  ]).toEqual([1, 1, 3]);
  expect(metrics.text()).not.toMatch(/jane|boxes|elsewhere|brew/i);
});

test("watches count while they are open, and take no time", async () => {
  const metrics = await start();
  const open = () => (metrics.text(), metrics.value("apiserver_longrunning_requests", { ...TEAMS, verb: "WATCH" }));
  const ending = new AbortController();
  const headers = { authorization: `Bearer ${platform.admin.key}` };
  await fetch(`${platform.management.url}${API}/teams?watch=true`, { headers, signal: ending.signal });
  expect(open()).toBe(1);
  ending.abort();
  await until("the watch is over", () => open() === 0);
  expect(metrics.value("apiserver_request_total", { ...TEAMS, verb: "WATCH", code: "200" })).toBe(1);
  expect(metrics.value("apiserver_request_duration_seconds_count", { ...TEAMS, verb: "WATCH" })).toBe(0);
});

test("requests in progress are visible, and those that are refused for too many count", async () => {
  const metrics = await start({ limits: { reads: 400, writes: 1, callerShare: 1, administratorShare: 0 } });
  const kind = { request_kind: "mutating" };
  const inFlight = () => (metrics.text(), metrics.value("apiserver_current_inflight_requests", kind));
  expect(inFlight()).toBe(0);
  let send = () => {};
  const body = new ReadableStream({
    start(controller) {
      controller.enqueue(Buffer.from("{"));
      send = () => (controller.enqueue(Buffer.from("}")), controller.close());
    },
  });
  const headers = { authorization: `Bearer ${platform.admin.key}`, "content-type": "application/json" };
  const slow = fetch(`${platform.management.url}${API}/teams`, { method: "POST", headers, body, duplex: "half" } as RequestInit);
  await until("the slow request is under way", () => inFlight() === 1);
  expect((await platform.admin.send("POST", "/teams", { metadata: { name: "shop" } })).code).toBe(429);
  expect(metrics.value("apiserver_rejected_requests_total", { reason: "writes" })).toBe(1);
  send();
  await slow;
  await until("it is over", () => inFlight() === 0);
});

test("a client that leaves before the answer is not an error of the server", async () => {
  const metrics = await start();
  const ending = new AbortController();
  const headers = { authorization: `Bearer ${platform.admin.key}`, "content-type": "application/json" };
  const body = new ReadableStream({ start: (controller) => controller.enqueue(Buffer.from("{")) });
  const init = { method: "POST", headers, body, duplex: "half", signal: ending.signal } as RequestInit;
  const left = fetch(`${platform.management.url}${API}/teams`, init).catch(() => "left");
  const inFlight = () => (metrics.text(), metrics.value("apiserver_current_inflight_requests", { request_kind: "mutating" }));
  await until("it is under way", () => inFlight() === 1);
  ending.abort();
  expect(await left).toBe("left");
  await until("it is counted", () => metrics.value("apiserver_request_total", { ...TEAMS, verb: "POST", code: "499" }) === 1);
});

test("keys count by type and by why they are not accepted", async () => {
  const metrics = await start();
  const { admin, clock } = platform;
  const keys = (type: string, state: string) => (metrics.text(), metrics.value(KEYS, { type, state }));
  expect(keys("User", "working")).toBe(1);
  const short = await platform.withKey({ type: "User", user: "jane", ttl: 60 });
  await platform.withKey({ type: "my-own-type", user: "jane" });
  const off = await platform.withKey({ type: "Other", user: "jane", disabled: true });
  expect([keys("User", "working"), keys("unknown", "working"), keys("Other", "disabled")]).toEqual([2, 1, 1]);
  await clock.advance(61_000);
  expect([keys("User", "working"), keys("User", "expired")]).toEqual([1, 1]);
  expect([(await short.send("GET", "/teams")).code, (await off.send("GET", "/teams")).code]).toEqual([401, 401]);
  await admin.send("DELETE", `/ownedaccesskeys/${short.name}`);
  await short.send("GET", "/teams");
  const refused = (reason: string) => metrics.value("management_access_key_refusals_total", { reason });
  expect([refused("expired"), refused("disabled"), refused("unknown"), keys("User", "expired")]).toEqual([1, 1, 1, 0]);
  expect(metrics.value("apiserver_resource_objects", { group: "management.platform", resource: "ownedaccesskeys" })).toBe(3);
  expect(metrics.text()).not.toMatch(/my-own-type|jane/);
});

test("the expiry of the first administrator's key is there for alerts", async () => {
  const metrics = await start({ config: "auth: { accessKeyMaxTTLSeconds: 600 }" });
  metrics.text();
  const end = metrics.value("management_administrator_key_end_timestamp_seconds");
  expect(end).toBe(platform.clock.now() / 1_000 + 600);
});

test("sign-ins count by connector and outcome", async () => {
  const metrics = await start();
  const spec = { username: "jane", password: "a long enough password" };
  expect((await platform.admin.send("POST", "/users", { metadata: { name: "jane" }, spec })).code).toBe(201);
  const url = `${platform.management.url}/auth/password/login`;
  const sign = (password: unknown) =>
    fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ username: "jane", password }) });
  const counted = (outcome: string) => metrics.value("management_sign_ins_total", { connector: "password", outcome });
  expect((await sign("wrong")).status).toBe(401);
  expect((await sign(spec.password)).status).toBe(200);
  expect((await sign(7)).status).toBe(400);
  while ((await sign("wrong")).status === 401);
  expect([counted("success"), counted("invalid"), counted("limited"), counted("failed")]).toEqual([1, 1, 1, 0]);
  expect(counted("refused")).toBeGreaterThan(1);
});
