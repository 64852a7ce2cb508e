import { afterEach, beforeEach, expect, test } from "vitest";
import { createEmbeddedCluster, type EmbeddedCluster } from "../../../../src/cluster/cluster.ts";
import { createLineLogger, silentLogger } from "../../../../src/base/logger.ts";
import { ENDPOINTS, EVENTS, NAMESPACES } from "../../../../src/kube/object/resource.ts";
import type { KubeObject } from "../../../../src/kube/object/types.ts";
import {
  createEventRecorder,
  EVENT_SILENCE_MS,
  EVENTS_AT_ONCE,
  EVENTS_BURST,
  type ReportedEvent,
} from "../../../../src/engine/sync/report/events.ts";
import { createMetrics } from "../../../../src/base/metrics.ts";
import { createFakeClock } from "../../../support/fake-clock.ts";
import { tenantEndpoints } from "../../../support/rules.ts";

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
  await recorder.record(object, [{ code: "NAME_COLLISION", message: '"a/b" and "c/d" have the same name on the host' }]);
  expect(await events()).toMatchObject([
    {
      reason: "NameCollision",
      type: "Warning",
      message: '"a/b" and "c/d" have the same name on the host',
      involvedObject: { kind: "Endpoints", namespace: "shop", name: "web", uid: object.metadata.uid },
    },
  ]);
});

test.each([
  ["API_INVALID", 1],
  ["LOOP_STOPPED", 1],
  ["ADDRESS_REFUSED", 0],
] as const)("%s is logged %i times, without its message, since its remedy is on the host or not", async (code, times) => {
  const lines: string[] = [];
  const logger = createLineLogger({ now: () => 0, write: (line) => lines.push(line) });
  const recorder = createEventRecorder({ writer: cluster.client, clock: createFakeClock(), logger });
  const note = { code, message: "spec.a: Invalid value: secret" };
  await recorder.record(object, [note]);
  await recorder.record(object, [note]);
  expect(lines).toHaveLength(times);
  for (const line of lines) expect(line).toMatch(new RegExp(`warn .*code=${code} kind=Endpoints namespace=shop name=web`));
  expect(lines.join("")).not.toContain("secret");
});

test("what passes by itself is not an Event", async () => {
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

test("an Event that cannot be written is logged and stops nothing", async () => {
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

/** A recorder that hands over what it would write, in its own time. */
function slowRecorder() {
  const [clock, metrics] = [createFakeClock(), createMetrics()];
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const instead = ({ message }: ReportedEvent) => new Promise<void>((resolve) => (begun.push(message), ends.push(resolve)));
  const recorder = createEventRecorder({ writer: cluster.client, clock, logger: silentLogger, metrics, instead });
  const tell = (namespace: string, message: string) => {
    const about = { ...object, metadata: { ...object.metadata, namespace } };
    return recorder.record(about, [{ code: "ADDRESS_REFUSED", message }]);
  };
  return { clock, begun, ends, tell, dropped: () => metrics.value("endpoint_sync_events_dropped_total") };
}

test("a namespace full of faults has a burst of Events, then one a second, and takes none from others", async () => {
  const { clock, begun, ends, tell, dropped } = slowRecorder();
  const written = Array.from({ length: 100 }, (_, index) => tell("noisy", `noisy ${index}`));
  void tell("shop", "shop 0");
  for (let reconcile = 0; reconcile < 2 * EVENTS_BURST; reconcile += 1) {
    for (const end of ends.splice(0)) end();
    await clock.advance(0);
  }
  await Promise.all(written);
  expect([begun.filter((message) => message.startsWith("noisy")).length, begun.includes("shop 0"), dropped()]).toEqual([25, true, 75]);
  await clock.advance(2_000);
  // A dropped Event was not reported, and may be.
  for (const index of [97, 98, 99]) void tell("noisy", `noisy ${index}`);
  await clock.advance(0);
  for (const end of ends.splice(0)) end();
  await clock.advance(0);
  expect([begun.slice(-2), dropped()]).toEqual([["noisy 97", "noisy 98"], 76]);
});

test("the Events of one namespace are written one after the other, those of others meanwhile", async () => {
  const { clock, begun, ends, tell } = slowRecorder();
  for (const message of ["a 0", "a 1"]) void tell("a", message);
  void tell("b", "b 0");
  await clock.advance(0);
  expect(begun).toEqual(["a 0", "b 0"]);
  ends[0]!();
  await clock.advance(0);
  expect(begun).toEqual(["a 0", "b 0", "a 1"]);
});
