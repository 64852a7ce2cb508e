/**
 * Where copies are looked for, with few permissions and with many.
 */
import { expect, test } from "vitest";
import { EngineError } from "../../../../src/base/errors.ts";
import type { ListScope } from "../../../../src/kube/object/cluster-client.ts";
import { ENDPOINTS, SERVICES, type ResourceType } from "../../../../src/kube/object/resource.ts";
import type { KubeObject } from "../../../../src/kube/object/types.ts";
import { findMarkedCopies } from "../../../../src/engine/sync/inspect/marked-copies.ts";
import { formatKind, writeMarkers } from "../../../../src/engine/translate/markers.ts";
import { createTranslator, type TranslatorOptions } from "../../../../src/engine/translate/translator.ts";

function copy(resource: ResourceType, namespace: string, vcluster = "blue"): KubeObject {
  const source = {
    vcluster,
    kind: formatKind(resource),
    namespace: "shop",
    name: "db",
    uid: "u",
    hostName: "db",
    hostNamespace: namespace,
  };
  return { ...resource, metadata: { namespace, name: "db", ...writeMarkers("sync.platform/", source) } } as unknown as KubeObject;
}

/** A cluster with a copy of each kind in each namespace, which answers only for the scopes that `allows` lets pass. */
function look(allows: (resource: ResourceType, scope: ListScope) => boolean, options: Partial<TranslatorOptions> = {}) {
  const translator = createTranslator({ vcluster: { name: "blue", namespace: "v1" }, ...options });
  const list = (resource: ResourceType, scope: ListScope) => {
    if (!allows(resource, scope)) return Promise.reject(new EngineError("API_FORBIDDEN", "No"));
    expect(scope.labelSelector).toBe("sync.platform/managed-by=blue");
    const places = ["v1", "v2", "h-a"].filter((place) => scope.namespace === undefined || scope.namespace === place);
    return Promise.resolve(places.map((place) => copy(resource, place)));
  };
  return findMarkedCopies({ reads: { list }, translator, kinds: [ENDPOINTS, SERVICES] });
}

const places = ({ copies }: Awaited<ReturnType<typeof look>>) =>
  copies.map(({ resource, source }) => `${resource.kind} ${source.hostNamespace}`);

test("all namespaces are looked at where that is allowed, whatever the configuration says", async () => {
  const found = await look(() => true);
  expect(places(found)).toEqual(
    ["v1", "v2", "h-a"].flatMap((place) => `Endpoints ${place}`).concat(["v1", "v2", "h-a"].map((place) => `Service ${place}`)),
  );
  expect(found).toMatchObject({ hidden: [], narrowed: undefined });
});

test("else those that the configuration names, and that is reported", async () => {
  const found = await look((resource, { namespace }) => resource === SERVICES || namespace === "v1");
  expect(places(found)).toEqual(["Endpoints v1", "Service v1", "Service v2", "Service h-a"]);
  expect(found).toMatchObject({ hidden: [], narrowed: { kinds: [ENDPOINTS], namespaces: ["v1"] } });
});

test("each of several namespaces that are mapped", async () => {
  const found = await look((_resource, { namespace }) => namespace !== undefined, { mode: "multi-namespace", mappings: { a: "h-a" } });
  expect(places(found)).toEqual(["Endpoints v1", "Endpoints h-a", "Service v1", "Service h-a"]);
  expect(found).toMatchObject({ narrowed: { kinds: [ENDPOINTS, SERVICES], namespaces: ["v1", "h-a"] } });
});

test.each([
  { why: "its namespace may not be listed either", options: {} },
  { why: "a pattern leaves the namespaces open", options: { mode: "multi-namespace", mappings: { "a-*": "h-*" } } as const },
])("a kind is hidden where $why", async ({ options }) => {
  const found = await look((resource) => resource === SERVICES, options);
  expect(found.hidden.map(({ resource, error }) => [resource.kind, error.code])).toEqual([["Endpoints", "API_FORBIDDEN"]]);
  expect(found.narrowed).toBeUndefined();
});
