import { describe, expect, test } from "vitest";
import { ENDPOINTS, EVENTS, NAMESPACES } from "../../../src/kube/object/resource.ts";
import {
  answerStatus,
  answerText,
  dropRequest,
  isList,
  isWatch,
  loseAnswer,
  truncateAnswer,
  type Fault,
  type Passing,
} from "./fault-proxy.ts";
import { copyName, guardRigs, startRig, type Rig } from "./rig.ts";

guardRigs();

const updates = (name: string) => (passing: Passing) => passing.method === "PUT" && passing.url.endsWith(`/endpoints/${copyName(name)}`);
const creates = (name: string) => (passing: Passing) =>
  passing.method === "POST" && passing.url.endsWith("/endpoints") && passing.body.includes(`"${copyName(name)}"`);
const writesOf = ({ host }: Rig, name: string) => host.proxy.passed.filter((passing) => updates(name)(passing) || creates(name)(passing));
const notesOf = ({ syncer }: Rig, name: string) =>
  syncer.status().objects.flatMap(({ tenantKey, notes }) => (tenantKey.name === name ? notes.map(({ code }) => code) : []));

/** Time between attempts, on the rig's clock. */
function gaps(passed: readonly Passing[]): number[] {
  return passed.slice(1).map(({ atMs }, index) => atMs - passed[index]!.atMs);
}

describe("a write that meets another one", () => {
  test("F10 409 Conflict storm: tried ever more rarely, and done when the rival stops", async () => {
    const rig = await startRig({ objects: 2 });
    const calm = rig.host.proxy.on({ when: updates("web-0"), fault: answerStatus(409, "Conflict") });
    await rig.put("web-0", "10.1.1.1");
    await rig.put("web-1", "10.1.1.2");
    await rig.pass(10_000);
    const attempts = writesOf(rig, "web-0").length;
    expect(attempts).toBeGreaterThan(3);
    expect(attempts).toBeLessThanOrEqual(14);
    calm();
    await rig.converged();
    expect(writesOf(rig, "web-1").filter(({ method }) => method === "PUT")).toHaveLength(1);
  });

  test("F11 409 AlreadyExists by a foreign object: left as it is, with a note and an Event", async () => {
    const rig = await startRig();
    const metadata = { namespace: "vc-blue", name: copyName("taken") };
    const foreign = await rig.host.cluster.client.create(ENDPOINTS, { apiVersion: "v1", kind: "Endpoints", metadata, subsets: [] });
    await rig.put("taken", "10.1.1.1");
    await rig.until("it is noted", () => notesOf(rig, "taken").length > 0);
    await rig.pass(20_000);
    expect(await rig.copy("taken")).toEqual(foreign);
    expect(writesOf(rig, "taken").filter(({ status }) => status === 200 || status === 201)).toEqual([]);
    const { items } = await rig.tenant.cluster.client.list(EVENTS, { namespace: "shop" });
    expect(items.map((event) => (event["involvedObject"] as { name: string }).name)).toContain("taken");
  });
});

