import { expect, test } from "vitest";
import type { ObjectKey } from "../../../../src/kube/object/key.ts";
import { ENDPOINTS } from "../../../../src/kube/object/resource.ts";
import type { KubeObject } from "../../../../src/kube/object/types.ts";
import { addEventHandlers, createOrphans } from "../../../../src/engine/sync/run/event-handlers.ts";
import { createGather, type GatherOptions } from "../../../../src/engine/sync/run/gather.ts";
import { createExpectations } from "../../../../src/engine/sync/state/expectations.ts";
import { ourMarkers } from "../../../../src/engine/translate/identity.ts";
import { formatKind, writeMarkers, type CopySource } from "../../../../src/engine/translate/markers.ts";
import { createCacheByHand, EMPTY_CACHE } from "../../../support/cache-by-hand.ts";
import { testRules } from "../../../support/rules.ts";

const KEY = { namespace: "shop", name: "web" };
const OLD = { namespace: "old-shop", name: "web" };
const rules = testRules({ translator: { mode: "multi-namespace", mappings: { shop: "new-shop" } } });

/** A copy of shop/web by its markers, at any host key. */
function copyAt(host: { namespace: string; name: string }, of: Partial<CopySource> = {}): KubeObject {
  const kind = formatKind(rules.kind.resource);
  const place = { hostName: host.name, hostNamespace: host.namespace };
  const source = { vcluster: "blue", vclusterNamespace: "vc", kind, ...KEY, uid: "", ...place, ...of };
  const markers = writeMarkers("sync.platform/", source);
  return { apiVersion: "v1", kind: "Endpoints", metadata: { ...host, ...markers } };
}

function lookingAtOrphans() {
  const orphans = createOrphans();
  const look = (place: ObjectKey, object: KubeObject | undefined) =>
    orphans.look(rules, place, object && ourMarkers(rules, object, rules.kind.resource));
  return { orphans, look };
}

test("a copy is an orphan where its tenant object does not translate to, until it is gone", () => {
  const { orphans, look } = lookingAtOrphans();
  look(OLD, copyAt(OLD));
  look(OLD, copyAt(OLD));
  expect(orphans.of(rules, KEY)).toEqual([OLD]);
  look(OLD, undefined);
  expect(orphans.of(rules, KEY)).toEqual([]);
});

test("a copy in its place, one of another virtual cluster and one that inherited its markers are no orphans", () => {
  const { orphans, look } = lookingAtOrphans();
  const place = { namespace: "new-shop", name: "web" };
  look(place, copyAt(place));
  look(OLD, copyAt(OLD, { vcluster: "red" }));
  look(OLD, copyAt(OLD, { vclusterNamespace: "vc-of-another-blue" }));
  const inherited = copyAt(OLD);
  const other = { namespace: "old-shop", name: "other" };
  look(other, { ...inherited, metadata: { ...inherited.metadata, ...other } });
  expect(orphans.of(rules, KEY)).toEqual([]);
});

test("an orphan whose place another object has taken is no orphan any more, although the cache does not show it yet", () => {
  const copies = createCacheByHand();
  const host = createExpectations(copies.source);
  const router = addEventHandlers({
    tenant: { source: () => EMPTY_CACHE },
    host: { source: (resource) => (resource === ENDPOINTS ? copies.source : EMPTY_CACHE) },
    rules: [rules],
    enqueue: () => {},
    changed: () => {},
  });
  const services = { tenant: EMPTY_CACHE, host: EMPTY_CACHE };
  const others = { services, brake: { holds: () => false }, owner: () => undefined } as unknown as GatherOptions;
  const gather = createGather({ ...others, router });
  const orphansOf = (key: ObjectKey) => {
    const side = { rules, tenant: createExpectations(EMPTY_CACHE), host };
    return gather(`endpoints|${key.namespace}/${key.name}`, side, key, rules.translator.toHost(key, ENDPOINTS)).orphans;
  };
  const place = { namespace: "new-shop", name: "db" };
  const at = (version: string, of: Partial<CopySource>) => {
    const copy = copyAt(place, of);
    return { ...copy, metadata: { ...copy.metadata, uid: "1", resourceVersion: version } };
  };
  const orphan = at("4", {});
  copies.show(place, orphan);
  expect(orphansOf(KEY)).toEqual([orphan]);
  host.writing(place)(at("5", { namespace: "shop", name: "db" }));
  expect(orphansOf(KEY)).toEqual([]);
});
