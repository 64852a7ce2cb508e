import type { Identity } from "./identity.ts";

/** What a provider handed out along with somebody's identity. Secret. */
export interface ProviderTokens {
  readonly idToken?: string;
  readonly accessToken?: string;
  readonly refreshToken?: string;
}

/** The access key that a login made. */
export interface SignedIn {
  /** The key itself; nobody can ask for it again. */
  readonly key: string;
  /** Name of its object. */
  readonly name: string;
  /** The platform user for whom it stands. */
  readonly user: string;
  /** When it ends, in milliseconds since 1970. Undefined: it does not by itself. */
  readonly expiresAt?: number;
}

/** An identity that now is a user's. */
export interface Linked {
  /** The platform user. */
  readonly user: string;
  /** The identity, `CONNECTOR/SUBJECT`. */
  readonly subject: string;
}

/** What sign-in needs of the platform. */
export interface SignInPorts {
  /**
   * Makes a login key, and the user and teams where the configuration lets it. The groups of `identity` have been filtered.
   *
   * @throws API_FORBIDDEN when this one may not have a key.
   */
  signIn(identity: Identity, tokens?: ProviderTokens): Promise<SignedIn>;
  /**
   * Makes an identity one of the user who shows a login key.
   *
   * @throws API_UNAUTHORIZED for a key that is not accepted, API_FORBIDDEN for one that is no sign-in's, API_CONFLICT for an identity that
   * is another user's.
   */
  link(key: string, identity: Identity): Promise<Linked>;
  /** Who has this password; undefined for a wrong one and, after as long, for an unknown user. */
  verifyPassword(username: string, password: string): Promise<Identity | undefined>;
  /** Ends a login key at once, and says what it was made from. Undefined when the key is unknown or not from a login. */
  signOut(key: string): Promise<{ readonly connector?: string; readonly idToken?: string } | undefined>;
}
