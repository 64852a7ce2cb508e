import { unavailable } from "../../../apiserver/types/status.ts";
import type { SignInLimits } from "../limits/limits.ts";
import type { Clock } from "../../../base/clock.ts";
import { createRest } from "./rest.ts";
import type { Rest } from "./rest.ts";
import type { ProviderFetch } from "../oidc/provider-fetch.ts";

/** Options of every provider. */
export interface ProviderContext {
  /** Calls this provider, with its own authorities. */
  readonly fetch: ProviderFetch;
  /** The text of a file that settings name. */
  readonly readFile: (path: string) => Promise<string>;
  readonly clock: Pick<Clock, "now" | "monotonic">;
  readonly limits: SignInLimits;
}

/** The API of a provider for one login, with a token of the user. */
export function restFor({ fetch, limits }: ProviderContext, headers: Readonly<Record<string, string>>): Rest {
  const { providerTimeoutSeconds: timeoutSeconds, loginTimeoutSeconds: totalSeconds, pagesMax } = limits;
  return createRest({ fetch, headers, timeoutSeconds, totalSeconds, pagesMax });
}

/** The access token of a response, which every further request needs. */
export function accessTokenOf({ accessToken }: { readonly accessToken?: string }): string {
  if (accessToken === undefined) throw unavailable("the provider returned no access token");
  return accessToken;
}
