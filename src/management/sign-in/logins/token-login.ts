import { noSuchPath, tooManyRequests } from "../../../apiserver/types/status.ts";
import type { AddressOf } from "../../../apiserver/http/client-address.ts";
import { isEngineError } from "../../../base/errors.ts";
import { addressSubject } from "../limits/attempts.ts";
import type { SignInLimits } from "../limits/limits.ts";
import type { SignInMemory } from "../limits/memory.ts";
import type { SignedIn, SignInPorts } from "../ports.ts";
import type { ProviderClients } from "../providers/provider-clients.ts";
import type { Provider } from "../rules/admit.ts";
import { demandOwnPage, expectMethod, readFields, type Visit } from "../visit.ts";
import { waitingInForm, type Programs } from "./programs.ts";
import type { ProviderLogin } from "./provider-login.ts";

/** Options of login by a token. */
export interface TokenLoginOptions {
  readonly ports: SignInPorts;
  readonly memory: SignInMemory;
  readonly limits: SignInLimits;
  readonly addressOf: AddressOf;
  readonly clients: ProviderClients;
  readonly login: Pick<ProviderLogin, "admitted">;
  readonly programs: Programs;
}

/**
 * Login with a token of the provider, which is not stored. Refused tokens count against the address, like wrong passwords. The result is
 * undefined when the user is asked whether the waiting program may have the key.
 *
 * @throws API_UNAUTHORIZED (from the returned function) for a token that is not accepted, API_FORBIDDEN for a user who may not sign in,
 * API_TOO_MANY_REQUESTS after too many failures.
 */
export function createTokenLogin(options: TokenLoginOptions): (visit: Visit, provider: Provider) => Promise<SignedIn | undefined> {
  const { ports, memory, limits, addressOf, clients, login, programs } = options;
  const failures = memory.attempts("tokens", { max: limits.failuresPerAddress, windowMs: limits.failureWindowMs });
  let checks = 0;
  return async (visit, provider) => {
    expectMethod(visit, "POST");
    demandOwnPage(visit);
    const client = await clients(provider);
    if (client.flow !== "token") throw noSuchPath();
    const { token, ...more } = await readFields(visit, ["token"], ["redirect", "code_challenge"]);
    const waiting = waitingInForm(more);
    const address = addressSubject(addressOf(visit.request));
    if (checks >= limits.checksMax) throw tooManyRequests();
    if (!(await failures.begin(address))) throw tooManyRequests(await failures.wait(address));
    let failed = false;
    checks++;
    try {
      const finished = login.admitted(provider, await client.identify(token));
      if (waiting !== undefined) return void (await programs.ask(visit, finished, waiting));
      return await ports.signIn(finished.identity, finished.tokens);
    } catch (error) {
      failed = isEngineError(error, "API_UNAUTHORIZED");
      throw error;
    } finally {
      checks--;
      if (!failed) await failures.refund(address);
    }
  };
}
