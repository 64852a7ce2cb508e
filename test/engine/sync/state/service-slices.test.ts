import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { KubeObject } from "../../../../src/kube/object/types.ts";
import { createServiceSlices } from "../../../../src/engine/sync/state/service-slices.ts";
import { testRules } from "../../../support/rules.ts";

const { translator } = testRules();
const ONE = { namespace: "shop", name: "one" };
const WEB = { namespace: "shop", name: "web" };
const DB = { namespace: "shop", name: "db" };

function slice(service: string | undefined): KubeObject {
  const labels = service === undefined ? {} : { "kubernetes.io/service-name": service };
  return { apiVersion: "discovery.k8s.io/v1", kind: "EndpointSlice", metadata: { ...ONE, labels } };
}

test("a slice that moves concerns the Service that it leaves and the one that it joins", () => {
  const slices = createServiceSlices(translator);
  expect(slices.look(ONE, slice("web"))).toEqual([WEB]);
  expect(slices.look(ONE, slice("db"))).toEqual([WEB, DB]);
  expect([slices.of(WEB), slices.of(DB), slices.serviceOf(ONE)]).toEqual([[], [ONE], DB]);
  expect(slices.ofHost({ namespace: "vc", name: "db-x-shop-x-blue" })).toEqual([ONE]);
  expect(slices.look(ONE, slice(undefined))).toEqual([DB]);
  expect([slices.of(DB), slices.serviceOf(ONE)]).toEqual([[], undefined]);
});

test("whatever happened before, it knows what the slices say now", () => {
  const name = fc.constantFrom("a", "b", "c");
  const change = fc.tuple(name, fc.option(fc.option(name, { nil: "" }), { nil: undefined }));
  fc.assert(
    fc.property(fc.array(change, { maxLength: 30 }), (changes) => {
      const slices = createServiceSlices(translator);
      const now = new Map<string, string>();
      for (const [key, service] of changes) {
        slices.look({ namespace: "shop", name: key }, service === undefined ? undefined : slice(service === "" ? undefined : service));
        if (service) now.set(key, service);
        else now.delete(key);
      }
      for (const service of ["a", "b", "c"]) {
        const wanted = [...now].filter(([, of]) => of === service).map(([key]) => ({ namespace: "shop", name: key }));
        expect(new Set(slices.of({ namespace: "shop", name: service }))).toEqual(new Set(wanted));
        expect(new Set(slices.ofHost({ namespace: "vc", name: `${service}-x-shop-x-blue` }))).toEqual(new Set(wanted));
      }
    }),
    { numRuns: 300 },
  );
});
