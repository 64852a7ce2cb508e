import type { Identity } from "./identity.ts";

/** What a provider returned along with a user's identity. Secret. */
export interface ProviderTokens {
  readonly idToken?: string;
  readonly accessToken?: string;
  readonly refreshToken?: string;
}

/** The access key that a login made. */
export interface SignedIn {
  /** The key itself, which cannot be read again. */
  readonly key: string;
  /** Name of its object. */
  readonly name: string;
  /** The platform user for whom it stands. */
  readonly user: string;
  /** When it expires, in milliseconds since 1970; undefined when it does not. */
  readonly expiresAt?: number;
}

/** An identity that is linked to a user. */
export interface Linked {
  /** The platform user. */
  readonly user: string;
  /** The identity, `CONNECTOR/SUBJECT`. */
  readonly subject: string;
}

/** What sign-in needs from the platform. */
export interface SignInPorts {
  /**
   * Makes a login key, and the user and teams if the configuration allows it. The groups of `identity` are filtered already.
   *
   * @throws API_FORBIDDEN when this user may not have a key.
   */
  signIn(identity: Identity, tokens?: ProviderTokens): Promise<SignedIn>;
  /**
   * Links an identity to the user of a login key. The tokens are used to refresh it at the provider.
   *
   * @throws API_UNAUTHORIZED for a key that is not accepted, API_FORBIDDEN for one of no sign-in, API_CONFLICT for an identity that
   * belongs to another user.
   */
  link(key: string, identity: Identity, tokens?: ProviderTokens): Promise<Linked>;
  /** The user with this password; undefined for a wrong one and, after as long, for an unknown user. */
  verifyPassword(username: string, password: string): Promise<Identity | undefined>;
  /** Ends a login key at once, and returns what it was made from. Undefined when the key is unknown or not from a login. */
  signOut(key: string): Promise<{ readonly connector?: string; readonly idToken?: string } | undefined>;
}
