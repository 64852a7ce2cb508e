/** When the simulator's oracle S2 complains that a copy of one tenant object is deleted for another one, and when it does not. */
import { expect, test } from "vitest";
import { deletion } from "../../../src/engine/reconcile/plan-types.ts";
import { writeMarkers } from "../../../src/engine/translate/markers.ts";
import { SERVICES } from "../../../src/kube/object/resource.ts";
import { identity } from "../../../src/workbench/simulator/oracles/identity.ts";
import { createHistory, PLACE } from "./simulator-history.ts";

test.each([
  ["it stands where the other object belongs, and its own object belongs elsewhere", PLACE.name, undefined],
  ["but not where it stands in its own place", "db-x-shop-x-blue", "services vc/db-x-shop-x-blue of shop/db was deleted for shop/web"],
  ["but not where neither object belongs", "db-before", "services vc/db-before of shop/db was deleted for shop/web"],
] as const)("a copy may be deleted for another object where %s", async (_what, hostName, wrong) => {
  const history = await createHistory(identity, "auto");
  const source = { vcluster: "blue", vclusterNamespace: "vc", kind: "v1/Service", namespace: "shop", name: "db", uid: "tenant-9" };
  const markers = writeMarkers("sync.platform/", { ...source, hostName, hostNamespace: PLACE.namespace });
  const metadata = { namespace: PLACE.namespace, name: hostName, ...markers };
  await history.user("host", SERVICES, { apiVersion: "v1", kind: "Service", metadata, spec: { ports: [{ port: 80 }] } });
  const there = history.at("host", SERVICES, metadata)!;
  await history.write(SERVICES, deletion(there, "", "none"), { id: "services|shop/web" });
  expect(history.wrong).toBe(wrong);
});
