import { jsonEqual } from "../../../base/json.ts";
import type { KubeObject } from "../../../kube/object/types.ts";
import { forbidden, invalid, type FieldError } from "../../../apiserver/types/field-error.ts";
import { timestamp } from "../../../apiserver/types/objects/metadata.ts";
import type { ResourceDefinition } from "../../../apiserver/types/resource-definition.ts";
import type { UserInfo } from "../../../apiserver/types/user-info.ts";
import { validateNewScope, validateScope } from "../../../cluster/scope/checks/validate.ts";
import { scopeWarnings } from "../../../cluster/scope/checks/warnings.ts";
import { specOf, USUAL_STRATEGY, withOpenMaps } from "../../kinds/common.ts";
import { ACCESS_KEY_SHAPE, accessKeyColumns, KEY_TYPES, originOf, USER_KEY, type KeySpec } from "../../kinds/owned-access-key.ts";
import { withoutApplied } from "../../kinds/last-applied.ts";
import { OWNED_ACCESS_KEYS } from "../../kinds/types.ts";
import type { AccessKeys } from "./access-keys.ts";
import type { KeyActivity } from "./activity.ts";
import { KEY_EXTRA, subjectOfUserName } from "../caller.ts";
import { isDigest } from "./key-digest.ts";
import { keyEnd, lifetimeWarnings } from "./key-lifetime.ts";
import { authorKey, originAfter, type KeyOriginOptions } from "./key-origin.ts";
import type { WriteAdmission } from "../permissions/write-admission.ts";
import { mayRevoke } from "../permissions/revokes.ts";

/** Fields of the spec that are never returned, or that contain such fields. */
const APPLIED_SECRETS = ["key", "identity", "oidcLogin"];

/** Options of {@link createOwnedAccessKeys}. */
export interface AccessKeyKindOptions extends KeyOriginOptions {
  readonly keys: AccessKeys;
  readonly activity: KeyActivity;
  readonly admit: WriteAdmission;
  /** Called before a key is deleted. */
  readonly leaveLogin: (key: KubeObject) => Promise<void>;
}

/** Defines OwnedAccessKeys, the credentials for using the API. */
export function createOwnedAccessKeys(options: AccessKeyKindOptions): ResourceDefinition {
  const { keys, activity, admit, leaveLogin, lives, objects } = options;
  return {
    type: OWNED_ACCESS_KEYS,
    singular: "ownedaccesskey",
    shortNames: ["oak"],
    selectableFields: {
      "spec.user": (object) => specOf<KeySpec>(object).user ?? "",
      "spec.team": (object) => specOf<KeySpec>(object).team ?? "",
      "spec.type": (object) => specOf<KeySpec>(object).type ?? "",
      "spec.disabled": (object) => String(specOf<KeySpec>(object).disabled === true),
    },
    categories: ["platform"],
    shape: ACCESS_KEY_SHAPE,
    columns: accessKeyColumns((key) => lives.endOf(storedKey(key, objects))),
    shown: (object) => shown(object, activity),
    strategy: {
      ...USUAL_STRATEGY,
      newGeneration: (object, old) =>
        !keys.keepsValue(object, old) || !jsonEqual(withoutKey(withKeptSecrets(object, old)), withoutKey(old)),
      prepare: (object, old, by) => {
        const kept = withKeptSecrets(USUAL_STRATEGY.prepare(withoutApplied(object, APPLIED_SECRETS), old), old);
        return withOrigin(withAuthor(kept, old, { by, ...options }), old, { by, ...options });
      },
      // Only the server sees when a key was used.
      subresources: { status: (_desired, old) => withSpec(old, { key: "" }) },
      allocate: (object, old) => keys.allocate(object, old),
      opened: (stored) => withSpec(withoutSecrets(withoutOrigin(withOpenMaps(stored))), { key: "" }),
      validate,
      beforeDelete: leaveLogin,
      warnings: (object) => warnings(object, options),
      admit,
      revokes: mayRevoke,
      released: (object) => activity.forget(object.metadata.uid!),
    },
  };
}

/** Returns a key without its digest, and with the time of the last use. Only the response to the write that sets a value contains it. */
function shown(object: KubeObject, activity: KeyActivity): KubeObject {
  const { key = "", ...rest } = specOf<KeySpec>(object);
  const bare = withoutOrigin(withoutSecrets(isDigest(key) ? { ...object, spec: rest } : object));
  const last = activity.last(object.metadata.uid ?? "");
  return last === undefined ? bare : { ...bare, status: { lastActivity: timestamp(last) } };
}

/** Returns a key with the data that responses omit, some of which limit its life; the key itself if it is not stored. */
function storedKey(key: KubeObject, objects: KeyOriginOptions["objects"]): KubeObject {
  const found = objects.get(OWNED_ACCESS_KEYS, { namespace: "", name: key.metadata.name! });
  return found?.metadata.uid === key.metadata.uid ? found! : key;
}

function withoutKey(object: KubeObject): Omit<KeySpec, "key"> {
  const { key: _key, ...rest } = specOf<KeySpec>(object);
  return rest;
}

function withoutOrigin(object: KubeObject): KubeObject {
  const { origin: _origin, ...rest } = object;
  return rest;
}

