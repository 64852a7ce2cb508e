/**
 * What the samples of the kinds have in common.
 *
 * @module
 */
import type { KubeObject } from "../../kube/object/types.ts";

/** The namespace of samples. */
const SAMPLE_NAMESPACE = "shop";

/** The ports of samples that hold addresses. */
export const SAMPLE_PORTS = [{ name: "http", port: 8080, protocol: "TCP" }];

/** The metadata of a sample. */
export function sampleMetadata(name: string): KubeObject["metadata"] {
  return { name, namespace: SAMPLE_NAMESPACE, labels: { app: "web" }, annotations: {} };
}

/** A reference to a Pod of the sample namespace. */
export function samplePod(name: string): object {
  return { kind: "Pod", namespace: SAMPLE_NAMESPACE, name };
}

/** Addresses of so many Pods, at most 65,536, each a little different from the others. `make` gives one the form of its kind. */
export function sampleAddresses<Made>(count: number, make: (ip: string, behind: object) => Made): Made[] {
  return Array.from({ length: count }, (_unused, index) =>
    make(`10.1.${index >> 8}.${index & 255}`, {
      ...{ hostname: `web-${index}`, nodeName: `node-${index % 100}`, targetRef: samplePod(`web-${index}`) },
    }),
  );
}
