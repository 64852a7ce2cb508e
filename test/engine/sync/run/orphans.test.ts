import { expect, test } from "vitest";
import type { ObjectKey } from "../../../../src/kube/object/key.ts";
import type { KubeObject } from "../../../../src/kube/object/types.ts";
import { createOrphans } from "../../../../src/engine/sync/run/event-handlers.ts";
import { ourMarkers } from "../../../../src/engine/translate/identity.ts";
import { formatKind, writeMarkers, type CopySource } from "../../../../src/engine/translate/markers.ts";
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

test("a copy is a orphan where its tenant object does not translate to, until it is gone", () => {
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
