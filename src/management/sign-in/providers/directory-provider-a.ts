import { restFor, type ProviderContext } from "./context.ts";
import type { RedirectClient, ProviderSaid } from "./provider-client.ts";
import { DIRECTORY_A_HOSTS } from "../oidc/public-hosts.ts";
import { isTokenRefused, optionalText, recordIn, recordsIn, requiredText, type RestAnswer } from "./rest.ts";
import { createServiceAccount } from "./service-account.ts";
import { refused } from "../identity.ts";
import { discoverOidc } from "../oidc/oidc-client.ts";
import type { ProviderTokens } from "../ports.ts";
import { admit, type Provider } from "../rules/admit.ts";
import { textClaim, type Claims } from "../rules/claims.ts";
import { troubled } from "../provider-troubles.ts";

/** The only domain whose addresses the provider itself assigns, apart from those of its customers. */
const OWN_DOMAIN = "@gmail.com";
const DEFAULT_SCOPES = ["profile", "email"] as const;

/**
 * A directory of accounts with hosted domains: OpenID Connect, and the directory's API with a service account for groups. The domain is the
 * claim `hd` of the ID token; the domain of an email address proves nothing. A login is refreshed with the refresh token, if the provider
 * gave one at the user's first consent.
 *
 * @throws API_UNAVAILABLE when its discovery document cannot be read.
 */
export async function openDirectoryProviderA(provider: Provider<"directoryProviderA">, context: ProviderContext): Promise<RedirectClient> {
  const { clientId = "", clientSecret = "", redirectURI = "", scopes = [] } = provider.settings;
  const { serviceAccountFilePath: path = "", adminEmail = "", hostedDomains = [] } = provider.settings;
  const { fetch, limits } = context;
  const settings = {
    ...{ issuerUrl: DIRECTORY_A_HOSTS.issuer, clientId, clientSecret, redirectURI },
    scopes: scopes.length === 0 ? DEFAULT_SCOPES : scopes,
  };
  // A hint, which the user can remove.
  const hint = hostedDomains.length === 0 ? {} : { hd: hostedDomains.length === 1 ? hostedDomains[0]! : "*" };
  const parameters = { access_type: "offline", ...hint };
  const client = await discoverOidc(settings, { fetch, timeoutSeconds: limits.providerTimeoutSeconds, parameters });
  const tokenOfAccount = path === "" ? undefined : createServiceAccount({ ...context, path, adminEmail });

  const groupsOf = async (userId: string): Promise<readonly string[] | undefined> => {
    if (tokenOfAccount === undefined) return undefined;
    const rest = restFor(context, { authorization: `Bearer ${await tokenOfAccount()}` });
    const first = `${DIRECTORY_A_HOSTS.directory}/groups?userKey=${encodeURIComponent(userId)}&maxResults=200`;
    const answers = await rest
      .pages(first, (answer) => nextPage(answer, first), { expected: [404] })
      .catch((error: unknown) => {
        // The refused token is that of the service account, not the user's.
        throw isTokenRefused(error) ? troubled("setup", "the directory does not accept the token of the service account") : error;
      });
    return answers.flatMap(({ body }) => (body === undefined ? [] : addressesIn(body)));
  };
  const profileBy = async (claims: Claims, tokens: ProviderTokens): Promise<ProviderSaid> => {
    const { idToken: _idToken, accessToken: _accessToken, ...kept } = tokens;
    const [id, email, hostedDomain] = ["sub", "email", "hd"].map((name) => textClaim(claims, name));
    if (id === undefined || email === undefined) return { decision: refused("the provider did not send your email address"), tokens: kept };
    const isAuthoritative = claims["email_verified"] === true && (hostedDomain !== undefined || email.toLowerCase().endsWith(OWN_DOMAIN));
    const groups = await groupsOf(id);
    const profile = {
      ...{ id, email, emailVerified: isAuthoritative },
      ...(hostedDomain !== undefined && { hostedDomain }),
      ...(groups !== undefined && { groups }),
    };
    return { decision: admit(provider, profile), tokens: kept };
  };

  return {
    flow: "redirect",
    authorizationUrl: (login) => client.authorizationUrl(login),
    async redeem(address, secrets) {
      const { claims, tokens } = await client.redeem(address, secrets);
      return profileBy(claims, tokens);
    },
    async lookAgain({ tokens: { refreshToken }, keep }) {
      if (refreshToken === undefined) return undefined;
      const { claims, tokens } = await client.refresh(refreshToken, keep);
      return claims["sub"] === undefined ? undefined : profileBy(claims, tokens);
    },
    endSessionUrl: () => undefined,
  };
}

function nextPage({ body }: RestAnswer, first: string): string | undefined {
  const token = body === undefined ? undefined : optionalText(recordIn(body, "list of groups"), "nextPageToken", "list of groups");
  return token === undefined ? undefined : `${first}&pageToken=${encodeURIComponent(token)}`;
}

function addressesIn(body: unknown): readonly string[] {
  const { groups = [] } = recordIn(body, "list of groups");
  return recordsIn(groups, "list of groups").map((group) => requiredText(group, "email", "group").toLowerCase());
}
