import { AGE_COLUMN, NAME_COLUMN, textColumn, wide, ageOf, type Column } from "../../apiserver/types/columns.ts";
import type { KubeObject } from "../../kube/object/types.ts";
import { humanDuration } from "../../apiserver/types/human-duration.ts";
import { kindShape } from "../../kube/object/kind-shape.ts";
import { always, anything, bool, int64, internal, listOf, mapOf, named, objectOf, optional, text, time } from "../../schema/builders.ts";
import { ACCESS_SCOPE } from "../../cluster/scope/shape.ts";
import type { AccessScope } from "../../cluster/scope/types.ts";
import { PAYER, specOf, USUAL_TEXTS } from "./common.ts";

/** `spec.identity`: the user's data as the provider last reported it. */
export interface KeyIdentity {
  readonly userId?: string;
  readonly username?: string;
  readonly preferredUsername?: string;
  readonly email?: string;
  readonly emailVerified?: boolean;
  readonly extraClaims?: Readonly<Record<string, unknown>>;
  readonly groups?: readonly string[];
  readonly connector?: string;
  readonly connectorData?: string;
  readonly identityRefresh?: string;
}

/** `spec` of an OwnedAccessKey. */
export interface KeySpec {
  readonly displayName?: string;
  readonly description?: string;
  readonly user?: string;
  readonly team?: string;
  readonly subject?: string;
  readonly groups?: readonly string[];
  /** In the store a digest, see `access/keys/key-digest.ts`; in a body the value itself. */
  readonly key?: string;
  readonly disabled?: boolean;
  /** Seconds. */
  readonly ttl?: number;
  readonly ttlAfterLastActivity?: boolean;
  readonly scope?: AccessScope;
  readonly type?: string;
  readonly identity?: KeyIdentity;
  readonly oidcProvider?: Readonly<Record<string, string>>;
  readonly parent?: string;
  readonly oidcLogin?: {
    readonly idToken?: string;
    readonly accessToken?: string;
    readonly refreshToken?: string;
    readonly lastRefresh?: string;
  };
}

/** A User that a key is tied to. */
interface KnownUser {
  /** Undefined until the key is written while a User of that name exists. */
  readonly uid?: string;
}

/** The person behind a key, with the groups that do not come from their User. */
export interface KeyPerson extends KnownUser {
  readonly name: string;
  readonly groups?: readonly string[];
  /** The login key that the groups come from. They last as long as this key has them. */
  readonly login?: KeyReference;
}

/** Identifies one stored key, and not a later key with the same name. */
export interface KeyReference {
  readonly name: string;
  readonly uid: string;
}

/** The origin of a key and its dependencies, beside its own fields. Only the server sees it; see `access/keys/key-origin.ts`. */
export interface KeyOrigin {
  /** The key with which this key was created; undefined for a root. */
  readonly maker?: KeyReference;
  /** True if the maker was the sign-in key: this key ends with the person, not with the maker. */
  readonly bySignIn?: boolean;
  /** True if the maker's administrator permissions came from a group of its provider: this key ends with these permissions. */
  readonly byGrant?: boolean;
  /** The user who created it, or who changed what it represents. */
  readonly person?: KeyPerson | undefined;
  /** The user who set its value, and so may know it; undefined if an administrator or the server did. */
  readonly holder?: KeyPerson | undefined;
  /** The user that the key acts as, and for sign-in keys a digest of the user's stored password. */
  readonly user?: (KnownUser & { readonly password?: string }) | undefined;
  /** When the root of the key's chain was created, in milliseconds since 1970. Default: when the key was created. */
  readonly since?: number;
  /** The latest end of the key that the keys that changed it allow, in milliseconds since 1970. */
  readonly until?: number;
}

/** The origin of a key. A key that an earlier version stored without one is a root. */
export function originOf(key: KubeObject): KeyOrigin {
  return (key["origin"] ?? {}) as KeyOrigin;
}

/** Key types that the platform knows. Other types are stored and have no effect. */
export const KEY_TYPES: readonly string[] = ["Login", "User", "Other", "Reset", "OIDCRefreshToken", "NetworkPeer", "Workspace"];
/** The type of keys that users create. */
export const USER_KEY = "User";
/** The type of keys that a sign-in creates. They are deleted after they expire. */
export const LOGIN_KEY = "Login";

const IDENTITY = named("KeyIdentity", "The user's data as the provider last reported it.", {
  userId: [text, "Subject of the user at the provider."],
  username: [text, "Name of the user."],
  preferredUsername: [text, "Name that the user prefers."],
  email: [text, "Email address of the user."],
  emailVerified: [bool, "True if the provider has verified the address."],
  extraClaims: [mapOf(anything), "Additional claims that the configuration allows."],
  groups: [listOf(text), "Groups of the user at the provider."],
  connector: [text, "Name of the connector with which the user signed in."],
  connectorData: [text, "Data of the connector for later requests. It is never returned."],
  identityRefresh: [optional(time), "When this identity was last updated."],
});

