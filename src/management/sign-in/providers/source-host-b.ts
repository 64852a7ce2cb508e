import { unavailable } from "../../../apiserver/types/status.ts";
import { accessTokenOf, restFor, type ProviderContext } from "./context.ts";
import type { RedirectClient, ProviderSaid } from "./provider-client.ts";
import { numericId, optionalText, recordIn, requiredText, withFreshToken } from "./rest.ts";
import { discoverOidc } from "../oidc/oidc-client.ts";
import type { ProviderTokens } from "../ports.ts";
import { admit, type Provider } from "../rules/admit.ts";
import { listClaim } from "../rules/claims.ts";
import { refused } from "../identity.ts";

/** The scopes that the host's setup guides register for an application. The host would refuse others. */
const SCOPES = ["read_user"] as const;

/**
 * A host of source code with groups: OpenID Connect, and its API for everything else. The groups come from the UserInfo endpoint: direct
 * memberships and those through a parent group. A login is refreshed with the refresh token, which is valid for one use.
 *
 * @throws API_UNAVAILABLE when its discovery document cannot be read or names an issuer other than `baseURL`.
 */
export async function openSourceHostB(provider: Provider<"sourceHostB">, context: ProviderContext): Promise<RedirectClient> {
  const { baseURL = "", clientId = "", clientSecret = "", redirectURI = "" } = provider.settings;
  const base = baseURL.replace(/\/+$/, "");
  const { fetch, limits } = context;
  const settings = { issuerUrl: base, clientId, clientSecret, redirectURI, scopes: SCOPES };
  const client = await discoverOidc(settings, { fetch, timeoutSeconds: limits.providerTimeoutSeconds });

  const profileBy = async (subject: unknown, tokens: ProviderTokens): Promise<ProviderSaid> => {
    const rest = restFor(context, { authorization: `Bearer ${accessTokenOf(tokens)}` });
    const user = recordIn((await rest.ask(`${base}/api/v4/user`)).body, "user");
    const id = numericId(user, "id", "user");
    if (id !== subject) throw unavailable("the ID token and the API name different users");
    const { idToken: _idToken, ...kept } = tokens;
    if (user["state"] !== "active") return { decision: refused("your account is not active at the provider"), tokens: kept };
    const info = recordIn((await rest.ask(`${base}/oauth/userinfo`)).body, "user information");
    if (info["sub"] !== id) throw unavailable("the user information belongs to another user");
    const groups = listClaim(info, "groups");
    if (groups === undefined) throw unavailable("the groups in the user information are not a list of strings");
    const email = optionalText(user, "email", "user");
    const isVerified = info["email_verified"] === true && info["email"] === email;
    const profile = {
      id,
      username: requiredText(user, "username", "user"),
      groups,
      ...(email !== undefined && { email, emailVerified: isVerified }),
    };
    return { decision: admit(provider, profile), tokens: kept };
  };

  return {
    flow: "redirect",
    authorizationUrl: (login) => client.authorizationUrl(login),
    async redeem(address, secrets) {
      const { claims, tokens } = await client.redeem(address, secrets);
      return profileBy(claims["sub"], tokens);
    },
    async lookAgain({ userId, tokens: { refreshToken }, keep }) {
      if (refreshToken === undefined) return undefined;
      const { claims, tokens } = await client.refresh(refreshToken, keep);
      return profileBy(claims["sub"] ?? userId, tokens).catch(withFreshToken);
    },
    endSessionUrl: (idToken) => client.endSessionUrl(idToken),
  };
}
