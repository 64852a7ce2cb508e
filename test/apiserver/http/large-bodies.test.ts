import { connect } from "node:net";
import { describe, expect, test, vi } from "vitest";
import { systemChance } from "../../../src/base/chance.ts";
import { silentLogger } from "../../../src/base/logger.ts";
import { CONFIG_MAPS } from "../../../src/kube/object/resource.ts";
import { kindShape } from "../../../src/kube/object/kind-shape.ts";
import { textMap } from "../../../src/schema/builders.ts";
import { startApiServer } from "../../../src/apiserver/api-server.ts";
import { createMemoryStore } from "../../../src/apiserver/store/memory/memory-store.ts";
import { dnsSubdomain } from "../../../src/apiserver/types/objects/names.ts";
import { createRegistry } from "../../../src/apiserver/verbs/registry.ts";
import { createLargeBodies, type Large } from "../../../src/apiserver/http/body/large-bodies.ts";
import { createFakeClock, until } from "../../support/fake-clock.ts";
import { WAIT } from "../../support/patience.ts";

const LARGE = 100_000;

describe("large bodies", () => {
  test("are worked on one after another, those of each caller in turn", async () => {
    const bodies = createLargeBodies();
    const begun: string[] = [];
    const open: Large[] = [];
    const enter = async (caller: string, name: string) => {
      const large = await bodies.enter(caller, LARGE);
      begun.push(name);
      open.push(large!);
    };
    const all = [
      enter("eve", "e1"),
      enter("eve", "e2"),
      enter("eve", "e3"),
      enter("eve", "e4"),
      enter("jane", "j1"),
      enter("jane", "j2"),
      enter("mia", "m1"),
    ];
    for (let count = 1; count <= all.length; count += 1) {
      await until("one has begun", () => begun.length === count);
      open.pop()!.leave();
    }
    await Promise.all(all);
    expect(begun).toEqual(["e1", "e2", "j1", "m1", "e3", "j2", "e4"]);
    await enter("jane", "again");
    expect(begun.at(-1)).toBe("again");
  });

  test("let other work proceed between two pieces", async () => {
    const large = (await createLargeBodies().enter("eve", LARGE))!;
    const order: string[] = [];
    setImmediate(() => order.push("other work"));
    await large.pause();
    order.push("the next piece");
    expect(order).toEqual(["other work", "the next piece"]);
  });

  test("hold no small one up", async () => {
    const bodies = createLargeBodies();
    await bodies.enter("eve", LARGE);
    expect(await bodies.enter("eve", 1_000)).toBeUndefined();
  });
});

type Data = { readonly x: string };

const COLLECTION = "/api/v1/namespaces/shop/configmaps";
/** More than the buffers of a connection hold. */
const UNREAD = 16_000_000;

test.each([
  ["creates", "POST", COLLECTION, "application/json"],
  ["replaces", "PUT", `${COLLECTION}/a`, "application/json"],
  ["patches", "PATCH", `${COLLECTION}/a`, "application/merge-patch+json"],
])("a client that %s an object and does not read the response does not delay other callers", async (_what, method, path, type) => {
  // Time stands still, so that the server never gives up on the client.
  const clock = createFakeClock();
  const definitions = [
    { type: CONFIG_MAPS, singular: "configmap", shape: kindShape({ data: textMap }), strategy: { nameRule: dnsSubdomain } },
  ];
  const registry = createRegistry({ store: createMemoryStore(), definitions, clock, chance: systemChance });
  const server = await startApiServer({
    ...{ registry, clock, chance: systemChance, logger: silentLogger, limits: { bodyBytes: 2 * UNREAD } },
    authenticate: async ({ headers }) => ({ name: headers.authorization!, groups: [] }),
    version: { major: "1", minor: "34", gitVersion: "v1.34.0" },
  });
  const body = (name: string, bytes: number) => JSON.stringify({ metadata: { name }, data: { x: "x".repeat(bytes) } });
  const headers = { authorization: "jane", "content-type": "application/json" };
  const create = (name: string, bytes: number) =>
    fetch(`http://127.0.0.1:${server.port}${COLLECTION}`, { method: "POST", headers, body: body(name, bytes) });
  if (method !== "POST") await create("a", 1);
  const unread = connect(server.port, "127.0.0.1");
  try {
    const text = body("a", UNREAD);
    const head = `Host: here\r\nAuthorization: eve\r\nContent-Type: ${type}\r\nContent-Length: ${text.length}`;
    unread.write(`${method} ${path} HTTP/1.1\r\n${head}\r\n\r\n${text}`);
    const isStored = () => registry.list(CONFIG_MAPS).then(({ items }) => items.some(({ data }) => (data as Data).x.length === UNREAD));
    await vi.waitFor(async () => expect(await isStored()).toBe(true), WAIT);
    expect((await create("b", LARGE)).status).toBe(201);
  } finally {
    unread.destroy();
    await server.close();
  }
});
