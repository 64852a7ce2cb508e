import { describe, expect, test } from "vitest";
import { ENDPOINTS } from "../../../src/kube/object/resource.ts";
import { answerStatus, answerText, isList, isWatch, type Fault, type FaultProxy, type Passing } from "./fault-proxy.ts";
import { guardRigs, prepareRig, startRig, type Rig } from "./rig.ts";

guardRigs();

/** A list that is the beginning of a watch. */
const isStream = ({ watch, url }: Passing) => watch && url.includes("sendInitialEvents=true");
const ofEndpoints = ({ url }: Passing) => /\/endpoints(?:\?|$)/.test(url);
const watchesEndpoints = (passing: Passing) => isWatch(passing) && ofEndpoints(passing);
const listsEndpoints = (passing: Passing) => isList(passing) && ofEndpoints(passing);
const streamsEndpoints = (passing: Passing) => isStream(passing) && ofEndpoints(passing);
const lists = ({ tenant, host }: Rig) =>
  [...tenant.proxy.passed, ...host.proxy.passed].filter((passing) => isList(passing) || isStream(passing)).length;
const bookmark = (line: string) => line.startsWith('{"type":"BOOKMARK"');
const deletion = (line: string) => line.startsWith('{"type":"DELETED"');
const expired = answerStatus(410, "Expired");
const json = { "content-type": "application/json" };

/** Each list is in pages from now on, as of a server without initial events. */
const refuseStreams = (proxy: FaultProxy) => proxy.on({ when: isStream, fault: answerStatus(422, "Invalid") });

/** The bookmark after initial events, as a line. */
function initialEnd(resourceVersion: string): string {
  const metadata = { resourceVersion, annotations: { "k8s.io/initial-events-end": "true" } };
  return `${JSON.stringify({ type: "BOOKMARK", object: { kind: "Endpoints", apiVersion: "v1", metadata } })}\n`;
}

/** Loses what the tenant's watches say until the returned function is called; the streams stay open. */
function deafen({ tenant: { proxy } }: Rig): () => void {
  proxy.filter = () => [];
  return () => void (proxy.filter = undefined);
}

describe("a watch that ends", () => {
  test.each(["clean", "mid-json", "mid-chunk"] as const)(
    "F1 watch closed %s: goes on from its last state, without a list or a loss",
    async (how) => {
      const rig = await startRig({ objects: 2 });
      const before = lists(rig);
      const hear = deafen(rig);
      await rig.put("web-0", "10.1.1.1");
      await rig.remove("web-1");
      for (const { proxy } of [rig.tenant, rig.host]) proxy.endWatches(how);
      hear();
      await rig.converged();
      expect({ lists: lists(rig) - before, writes: rig.takeHostWrites() }).toEqual({ lists: 0, writes: 2 });
    },
  );

  test("F1 watch closed right after a bookmark: goes on from the bookmark", async () => {
    const rig = await startRig();
    const { proxy } = rig.tenant;
    let from = "";
    proxy.filter = (line) => {
      if (bookmark(line) && line.includes('"kind":"Endpoints"')) {
        from = (JSON.parse(line) as { object: { metadata: { resourceVersion: string } } }).object.metadata.resourceVersion;
        setImmediate(() => proxy.endWatches("clean"));
      }
      return [line];
    };
    await rig.until(
      "a watch goes on from it",
      () => from !== "" && proxy.passed.some((one) => watchesEndpoints(one) && one.url.includes(`resourceVersion=${from}&`)),
    );
    await rig.put("web-0", "10.1.1.1");
    await rig.converged();
    expect(rig.takeHostWrites()).toBe(1);
  });

  test.each([
    { why: "the watch is refused", fault: expired },
    {
      why: "an ERROR event comes inside the stream",
      fault: answerText(200, '{"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Expired","message":"too old"}}\n', {
        "content-type": "application/json",
      }),
    },
  ])("F2 410 Gone, $why: lists, and hears of the deletion that it missed", async ({ fault }) => {
    const rig = await startRig({ objects: 2 });
    const before = lists(rig);
    const hear = deafen(rig);
    await rig.remove("web-1");
    await rig.put("web-0", "10.1.1.1");
    rig.tenant.proxy.on({ when: watchesEndpoints, fault, times: 1 });
    rig.tenant.proxy.endWatches("clean");
    hear();
    await rig.converged();
    expect({ lists: lists(rig) - before, writes: rig.takeHostWrites() }).toEqual({ lists: 1, writes: 2 });
  });

  test("F2 410 Gone on a continue token: lists again in one piece", async () => {
    const rig = await startRig({ objects: 3 });
    const { proxy } = rig.tenant;
    refuseStreams(proxy);
    proxy.on({ when: ({ url }) => url.includes("continue="), fault: expired });
    proxy.on({
      when: listsEndpoints,
      times: 1,
      fault: async ({ ask, response }) => {
        const page = JSON.parse((await ask()).text) as { metadata: object; items: unknown[] };
        const first = { ...page, metadata: { ...page.metadata, continue: "forgotten" }, items: page.items.slice(0, 1) };
        response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(first));
      },
    });
    proxy.on({ when: watchesEndpoints, fault: expired, times: 1 });
    const hear = deafen(rig);
    await rig.remove("web-2");
    proxy.endWatches("clean");
    hear();
    await rig.converged();
    expect(rig.takeHostWrites()).toBe(1);
    expect(proxy.passed.at(-1)?.url).not.toContain("continue=");
  });
});

