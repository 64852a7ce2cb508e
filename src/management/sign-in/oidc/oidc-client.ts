/**
 * The OpenID Connect protocol, implemented with the package `openid-client`. Times of tokens are compared with the machine's own clock.
 *
 * @module
 */
import * as openid from "openid-client";
import { unavailable } from "../../../apiserver/types/status.ts";
import type { Claims } from "../rules/claims.ts";
import { openGrants, type Grants } from "./grants.ts";
import { isLoopback } from "./loopback.ts";
import { notAccepted, notRefreshed, protocolReason, reachability } from "./oauth-errors.ts";
import type { ProviderTokens } from "../ports.ts";
import type { ProviderFetch } from "./provider-fetch.ts";
import type { OidcSettings } from "../settings.ts";

/** Secrets of one login. */
export interface LoginSecrets {
  readonly state: string;
  readonly nonce: string;
  /** The provider gets only its challenge. */
  readonly verifier: string;
}

/** A provider whose discovery document has been read. */
export interface OidcClient {
  /** The address to which the user goes to sign in. */
  authorizationUrl(login: {
    readonly redirectUri: string;
    readonly state: string;
    readonly nonce: string;
    readonly challenge: string;
  }): URL;
  /**
   * Returns the claims about the user who returned to `address`, the redirect URI with the provider's response: those of the verified ID
   * token and, if configured, of the UserInfo endpoint.
   *
   * @throws API_UNAUTHORIZED when the response is not accepted, API_UNAVAILABLE when the provider cannot be reached.
   */
  redeem(address: URL, secrets: LoginSecrets): Promise<{ readonly claims: Claims; readonly tokens: ProviderTokens }>;
  /**
   * Returns the current claims about a user who signed in before; no claims if the provider returns no ID token.
   *
   * @param keep Stores a refresh token with which the provider replaced the previous one, before anything else may fail.
   * @throws API_UNAUTHORIZED when the provider no longer knows of the login, API_UNAVAILABLE when it cannot be reached.
   */
  refresh(
    refreshToken: string,
    keep: (tokens: { readonly refreshToken: string }) => Promise<void>,
  ): Promise<{ readonly claims: Claims; readonly tokens: ProviderTokens }>;
  /** The address to which the user goes to sign out; undefined when the provider has none. */
  endSessionUrl(idToken?: string): URL | undefined;
}

/** Options of {@link discoverOidc}. */
export interface ProviderDiscoveryOptions {
  /** Additional parameters of the authorization request. Default: none. */
  readonly parameters?: Readonly<Record<string, string>>;
  readonly fetch: ProviderFetch;
  /** How long one response may take, in seconds. */
  readonly timeoutSeconds: number;
}

const DEFAULT_SCOPES = ["email", "profile"] as const;
/** Claims about the token itself, which the UserInfo endpoint cannot change. */
const TOKEN_CLAIMS = ["iss", "sub", "aud", "azp", "exp", "iat", "nbf", "nonce", "auth_time"] as const;

/**
 * Reads a provider's discovery document.
 *
 * @throws API_UNAVAILABLE when it cannot be read, or names another issuer.
 * @example
 * const client = await discoverOidc({ issuerUrl: "https://id.example", clientId: "platform" }, { fetch, timeoutSeconds: 10 });
 */
export async function discoverOidc(
  settings: OidcSettings,
  { fetch, timeoutSeconds, parameters = {} }: ProviderDiscoveryOptions,
): Promise<OidcClient> {
  const { issuerUrl = "", clientId = "" } = settings;
  if (!URL.canParse(issuerUrl) || clientId === "") throw unavailable("the provider has no issuerUrl or no clientId");
  const issuer = new URL(issuerUrl);
  // The signature of every ID token is verified: TLS proves nothing with `insecureCa`.
  const execute = [openid.enableNonRepudiationChecks, ...(isLoopback(issuer) ? [openid.allowInsecureRequests] : [])];
  const options = { execute, timeout: timeoutSeconds };
  const discover = (by: ProviderFetch) =>
    openid.discovery(issuer, clientId, {}, authenticationOf(settings), { ...options, [openid.customFetch]: by });
  try {
    return clientFor(await openGrants({ fetch, discover }), settings, parameters);
  } catch (error) {
    throw reachability(error) ?? unavailable(`the provider's discovery document cannot be used: ${protocolReason(error)}`);
  }
}

