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

/** What sign-in needs of the platform. */
export interface SignInPorts {
  /**
   * Makes a login key, and the user and teams where the configuration lets it. The groups of `identity` have been filtered.
   *
   * @throws API_FORBIDDEN when this one may not have a key.
   */
  signIn(identity: Identity, tokens?: ProviderTokens): Promise<SignedIn>;
  /** Who has this password; undefined for a wrong one and, after as long, for an unknown user. */
  verifyPassword(username: string, password: string): Promise<Identity | undefined>;
  /** Ends a login key at once, and says what it was made from. Undefined when the key is unknown or not from a login. */
  signOut(key: string): Promise<{ readonly connector?: string; readonly idToken?: string } | undefined>;
}
