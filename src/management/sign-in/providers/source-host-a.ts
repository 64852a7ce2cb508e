import * as openid from "openid-client";
import { unavailable } from "../../../apiserver/types/status.ts";
import { accessTokenOf, restFor, type ProviderContext } from "./context.ts";
import type { RedirectClient, ProviderSaid } from "./provider-client.ts";
import { SOURCE_HOST_A_CLOUD, SOURCE_HOST_A_HOSTS } from "../oidc/public-hosts.ts";
import { numericId, linkedNext, optionalText, recordIn, recordsIn, requiredText, withFreshToken, type Rest } from "./rest.ts";
import { notAccepted, notRefreshed } from "../oidc/oauth-errors.ts";
import { authenticationOf, tokensOf } from "../oidc/oidc-client.ts";
import type { ProviderFetch } from "../oidc/provider-fetch.ts";
import type { ProviderTokens } from "../ports.ts";
import { admit, type Provider } from "../rules/admit.ts";
import type { SourceHostAProfile } from "../rules/admit-source-host-a.ts";
import type { SourceHostASettings } from "../settings.ts";
import { troubled } from "../provider-troubles.ts";

/** Scopes for the email address, and for organisations and teams. */
const SCOPES = ["user:email", "read:org"] as const;
/** Scopes that allow reading organisations. */
const ORG_SCOPES: readonly string[] = ["read:org", "write:org", "admin:org"];
/** The version of the API that is used. */
const API_HEADERS = { accept: "application/vnd.github+json", "x-github-api-version": "2022-11-28" } as const;

