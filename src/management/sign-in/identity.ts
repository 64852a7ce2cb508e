import type { SignInLimits } from "./limits/limits.ts";

/** Limits of what is kept of an identity. */
export type IdentityLimits = Pick<SignInLimits, "groupsMax" | "textLengthMax" | "identityBytesMax">;

/** A user who signed in, as a provider describes them. */
export interface Identity {
  /** The provider's own id of the user, which never changes; unique within `connector` only. */
  readonly userId: string;
  readonly username: string;
  /** The preferred name. Users may choose it themselves, so it proves nothing. */
  readonly preferredUsername?: string;
  readonly email?: string;
  /** Undefined when the provider does not report it. */
  readonly emailVerified?: boolean;
  readonly groups: readonly string[];
  /** Ids of these groups, if a provider can have several groups with the same name. They are not stored. */
  readonly groupIds?: readonly string[];
  /** Additional claims that the settings allow. */
  readonly extraClaims?: Readonly<Record<string, unknown>>;
  /** Id of the connector with which the user signed in, as in its URL. */
  readonly connector: string;
  /** The connector's provider, to which the user's id belongs. Undefined: its current provider. */
  readonly issuer?: string;
  /** The claim that `userId` comes from; values of another claim identify other people. Undefined: the current claim. */
  readonly idClaim?: string;
  /** Kind and address of the provider, see `placeOf`. Undefined: those of `issuer`, or else of the current provider. */
  readonly place?: string;
  /** Groups of the provider that make the user an administrator according to the settings. */
  readonly administrators?: readonly string[];
  /** The latest end of a key of this sign-in, in milliseconds since 1970. */
  readonly endsAtMs?: number;
  /** For logins by password: a digest of the stored password that matched, see `passwordMark` in `access/keys/key-lives.ts`. */
  readonly passwordMark?: string;
  /** Data that the connector keeps for later, in its own form. */
  readonly connectorData?: string;
}

/** Whether a user may sign in. `reason` is shown to the user. */
export type SignInDecision =
  { readonly admitted: true; readonly identity: Identity } | { readonly admitted: false; readonly reason: string };

/** One provider as it is configured. */
export interface Configured<Settings> {
  /** Its id in the address, `/auth/{connector}/login`. */
  readonly connector: string;
  readonly settings: Settings;
}

/** Refuses the sign-in for this reason. */
export function refused(reason: string): SignInDecision {
  return { admitted: false, reason };
}

/** Admits the user. Members that are undefined are left out. */
export function admitted(
  identity: { readonly [Name in keyof Identity]: Identity[Name] | undefined } & Pick<Identity, "userId">,
): SignInDecision {
  const present = Object.fromEntries(Object.entries(identity).filter(([, value]) => value !== undefined));
  return { admitted: true, identity: present as unknown as Identity };
}

/** Prefixes of users and groups that have permissions by their name alone. No provider may assign such a name. */
const RESERVED = ["system:", "platform:"] as const;

function isReserved(name: string): boolean {
  return RESERVED.some((prefix) => name.startsWith(prefix));
}

/**
 * Removes groups from an admission if their name alone would grant permissions. Otherwise, anyone who can create an organisation `platform`
 * with a team `admins` would be an administrator. A user with a reserved name is not admitted.
 *
 * @example
 * withoutReserved({ admitted: true, identity: { userId: "1", username: "jane", groups: ["system:masters", "dev"], connector: "a" } });
 * // { admitted: true, identity: { userId: "1", username: "jane", groups: ["dev"], connector: "a" } }
 */
export function withoutReserved(admission: SignInDecision): SignInDecision {
  if (!admission.admitted) return admission;
  const { identity } = admission;
  if (isReserved(identity.username)) return refused(`user names that begin with ${RESERVED.join(" or ")} are reserved`);
  return { admitted: true, identity: { ...identity, groups: [...new Set(identity.groups)].filter((group) => !isReserved(group)) } };
}

/**
 * Returns why an identity is too large to be kept; undefined when it is not. Groups are not truncated: a silently dropped group could be
 * the one that restricts the user.
 *
 * @example
 * tooMuch({ userId: "1", username: "jane", groups: ["dev"], connector: "oidc" }, SIGN_IN_LIMITS); // undefined
 */
export function tooMuch(identity: Identity, limits: IdentityLimits): string | undefined {
  const { userId, username, preferredUsername = "", email = "", groups } = identity;
  if (groups.length > limits.groupsMax) return `you are in ${groups.length} groups, more than ${limits.groupsMax}`;
  const longest = Math.max(...[userId, username, preferredUsername, email, ...groups].map((text) => text.length));
  if (longest > limits.textLengthMax) return `the provider sent a name of ${longest} characters, more than ${limits.textLengthMax}`;
  const bytes = Buffer.byteLength(JSON.stringify(identity));
  return bytes > limits.identityBytesMax ? `the provider sent ${bytes} bytes about you, more than ${limits.identityBytesMax}` : undefined;
}