describe("a server that refuses", () => {
  test("F12 429 with Retry-After: no sooner than it says, and no request more than it refused", async () => {
    const rig = await startRig({ objects: 10 });
    await rig.heard();
    rig.host.proxy.on({
      when: ({ method }) => method === "PUT",
      fault: answerStatus(429, "TooManyRequests", { "retry-after": "4" }),
      times: 15,
    });
    for (let i = 0; i < 10; i++) await rig.put(`web-${i}`, "10.1.1.1");
    await rig.converged();
    const all = Array.from({ length: 10 }, (_, i) => writesOf(rig, `web-${i}`).filter(({ method }) => method === "PUT"));
    expect(all.flat()).toHaveLength(10 + 15);
    for (const passed of all) for (const gap of gaps(passed)) expect(gap).toBeGreaterThanOrEqual(3_500);
  });

  test("F12 429 without Retry-After: backs off, more each time", async () => {
    const rig = await startRig();
    await rig.heard();
    rig.host.proxy.on({ when: updates("web-0"), fault: answerStatus(429, "TooManyRequests"), times: 4 });
    await rig.put("web-0", "10.1.1.1");
    await rig.converged();
    const [first = 0, second = 0, third = 0, fourth = 0] = gaps(writesOf(rig, "web-0").filter(({ method }) => method === "PUT"));
    expect(first).toBeGreaterThanOrEqual(700);
    expect(second).toBeGreaterThanOrEqual(1_400);
    expect(third).toBeGreaterThanOrEqual(2_900);
    expect(fourth).toBeGreaterThanOrEqual(5_900);
  });

  test("F12 429 with Retry-After on watches and lists: waited for there, too", async () => {
    const rig = await startRig();
    const { proxy } = rig.tenant;
    const slowDown = answerStatus(429, "TooManyRequests", { "retry-after": "5" });
    const reads = ({ url, method }: Passing) => method === "GET" && url.includes("/endpoints?");
    const stop = proxy.on({ when: reads, fault: slowDown, times: 3 });
    proxy.endWatches("clean");
    await rig.put("web-0", "10.1.1.1");
    await rig.until("it was refused three times", () => proxy.passed.filter((one) => reads(one) && one.status === 429).length === 3);
    await rig.converged();
    stop();
    const refused = proxy.passed.filter((one) => reads(one) && one.status === 429);
    for (const gap of gaps(refused)) expect(gap).toBeGreaterThanOrEqual(4_500);
  });

  const html = answerText(502, "<html><h1>502 Bad Gateway</h1></html>");
  test.each<{ why: string; fault: Fault }>([
    { why: "500", fault: answerStatus(500, "InternalError") },
    { why: "502 in HTML", fault: html },
    { why: "503", fault: answerStatus(503, "ServiceUnavailable") },
    { why: "504", fault: answerStatus(504, "Timeout") },
    { why: "200 in HTML", fault: answerText(200, "<html>Sign in</html>") },
    { why: "200 with nothing", fault: answerText(200, "", { "content-type": "application/json" }) },
    { why: "truncated JSON", fault: truncateAnswer },
    { why: "JSON that is not an object", fault: answerText(200, "[1]", { "content-type": "application/json" }) },
  ])("F13 $why to lists, watches and writes: repeated, and nothing breaks", async ({ fault }) => {
    const rig = await startRig();
    for (const { proxy } of [rig.tenant, rig.host]) {
      proxy.on({ when: isWatch, fault, times: 2 });
      proxy.on({ when: isList, fault, times: 2 });
      proxy.endWatches("clean");
    }
    rig.host.proxy.on({ when: updates("web-0"), fault, times: 2 });
    await rig.put("web-0", "10.1.1.1");
    await rig.converged();
    await rig.put("web-0", "10.1.1.2");
    await rig.converged();
    expect(rig.lines.filter((line) => line.includes("INTERNAL"))).toEqual([]);
  });
});

describe("a write whose outcome is unknown", () => {
  test.each([
    { what: "update", act: (rig: Rig) => rig.put("web-0", "10.1.1.1"), when: updates("web-0"), name: "web-0" },
    { what: "creation", act: (rig: Rig) => rig.put("new", "10.1.1.1"), when: creates("new"), name: "new" },
  ])("F14 $what applied, response lost: looked at again, and not done twice", async ({ act, when, name }) => {
    const rig = await startRig();
    let written = "";
    rig.host.proxy.on({
      when,
      times: 1,
      fault: async (way, passing) => {
        await loseAnswer({ ...way, ask: async () => ((answer) => ((written = answer.text), answer))(await way.ask()) }, passing);
      },
    });
    await act(rig);
    await rig.converged();
    await rig.pass(10_000);
    const { metadata } = JSON.parse(written) as { metadata: { resourceVersion: string } };
    expect((await rig.copy(name))?.metadata.resourceVersion).toBe(metadata.resourceVersion);
    expect(await rig.isConverged()).toBe(true);
  });

  test("F14 deletion applied, response lost: not an error, and nothing else goes", async () => {
    const rig = await startRig({ objects: 2 });
    rig.host.proxy.on({ when: ({ method }) => method === "DELETE", fault: loseAnswer, times: 1 });
    await rig.remove("web-1");
    await rig.converged();
    await rig.pass(5_000);
    expect(await rig.isConverged()).toBe(true);
    expect(await rig.copy("web-0")).toBeDefined();
  });

  test("F15 zombie write, done by the server after the client gave it up: its resourceVersion keeps it out", async () => {
    const rig = await startRig();
    let zombie: number | undefined;
    let rise = (): void => undefined;
    const risen = new Promise<void>((resolve) => (rise = resolve));
    rig.host.proxy.on({
      when: updates("web-0"),
      times: 1,
      fault: async ({ ask }) => {
        await risen;
        zombie = (await ask()).status;
      },
    });
    await rig.put("web-0", "10.1.1.1");
    await rig.until("the write is on its way", () => writesOf(rig, "web-0").length >= 2);
    await rig.put("web-0", "10.1.1.2");
    await rig.converged();
    rise();
    await rig.until("the first write came", () => zombie !== undefined);
    await rig.pass(5_000);
    expect({ zombie, converged: await rig.isConverged() }).toEqual({ zombie: 409, converged: true });
  });

  test("F15 zombie write that comes first: the repetition is recognised as done", async () => {
    const rig = await startRig();
    rig.host.proxy.on({ when: updates("web-0"), times: 1, fault: async ({ ask }) => void (await ask()) });
    await rig.put("web-0", "10.1.1.1");
    await rig.converged();
    const { resourceVersion } = (await rig.copy("web-0"))!.metadata;
    await rig.pass(45_000);
    expect((await rig.copy("web-0"))?.metadata.resourceVersion).toBe(resourceVersion);
  });
});

