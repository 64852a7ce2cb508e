import type { IncomingMessage } from "node:http";
import type { Clock } from "../../base/clock.ts";
import { badRequest, forbiddenPath, tooManyRequests, unauthorized } from "../../server/status.ts";
import { addressSubject, createAttempts } from "./attempts.ts";
import type { SignInLimits } from "./limits.ts";
import type { SignedIn, SignInPorts } from "./ports.ts";
import type { SignInSettings } from "./settings.ts";
import { expectMethod, readFields } from "./visit.ts";
import type { Visit } from "./visit.ts";

/** What login by password needs. */
export interface PasswordLoginOptions {
  readonly config: () => SignInSettings;
  readonly ports: SignInPorts;
  readonly clock: Pick<Clock, "monotonic">;
  readonly limits: SignInLimits;
  /** Where a request comes from. */
  readonly addressOf: (request: IncomingMessage) => string;
}

/** Longest user name and password in characters: hashing a long one costs more. */
const TEXT_LENGTH_MAX = 1_024;

/**
 * Login by user name and password. Wrong ones count against the name and against the address, whoever the other may be; from a
 * limit on, both right and wrong ones are refused unseen until the window ends.
 *
 * @throws API_UNAUTHORIZED (the function returned) for a wrong password or unknown user, API_FORBIDDEN when passwords are disabled,
 * API_TOO_MANY_REQUESTS after too many failures.
 */
export function createPasswordLogin({
  config,
  ports,
  clock,
  limits,
  addressOf,
}: PasswordLoginOptions): (visit: Visit) => Promise<SignedIn> {
  const { failuresPerUsername, failuresPerAddress, failureWindowMs: windowMs, checksMax } = limits;
  const byName = createAttempts({ clock, max: failuresPerUsername, windowMs });
  const byAddress = createAttempts({ clock, max: failuresPerAddress, windowMs });
  let checks = 0;
  return async (visit) => {
    expectMethod(visit, "POST");
    if (config().password?.disabled === true) throw forbiddenPath("login by password is disabled");
    const { username, password } = await readFields(visit, ["username", "password"]);
    if (username.length > TEXT_LENGTH_MAX || password.length > TEXT_LENGTH_MAX) throw badRequest("user name or password is too long");
    const address = addressSubject(addressOf(visit.request));
    const wait = Math.max(byName.wait(username) ?? 0, byAddress.wait(address) ?? 0);
    if (wait > 0) throw tooManyRequests(wait);
    if (checks >= checksMax) throw tooManyRequests();
    byName.begin(username);
    byAddress.begin(address);
    let failed = false;
    checks++;
    try {
      const identity = await ports.verifyPassword(username, password);
      failed = identity === undefined;
      if (identity === undefined) throw unauthorized("wrong user name or password");
      byName.forget(username);
      return await ports.signIn(identity);
    } finally {
      checks--;
      // A success clears the name alone: with an account of one's own, one could try others for ever otherwise.
      if (!failed) {
        byName.refund(username);
        byAddress.refund(address);
      }
    }
  };
}
