import { unavailable } from "../../../apiserver/types/status.ts";
import type { SignInLimits } from "../limits/limits.ts";
import type { Clock } from "../../../base/clock.ts";
import { createRest, type Rest } from "./rest.ts";
import type { ProviderFetch } from "../oidc/provider-fetch.ts";

/** Options of every provider. */
export interface ProviderContext {
  /** Sends requests to this provider, with its own authorities. */
  readonly fetch: ProviderFetch;
  /** Returns the text of a file that the settings name. */
  readonly readFile: (path: string) => Promise<string>;
  readonly clock: Pick<Clock, "now" | "monotonic">;
  readonly limits: SignInLimits;
}

/** Opens the API of a provider for one login. `headers` contain the token. */
export function restFor({ fetch, limits }: ProviderContext, headers: Readonly<Record<string, string>>): Rest {
  const { providerTimeoutSeconds: timeoutSeconds, loginTimeoutSeconds: totalSeconds, pagesMax } = limits;
  return createRest({ fetch, headers, timeoutSeconds, totalSeconds, pagesMax });
}

/** The access token of a response, which every later request needs. */
export function accessTokenOf({ accessToken }: { readonly accessToken?: string }): string {
  if (accessToken === undefined) throw unavailable("the provider returned no access token");
  return accessToken;
}
