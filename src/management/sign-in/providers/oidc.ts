import type { ProviderContext } from "./context.ts";
import type { RedirectClient } from "./provider-client.ts";
import { discoverOidc } from "../oidc/oidc-client.ts";
import { admit, type Provider } from "../rules/admit.ts";

/**
 * A generic OpenID Connect provider. A login is refreshed with the refresh token, if the provider gave one.
 *
 * @throws API_UNAVAILABLE when its discovery document cannot be read.
 */
export async function openOidc(provider: Provider<"oidc">, { fetch, limits }: ProviderContext): Promise<RedirectClient> {
  const { prompt } = provider.settings;
  const parameters = prompt === undefined ? {} : { prompt };
  const client = await discoverOidc(provider.settings, { fetch, timeoutSeconds: limits.providerTimeoutSeconds, parameters });
  return {
    flow: "redirect",
    authorizationUrl: (login) => client.authorizationUrl(login),
    async redeem(address, secrets) {
      const { claims, tokens } = await client.redeem(address, secrets);
      return { decision: admit(provider, claims), tokens };
    },
    async lookAgain({ tokens: { refreshToken, ...before }, keep }) {
      if (refreshToken === undefined) return undefined;
      const { claims, tokens } = await client.refresh(refreshToken, (next) => keep({ ...before, ...next }));
      // Only an ID token contains the groups.
      return claims["iss"] === undefined ? undefined : { decision: admit(provider, claims), tokens: { ...before, ...tokens } };
    },
    endSessionUrl: (idToken) => client.endSessionUrl(idToken),
  };
}
