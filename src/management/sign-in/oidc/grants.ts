/**
 * Requests to a token endpoint with the package `openid-client` and the provider's newest keys. The package itself keeps a key set for at
 * least a minute and refuses tokens that are signed with a newer key. A refresh token that can be used only once would be lost with such a
 * response.
 *
 * @module
 */
import * as openid from "openid-client";
import { isRecord } from "../../../base/json.ts";
import type { ProviderFetch } from "./provider-fetch.ts";

/** Options of {@link openGrants}. */
export interface GrantsOptions {
  readonly fetch: ProviderFetch;
  /** Reads the discovery document with this `fetch`. */
  readonly discover: (fetch: ProviderFetch) => Promise<openid.Configuration>;
}

/** A provider whose discovery document has been read. */
export interface Grants {
  /** For operations that send no request to the provider. */
  readonly configuration: openid.Configuration;
  /**
   * Runs one request to the token endpoint, and the requests that follow it.
   *
   * @param onRefreshToken Called with a refresh token as soon as there is one, even if the rest of the response is refused.
   */
  run<T>(request: (configuration: openid.Configuration) => Promise<T>, onRefreshToken?: (token: string) => void): Promise<T>;
}

/** A key set that the package considers outdated, so that it requests a new one. */
const NO_KEYS = { jwks: { keys: [] }, uat: 0 };

/**
 * Reads the discovery document once. Each request gets a separate configuration, because the package caches keys per configuration.
 *
 * @throws Error when the document cannot be read, or names another issuer.
 * @example
 * const discover = (fetch) => openid.discovery(issuer, "platform", {}, none, { [openid.customFetch]: fetch });
 * const { run } = await openGrants({ fetch, discover });
 * await run((configuration) => openid.refreshTokenGrant(configuration, token));
 */
export async function openGrants({ fetch, discover }: GrantsOptions): Promise<Grants> {
  let read: Promise<RememberedAnswer> | undefined;
  const remembered: ProviderFetch = async (url, request) => {
    const { text, status, headers } = await (read ??= fetch(url, request).then(rememberedAnswer));
    return new Response(text, { status, headers });
  };
  const configuration = await discover(remembered);
  const { token_endpoint: tokenEndpoint } = configuration.serverMetadata();
  let keys: openid.ExportedJWKSCache | undefined;
  return {
    configuration,
    async run(request, onRefreshToken = () => {}) {
      let opened: openid.Configuration | undefined = undefined;
      const its: ProviderFetch = async (url, how) => {
        if (opened === undefined) return remembered(url, how);
        const answer = await fetch(url, how);
        if (url !== tokenEndpoint) return answer;
        const text = await answer.clone().text();
        if (!isSignedBy(keys, text)) openid.setJwksCache(opened, NO_KEYS);
        const token = fieldOf(text, "refresh_token");
        if (answer.status === 200 && typeof token === "string" && token !== "") onRefreshToken(token);
        return answer;
      };
      const own = await discover(its);
      opened = own;
      if (keys !== undefined) openid.setJwksCache(own, keys);
      try {
        return await request(own);
      } finally {
        keys = openid.getJwksCache(own) ?? keys;
      }
    },
  };
}

interface RememberedAnswer {
  readonly text: string;
  readonly status: number;
  readonly headers: Headers;
}

/** Reads a response as text, because each clone of a response depends on the one before it. */
async function rememberedAnswer(answer: Response): Promise<RememberedAnswer> {
  return { text: await answer.text(), status: answer.status, headers: answer.headers };
}

/** Reports whether one of the keys has the id in a response's ID token. False for a token without an id: any key may have signed it. */
function isSignedBy(known: openid.ExportedJWKSCache | undefined, answer: string): boolean {
  const token = fieldOf(answer, "id_token");
  if (typeof token !== "string" || known === undefined) return true;
  const kid = fieldOf(Buffer.from(token.split(".")[0]!, "base64url").toString(), "kid");
  return kid !== undefined && known.jwks.keys.some((key) => key.kid === kid);
}

function fieldOf(text: string, name: string): unknown {
  try {
    const document: unknown = JSON.parse(text);
    return isRecord(document) ? document[name] : undefined;
  } catch {
    return undefined;
  }
}
