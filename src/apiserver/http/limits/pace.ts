import { nextMacrotask } from "../../../base/clock.ts";
import type { Clock } from "../../../base/clock.ts";
import { sha256Hex } from "../../../base/digest.ts";
import { oncePerConnection } from "./connections.ts";

/** Credentials that are remembered at once, at most; those that were used least recently are forgotten first. */
const KNOWN_MAX = 10_000;

/**
 * Guesses the caller of a request before it is processed: the caller whose credentials these were when they were
 * accepted last, else the address. So made-up credentials share one place in a queue, and take none from known callers.
 */
export interface KnownCallers {
  /**
   * `user NAME`, or `address ADDRESS`.
   *
   * @param connection The one that the credentials came on, as in `accepted` and `refused`: they are digested once on it.
   */
  whose(credentials: string | undefined, address: () => string, connection?: object): string;
  accepted(credentials: string, user: string, connection?: object): void;
  refused(credentials: string, connection?: object): void;
}

/**
 * Creates an empty record of callers. It keeps credentials as digests, except for the latest credentials of each open connection, which it keeps
 * as received.
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

/** Milliseconds of one turn of the event loop in which requests are begun. */
const TURN_MS = 10;
/** Requests that waited and are begun in one turn, at most. */
const BEGUN_MAX = 32;

/** Spreads requests that arrive at once over several turns of the event loop, so that other work proceeds in between. */
export interface Pace {
  /**
   * When to begin with a request: undefined for at once. Waiting requests begin in turn by caller, however many
   * a caller sends.
   */
  turnOf(from: string): Promise<void> | undefined;
}

/** Creates an empty queue of waiting requests. */
export function createPace(clock: Pick<Clock, "monotonic">): Pace {
  /** Waiting requests by caller. The first caller is the next. */
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
      // One task each: the synchronous part of a request ends before the next one begins.
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