/** Removes the data that providers returned for the platform only. */
function withoutSecrets(object: KubeObject): KubeObject {
  const { identity, oidcLogin } = specOf<KeySpec>(object);
  if (identity === undefined && oidcLogin === undefined) return object;
  const { connectorData: _data, ...known } = identity ?? {};
  const { idToken: _id, accessToken: _access, refreshToken: _refresh, ...times } = oidcLogin ?? {};
  return withSpec(object, { ...(identity && { identity: known }), ...(oidcLogin && { oidcLogin: times }) });
}

/** Restores hidden data, so that a caller who writes back what they read does not remove it. */
function withKeptSecrets(object: KubeObject, old: KubeObject | undefined): KubeObject {
  if (old === undefined) return object;
  const { identity, oidcLogin } = specOf<KeySpec>(object);
  const before = specOf<KeySpec>(old);
  const { connectorData } = before.identity ?? {};
  const { idToken, accessToken, refreshToken } = before.oidcLogin ?? {};
  return withSpec(object, {
    ...(identity && { identity: { ...(connectorData !== undefined && { connectorData }), ...identity } }),
    ...(oidcLogin && {
      oidcLogin: {
        ...(idToken !== undefined && { idToken }),
        ...(accessToken !== undefined && { accessToken }),
        ...(refreshToken !== undefined && { refreshToken }),
        ...oidcLogin,
      },
    }),
  });
}

function withSpec(object: KubeObject, spec: Partial<KeySpec>): KubeObject {
  return { ...object, spec: { ...specOf<KeySpec>(object), ...spec } };
}

interface Author extends AccessKeyKindOptions {
  readonly by: UserInfo;
}

/** Sets the origin of a key, which only the server writes. */
function withOrigin(object: KubeObject, old: KubeObject | undefined, { by, ...options }: Author): KubeObject {
  const keepsValue = old !== undefined && options.keys.keepsValue(object, old);
  const origin = originAfter({ object, old, by, keepsValue }, options);
  const known = Object.entries(origin).filter(([, value]) => value !== undefined && value !== false);
  return known.length === 0 ? withoutOrigin(object) : { ...object, origin: Object.fromEntries(known) };
}

/** Completes a new key: its author is the default owner, and a presented key with tokens of a provider is the default parent. */
function withAuthor(object: KubeObject, old: KubeObject | undefined, { by, objects }: Author): KubeObject {
  const spec = specOf<KeySpec>(object);
  if (old !== undefined) return object;
  const author = subjectOfUserName(by.name);
  const isNamed = [spec.user, spec.team, spec.subject].some((name) => name !== undefined && name !== "");
  const owner = isNamed || author === undefined ? {} : { [author.kind]: author.name };
  const type = spec.type === undefined || spec.type === "" ? USER_KEY : spec.type;
  const own = by.extra?.[KEY_EXTRA]?.[0];
  const shared = type === USER_KEY && own !== undefined && carriesToken(authorKey(by, objects));
  return withSpec(object, { ...owner, type, ...(shared && spec.parent === undefined && { parent: own }) });
}

function carriesToken(key: KubeObject | undefined): boolean {
  if (key === undefined) return false;
  const { oidcLogin = {} } = specOf<KeySpec>(key);
  return [oidcLogin.idToken, oidcLogin.accessToken, oidcLogin.refreshToken].some((token) => token !== undefined && token !== "");
}

function validate(object: KubeObject, old: KubeObject | undefined): readonly FieldError[] {
  const { ttl = 0, user = "", team = "", subject = "", scope } = specOf<KeySpec>(object);
  const named = [user, team, subject].filter((name) => name !== "").length;
  const check = old !== undefined && jsonEqual(scope, specOf<KeySpec>(old).scope) ? validateScope : validateNewScope;
  return [
    ...(ttl < 0 ? [invalid("spec.ttl", ttl, "must be greater than or equal to 0")] : []),
    ...(named > 1 ? [forbidden("spec", "a key can act as only one of user, team and subject")] : []),
    ...(scope === undefined ? [] : check(scope, "spec.scope")),
  ];
}

function warnings(object: KubeObject, options: AccessKeyKindOptions): readonly string[] {
  const spec = specOf<KeySpec>(object);
  const { type = "", scope } = spec;
  return [
    ...(type === "" || KEY_TYPES.includes(type) ? [] : [`spec.type ${JSON.stringify(type)} is unknown and has no effect`]),
    ...(scope === undefined ? [] : scopeWarnings(scope, "spec.scope")),
    ...endWarnings(object, options),
    ...(spec.oidcLogin === undefined ? [] : ["spec.oidcLogin is deprecated; use spec.identity"]),
    ...(spec.parent === undefined || spec.parent === "" ? [] : ["spec.parent is deprecated"]),
  ];
}

/** Warnings about limits that end a key earlier than its own settings. */
function endWarnings(object: KubeObject, { lives, limits }: AccessKeyKindOptions): readonly string[] {
  const { maker, until } = originOf(object);
  const endMs = lives.endOf(object);
  const alone = keyEnd({ ...object, origin: undefined }, undefined, limits());
  if ((maker === undefined && until === undefined) || endMs >= alone) return lifetimeWarnings(specOf<KeySpec>(object), limits());
  return [`the key expires at ${timestamp(endMs)}, no later than the keys used to create and change it`];
}
