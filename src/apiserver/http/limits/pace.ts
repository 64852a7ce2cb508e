import { nextMacrotask, type Clock } from "../../../base/clock.ts";
import { sha256Hex } from "../../../base/digest.ts";
import { oncePerConnection } from "./connections.ts";

/** Maximum number of remembered credentials. The least recently used ones are forgotten first. */
const KNOWN_MAX = 10_000;

/**
 * Determines the likely caller of a request before it is processed: the user for whom its credentials were last accepted, or else its
 * address. All invalid credentials from one address therefore share one place in the queue, and do not delay known callers.
 */
export interface KnownCallers {
  /**
   * Returns `user NAME`, or `address ADDRESS`.
   *
   * @param connection The connection of the request, as in `accepted` and `refused`. The digest of its latest credentials is cached.
   */
  whose(credentials: string | undefined, address: () => string, connection?: object): string;
  accepted(credentials: string, user: string, connection?: object): void;
  refused(credentials: string, connection?: object): void;
}

/**
 * Creates an empty record of callers. It keeps credentials as digests, except for the latest credentials of each open connection, which it
 * keeps as received.
 */
export function createKnownCallers(max = KNOWN_MAX): KnownCallers {
  const users = new Map<string, string>();
  const digestOf = oncePerConnection(sha256Hex);
  return {
    whose(credentials, address, connection) {
      const user = credentials === undefined ? undefined : users.get(digestOf(credentials, connection));
      return user === undefined ? `address ${address()}` : `user ${user}`;
    },
    accepted(credentials, user, connection) {
      const digest = digestOf(credentials, connection);
      users.delete(digest);
      users.set(digest, user);
      if (users.size <= max) return;
      for (const oldest of users.keys()) {
        if (users.size <= max) break;
        users.delete(oldest);
      }
    },
    refused: (credentials, connection) => void users.delete(digestOf(credentials, connection)),
  };
}

/** Time in each turn in which new requests may begin, in milliseconds. */
const TURN_MS = 10;
/** Maximum number of waiting requests that begin in one turn. */
const BEGUN_MAX = 32;

/** Spreads requests that arrive at once over several turns of the event loop, so that other work proceeds in between. */
export interface Pace {
  /**
   * Returns a promise for the time when a request may begin; undefined if it may begin at once. The callers take turns, regardless of how
   * many requests each of them sends.
   */
  turnOf(from: string): Promise<void> | undefined;
}

/** Creates an empty queue of waiting requests. */
export function createPace(clock: Pick<Clock, "monotonic">): Pace {
  /** Waiting requests by caller. The first caller is next. */
  const waiting = new Map<string, (() => void)[]>();
  let count = 0;
  let running = false;
  let endsAt = 0;
  const beginNext = () => {
    const [first] = waiting;
    if (first === undefined || clock.monotonic() >= endsAt) return;
    const [from, own] = first;
    waiting.delete(from);
    const begin = own.shift()!;
    count -= 1;
    if (own.length > 0) waiting.set(from, own);
    begin();
  };
  const beginTurn = () => {
    running = true;
    endsAt = clock.monotonic() + TURN_MS;
    void nextMacrotask().then(() => {
      running = false;
      if (count === 0) return;
      beginTurn();
      // One task per request, so that the synchronous part of a request ends before the next request begins.
      for (let index = 0; index < Math.min(count, BEGUN_MAX); index += 1) void nextMacrotask().then(beginNext);
    });
  };
  return {
    turnOf(from) {
      if (!running) beginTurn();
      if (count === 0 && clock.monotonic() < endsAt) return undefined;
      count += 1;
      return new Promise((begin) => {
        const own = waiting.get(from);
        if (own === undefined) waiting.set(from, [begin]);
        else own.push(begin);
      });
    },
  };
}
