/** When the simulator's oracles complain that a copy of one tenant object is deleted for another one, or that one stays in another place. */
import { expect, test, vi } from "vitest";
import { deletion } from "../../../src/engine/reconcile/plan-types.ts";
import { writeMarkers } from "../../../src/engine/translate/markers.ts";
import { SERVICES } from "../../../src/kube/object/resource.ts";
import { checkConvergence } from "../../../src/workbench/simulator/oracles/convergence.ts";
import { identity } from "../../../src/workbench/simulator/oracles/identity.ts";
import { createHistory, PLACE, WEB, type History } from "./simulator-history.ts";

/** The host has a Service with the markers of a tenant Service, written for that place. */
async function hasCopy(history: History, hostName: string, of: { readonly name: string; readonly uid: string }) {
  const source = { vcluster: "blue", vclusterNamespace: "vc", kind: "v1/Service", namespace: WEB.namespace, ...of };
  const markers = writeMarkers("sync.platform/", { ...source, hostName, hostNamespace: PLACE.namespace });
  const metadata = { namespace: PLACE.namespace, name: hostName, ...markers };
  await history.user("host", SERVICES, { apiVersion: "v1", kind: "Service", metadata, spec: { ports: [{ port: 80 }] } });
  return history.at("host", SERVICES, metadata)!;
}

test.each([
  ["it stands where the other object belongs, and its own object belongs elsewhere", PLACE.name, undefined],
  ["but not where it stands in its own place", "db-x-shop-x-blue", "services vc/db-x-shop-x-blue of shop/db was deleted for shop/web"],
  ["but not where neither object belongs", "db-before", "services vc/db-before of shop/db was deleted for shop/web"],
] as const)("a copy may be deleted for another object where %s", async (_what, hostName, wrong) => {
  const history = await createHistory(identity, "auto");
  const there = await hasCopy(history, hostName, { name: "db", uid: "tenant-9" });
  await history.write(SERVICES, deletion(there, "", "none"), { id: "services|shop/web" });
  expect(history.wrong).toBe(wrong);
});

test.each([
  [
    "its object has the copy that replaces it",
    [],
    "services vc/web-before still exists, although the copy of shop/web is vc/web-x-shop-x-blue",
  ],
  ["but not where the host refuses to write that copy", ["API_INVALID"], undefined],
] as const)("a copy must not stay in another place where %s", async (_what, codes, message) => {
  const history = await createHistory(identity, "endpoints");
  await history.mirrors();
  expect(checkConvergence(history.world)).toBeUndefined();
  await hasCopy(history, "web-before", { name: WEB.name, uid: history.at("tenant", SERVICES, WEB)!.metadata.uid! });
  vi.spyOn(history.world.replicas[0]!, "notes").mockReturnValue(codes);
  expect(checkConvergence(history.world)).toEqual(message && { oracle: "L2", message });
});
