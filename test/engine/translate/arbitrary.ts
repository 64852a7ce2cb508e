/** Random names as Kubernetes allows them. */
import * as fc from "fast-check";

/** A DNS name: labels of letters, digits and hyphens, joined by dots. */
export const DNS_NAME = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

/** A namespace, or the name of a Service. Short texts are likely to meet `-x-`. */
export const dnsLabel: fc.Arbitrary<string> = fc.oneof(
  fc.stringMatching(/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/),
  fc.stringMatching(/^[abx]([-abx]{0,8}[abx])?$/),
);

/** The name of an object, up to 253 characters with dots. */
export const dnsName: fc.Arbitrary<string> = fc.array(dnsLabel, { minLength: 1, maxLength: 4 }).map((labels) =>
  labels
    .join(".")
    .slice(0, 253)
    .replace(/[-.]+$/, ""),
);

/** Label keys, the special ones among them; none below the marker prefix but those that nested virtual clusters use. */
export function labelKey(prefix: string): fc.Arbitrary<string> {
  return fc.oneof(
    { weight: 2, arbitrary: fc.stringMatching(/^([a-z]{1,8}\.io\/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,20}[A-Za-z0-9])?$/) },
    {
      weight: 1,
      arbitrary: fc.constantFrom("release", "app", ...["managed-by", "namespace", "controlled-by"].map((name) => prefix + name)),
    },
  );
}

/** A label map. */
export function labelMap(prefix: string): fc.Arbitrary<Record<string, string>> {
  return fc.dictionary(labelKey(prefix), fc.stringMatching(/^([A-Za-z0-9]{0,12})$/), { maxKeys: 8 });
}
