import type { IncomingMessage } from "node:http";
import { badRequest, forbiddenPath, tooManyRequests, unauthorized } from "../../server/status.ts";
import { addressSubject } from "./attempts.ts";
import type { Attempts } from "./attempts.ts";
import type { SignInLimits } from "./limits.ts";
import type { SignInMemory } from "./memory.ts";
import type { SignedIn, SignInPorts } from "./ports.ts";
import type { SignInSettings } from "./settings.ts";
import { expectMethod, readFields } from "./visit.ts";
import type { Visit } from "./visit.ts";

/** What login by password needs. */
export interface PasswordLoginOptions {
  readonly config: () => SignInSettings;
  readonly ports: SignInPorts;
  readonly memory: SignInMemory;
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
  memory,
  limits,
  addressOf,
}: PasswordLoginOptions): (visit: Visit) => Promise<SignedIn> {
  const { failuresPerUsername, failuresPerAddress, failureWindowMs: windowMs, checksMax } = limits;
  const byName = memory.attempts("names", { max: failuresPerUsername, windowMs });
  const byAddress = memory.attempts("addresses", { max: failuresPerAddress, windowMs });
  let checks = 0;
  return async (visit) => {
    expectMethod(visit, "POST");
    if (config().password?.disabled === true) throw forbiddenPath("login by password is disabled");
    const { username, password } = await readFields(visit, ["username", "password"]);
    if (username.length > TEXT_LENGTH_MAX || password.length > TEXT_LENGTH_MAX) throw badRequest("user name or password is too long");
    const address = addressSubject(addressOf(visit.request));
    const wait = Math.max((await byName.wait(username)) ?? 0, (await byAddress.wait(address)) ?? 0);
    if (wait > 0) throw tooManyRequests(wait);
    if (checks >= checksMax) throw tooManyRequests();
    checks++;
    try {
      const identity = await counted(byName, username, () => counted(byAddress, address, () => ports.verifyPassword(username, password)));
      if (identity === undefined) throw unauthorized("wrong user name or password");
      // A success clears the name alone: with an account of one's own, one could try others for ever otherwise.
      await byName.forget(username);
      return await ports.signIn(identity);
    } finally {
      checks--;
    }
  };
}

/** Counts a check as failed unless it finds somebody, or can not be made. */
async function counted<T>(attempts: Attempts, subject: string, check: () => Promise<T | undefined>): Promise<T | undefined> {
  if (!(await attempts.begin(subject))) throw tooManyRequests(await attempts.wait(subject));
  let failed = false;
  try {
    const found = await check();
    failed = found === undefined;
    return found;
  } finally {
    if (!failed) await attempts.refund(subject);
  }
}
