import { sha256Hex } from "../../../base/digest.ts";

/** Credentials that are remembered at once, at most; those that were used least recently are forgotten first. */
const KNOWN_MAX = 10_000;

/**
 * Guesses the caller of a request before it is processed: the caller whose credentials these were when they were
 * accepted last, else the address. So made-up credentials share one place in a queue, and take none from known callers.
 */
export interface KnownCallers {
  /** `user NAME`, or `address ADDRESS`. */
  whose(credentials: string | undefined, address: () => string): string;
  accepted(credentials: string, user: string): void;
  refused(credentials: string): void;
}

/** Creates an empty record of callers. Credentials are kept as digests. */
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
