/** Limits of sign-in. */
export interface SignInLimits {
  /** Wrong passwords for one user name from one address within the window. Default 10. */
  readonly failuresPerPair: number;
  /** Wrong passwords for one user name within the window, from addresses without a sign-in of that name within `knownMs`. Default 100. */
  readonly failuresPerUsername: number;
  /** Wrong passwords from one address (of IPv6: one /64) within the window. Default 50. */
  readonly failuresPerAddress: number;
  /** How long an address is known after a sign-in from it, in milliseconds. Default 30 days. */
  readonly knownMs: number;
  /** How long wrong passwords count, from the first of them, in milliseconds. Default 15 minutes. */
  readonly failureWindowMs: number;
  /** Passwords that are checked at the same time: each check costs memory and time on purpose. Default 8. */
  readonly checksMax: number;
  /** Unfinished logins at one server. Beyond this number, the oldest must start again. Default 10,000. */
  readonly pendingMax: number;
  /**
   * Logins that may begin at a provider within a minute. More are refused (429). A login begins without a key, and on a shared store with a
   * write. At the default rate, fewer than `pendingMax` logins are unfinished at once. One sixth of the logins may come from one address; a
   * third is reserved for known addresses. Default 900.
   */
  readonly beginsPerMinute: number;
  /** How long a login may take, in milliseconds. Default 10 minutes. */
  readonly pendingLifetimeMs: number;
  /** How long a program may take to exchange its code for the key, in milliseconds. Default 1 minute. */
  readonly codeLifetimeMs: number;
  /** How long a provider's discovery document is used, in milliseconds. Default 10 minutes. */
  readonly discoveryLifetimeMs: number;
  /** How long a provider may take for one response, in seconds. Default 10. */
  readonly providerTimeoutSeconds: number;
  /** How long all responses of a provider's API may take together for one login, in seconds. Default 30. */
  readonly loginTimeoutSeconds: number;
  /** Size of a form with which a browser delivers a provider's response, in bytes. Default 262,144. */
  readonly formBytesMax: number;
  /** Pages of one list that a provider may return; with more, the sign-in is refused. Default 100. */
  readonly pagesMax: number;
  /** Groups of one user that a provider may return; with more, the sign-in is refused. Default 2,000. */
  readonly groupsMax: number;
  /** Longest id, name, email address or group that a provider may return, in UTF-16 units. Default 1,024. */
  readonly textLengthMax: number;
  /** Size of all data that is kept about one user, including additional claims, as JSON in bytes. Default 262,144. */
  readonly identityBytesMax: number;
}

const MINUTE_MS = 60_000;

/** The default limits. */
export const SIGN_IN_LIMITS: SignInLimits = {
  failuresPerPair: 10,
  failuresPerUsername: 100,
  failuresPerAddress: 50,
  knownMs: 30 * 24 * 60 * MINUTE_MS,
  failureWindowMs: 15 * MINUTE_MS,
  checksMax: 8,
  pendingMax: 10_000,
  beginsPerMinute: 900,
  pendingLifetimeMs: 10 * MINUTE_MS,
  codeLifetimeMs: MINUTE_MS,
  discoveryLifetimeMs: 10 * MINUTE_MS,
  providerTimeoutSeconds: 10,
  loginTimeoutSeconds: 30,
  formBytesMax: 262_144,
  pagesMax: 100,
  groupsMax: 2_000,
  textLengthMax: 1_024,
  identityBytesMax: 262_144,
};
