import type { Identity } from "./identity.ts";

/** The tokens that a provider returned with a user's identity. Secret. */
export interface ProviderTokens {
  readonly idToken?: string;
  readonly accessToken?: string;
  readonly refreshToken?: string;
}

/** The access key that a login created. */
export interface SignedIn {
  /** The key itself, which cannot be read again. */
  readonly key: string;
  /** Name of its object. */
  readonly name: string;
  /** The platform user that the key acts as. */
  readonly user: string;
  /** When the key expires, in milliseconds since 1970; undefined when it does not. */
  readonly expiresAt?: number;
}

/** An identity that is linked to a user. */
export interface Linked {
  /** The platform user. */
  readonly user: string;
  /** The identity, `CONNECTOR/SUBJECT`. */
  readonly subject: string;
}

/** The origin of a login key that has ended. */
export interface SignedOut {
  readonly connector?: string;
  /** Kind and address of the provider, see `placeOf`. Undefined if an earlier version created the key. */
  readonly place?: string;
  readonly idToken?: string;
}

/** The operations of the platform that sign-in uses. */
export interface SignInPorts {
  /**
   * Creates a login key, and the user and teams if the configuration allows it. The groups of `identity` are already filtered.
   *
   * @throws API_FORBIDDEN when this user may not have a key.
   */
  signIn(identity: Identity, tokens?: ProviderTokens): Promise<SignedIn>;
  /**
   * Links an identity to the user of a login key. The tokens are used to refresh the identity at the provider.
   *
   * @throws API_UNAUTHORIZED for a key that is not accepted, API_FORBIDDEN for a key that is not from a sign-in, API_CONFLICT for an
   * identity that belongs to another user.
   */
  link(key: string, identity: Identity, tokens?: ProviderTokens): Promise<Linked>;
  /** Returns the user with this password; undefined for a wrong password or an unknown user, both after the same time. */
  verifyPassword(username: string, password: string): Promise<Identity | undefined>;
  /** Ends a login key at once, and returns its origin. Undefined when the key is unknown or not from a login. */
  signOut(key: string): Promise<SignedOut | undefined>;
}
