import { afterEach, beforeEach, expect, test } from "vitest";
import { createEmbeddedCluster } from "../../src/clusters/cluster.ts";
import type { EmbeddedCluster } from "../../src/clusters/cluster.ts";
import { createLineLogger, silentLogger } from "../../src/base/logger.ts";
import { ENDPOINTS, EVENTS, NAMESPACES } from "../../src/object/resource.ts";
import type { KubeObject } from "../../src/object/types.ts";
import { createEventRecorder, EVENT_SILENCE_MS, EVENTS_AT_ONCE } from "../../src/sync/events.ts";
import { createFakeClock } from "../support/fake-clock.ts";
import { tenantEndpoints } from "../support/rules.ts";

let cluster: EmbeddedCluster;
let object: KubeObject;

beforeEach(async () => {
  cluster = await createEmbeddedCluster();
  await cluster.client.create(NAMESPACES, { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
  object = await cluster.client.create(ENDPOINTS, { ...tenantEndpoints(), metadata: { namespace: "shop", name: "web" } });
});

afterEach(() => cluster.stop());

async function events(): Promise<readonly KubeObject[]> {
  return (await cluster.client.list(EVENTS, { namespace: "shop" })).items;
}

test("a note becomes an Event beside the object, with a reason that people can look up", async () => {
  const recorder = createEventRecorder({ writer: cluster.client, clock: createFakeClock(), logger: silentLogger });
  await recorder.record(object, [{ code: "NAME_COLLISION", message: '"a/b" and "c/d" have the same host name' }]);
  expect(await events()).toMatchObject([
    {
      reason: "NameCollision",
      type: "Warning",
      message: '"a/b" and "c/d" have the same host name',
      involvedObject: { kind: "Endpoints", namespace: "shop", name: "web", uid: object.metadata.uid },
    },
  ]);
});

test("what passes by itself is no Event", async () => {
  const recorder = createEventRecorder({ writer: cluster.client, clock: createFakeClock(), logger: silentLogger });
  await recorder.record(object, [{ code: "HOST_SERVICE_MISSING", message: "not yet" }]);
  expect(await events()).toEqual([]);
});

test("the same Event is not repeated, neither by this process nor by the next one", async () => {
  const clock = createFakeClock();
  const note = { code: "ADDRESS_REFUSED", message: 'Address "127.0.0.1" was left out: loopback' } as const;
  const options = { writer: cluster.client, clock, logger: silentLogger };
  const recorder = createEventRecorder(options);
  await recorder.record(object, [note, note]);
  await clock.advance(EVENT_SILENCE_MS + 1);
  await recorder.record(object, [note]);
  await createEventRecorder(options).record(object, [note]);
  expect(await events()).toHaveLength(1);
});

test("an Event that can not be written is logged and stops nothing", async () => {
  const lines: string[] = [];
  const logger = createLineLogger({ now: () => 0, write: (line) => lines.push(line) });
  const recorder = createEventRecorder({ writer: cluster.client, clock: createFakeClock(), logger });
  const elsewhere = { ...object, metadata: { ...object.metadata, namespace: "nowhere" } };
  await recorder.record(elsewhere, [{ code: "NAME_COLLISION", message: "x" }]);
  expect(lines).toHaveLength(1);
  expect(lines[0]).toContain("NAME_COLLISION");
});

test("an object full of faults gets a few Events, and the last one counts the others", async () => {
  const recorder = createEventRecorder({ writer: cluster.client, clock: createFakeClock(), logger: silentLogger });
  const quiet = { code: "HOST_SERVICE_MISSING", message: "not yet" } as const;
  const faults = Array.from(
    { length: 1000 },
    (_, index) => ({ code: "ADDRESS_REFUSED", message: `${index} ${"x".repeat(1024)}` }) as const,
  );
  await recorder.record(object, [quiet, ...faults]);
  const messages = (await events()).map((event) => String(event["message"]));
  expect(messages).toHaveLength(EVENTS_AT_ONCE);
  expect(messages.filter((message) => message.endsWith(" (and 990 more)"))).toHaveLength(1);
  expect(Math.max(...messages.map(({ length }) => length))).toBe(1024);
});
