import type { AddressOf } from "../../../apiserver/http/client-address.ts";
import { badRequest, forbiddenPath, tooManyRequests, unauthorized } from "../../../apiserver/types/status.ts";
import { addressSubject, type Attempts } from "../limits/attempts.ts";
import type { SignInLimits } from "../limits/limits.ts";
import type { SignInMemory } from "../limits/memory.ts";
import type { SignedIn, SignInPorts } from "../ports.ts";
import type { SignInSettings } from "../settings.ts";
import { demandOwnPage, expectMethod, readFields, type Visit } from "../visit.ts";
import { waitingInForm, type Programs } from "./programs.ts";

/** Options of login by password. */
export interface PasswordLoginOptions {
  readonly config: () => SignInSettings;
  readonly ports: SignInPorts;
  readonly programs: Programs;
  readonly memory: SignInMemory;
  readonly limits: SignInLimits;
  /** The address of the client. */
  readonly addressOf: AddressOf;
}

/** Longest user name and password in characters: hashing a long one costs more. */
const TEXT_LENGTH_MAX = 1_024;

/**
 * Login by user name and password. A failed attempt counts against the name at this address, against the name, and against the address.
 * Above a limit, all attempts are refused without a check until the window ends. Attempts from other addresses do not lock out a user at an
 * address of an earlier sign-in. The result is undefined when the user is asked whether the waiting program may have the key.
 *
 * @throws API_UNAUTHORIZED (from the returned function) for a wrong password or unknown user, API_FORBIDDEN when passwords are disabled,
 * API_TOO_MANY_REQUESTS after too many failures.
 */
export function createPasswordLogin({
  config,
  ports,
  programs,
  memory,
  limits,
  addressOf,
}: PasswordLoginOptions): (visit: Visit) => Promise<SignedIn | undefined> {
  const { failuresPerPair, failuresPerUsername, failuresPerAddress, failureWindowMs: windowMs, checksMax } = limits;
  const byPair = memory.attempts("pairs", { max: failuresPerPair, windowMs });
  const byName = memory.attempts("names", { max: failuresPerUsername, windowMs });
  const byAddress = memory.attempts("addresses", { max: failuresPerAddress, windowMs });
  // Records successes instead of failures: a pair with one attempt is known.
  const known = memory.attempts("known-pairs", { max: 1, windowMs: limits.knownMs });
  let checks = 0;
  return async (visit) => {
    expectMethod(visit, "POST");
    if (config().password?.disabled === true) throw forbiddenPath("password login is disabled");
    demandOwnPage(visit);
    const { username, password, ...more } = await readFields(visit, ["username", "password"], ["redirect", "code_challenge"]);
    const waiting = waitingInForm(more);
    if (username.length > TEXT_LENGTH_MAX || password.length > TEXT_LENGTH_MAX) throw badRequest("user name or password is too long");
    const address = addressSubject(addressOf(visit.request));
    const pair = JSON.stringify([username, address]);
    const isKnown = (await known.wait(pair)) !== undefined;
    const all: readonly Counted[] = [
      [byPair, pair],
      ...(isKnown
        ? []
        : ([
            [byName, username],
            [byAddress, address],
          ] as const)),
    ];
    const waits = await Promise.all(all.map(([attempts, subject]) => attempts.wait(subject)));
    const wait = Math.max(...waits.map((seconds) => seconds ?? 0));
    if (wait > 0) throw tooManyRequests(wait);
    if (checks >= checksMax) throw tooManyRequests();
    checks++;
    try {
      const identity = await counted(all, () => ports.verifyPassword(username, password));
      if (identity === undefined) throw unauthorized("wrong user name or password");
      // A success clears only the pair: otherwise an attacker could continue to guess between sign-ins with their own account.
      await byPair.forget(pair);
      await known.begin(pair);
      if (waiting !== undefined) return void (await programs.ask(visit, { identity, tokens: {} }, waiting));
      return await ports.signIn(identity);
    } finally {
      checks--;
    }
  };
}

/** A counter of attempts, and the subject to count. */
type Counted = readonly [Attempts, string];

/** Counts a check as failed with each counter, unless it finds a user or throws. */
async function counted<T>(places: readonly Counted[], check: () => Promise<T | undefined>): Promise<T | undefined> {
  const [place, ...others] = places;
  if (place === undefined) return check();
  const [attempts, subject] = place;
  if (!(await attempts.begin(subject))) throw tooManyRequests(await attempts.wait(subject));
  let failed = false;
  try {
    const found = await counted(others, check);
    failed = found === undefined;
    return found;
  } finally {
    if (!failed) await attempts.refund(subject);
  }
}