describe("a write that is refused for good", () => {
  test.each([
    { why: "422 of an admission webhook", fault: answerStatus(422, "Invalid"), note: "API_INVALID", most: 2 },
    { why: "403 of a quota", fault: answerStatus(403, "Forbidden"), note: undefined, most: 6 },
    { why: "401", fault: answerStatus(401, "Unauthorized"), note: undefined, most: 12 },
  ])("F23 $why: rarely tried, told, others go on, and done once it is allowed", async ({ fault, note, most }) => {
    const rig = await startRig({ objects: 2 });
    const allow = rig.host.proxy.on({ when: updates("web-0"), fault });
    await rig.put("web-0", "10.1.1.1");
    await rig.put("web-1", "10.1.1.2");
    await rig.pass(20_000);
    const attempts = writesOf(rig, "web-0").filter(({ method, body }) => method === "PUT" && body.includes("10.1.1.1")).length;
    expect(attempts).toBeGreaterThan(0);
    expect(attempts).toBeLessThanOrEqual(most);
    const told =
      note === undefined
        ? rig.lines.some((line) => line.startsWith("error Reconcile failed"))
        : notesOf(rig, "web-0").includes(note as "API_INVALID");
    expect(told).toBe(true);
    expect(writesOf(rig, "web-1").filter(({ method, status }) => method === "PUT" && status === 200)).toHaveLength(1);
    allow();
    await rig.put("web-0", "10.1.1.3");
    await rig.converged();
  });

  test("F23 permission to watch removed while it runs: asked for rarely, and followed again once it is back", async () => {
    const rig = await startRig();
    const { proxy } = rig.tenant;
    const reads = ({ method, url }: Passing) => method === "GET" && url.includes("/endpoints?");
    const allow = proxy.on({ when: reads, fault: answerStatus(403, "Forbidden") });
    const before = proxy.passed.length;
    proxy.endWatches("clean");
    await rig.put("web-0", "10.1.1.1");
    await rig.pass(20_000);
    expect(proxy.passed.slice(before).filter(reads).length).toBeLessThanOrEqual(20);
    expect(rig.host.proxy.passed.filter(({ method }) => method === "DELETE")).toEqual([]);
    allow();
    await rig.converged();
  });

  test("F24 namespace terminating: no storm of retries", async () => {
    const rig = await startRig();
    const { proxy } = rig.host;
    const open = proxy.on({ when: creates("new"), fault: answerStatus(403, "Forbidden") });
    await rig.put("new", "10.1.1.1");
    await rig.pass(20_000);
    expect(writesOf(rig, "new").length).toBeLessThanOrEqual(6);
    open();
    await rig.converged();
  });

  test("F24 namespace gone: told, tried every three seconds for all that wait, copied once it is there again", async () => {
    const rig = await startRig();
    const { client } = rig.host.cluster;
    await client.delete(NAMESPACES, { namespace: "", name: "vc-blue" });
    await rig.until("it is gone", async () => (await client.get(NAMESPACES, { namespace: "", name: "vc-blue" })) === undefined);
    await rig.put("web-0", "10.1.1.1");
    await rig.until("it is noted", () => notesOf(rig, "web-0").includes("HOST_NAMESPACE_MISSING"));
    const before = rig.host.proxy.passed.filter(({ write }) => write).length;
    await rig.pass(30_000);
    expect(rig.host.proxy.passed.filter(({ write }) => write).length - before).toBeLessThanOrEqual(12);
    await client.create(NAMESPACES, { apiVersion: "v1", kind: "Namespace", metadata: { name: "vc-blue" } });
    await rig.converged();
  });
});

test("F25 tenant object deleted, and then the tenant does not answer: nothing is deleted on the host before it does", async () => {
  const rig = await startRig({ objects: 2 });
  const answer = rig.tenant.proxy.on({ when: ({ method, url }) => method === "GET" && url.endsWith("/web-1"), fault: dropRequest });
  await rig.remove("web-1");
  await rig.pass(15_000);
  expect(rig.host.proxy.passed.filter(({ method }) => method === "DELETE")).toEqual([]);
  answer();
  await rig.converged();
});
