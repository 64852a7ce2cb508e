import { afterEach, expect, test, vi } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import type { KubeObject } from "../../src/kube/object/types.ts";
import { deepFreeze, oncePerObject } from "../../src/apiserver/types/objects/json-data.ts";
import { dnsSubdomain } from "../../src/apiserver/types/objects/names.ts";
import { kindShape } from "../../src/kube/object/kind-shape.ts";
import { textMap } from "../../src/schema/builders.ts";
import { Answering, createAnswerWriter } from "../../src/apiserver/http/answering.ts";
import type { Exchange } from "../../src/apiserver/http/exchange.ts";
import { createPrinters } from "../../src/apiserver/http/printers.ts";
import type { ResourceDefinition } from "../../src/apiserver/types/resource-definition.ts";
import { CONFIG_MAPS } from "../../src/kube/object/resource.ts";

afterEach(() => void vi.restoreAllMocks());

const withoutData = oncePerObject(({ apiVersion, kind, metadata }: KubeObject): KubeObject => ({ apiVersion, kind, metadata }));
const definition: ResourceDefinition = {
  type: CONFIG_MAPS,
  singular: "configmap",
  shape: kindShape({ data: textMap }),
  strategy: { nameRule: dnsSubdomain },
  shown: (object, { name }) => (name.startsWith("reader") ? object : withoutData(object)),
};
const METADATA_ALONE = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";

/** The lines of one event for many watchers, and how often it was made JSON of. */
function encode(watchers: readonly { readonly name: string; readonly accept: string }[]) {
  const answering = new Answering(createAnswerWriter({ clock: systemClock, readMs: 1_000 }));
  const printers = createPrinters({ answering, clock: systemClock });
  const lines = watchers.map(({ name, accept }) => {
    const request = { headers: { accept } };
    const exchange = { request, response: { later: [] }, query: new URLSearchParams(), user: { name, groups: [] } };
    return printers.lines(exchange as unknown as Exchange, definition);
  });
  const metadata = { name: "a", namespace: "shop", resourceVersion: "7" };
  const object = deepFreeze({ apiVersion: "v1", kind: "ConfigMap", metadata, data: { secret: "x" } }) as KubeObject;
  const stringify = vi.spyOn(JSON, "stringify");
  const texts = lines.map((toLine) => toLine({ type: "MODIFIED", object }).toString());
  const encoded = stringify.mock.calls.length;
  vi.restoreAllMocks();
  return { texts, encoded };
}

const hundred = (name: string, accept = "application/json") =>
  Array.from({ length: 100 }, (_, index) => ({ name: `${name}-${index}`, accept }));

test.each([
  ["all of it", hundred("reader"), '"secret":"x"'],
  ["what is left of it for those who may not read it", hundred("guest"), '"resourceVersion":"7"}}}'],
  ["its metadata", hundred("reader", METADATA_ALONE), "PartialObjectMetadata"],
])("an event is encoded once for 100 watchers that see %s", (_what, watchers, shown) => {
  const { texts, encoded } = encode(watchers);
  expect(encoded).toBe(1);
  expect(new Set(texts).size).toBe(1);
  expect(texts[0]).toContain(shown);
});

test("watchers who see different things have a text each", () => {
  const { texts, encoded } = encode([...hundred("guest"), ...hundred("reader")]);
  expect(encoded).toBe(2);
  expect(texts.filter((text) => text.includes("secret"))).toHaveLength(100);
  expect(texts.slice(0, 100).join("")).not.toContain("secret");
});
