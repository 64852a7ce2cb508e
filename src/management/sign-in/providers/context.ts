import { unavailable } from "../../../apiserver/types/status.ts";
import type { SignInLimits } from "../limits/limits.ts";
import type { Clock } from "../../../base/clock.ts";
import { createRest } from "./rest.ts";
import type { Rest } from "./rest.ts";
import type { ProviderFetch } from "../oidc/provider-fetch.ts";

/** What a provider is made with. */
export interface ProviderContext {
  /** Reaches this provider, with its own authorities. */
  readonly fetch: ProviderFetch;
  /** The text of a file that settings name. */
  readonly readFile: (path: string) => Promise<string>;
  readonly clock: Pick<Clock, "now" | "monotonic">;
  readonly limits: SignInLimits;
}

/** The API of a provider for one login, by a token of the person's. */
export function restFor({ fetch, limits }: ProviderContext, headers: Readonly<Record<string, string>>): Rest {
  const { providerTimeoutSeconds: timeoutSeconds, loginTimeoutSeconds: totalSeconds, pagesMax } = limits;
  return createRest({ fetch, headers, timeoutSeconds, totalSeconds, pagesMax });
}

/** The access token of an answer, without which nothing can be asked. */
export function accessTokenOf({ accessToken }: { readonly accessToken?: string }): string {
  if (accessToken === undefined) throw unavailable("the provider gave no access token");
  return accessToken;
}