/** Returns the addresses of the host's pages and of its API. */
function hostsOf({ hostName = "" }: SourceHostASettings): { readonly site: string; readonly api: string } {
  if (hostName === "") return SOURCE_HOST_A_HOSTS;
  if (/[/?#@\s]/.test(hostName) || !URL.canParse(`https://${hostName}`)) throw unavailable("hostName is not a host name");
  const site = `https://${hostName}`;
  return { site, api: hostName.endsWith(SOURCE_HOST_A_CLOUD) ? `https://api.${hostName}` : `${site}/api/v3` };
}

/**
 * A host of source code with organisations and teams: OAuth 2.0 with PKCE, and its REST API. There is no ID token. The id is the account's
 * number, which the host never reuses. A login is refreshed with the access token, or with the refresh token if the host gave one.
 *
 * @throws API_UNAVAILABLE when `hostName` is not a host.
 */
export async function openSourceHostA(provider: Provider<"sourceHostA">, context: ProviderContext): Promise<RedirectClient> {
  const { settings } = provider;
  const { site, api } = hostsOf(settings);
  const configuration = configurationOf(settings, site, context);
  const profileBy = async (tokens: ProviderTokens): Promise<ProviderSaid> => {
    const rest = restFor(context, { ...API_HEADERS, authorization: `Bearer ${accessTokenOf(tokens)}` });
    const isHosted = (settings.hostName ?? "") === "";
    return { decision: admit(provider, await profileOf(rest, { api, isHosted })), tokens };
  };
  return {
    flow: "redirect",
    authorizationUrl: ({ redirectUri, state, challenge }) =>
      openid.buildAuthorizationUrl(configuration, {
        ...{ redirect_uri: redirectUri, scope: SCOPES.join(" "), state },
        ...{ code_challenge: challenge, code_challenge_method: "S256" },
      }),
    async redeem(address, { state, verifier }) {
      const checks = { expectedState: state, pkceCodeVerifier: verifier };
      const answer = await openid.authorizationCodeGrant(configuration, address, checks).catch((error: unknown) => {
        throw notAccepted(error);
      });
      demandScopes(answer.scope);
      return profileBy(withoutIdToken(answer));
    },
    async lookAgain({ tokens, keep }) {
      const { refreshToken } = tokens;
      if (refreshToken === undefined) return profileBy(tokens);
      const answer = await openid.refreshTokenGrant(configuration, refreshToken).catch((error: unknown) => {
        throw notRefreshed(error);
      });
      const next = { refreshToken, ...withoutIdToken(answer) };
      await keep(next);
      return profileBy(next).catch(withFreshToken);
    },
    endSessionUrl: () => undefined,
  };
}

function configurationOf(settings: SourceHostASettings, site: string, { fetch, limits }: ProviderContext): openid.Configuration {
  const server = {
    issuer: site,
    authorization_endpoint: `${site}/login/oauth/authorize`,
    token_endpoint: `${site}/login/oauth/access_token`,
    token_endpoint_auth_methods_supported: ["client_secret_post"],
  };
  const configuration = new openid.Configuration(server, settings.clientId ?? "", {}, authenticationOf(settings));
  configuration[openid.customFetch] = withErrorStatus(fetch);
  configuration.timeout = limits.providerTimeoutSeconds;
  return configuration;
}

/** Gives errors of the token endpoint status 400: they come with status 200, which the package treats as a response without a token. */
function withErrorStatus(fetch: ProviderFetch): ProviderFetch {
  return async (url, request) => {
    const answer = await fetch(url, request);
    if (answer.status !== 200) return answer;
    const text = await answer.text();
    return new Response(text, { status: /^\s*\{[^{}]*"error"\s*:/.test(text) ? 400 : 200, headers: answer.headers });
  };
}

function withoutIdToken(answer: Parameters<typeof tokensOf>[0]): ProviderTokens {
  const { idToken: _idToken, ...tokens } = tokensOf(answer);
  return tokens;
}

/** Requires a scope for organisations, because users may grant less than was requested. Some applications' tokens have no scopes at all. */
function demandScopes(scope: string | undefined): void {
  const granted = (scope ?? "").split(/[ ,]+/).filter((one) => one !== "");
  if (granted.length > 0 && !granted.some((one) => ORG_SCOPES.includes(one)))
    throw troubled("permission", "the read:org scope was not granted");
}

interface ProfileOptions {
  readonly api: string;
  /** True for the public service, whose verified email addresses are trusted. */
  readonly isHosted: boolean;
}

async function profileOf(rest: Rest, { api, isHosted }: ProfileOptions): Promise<SourceHostAProfile> {
  const user = recordIn((await rest.ask(`${api}/user`)).body, "user");
  const id = numericId(user, "id", "user");
  const login = requiredText(user, "login", "user");
  const list = async (path: string, what: string) =>
    (await rest.pages(`${api}${path}`, linkedNext)).flatMap(({ body }) => recordsIn(body, what));
  const email = primaryOf(await list("/user/emails?per_page=100", "list of addresses"));
  const memberships = await list("/user/memberships/orgs?state=active&per_page=100", "list of memberships");
  const teams = await list("/user/teams?per_page=100", "list of teams");
  return {
    id,
    login,
    ...(email !== undefined && { email, ...(isHosted && { emailVerified: true }) }),
    organizations: organizationsOf(memberships, teams),
  };
}

function primaryOf(addresses: readonly Readonly<Record<string, unknown>>[]): string | undefined {
  const primary = addresses.find((address) => address["primary"] === true && address["verified"] === true);
  return primary && optionalText(primary, "email", "address");
}

type Listed = readonly Readonly<Record<string, unknown>>[];

/** Returns the organisations with their teams, matched by the organisation's id, which never changes. Pending invitations do not count. */
function organizationsOf(memberships: Listed, teams: Listed): SourceHostAProfile["organizations"] {
  const byOrg = new Map<string, { readonly name: string; readonly slug: string }[]>();
  for (const team of teams) {
    const org = numericId(recordIn(team["organization"], "organisation"), "id", "organisation");
    const named = { name: requiredText(team, "name", "team"), slug: requiredText(team, "slug", "team") };
    const known = byOrg.get(org);
    if (known === undefined) byOrg.set(org, [named]);
    else known.push(named);
  }
  return memberships.flatMap((membership) => {
    if (membership["state"] !== "active") return [];
    const org = recordIn(membership["organization"], "organisation");
    return [{ name: requiredText(org, "login", "organisation"), teams: byOrg.get(numericId(org, "id", "organisation")) ?? [] }];
  });
}