function clientFor(
  { configuration, run }: Grants,
  settings: OidcSettings,
  parameters: NonNullable<ProviderDiscoveryOptions["parameters"]>,
): OidcClient {
  const { scopes = [], resource = "", postLogoutRedirectURI = "", getUserInfo = false } = settings;
  const scope = [...new Set(["openid", ...(scopes.length === 0 ? DEFAULT_SCOPES : scopes)])].join(" ");
  const extra = resource === "" ? {} : { resource };
  return {
    authorizationUrl({ redirectUri, state, nonce, challenge }) {
      const pkce = { code_challenge: challenge, code_challenge_method: "S256" };
      return openid.buildAuthorizationUrl(configuration, {
        redirect_uri: redirectUri,
        scope,
        state,
        nonce,
        ...pkce,
        ...extra,
        ...parameters,
      });
    },
    async redeem(address, { state, nonce, verifier }) {
      try {
        const checks = { expectedState: state, expectedNonce: nonce, pkceCodeVerifier: verifier, idTokenExpected: true };
        return await run(async (own) => {
          const answer = await openid.authorizationCodeGrant(own, address, checks, extra);
          const claims: Claims = { ...answer.claims() };
          return { claims: getUserInfo ? await withUserInfo(own, answer.access_token, claims) : claims, tokens: tokensOf(answer) };
        });
      } catch (error) {
        throw notAccepted(error);
      }
    },
    async refresh(refreshToken, keep) {
      let replaced: string | undefined;
      const keepReplaced = async () => {
        if (replaced !== undefined && replaced !== refreshToken) await keep({ refreshToken: replaced });
        replaced = undefined;
      };
      try {
        return await run(
          async (own) => {
            const answer = await openid.refreshTokenGrant(own, refreshToken, extra);
            await keepReplaced();
            const claims: Claims = { ...answer.claims() };
            const tokens = { refreshToken, ...tokensOf(answer) };
            const asksUserInfo = getUserInfo && claims["sub"] !== undefined;
            return { claims: asksUserInfo ? await withUserInfo(own, answer.access_token, claims) : claims, tokens };
          },
          (token) => void (replaced = token),
        );
      } catch (error) {
        // The previous token is no longer valid, even if the rest of the response is refused.
        await keepReplaced();
        throw notRefreshed(error);
      }
    },
    endSessionUrl(idToken) {
      if (configuration.serverMetadata().end_session_endpoint === undefined) return undefined;
      return openid.buildEndSessionUrl(configuration, {
        ...(postLogoutRedirectURI !== "" && { post_logout_redirect_uri: postLogoutRedirectURI }),
        ...(idToken !== undefined && { id_token_hint: idToken }),
      });
    },
  };
}

/** The credentials in the form that the provider accepts: in a header, unless its discovery document allows only the body. */
export function authenticationOf({
  clientSecret = "",
  redirectURI = "",
}: Pick<OidcSettings, "clientSecret" | "redirectURI">): openid.ClientAuth {
  const [header, body] =
    clientSecret === "" ? [openid.None(), openid.None()] : [openid.ClientSecretBasic(clientSecret), openid.ClientSecretPost(clientSecret)];
  return (server, client, parameters, headers) => {
    // The package drops the query, and the provider compares the address with the one of the request.
    if (redirectURI !== "" && parameters.has("redirect_uri")) parameters.set("redirect_uri", redirectURI);
    const methods = server.token_endpoint_auth_methods_supported;
    return (methods === undefined || methods.includes("client_secret_basic") ? header : body)(server, client, parameters, headers);
  };
}

async function withUserInfo(configuration: openid.Configuration, accessToken: string, claims: Claims): Promise<Claims> {
  const userInfo = await openid.fetchUserInfo(configuration, accessToken, String(claims["sub"]));
  const token = TOKEN_CLAIMS.flatMap((name) => (Object.hasOwn(claims, name) ? [[name, claims[name]] as const] : []));
  const allowed = Object.entries(userInfo).filter(([name]) => !TOKEN_CLAIMS.some((own) => own === name));
  return { ...claims, ...Object.fromEntries([...allowed, ...token]) };
}

/** The tokens of a response. */
export function tokensOf(answer: {
  readonly id_token?: string;
  readonly access_token: string;
  readonly refresh_token?: string;
}): ProviderTokens {
  return {
    accessToken: answer.access_token,
    ...(answer.id_token !== undefined && { idToken: answer.id_token }),
    ...(answer.refresh_token !== undefined && { refreshToken: answer.refresh_token }),
  };
}
