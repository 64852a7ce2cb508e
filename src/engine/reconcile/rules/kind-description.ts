import type { KubeObject } from "../../../kube/object/types.ts";
import type { ObjectSchema } from "../../../schema/schema.ts";

/**
 * What is known of a synced kind outside of the plans: how people name it, what its objects look like, and examples of them. Plain values
 * and pure functions.
 */
export interface KindDescription {
  /** Its section of `sync.toHost`, which also names its list of patches: `endpointSlices`. No other section may have the name. */
  readonly section: string;
  /** What several of its objects are called: `EndpointSlices`. */
  readonly plural: string;
  /** Its short name, as kubectl has it: `ep`. Default none. */
  readonly shortName?: string;
  /** What the JSON schema says of its section, and of the field `enabled` there. */
  readonly help: { readonly section: string; readonly enabled: string };
  /** Whether it is synced while its section is not written. A section that is written says `enabled: true` unless it says otherwise. */
  readonly byDefault: boolean;
  /** What to check when the syncer does not sync the kind. */
  readonly whyNotSynced: string;
  /** What of an object makes one value that host edits bring back: `endpoints and ports`. */
  readonly bodyInWords: string;
  /**
   * Its fields as the tenant's API server answers them, and what they may hold: lints read it, and laws try such values. The fields beside
   * `metadata` and `status` are the body.
   */
  readonly schema: ObjectSchema;
  /** An object in namespace `shop` with most fields that patches speak of. */
  readonly sample: KubeObject;
  /** Of kinds that hold addresses: where the first address of the sample stands, and a sample with so many, at most 65,536. */
  readonly addresses?: { readonly first: string; readonly sampleWith: (count: number) => KubeObject };
  /** Other bodies than the sample's, for users of a simulation who change an object. Default none: then its body is not changed. */
  readonly otherBodies?: readonly Readonly<Record<string, unknown>>[];
}

/** The fields that form the body of a kind's objects. */
export function bodyFields({ schema }: Pick<KindDescription, "schema">): readonly string[] {
  return Object.keys(schema.fields).filter((name) => name !== "metadata" && name !== "status");
}
