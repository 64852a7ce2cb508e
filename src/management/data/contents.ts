import { canonicalJson } from "../../base/json.ts";
import { sha256Hex } from "../../base/digest.ts";
import { storePrefix } from "../../apiserver/verbs/resource-context.ts";
import { decodeObject } from "../../apiserver/types/objects/decode.ts";
import type { ObjectSchema } from "../../schema/schema.ts";
import type { Store, StoredObject } from "../../apiserver/store/store.ts";
import type { KubeObject } from "../../kube/object/types.ts";
import { ACCESS_KEY_SHAPE } from "../kinds/owned-access-key.ts";
import { sharedSecrets } from "../kinds/shared-secret.ts";
import { teams } from "../kinds/team.ts";
import { OWNED_ACCESS_KEYS, SHARED_SECRETS, TEAMS, USERS } from "../kinds/types.ts";
import { USER_SHAPE } from "../kinds/user.ts";
import { STATE_KEY } from "./copy-state.ts";
import { INTERNAL_PREFIX } from "../records/internal-records.ts";

/** Everything that the management API has stored, at one revision: objects, and the server's own records. */
export interface Contents {
  readonly revision: number;
  readonly objects: readonly StoredObject[];
}

/** The result of checking all contents. */
export interface Findings {
  readonly revision: number;
  /** SHA-256 of all contents without resourceVersions; a copy has the same digest. */
  readonly digest: string;
  /** Number of objects by kind. */
  readonly kinds: Readonly<Record<string, number>>;
  /** Deviations from what this program writes, a sentence for each. They quote no values. */
  readonly faults: readonly string[];
}

const SHAPES: ReadonlyMap<string, ObjectSchema> = new Map([
  [storePrefix(SHARED_SECRETS), sharedSecrets.shape],
  [storePrefix(TEAMS), teams.shape],
  [storePrefix(USERS), USER_SHAPE],
  [storePrefix(OWNED_ACCESS_KEYS), ACCESS_KEY_SHAPE],
]);

/** The leader election record: running servers have it, copies do not. */
const LEASES = `${INTERNAL_PREFIX}coordination.k8s.io/`;

/** The contents of a store at one state. */
export async function contentsOf(store: Pick<Store, "list">): Promise<Contents> {
  const { objects, revision } = await store.list({ prefix: "/" });
  return { revision, objects: objects.filter(({ key }) => key !== STATE_KEY && !key.startsWith(LEASES)) };
}

/** Checks everything: names, identities and keys match, and objects have the form of their kind. */
export function checkContents({ objects, revision }: Contents): Findings {
  const kinds: Record<string, number> = {};
  for (const { object } of objects) kinds[String(object.kind)] = (kinds[String(object.kind)] ?? 0) + 1;
  const faults = objects.flatMap((stored) => faultsOf(stored).map((why) => `${JSON.stringify(stored.key)}: ${why}`));
  return { revision, digest: digestOf(objects), kinds, faults };
}

/** SHA-256 of objects and their places, in hexadecimal. Order and resourceVersions do not count. */
export function digestOf(objects: readonly StoredObject[]): string {
  const lines = objects.map(({ key, object }) => `${JSON.stringify(key)} ${canonicalJson(withoutVersion(object))}\n`);
  return sha256Hex(lines.sort().join(""));
}

function withoutVersion({ metadata: { resourceVersion: _, ...metadata }, ...object }: KubeObject): KubeObject {
  return { ...object, metadata };
}

function faultsOf({ key, object, revision }: StoredObject): readonly string[] {
  const { apiVersion = "", kind = "", metadata } = object;
  const { name = "", namespace, uid, creationTimestamp, resourceVersion } = metadata;
  const internal = key.startsWith(INTERNAL_PREFIX);
  const group = apiVersion.includes("/") ? apiVersion.slice(0, apiVersion.indexOf("/")) : "core";
  const end = namespace === undefined || namespace === "" ? `/${name}` : `/${namespace}/${name}`;
  const faults: (readonly [boolean, string])[] = [
    [apiVersion === "" || kind === "" || name === "", "it lacks apiVersion, kind or name"],
    [!key.startsWith(`/${group}/`) || !key.endsWith(end), "its key does not match its name"],
    [!internal && (!uid || !creationTimestamp), "it lacks uid or creationTimestamp"],
    [resourceVersion !== String(revision), "its resourceVersion is not that of its last write"],
    [internal && typeof object["data"] !== "string", "it has no data"],
  ];
  const shape = SHAPES.get(key.slice(0, key.indexOf("/", key.indexOf("/", 1) + 1) + 1));
  return [...faults.filter(([wrong]) => wrong).map(([, why]) => why), ...(shape === undefined ? [] : formFaults(shape, object))];
}

function formFaults(shape: ObjectSchema, object: KubeObject): readonly string[] {
  const faults: string[] = [];
  const refuse = (why: string): never => {
    throw new RangeError(why);
  };
  try {
    const onUnknownField = (path: string) => void faults.push(`it has an unknown field ${path}`);
    decodeObject(shape, object, { root: String(object.kind), internal: true, onUnknownField, refuse });
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    faults.push("it has a field of the wrong type");
  }
  return faults;
}
