import type { KubeObject } from "../../../kube/object/types.ts";
import type { ObjectSchema } from "../../../schema/schema.ts";

/**
 * Description of a synced kind for everything except plans: its names, the form of its objects, and examples. Plain values and pure
 * functions.
 */
export interface KindDescription {
  /** Name of its section of `sync.toHost` and of its list of patches, such as `endpointSlices`. No other section may have the name. */
  readonly section: string;
  /** Name of several of its objects, such as `EndpointSlices`. */
  readonly plural: string;
  /** Its short name in kubectl, such as `ep`. Default none. */
  readonly shortName?: string;
  /** Descriptions in the JSON schema, of its section and of the field `enabled` in it. */
  readonly help: { readonly section: string; readonly enabled: string };
  /** Whether it is synced if its section is omitted. In a section, `enabled` defaults to true. */
  readonly byDefault: boolean;
  /** Possible reason why the syncer does not sync the kind, for users. */
  readonly whyNotSynced: string;
  /** Words for the body of its objects, which is synced back as one value, such as `endpoints and ports`. */
  readonly bodyInWords: string;
  /**
   * Its fields as the tenant's API server returns them, and their possible values: lints read the schema, and laws try such values. The
   * fields besides `metadata` and `status` are the body.
   */
  readonly schema: ObjectSchema;
  /** An object in namespace `shop` with most of the fields that patches use. */
  readonly sample: KubeObject;
  /** For kinds with addresses: the path of the sample's first address, and a sample with `count` addresses, at most 65,536. */
  readonly addresses?: { readonly first: string; readonly sampleWith: (count: number) => KubeObject };
  /** Bodies other than the sample's, for simulated users who change an object. Default none: they do not change its body. */
  readonly otherBodies?: readonly Readonly<Record<string, unknown>>[];
}

/** Returns the names of the fields that form the body of a kind's objects. */
export function bodyFields({ schema }: Pick<KindDescription, "schema">): readonly string[] {
  return Object.keys(schema.fields).filter((name) => name !== "metadata" && name !== "status");
}
