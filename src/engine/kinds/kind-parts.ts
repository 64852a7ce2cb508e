/**
 * Shared parts of several kinds: rules, and parts of samples.
 *
 * @module
 */
import type { SyncedKind } from "../reconcile/rules/rules.ts";
import type { KubeObject } from "../../kube/object/types.ts";

/** The rules of a kind whose objects belong to the Service of the same name and can be edited in the tenant cluster. */
export const PLAIN_KIND: Pick<SyncedKind, "ownLabelKeys" | "ownLabels" | "serviceOf" | "writerOf"> = {
  ownLabelKeys: [],
  ownLabels: () => ({}),
  serviceOf: (key) => key,
  writerOf: () => undefined,
};

/** The namespace of samples. */
const SAMPLE_NAMESPACE = "shop";

/** The ports of samples with addresses. */
export const SAMPLE_PORTS = [{ name: "http", port: 8080, protocol: "TCP", appProtocol: "http" }];

/** The metadata of a sample. */
export function sampleMetadata(name: string): KubeObject["metadata"] {
  return { name, namespace: SAMPLE_NAMESPACE, labels: { app: "web" }, annotations: {} };
}

/** A reference to a Pod of the sample namespace. */
export function samplePod(name: string): object {
  return { kind: "Pod", namespace: SAMPLE_NAMESPACE, name };
}

/** Returns different addresses of `count` sample Pods, at most 65,536. `make` converts one address into the form of its kind. */
export function sampleAddresses<Made>(count: number, make: (ip: string, behind: object) => Made): Made[] {
  return Array.from({ length: count }, (_unused, index) =>
    make(`10.1.${index >> 8}.${index & 255}`, {
      ...{ hostname: `web-${index}`, nodeName: `node-${index % 100}`, targetRef: samplePod(`web-${index}`) },
    }),
  );
}
