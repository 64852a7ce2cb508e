/**
 * What several kinds have in common: fields, ways, and parts of samples.
 *
 * @module
 */
import { ANY, wholeNumber, listOf, objectOf, oneOf, textAs, textsBy } from "../../schema/builders.ts";
import type { ObjectSchema, Schema } from "../../schema/schema.ts";
import type { SyncedKind } from "../reconcile/rules/rules.ts";
import type { KubeObject } from "../../kube/object/types.ts";

/** The labels of an object. */
export const LABEL_MAP = textsBy("labelKey", "label");

/** The metadata of any object. What the API server alone writes has no values to try. */
export const METADATA: ObjectSchema = objectOf({
  "name!": textAs("dnsLabel"),
  "namespace!": textAs("namespace"),
  labels: LABEL_MAP,
  annotations: textsBy("annotationKey", "annotation"),
  ...{ "uid!": ANY, "resourceVersion!": ANY, "creationTimestamp!": ANY, generateName: ANY, generation: ANY },
  ...{ deletionTimestamp: ANY, deletionGracePeriodSeconds: ANY, finalizers: listOf(ANY), ownerReferences: ANY },
  ...{ managedFields: ANY, selfLink: ANY },
});

/** The number of a port. */
export const PORT_NUMBER = wholeNumber(1, 65_535);

/** The fields of a port; its number is in each object (`port!`), or only in each value to try (`port?`). */
export function portFields(number: "port!" | "port?"): Readonly<Record<string, Schema>> {
  const protocol = oneOf("TCP", "UDP", "SCTP");
  return { name: textAs("portName"), [number]: PORT_NUMBER, protocol, appProtocol: textAs("protocolName") };
}

/** A reference to the Pod behind an address. */
export const POD_REFERENCE: ObjectSchema = objectOf({
  ...{ "kind?": oneOf("Pod"), "name?": textAs("name"), "namespace?": textAs("namespace"), uid: textAs("dnsLabel") },
  ...{ apiVersion: ANY, resourceVersion: ANY, fieldPath: ANY },
});

/** What applies to a kind that belongs to the Service of its own name, and that only users write in the tenant cluster. */
export const PLAIN_KIND: Pick<SyncedKind, "ownLabelKeys" | "ownLabels" | "serviceOf" | "writerOf"> = {
  ownLabelKeys: [],
  ownLabels: () => ({}),
  serviceOf: (key) => key,
  writerOf: () => undefined,
};

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

/** Addresses of this many Pods, at most 65,536, each a little different from the others. `make` gives one the form of its kind. */
export function sampleAddresses<Made>(count: number, make: (ip: string, behind: object) => Made): Made[] {
  return Array.from({ length: count }, (_unused, index) =>
    make(`10.1.${index >> 8}.${index & 255}`, {
      ...{ hostname: `web-${index}`, nodeName: `node-${index % 100}`, targetRef: samplePod(`web-${index}`) },
    }),
  );
}