const OIDC_PROVIDER = named("KeyOIDCProvider", "Data of a refresh token that the platform issued as an OpenID Connect provider.", {
  clientId: [text, "Id of the client to which the token was issued."],
  nonce: [text, "Nonce of the authentication request."],
  redirectUri: [text, "Redirect address of the client."],
  scopes: [text, "Requested scopes."],
});

const OIDC_LOGIN = named("KeyOIDCLogin", "Tokens of a provider. Deprecated: use identity.", {
  idToken: [text, "The ID token. It is never returned."],
  accessToken: [text, "The access token. It is never returned."],
  refreshToken: [text, "The refresh token. It is never returned."],
  lastRefresh: [optional(time), "When the tokens were last refreshed."],
});

const SPEC = named("OwnedAccessKeySpec", "Owner, lifetime and scope of the key.", {
  displayName: [text, USUAL_TEXTS.displayName],
  description: [text, USUAL_TEXTS.description],
  user: [text, "Name of the user that the key acts as. Default, if neither team nor subject is set: the caller who creates the key."],
  team: [text, "Name of the team that the key acts as."],
  subject: [text, "Any other subject that the key acts as."],
  groups: [listOf(text), "Names of groups that the key has in addition to the groups of its owner."],
  key: [
    text,
    "The bearer token. The server generates one if it is omitted. It is returned once, in the response to the request that sets it, and never again.",
  ],
  disabled: [bool, "If true, the key and the keys created with it are refused, but kept."],
  ttl: [int64, "Lifetime in seconds; 0 means no limit, unless the platform has one. A key never outlives the key that created it."],
  ttlAfterLastActivity: [bool, "If true, ttl counts from the last use of the key instead of its creation."],
  scope: [ACCESS_SCOPE, "Restricts the key to some of its owner's permissions. Default: no restriction."],
  type: [
    text,
    "Purpose of the key: User for keys that users create, Login for sign-in keys, other values for internal keys of the platform.",
  ],
  identity: [IDENTITY, "The user's data as the provider last reported it."],
  oidcProvider: [
    OIDC_PROVIDER,
    "Data of a refresh token that the platform issued as an OpenID Connect provider. It is stored but has no effect, because the platform is not a provider.",
  ],
  parent: [text, "Deprecated: name of another key from the same sign-in."],
  oidcLogin: [OIDC_LOGIN, "Deprecated: tokens of a provider; use identity."],
});

const STATUS = named("OwnedAccessKeyStatus", "Status of the key, as reported by the server.", {
  lastActivity: [optional(time), "When the key was last used."],
});

const REFERENCE = objectOf({ name: text, uid: text });

const PERSON = objectOf({ uid: text, name: text, groups: listOf(text), login: REFERENCE });

const ORIGIN = objectOf({
  maker: REFERENCE,
  bySignIn: bool,
  byGrant: bool,
  person: PERSON,
  holder: PERSON,
  user: objectOf({ uid: text, password: text }),
  since: int64,
  until: int64,
});

/** The shape of OwnedAccessKeys; `access/` defines their behaviour. */
export const ACCESS_KEY_SHAPE = kindShape(
  {
    spec: [always(SPEC), "Owner, lifetime and scope of the key."],
    status: [always(STATUS), "Status of the key, as reported by the server."],
    origin: internal(ORIGIN),
    payer: PAYER,
  },
  "A key for using the API without interaction.",
);

/** The columns of OwnedAccessKeys. `endOf` returns when a key expires, in milliseconds since 1970; Infinity if it never expires. */
export function accessKeyColumns(endOf: (key: KubeObject) => number): readonly Column[] {
  return [
    NAME_COLUMN,
    textColumn("Owner", "Owner of the key.", (object) => ownerText(specOf<KeySpec>(object))),
    textColumn("Type", "Purpose of the key.", (object) => specOf<KeySpec>(object).type ?? ""),
    textColumn("Disabled", "Whether spec.disabled is true.", (object) => String(specOf<KeySpec>(object).disabled === true)),
    textColumn("Expires", "Time until the key expires.", (object, now) => endText(endOf(object), now)),
    textColumn("Last Activity", "Time since the key was last used.", (object, now) => activityText(object, now)),
    wide(textColumn("TTL", "Lifetime in seconds.", (object) => String(specOf<KeySpec>(object).ttl ?? 0))),
    AGE_COLUMN,
  ];
}

function ownerText({ user = "", team = "", subject = "" }: KeySpec): string {
  if (user !== "") return `user/${user}`;
  return team === "" ? `subject/${subject}` : `team/${team}`;
}

function endText(endMs: number, now: number): string {
  if (endMs === Infinity) return "<never>";
  return now >= endMs ? "<expired>" : humanDuration(endMs - now);
}

function activityText(object: KubeObject, now: number): string {
  const { lastActivity } = (object["status"] ?? {}) as { lastActivity?: string };
  return lastActivity === undefined ? "<never>" : ageOf(lastActivity, now);
}
