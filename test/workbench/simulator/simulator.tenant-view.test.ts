/** When the simulator's oracle L8 complains that readers on the host see something else than those in the tenant, and when it does not. */
import { expect, test } from "vitest";
import { ENDPOINT_SLICES, ENDPOINTS } from "../../../src/kube/object/resource.ts";
import type { KubeObject } from "../../../src/kube/object/types.ts";
import { readers } from "../../../src/workbench/simulator/oracles/readers.ts";
import { checkTenantView } from "../../../src/workbench/simulator/oracles/tenant-view.ts";
import { createHistory, endpointsWith, PLACE, sliceWith, TENANT_MIRROR, WEB, type History } from "./simulator-history.ts";

const OF_PODS = { "endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io" };
const POD = { kind: "Pod", namespace: WEB.namespace, name: "p1", uid: "p1" };
const PORTS = [{ name: "http", port: 80 }];
const SLICE = { namespace: WEB.namespace, name: `${WEB.name}-a` };

function inIPv6(slice: KubeObject): KubeObject {
  return { ...slice, addressType: "IPv6" };
}

/** The Endpoints with one more subset. */
function withSubset(subset: object): KubeObject {
  const endpoints = endpointsWith("10.0.0.1");
  return { ...endpoints, subsets: [...(endpoints["subsets"] as readonly object[]), subset] };
}

/** The tenant writes a slice, which is copied. */
async function copies(history: History, slice: KubeObject): Promise<void> {
  await history.user("tenant", ENDPOINT_SLICES, slice);
  await history.copies(ENDPOINT_SLICES, SLICE);
}

/** The tenant changes the slice, and it is not copied again. */
async function changesSlice(history: History, annotations: Readonly<Record<string, string>>): Promise<void> {
  const slice = sliceWith({}, "10.0.0.3");
  await history.user("tenant", ENDPOINT_SLICES, { ...slice, metadata: { ...slice.metadata, annotations } });
}

test.each([
  ["slices made from the copy show the Endpoints", async (history: History) => history.makes(), undefined],
  ["but not where nothing shows them", async () => undefined, "miss IPv4 10.0.0.1:80/TCP/http"],
  ["the mirror shows the Endpoints", async (history: History) => history.mirrors(), undefined],
  [
    "but not where the mirror's slices are of earlier ones",
    async (history: History) => {
      await history.mirrors();
      await history.user("tenant", ENDPOINTS, endpointsWith("10.0.0.2"));
    },
    "miss IPv4 10.0.0.2:80/TCP/http, see IPv4 10.0.0.1:80/TCP/http",
  ],
  [
    "a user's slice is seen beside the Endpoints",
    async (history: History) => {
      await history.makes();
      await copies(history, inIPv6(sliceWith({}, "fd00::1")));
    },
    undefined,
  ],
  [
    "but not where only its earlier condition is",
    async (history: History) => {
      await history.makes();
      const slice = inIPv6(sliceWith({}, "fd00::1"));
      await copies(history, slice);
      const terminating = { ready: false, serving: true, terminating: true };
      await history.user("tenant", ENDPOINT_SLICES, { ...slice, endpoints: [{ addresses: ["fd00::1"], conditions: terminating }] });
    },
    "see IPv6 fd00::1:80/TCP/http",
  ],
  [
    "an address without ports is one of those with ports, of which the copy keeps only the latter",
    async (history: History) => {
      await history.makes();
      await history.user("tenant", ENDPOINTS, withSubset({ addresses: [{ ip: "10.0.0.1", targetRef: POD }] }));
    },
    undefined,
  ],
  [
    "but not where the address itself is new",
    async (history: History) => {
      await history.makes();
      await history.user("tenant", ENDPOINTS, withSubset({ addresses: [{ ip: "10.0.0.2" }] }));
    },
    "miss IPv4 10.0.0.2",
  ],
  [
    "Pods of one address are ready and not ready, and a user's slice says that it terminates",
    async (history: History) => {
      await history.user("tenant", ENDPOINTS, { ...endpointsWith(), subsets: [{ notReadyAddresses: [{ ip: "10.0.0.1" }], ports: PORTS }] });
      await history.copies(ENDPOINTS, WEB);
      await history.makes();
      await history.user("tenant", ENDPOINTS, withSubset({ notReadyAddresses: [{ ip: "10.0.0.1", targetRef: POD }], ports: PORTS }));
      const terminating = { ready: false, serving: true, terminating: true };
      await copies(history, { ...sliceWith({}), endpoints: [{ addresses: ["10.0.0.1"], conditions: terminating }] });
    },
    undefined,
  ],
  [
    "slices of Pods that say the same have no copy",
    async (history: History) => {
      await history.makes();
      await history.user("tenant", ENDPOINT_SLICES, sliceWith(OF_PODS, "10.0.0.1"));
    },
    undefined,
  ],
  [
    "but not where they have a family of their own",
    async (history: History) => {
      await history.makes();
      await history.user("tenant", ENDPOINT_SLICES, inIPv6(sliceWith(OF_PODS, "fd00::1")));
    },
    "miss IPv6 fd00::1:80/TCP/http, see IPv4 10.0.0.1:80/TCP/http",
  ],
  [
    "the tenant's mirror shows nothing of its own",
    async (history: History) => {
      await history.makes();
      await history.user("tenant", ENDPOINT_SLICES, sliceWith(TENANT_MIRROR, "10.0.0.1"));
    },
    undefined,
  ],
  [
    "the copy of a slice is left as it is, because the slice is paused",
    async (history: History) => {
      await history.makes();
      await copies(history, sliceWith({}, "10.0.0.2"));
      await changesSlice(history, { "sync.platform/pause": "true" });
    },
    undefined,
  ],
  [
    "but not where it is not",
    async (history: History) => {
      await history.makes();
      await copies(history, sliceWith({}, "10.0.0.2"));
      await changesSlice(history, {});
    },
    "miss IPv4 10.0.0.3:80/TCP/http, see IPv4 10.0.0.2:80/TCP/http",
  ],
  [
    "slices of Pods are the only source",
    async (history: History) => {
      await copies(history, sliceWith(OF_PODS, "10.0.0.3"));
      await history.userDeletes("tenant", ENDPOINTS, WEB);
      await history.userDeletes("host", ENDPOINTS, PLACE);
    },
    undefined,
  ],
  [
    "but not where slices of Endpoints that are gone are beside them",
    async (history: History) => {
      await history.makes();
      await copies(history, sliceWith(OF_PODS, "10.0.0.3"));
      await history.userDeletes("tenant", ENDPOINTS, WEB);
      await history.userDeletes("host", ENDPOINTS, PLACE);
    },
    "see IPv4 10.0.0.1:80/TCP/http",
  ],
] as const)("readers on the host see what those in the tenant see: %s", async (_what, how, difference) => {
  const history = await createHistory(readers, "auto");
  history.world.mirroring = false;
  await how(history);
  const message = difference && `readers of shop/web on the host ${difference}, unlike those in the tenant`;
  expect(checkTenantView(history.world)?.message).toBe(message);
});