describe("a server that shows the past", () => {
  test.each(["as a stream", "in pages"])(
    "F3 stale list %s, older than what was seen: is refused, and a newer one is asked for",
    async (how) => {
      const rig = await startRig({ objects: 3 });
      const { proxy } = rig.tenant;
      const old = await rig.tenant.cluster.client.list(ENDPOINTS);
      const stale = { kind: "EndpointsList", apiVersion: "v1", metadata: { resourceVersion: old.resourceVersion }, items: [] };
      await rig.put("web-0", "10.1.1.1");
      await rig.converged();
      rig.takeHostWrites();
      const pages = how === "in pages";
      if (pages) refuseStreams(proxy);
      const heal = proxy.on({
        when: pages ? listsEndpoints : streamsEndpoints,
        fault: answerText(200, pages ? JSON.stringify(stale) : initialEnd(old.resourceVersion), json),
        times: 3,
      });
      proxy.on({ when: watchesEndpoints, fault: expired, times: 1 });
      proxy.endWatches("clean");
      await rig.until("it is refused", () => rig.lines.some((line) => line.includes("is older than")));
      expect(rig.takeHostWrites()).toBe(0);
      heal();
      await rig.put("web-1", "10.1.1.2");
      await rig.converged();
      expect(rig.takeHostWrites()).toBe(1);
      expect(await rig.copy("web-2")).toBeDefined();
    },
  );

  test.each(["as a stream", "in pages"])(
    "F4 list that misses an object %s: nothing is deleted that a live read still finds",
    async (how) => {
      const rig = await startRig({ objects: 3 });
      const { proxy } = rig.tenant;
      const before = (await rig.copy("web-1"))!.metadata.uid;
      let listed = false;
      if (how === "in pages") refuseStreams(proxy);
      else
        proxy.filter = (line) => {
          const left = !listed && line.startsWith('{"type":"ADDED"') && line.includes('"web-1"');
          listed ||= left;
          return left ? [] : [line];
        };
      proxy.on({
        when: listsEndpoints,
        times: 1,
        fault: async ({ ask, response }) => {
          const page = JSON.parse((await ask()).text) as { items: { metadata: { name: string } }[] };
          const items = page.items.filter(({ metadata }) => metadata.name !== "web-1");
          response.writeHead(200, json).end(JSON.stringify({ ...page, items }));
          listed = true;
        },
      });
      proxy.on({ when: watchesEndpoints, fault: expired, times: 1 });
      proxy.endWatches("clean");
      await rig.until(
        "the object is looked for",
        () => listed && proxy.passed.some(({ method, url }) => method === "GET" && url.endsWith("/web-1")),
      );
      await rig.pass(5_000);
      expect(rig.host.proxy.passed.filter(({ method }) => method === "DELETE")).toEqual([]);
      expect((await rig.copy("web-1"))?.metadata.uid).toBe(before);
      await rig.put("web-1", "10.1.1.1");
      await rig.converged();
    },
  );

  test("F5 duplicate and re-ordered events, old states again: one write for each change, and nothing goes back", async () => {
    const rig = await startRig();
    let last = "";
    rig.tenant.proxy.filter = (line) => {
      const lines = last === "" ? [line, line] : [line, last, line, last];
      if (line.includes('"web-0"')) last = line;
      return lines;
    };
    for (const ip of ["10.1.1.1", "10.1.1.2", "10.1.1.3"]) {
      await rig.put("web-0", ip);
      await rig.converged();
    }
    await rig.pass(5_000);
    expect({ writes: rig.takeHostWrites(), converged: await rig.isConverged() }).toEqual({ writes: 3, converged: true });
  });

  test("F6 DELETE event lost forever: the orphan goes with the next periodic list", async () => {
    const rig = await startRig({ objects: 2, times: { relistMs: 40_000 } });
    let lost = 0;
    rig.tenant.proxy.filter = (line) => (deletion(line) ? ((lost += 1), []) : [line]);
    await rig.remove("web-1");
    await rig.until("the orphan is gone", async () => (await rig.copy("web-1")) === undefined);
    expect(lost).toBe(1);
  });

  test.each([
    { why: "do not come", filter: (line: string) => (bookmark(line) ? [] : [line]) },
    {
      why: "go back",
      filter: (line: string) => [bookmark(line) ? line.replace(/"resourceVersion":"[0-9]+"/, '"resourceVersion":"1"') : line],
    },
  ])("F7 bookmarks that $why: no list, and nothing lost", async ({ filter }) => {
    const rig = await startRig();
    const before = lists(rig);
    rig.tenant.proxy.filter = filter;
    await rig.pass(70_000);
    await rig.put("web-0", "10.1.1.1");
    await rig.converged();
    expect({ lists: lists(rig) - before, writes: rig.takeHostWrites() }).toEqual({ lists: 0, writes: 1 });
  });

  /** Lists of kinds so far by their path: as streams, and in pages. */
  function listsByPath({ proxy }: Rig["tenant"]): { streams: number; pages: number }[] {
    const paths = new Map<string, { streams: number; pages: number }>();
    for (const passing of proxy.passed) {
      const { pathname, search } = new URL(passing.url, proxy.url);
      if (search.includes("fieldSelector") || !(isWatch(passing) || isList(passing))) continue;
      const one = paths.get(pathname) ?? { streams: 0, pages: 0 };
      paths.set(pathname, { streams: one.streams + Number(isStream(passing)), pages: one.pages + Number(isList(passing)) });
    }
    return [...paths.values()];
  }

  test("F7 initial events: each kind is listed by one stream at a start, and never in pages", async () => {
    const rig = await startRig({ objects: 20 });
    await rig.pass(70_000);
    await rig.put("web-0", "10.1.1.1");
    await rig.converged();
    for (const side of [rig.tenant, rig.host]) {
      expect(listsByPath(side).length).toBeGreaterThan(1);
      expect(new Set(listsByPath(side).map((one) => JSON.stringify(one)))).toEqual(new Set(['{"streams":1,"pages":0}']));
    }
  });

  const beginning = '{"type":"ADDED","object":{"kind":"Endpoints","apiVersion":"v1","metadata":{"name":"web-0","namespace":"shop"';
  test.each<{ why: string; fault?: Fault; filter?: (line: string) => readonly string[]; again: boolean }>([
    { why: "are refused", fault: answerStatus(422, "Invalid"), again: false },
    { why: "are a bad request", fault: answerStatus(400, "BadRequest"), again: false },
    { why: "have no end", filter: (line) => (line.includes("initial-events-end") ? [] : [line]), again: false },
    { why: "end before their end", fault: answerText(200, `${beginning},"resourceVersion":"2"}}}\n`, json), again: true },
    { why: "are cut", fault: answerText(200, beginning, json), again: true },
    { why: "are of another kind", fault: answerText(200, `${beginning.replace("Endpoints", "Secret")}}}}\n`, json), again: true },
    { why: "expired", fault: expired, again: true },
  ])("F7 initial events that $why: the list is read in pages, and nothing is lost", async ({ fault, filter, again }) => {
    const rig = await prepareRig({ objects: 3 });
    const { proxy } = rig.tenant;
    const heal = fault === undefined ? () => undefined : proxy.on({ when: streamsEndpoints, fault });
    proxy.filter = filter;
    await rig.syncer.start();
    await rig.converged();
    expect(rig.takeHostWrites()).toBeGreaterThanOrEqual(3);
    expect(proxy.passed.filter(listsEndpoints)).toHaveLength(1);
    proxy.filter = undefined;
    heal();
    // The state expires, so that the kind is listed again.
    const before = lists(rig);
    const hear = deafen(rig);
    await rig.remove("web-1");
    await rig.put("web-0", "10.1.1.1");
    proxy.on({ when: watchesEndpoints, fault: expired, times: 1 });
    proxy.endWatches("clean");
    hear();
    await rig.converged();
    expect({ lists: lists(rig) - before, pages: proxy.passed.filter(listsEndpoints).length }).toEqual({ lists: 1, pages: again ? 1 : 2 });
  });
});

