/**
 * Fields that several kinds have.
 *
 * @module
 */
import { ANY, wholeNumber, listOf, objectOf, oneOf, textAs, textsBy } from "../../schema/builders.ts";
import type { ObjectSchema, Schema } from "../../schema/schema.ts";

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
