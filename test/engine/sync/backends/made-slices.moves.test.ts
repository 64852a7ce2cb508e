/** A backend that moves from one made slice to another is never missing from both. */
import { expect, test } from "vitest";
import { slicesOfCopy } from "../../../../src/engine/kinds/made-slices.ts";
import { planMadeSlices } from "../../../../src/engine/sync/backends/plan-made-slices.ts";
import { viewOfSlices } from "../../../../src/kube/object/endpoints/reader-view.ts";
import { formatKey, keyOf } from "../../../../src/kube/object/key.ts";
import type { Endpoints, EndpointSlice } from "../../../../src/kube/object/types.ts";
import { testRules } from "../../../support/rules.ts";
import { ips } from "./seen-backends.ts";

const PREFIX = "sync.platform/";

/** Carries out what is planned for a copy with these subsets, one write after the other. Returns the slices, and what readers saw each time. */
function change(present: readonly EndpointSlice[], subsets: unknown) {
  const metadata = { namespace: "vc", name: "web-x-shop-x-blue", uid: "u" };
  const copy = { apiVersion: "v1", kind: "Endpoints", metadata, subsets } as unknown as Endpoints;
  const standing = new Map(present.map((slice) => [formatKey(keyOf(slice)), slice]));
  const views: (readonly string[])[] = [];
  const look = () => views.push([...viewOfSlices(standing.values()).values()].map(({ address, port }) => `${address}:${port?.port}`));
  for (const shown of [false, true]) {
    const made = [...standing.values()];
    const { operations } = planMadeSlices({
      ...{ rules: testRules(), made, desired: slicesOfCopy(PREFIX, copy, made), shown, left: [], confirms: undefined },
      ...{ standIns: () => [], madeBefore: new Map() },
    });
    look();
    for (const operation of operations) {
      if (operation.action === "delete") standing.delete(formatKey(operation.key));
      else standing.set(formatKey(keyOf(operation.object)), operation.object as EndpointSlice);
      look();
    }
  }
  return { slices: [...standing.values()], views };
}

const port = (name: string, number: number) => ({ name, port: number, protocol: "TCP", ...(name === "http" && { appProtocol: "http" }) });
const [A, B, C] = ips(3).map((address) => ({ ...address }));
const FIRST = [
  { addresses: [A, B], ports: [port("http", 80)] },
  { addresses: [C], ports: [port("http", 80), port("metrics", 9090)] },
];
const SECOND = [
  { addresses: [A], ports: [port("http", 80)] },
  { addresses: [B, C], ports: [port("http", 80), port("metrics", 9090)] },
];

test.each([
  ["gets another port", FIRST, SECOND],
  ["loses another port", SECOND, FIRST],
  ["is the first that gets another port", [{ addresses: [A, B, C], ports: [port("http", 80)] }], SECOND],
  ["is the last that loses another port", SECOND, [{ addresses: [A, B, C], ports: [port("http", 80)] }]],
])("an address that %s keeps its first one all the time", (_what, before, after) => {
  const { slices } = change([], before);
  const { views } = change(slices, after);
  expect(views.length).toBeGreaterThan(2);
  expect(views.filter((view) => !view.includes(`${B!.ip}:80`))).toEqual([]);
});
