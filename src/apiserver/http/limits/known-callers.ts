import { sha256Hex } from "../../../base/digest.ts";

/** Credentials that are remembered at once, at most; those that were used least recently are forgotten first. */
const KNOWN_MAX = 10_000;

/**
 * Tells before a request is looked at whose it is, as far as anybody can know by then: whose the credentials were when they were
 * accepted last, else the address. So anyone who makes credentials up has one place in a queue, and takes none from those who are known.
 */
export interface KnownCallers {
  /** `user NAME`, or `address ADDRESS`. */
  whose(credentials: string | undefined, address: () => string): string;
  accepted(credentials: string, user: string): void;
  refused(credentials: string): void;
}

/** Nobody is known yet. Credentials are remembered as digests. */
export function createKnownCallers(max = KNOWN_MAX): KnownCallers {
  const users = new Map<string, string>();
  return {
    whose(credentials, address) {
      const user = credentials === undefined ? undefined : users.get(sha256Hex(credentials));
      return user === undefined ? `address ${address()}` : `user ${user}`;
    },
    accepted(credentials, user) {
      const digest = sha256Hex(credentials);
      users.delete(digest);
      users.set(digest, user);
      for (const oldest of users.keys()) {
        if (users.size <= max) break;
        users.delete(oldest);
      }
    },
    refused: (credentials) => void users.delete(sha256Hex(credentials)),
  };
}