describe("a stream that stands still", () => {
  test.each(["tenant", "host"] as const)("F8 half-open connection to the %s: noticed and replaced, nothing lost", async (side) => {
    const rig = await startRig();
    const { proxy } = rig[side];
    proxy.halfOpen();
    await rig.put("web-0", "10.1.1.1");
    await rig.converged();
    await rig.until("every watch was given up", () =>
      rig.lines.some((line) => line.includes("Cannot follow the cluster") && line.includes(`"cluster":"${side}"`)),
    );
    expect(rig.lines.filter((line) => line.startsWith("error") && !line.includes("API_UNAVAILABLE"))).toEqual([]);
  });

  test("F8 half-open connections of a whole pool: cost one timeout, not one for each of them", async () => {
    const rig = await startRig({ objects: 20 });
    for (let i = 0; i < 20; i++) await rig.put(`web-${i}`, "10.1.1.1");
    await rig.converged();
    // The last answers are still on their way.
    await rig.pass(4_000);
    rig.host.proxy.halfOpen();
    await rig.put("web-0", "10.2.2.2");
    await rig.converged();
    // One call that was not answered, and the one that was.
    expect(rig.host.proxy.passed.filter(({ body }) => body.includes("10.2.2.2"))).toHaveLength(2);
  });

  test("F8 watch that is accepted and never begins to answer: is given up", async () => {
    const rig = await startRig();
    rig.tenant.proxy.on({ when: watchesEndpoints, fault: () => undefined, times: 1 });
    rig.tenant.proxy.endWatches("clean");
    await rig.put("web-0", "10.1.1.1");
    await rig.converged();
  });

  test("F9 event burst on few keys: what waits stays as small as the number of keys, and so do the writes", async () => {
    const rig = await startRig({ objects: 3 });
    rig.tenant.proxy.filter = (line) => Array.from({ length: 20 }, () => line);
    let deepest = 0;
    for (let round = 0; round < 100; round++) {
      for (let i = 0; i < 3; i++) await rig.put(`web-${i}`, `10.1.${round}.${i + 1}`);
      deepest = Math.max(deepest, rig.syncer.status().waiting);
    }
    await rig.converged();
    expect(deepest).toBeLessThanOrEqual(3);
    expect(rig.takeHostWrites()).toBeLessThanOrEqual(300);
  });
});
