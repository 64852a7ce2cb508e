/**
 * A kind that nothing of this product knows: all that it takes to sync it is this entry.
 */
import { sha256Hex } from "../../../src/base/digest.ts";
import { canonicalJson } from "../../../src/base/json.ts";
import { PLAIN_KIND, sampleMetadata } from "../../../src/engine/kinds/kind-parts.ts";
import type { SyncedKind } from "../../../src/engine/reconcile/rules/rules.ts";
import { OBJECT_META } from "../../../src/kube/object/kind-shape.ts";
import type { ResourceType } from "../../../src/kube/object/resource.ts";
import type { KubeObject } from "../../../src/kube/object/types.ts";
import { wholeNumber, listOf, objectOf, oneOf, textAs } from "../../../src/schema/builders.ts";

export const WIDGETS: ResourceType = { apiVersion: "example.com/v1", kind: "Widget", plural: "widgets", namespaced: true };

const BODY = ["size", "colour", "parts"] as const;

function bodyOf(object: KubeObject): Record<string, unknown> {
  return Object.fromEntries(BODY.flatMap((field) => (object[field] === undefined ? [] : [[field, object[field]]])));
}

/** An object with the body of another one. */
export function withBodyOf({ apiVersion, kind, metadata }: KubeObject, other: KubeObject): KubeObject {
  return { apiVersion, kind, metadata, ...bodyOf(other) };
}

const fingerprint = (object: KubeObject): string => sha256Hex(canonicalJson(bodyOf(object)));

export const WIDGETS_KIND: SyncedKind = {
  resource: WIDGETS,
  section: "widgets",
  plural: "Widgets",
  shortName: "wd",
  help: { section: "Widgets of the tenant cluster.", enabled: "Whether Widgets are synced." },
  byDefault: false,
  whyNotSynced: "They are synced once sync.toHost.widgets is configured",
  bodyInWords: "size, colour and parts",
  schema: objectOf({
    "metadata!": OBJECT_META,
    "size!": wholeNumber(1, 100),
    colour: oneOf("red", "green", "blue"),
    parts: listOf(objectOf({ "name!": textAs("dnsLabel"), maker: textAs() })),
  }),
  sample: {
    ...{ apiVersion: "example.com/v1", kind: "Widget", metadata: sampleMetadata("web") },
    ...{ size: 3, colour: "red", parts: [{ name: "wheel", maker: "acme" }] },
  },
  otherBodies: [
    { size: 1 },
    { size: 3, colour: "blue", parts: [{ name: "wheel", maker: "acme" }] },
    { size: 3, colour: "red", parts: [{ name: "wheel" }, { name: "axle" }] },
  ],
  besideService: false,
  bodyFlows: true,
  ...PLAIN_KIND,
  serviceOf: () => undefined,
  translateBody: bodyOf,
  admitBody: (object) => ({
    ...{ object, refusedAddresses: [] },
    ...(typeof object["size"] !== "number" && { rejected: "size is not a number after the patches" }),
  }),
  hostFingerprint: fingerprint,
  tenantFingerprint: fingerprint,
  withBody: withBodyOf,
  tenantWithBody: withBodyOf,
  mustRecreate: () => false,
};
