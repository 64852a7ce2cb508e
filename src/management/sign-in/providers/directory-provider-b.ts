import { accessTokenOf, restFor, type ProviderContext } from "./context.ts";
import type { RedirectClient, ProviderSaid } from "./provider-client.ts";
import { DIRECTORY_B_HOSTS } from "../oidc/public-hosts.ts";
import { optionalText, recordIn, recordsIn, requiredText, withFreshToken, type Rest, type RestAnswer } from "./rest.ts";
import { unauthorized, unavailable } from "../../../apiserver/types/status.ts";
import { discoverOidc } from "../oidc/oidc-client.ts";
import type { ProviderTokens } from "../ports.ts";
import { admit, type Provider } from "../rules/admit.ts";
import type { DirectoryProviderBProfile } from "../rules/admit-directory-provider-b.ts";
import { textClaim, type Claims } from "../rules/claims.ts";

/** An administrator of the directory must grant `GroupMember.Read.All` once. */
const SCOPES = ["profile", "email", "offline_access", "User.Read", "GroupMember.Read.All"] as const;
/** The tenant of all personal accounts. */
const PERSONAL = "9188040d-6c67-4c5b-b112-36a304b66dad";
/** Values of the setting `tenant` that are not a tenant. */
const KINDS_OF_ACCOUNTS: readonly string[] = ["common", "consumers", "organizations"];
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
/** Maximum number of ids in one request for names. */
const IDS_MAX = 1_000;

/**
 * A directory of accounts with tenants: OpenID Connect, and its API for groups. All tenants share the issuer's keys, so the verified ID
 * token determines the tenant. The id consists of tenant and object. Email addresses prove nothing, because the administrator of a foreign
 * tenant can set them. A login is refreshed with the refresh token.
 *
 * @throws API_UNAVAILABLE when its discovery document cannot be read.
 */
export async function openDirectoryProviderB(provider: Provider<"directoryProviderB">, context: ProviderContext): Promise<RedirectClient> {
  const { clientId = "", clientSecret = "", redirectURI = "" } = provider.settings;
  const tenant = provider.settings.tenant || "common";
  if (!/^[A-Za-z0-9.-]+$/.test(tenant)) throw unavailable("tenant is neither an id nor a name");
  const { fetch, limits } = context;
  const issuerUrl = `${DIRECTORY_B_HOSTS.login}/${tenant.toLowerCase()}/v2.0`;
  const settings = { issuerUrl, clientId, clientSecret, redirectURI, scopes: SCOPES };
  const client = await discoverOidc(settings, { fetch, timeoutSeconds: limits.providerTimeoutSeconds });

  const profileBy = async (claims: Claims, tokens: ProviderTokens): Promise<ProviderSaid> => {
    const [tid, oid] = ["tid", "oid"].map((name) => textClaim(claims, name)?.toLowerCase());
    const { idToken: _idToken, ...rest } = tokens;
    if (tid === undefined || oid === undefined || !UUID.test(tid)) throw unauthorized("the token does not name a tenant and an account");
    const personal = tid === PERSONAL;
    // Discovery has resolved the name of a tenant, and the issuer of the token was compared with the result.
    const named = KINDS_OF_ACCOUNTS.includes(tenant) || UUID.test(tenant) ? {} : { tenantNames: [tenant] };
    const account: DirectoryProviderBProfile["account"] = personal ? { personal } : { personal, tenantId: tid, ...named };
    const api = restFor(context, { authorization: `Bearer ${accessTokenOf(tokens)}` });
    const me = recordIn((await api.ask(`${DIRECTORY_B_HOSTS.graph}/me?$select=id,displayName,userPrincipalName,mail`)).body, "user");
    if (!personal && requiredText(me, "id", "user").toLowerCase() !== oid)
      throw unavailable("the ID token and the API name different users");
    const email = optionalText(me, "mail", "user") ?? textClaim(claims, "email");
    const profile: DirectoryProviderBProfile = {
      ...{ id: `${tid}/${oid}`, principalName: requiredText(me, "userPrincipalName", "user"), account },
      ...(email !== undefined && { email }),
      groups: personal ? [] : await groupsOf(api, provider.settings.onlySecurityGroups ?? false),
    };
    const { accessToken: _accessToken, ...kept } = rest;
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
      return claims["oid"] === undefined ? undefined : profileBy(claims, tokens).catch(withFreshToken);
    },
    endSessionUrl: (idToken) => client.endSessionUrl(idToken),
  };
}

/** Returns the groups of the user, direct and transitive, except those whose names the API does not return. */
async function groupsOf(api: Rest, securityEnabledOnly: boolean): Promise<DirectoryProviderBProfile["groups"]> {
  const ids = (await listOf(api, "/me/getMemberGroups", { securityEnabledOnly })).map((id) => {
    if (typeof id !== "string") throw unavailable("the provider sent a group id that is not a string");
    return id;
  });
  const groups: DirectoryProviderBProfile["groups"][number][] = [];
  for (let start = 0; start < ids.length; start += IDS_MAX) {
    const body = { ids: ids.slice(start, start + IDS_MAX), types: ["group"] };
    for (const group of recordsIn(await listOf(api, "/directoryObjects/getByIds", body), "list of groups")) {
      const name = optionalText(group, "displayName", "group");
      if (name !== undefined) groups.push({ name, id: requiredText(group, "id", "group"), security: group["securityEnabled"] === true });
    }
  }
  return groups;
}

async function listOf(api: Rest, path: string, body: object): Promise<readonly unknown[]> {
  const answers = await api.pages(`${DIRECTORY_B_HOSTS.graph}${path}`, nextLink, { method: "POST", body });
  return answers.flatMap((answer) => {
    const { value } = recordIn(answer.body, "list");
    if (!Array.isArray(value)) throw unavailable("the provider's response has no list named value");
    return value as readonly unknown[];
  });
}

function nextLink({ body }: RestAnswer): string | undefined {
  return optionalText(recordIn(body, "list"), "@odata.nextLink", "list");
}
