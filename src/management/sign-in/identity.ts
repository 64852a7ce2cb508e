import type { SignInLimits } from "./limits/limits.ts";

/** How much of an identity is kept. */
export type IdentityLimits = Pick<SignInLimits, "groupsMax" | "textLengthMax" | "identityBytesMax">;

/** Who signed in, as a provider tells it. */
export interface Identity {
  /** The provider's own name for him, which never changes; unique within `connector` only. */
  readonly userId: string;
  readonly username: string;
  /** What he likes to be called; he may have chosen it himself, so it proves nothing. */
  readonly preferredUsername?: string;
  readonly email?: string;
  /** Undefined when the provider does not say. */
  readonly emailVerified?: boolean;
  readonly groups: readonly string[];
  /** Ids of these groups, where a provider has several of one name. They are not kept. */
  readonly groupIds?: readonly string[];
  /** Further claims, those alone that the settings name. */
  readonly extraClaims?: Readonly<Record<string, unknown>>;
  /** Id of the connector that he came through, as in the address. */
  readonly connector: string;
  /** The provider that the connector led to: its ids of users mean somebody there only. Undefined: the one that it leads to now. */
  readonly issuer?: string;
  /** The claim that was taken for `userId`: another claim's values mean other people. Undefined: the one that is taken now. */
  readonly idClaim?: string;
  /** Kind and address of the provider that the connector led to, see `placeOf`. Undefined: that of `issuer`, else the one of now. */
  readonly place?: string;
  /** Groups of the provider's that make an administrator by the settings. */
  readonly administrators?: readonly string[];
  /** A key of this sign-in ends then at the latest, in milliseconds since 1970. */
  readonly endsAtMs?: number;
  /** For logins by password: what was stored of the password that was right, as a digest. */
  readonly passwordMark?: string;
  /** What the connector keeps for later, in its own form. */
  readonly connectorData?: string;
}

/** Whether somebody may sign in. `reason` is for him to read. */
export type SignInDecision =
  { readonly admitted: true; readonly identity: Identity } | { readonly admitted: false; readonly reason: string };

/** One provider as it is set up. */
export interface Configured<Settings> {
  /** Its id in the address, `/auth/{connector}/login`. */
  readonly connector: string;
  readonly settings: Settings;
}

/** Nobody signs in, for this reason. */
export function refused(reason: string): SignInDecision {
  return { admitted: false, reason };
}

/** Somebody signs in. Members that are undefined are left out. */
export function admitted(
  identity: { readonly [Name in keyof Identity]: Identity[Name] | undefined } & Pick<Identity, "userId">,
): SignInDecision {
  const present = Object.fromEntries(Object.entries(identity).filter(([, value]) => value !== undefined));
  return { admitted: true, identity: present as unknown as Identity };
}

/** Prefixes of groups and users that have rights by their name alone, which no provider may give. */
const RESERVED = ["system:", "platform:"] as const;

function isReserved(name: string): boolean {
  return RESERVED.some((prefix) => name.startsWith(prefix));
}

/**
 * The same admission without groups that give rights by their name: anyone who may found an organisation `platform` with a team
 * `admins` would administer otherwise. Nobody is admitted under such a user name.
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
 * Why an identity is too large to be kept; undefined when it is not. Groups are not cut: anyone who has lost one without knowing may
 * have lost what keeps him out.
 *
 * @example
 * tooMuch({ userId: "1", username: "jane", groups: ["dev"], connector: "oidc" }, SIGN_IN_LIMITS); // undefined
 */
export function tooMuch(identity: Identity, limits: IdentityLimits): string | undefined {
  const { userId, username, preferredUsername = "", email = "", groups } = identity;
  if (groups.length > limits.groupsMax) return `you are in ${groups.length} groups, more than ${limits.groupsMax}`;
  const longest = Math.max(...[userId, username, preferredUsername, email, ...groups].map((text) => text.length));
  if (longest > limits.textLengthMax) return `the provider says a name of ${longest} characters, more than ${limits.textLengthMax}`;
  const bytes = Buffer.byteLength(JSON.stringify(identity));
  return bytes > limits.identityBytesMax ? `the provider says ${bytes} bytes about you, more than ${limits.identityBytesMax}` : undefined;
}
