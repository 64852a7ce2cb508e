import { jsonEqual } from "../../../base/json.ts";
import type { Chance } from "../../../base/chance.ts";
import type { KubeObject, StringMap } from "../../../kube/object/types.ts";
import { oncePerObject } from "../../../apiserver/types/objects/json-data.ts";
import { withMetadata } from "../../../apiserver/types/objects/metadata.ts";
import type { ResourceDefinition } from "../../../apiserver/types/resource-definition.ts";
import { specOf, USUAL_STRATEGY, withOpenMaps } from "../../kinds/common.ts";
import { LAST_APPLIED } from "../../kinds/last-applied.ts";
import type { SharedSecretSpec } from "../../kinds/shared-secret.ts";
import type { Permissions } from "./permissions.ts";

/** Options of {@link withSecretView}. */
export interface SecretViewOptions {
  readonly permissions: Pick<Permissions, "mayRead">;
  readonly chance: Pick<Chance, "bytes">;
}

const STAND_IN_BYTES = 16;

/**
 * Shows SharedSecrets as each caller may see them. Callers who may read them get all data. Callers who may only write them, because their
 * rule lacks `get` and `list` or because of a scope, get only the metadata. Their patches apply to an object with a random string in place
 * of each value, so that they can neither copy nor test a value. Values that a patch does not change are kept.
 *
 * @example
 * const definition = withSecretView(sharedSecrets, { permissions, chance });
 */
export function withSecretView(definition: ResourceDefinition, { permissions, chance }: SecretViewOptions): ResourceDefinition {
  const { type, strategy } = definition;
  const standIn = Buffer.from(chance.bytes(STAND_IN_BYTES)).toString("base64");
  return {
    ...definition,
    shown: (object, user) => (permissions.mayRead(user, type, object) ? object : outlineOnce(object)),
    strategy: {
      ...strategy,
      newGeneration: (object, old) => !jsonEqual(withKept(object, old, standIn)["spec"], old["spec"]),
      prepare: (object, old) => USUAL_STRATEGY.prepare(withKept(object, old, standIn), old),
      opened: (stored, by) => withOpenMaps(permissions.mayRead(by, type, stored) ? stored : withStandIns(stored, standIn)),
    },
  };
}

function outline({ apiVersion, kind, metadata }: KubeObject): KubeObject {
  const {
    labels: _labels,
    annotations: _annotations,
    managedFields: _managers,
    finalizers: _finalizers,
    ownerReferences: _owners,
    ...rest
  } = metadata;
  return { apiVersion, kind, metadata: rest, spec: {}, status: {} };
}

const outlineOnce = oncePerObject(outline);

function withStandIns(stored: KubeObject, standIn: string): KubeObject {
  const { data } = specOf<SharedSecretSpec>(stored);
  const { annotations = {} } = stored.metadata;
  const hidden = data && Object.fromEntries(Object.keys(data).map((name) => [name, standIn]));
  const noted = LAST_APPLIED in annotations ? withMetadata(stored, { annotations: { ...annotations, [LAST_APPLIED]: standIn } }) : stored;
  return withData(noted, hidden);
}

/** Replaces a placeholder by its value, or removes it if there was none. */
function withKept(object: KubeObject, old: KubeObject | undefined, standIn: string): KubeObject {
  const before = old === undefined ? {} : (specOf<SharedSecretSpec>(old).data ?? {});
  const { data } = specOf<SharedSecretSpec>(object);
  if (!holds(object, standIn)) return object;
  const kept =
    data && Object.fromEntries(Object.entries(data).map(([name, value]) => [name, value === standIn ? (before[name] ?? "") : value]));
  const { [LAST_APPLIED]: note, ...annotations } = object.metadata.annotations ?? {};
  if (note !== standIn) return withData(object, kept);
  const last = old?.metadata.annotations?.[LAST_APPLIED];
  return withData(withMetadata(object, { annotations: last === undefined ? annotations : { ...annotations, [LAST_APPLIED]: last } }), kept);
}

/** Reports whether an object contains the placeholder anywhere. */
function holds(object: KubeObject, standIn: string): boolean {
  if (object.metadata.annotations?.[LAST_APPLIED] === standIn) return true;
  const { data } = specOf<SharedSecretSpec>(object);
  for (const name in data) if (data[name] === standIn) return true;
  return false;
}

function withData(object: KubeObject, data: StringMap | undefined): KubeObject {
  return data === undefined ? object : { ...object, spec: { ...specOf<SharedSecretSpec>(object), data } };
}
