/**
 * The parts of OAuth 2.0 and OpenID Connect that the doubles share: strict about what a client sends.
 */
import { createHash, generateKeyPairSync, randomBytes } from "node:crypto";
import { exportJWK, SignJWT, UnsecuredJWT, type JWTPayload } from "jose";
import type { Answer, Asked, Double } from "./world.ts";

export const CLIENT_ID = "platform";
export const CLIENT_SECRET = "provider secret: % and +";

const own = generateKeyPairSync("rsa", { modulusLength: 2048 });
const foreign = generateKeyPairSync("rsa", { modulusLength: 2048 });

/** How a provider lies about the user. */
export interface Lies {
  /** Overrides claims of the ID token. */
  claims?: JWTPayload;
  signature?: "none" | "foreign key" | "client secret";
  /** Overrides parameters with which the browser is sent back. */
  back?: Record<string, string>;
}

/** One provider's protocol. */
export interface OauthOptions {
  /** Hosts and paths of the two endpoints. */
  readonly authorize: string;
  readonly token: string;
  /** Parameters that the authorization endpoint knows. Any other is an error of the client. */
  readonly parameters: readonly string[];
  /** Exactly these, in any order. */
  readonly scopes: readonly string[];
  readonly refresh: "none" | "same" | "rotated";
  /** Makes an ID token of these claims; without it there is none. */
  readonly idToken?: { readonly issuer: () => string; readonly claims: () => JWTPayload };
  /** Errors come with 200. */
  readonly errorStatus?: number;
  readonly lies: Lies;
}

/** The protocol of one provider. */
export interface Oauth {
  readonly double: Double;
  /** Valid access tokens. */
  readonly tokens: Set<string>;
  /** Valid refresh tokens. */
  readonly refreshTokens: Set<string>;
  /** Errors of the client. */
  readonly complaints: string[];
  keys(): Promise<object>;
}

const random = () => randomBytes(16).toString("hex");
const KNOWN = ["response_type", "client_id", "redirect_uri", "scope", "state", "code_challenge", "code_challenge_method"];

/** Starts to speak the protocol. */
export function createOauth(options: OauthOptions): Oauth {
  const codes = new Map<string, URLSearchParams>();
  const complaints: string[] = [];
  const [tokens, refreshTokens] = [new Set<string>(), new Set<string>()];
  const error = (code: string, status = options.errorStatus ?? 400): Answer => {
    complaints.push(code);
    return { status, body: { error: code, error_description: "INNER SECRET REASON" } };
  };

  const authorize = ({ query }: Asked): Answer => {
    const known = [...KNOWN, ...options.parameters];
    const strange = [...query.keys()].filter((name) => !known.includes(name));
    if (strange.length > 0) complaints.push(`unknown parameters ${strange.join()}`);
    const scopes = (query.get("scope") ?? "").split(" ").sort().join(" ");
    if (scopes !== [...options.scopes].sort().join(" ")) return error(`invalid_scope ${scopes}`);
    if (query.get("client_id") !== CLIENT_ID || query.get("response_type") !== "code") return error("unauthorized_client");
    if (query.get("code_challenge_method") !== "S256" || query.get("code_challenge")?.length !== 43) return error("invalid_request");
    if (options.idToken !== undefined && (query.get("nonce") ?? "") === "") return error("invalid_request");
    const code = random();
    codes.set(code, query);
    const back = new URL(query.get("redirect_uri")!);
    const told = { code, state: query.get("state")!, ...options.lies.back };
    for (const [name, value] of Object.entries(told)) back.searchParams.set(name, value);
    return { status: 302, headers: { location: back.href }, body: "" };
  };

  const token = async ({ text, headers }: Asked): Promise<Answer> => {
    const sent = new URLSearchParams(text);
    if (!isClient(headers.authorization, sent))
      return error(options.errorStatus ? "incorrect_client_credentials" : "invalid_client", options.errorStatus ?? 401);
    let nonce: string | undefined;
    if (sent.get("grant_type") === "refresh_token") {
      const given = sent.get("refresh_token") ?? "";
      if (!refreshTokens.has(given)) return error("invalid_grant");
      if (options.refresh === "rotated") refreshTokens.delete(given);
    } else {
      const asked = codes.get(sent.get("code") ?? "");
      codes.delete(sent.get("code") ?? "");
      const challenge = createHash("sha256")
        .update(sent.get("code_verifier") ?? "")
        .digest("base64url");
      if (asked === undefined || challenge !== asked.get("code_challenge")) return error("invalid_grant");
      if (sent.get("redirect_uri") !== asked.get("redirect_uri")) return error("redirect_uri_mismatch");
      nonce = asked.get("nonce") ?? undefined;
    }
    const [access, refresh] = [random(), random()];
    tokens.add(access);
    if (options.refresh !== "none") refreshTokens.add(refresh);
    const scope = options.scopes.join(options.errorStatus === 200 ? "," : " ");
    return {
      body: {
        ...{ access_token: access, token_type: "bearer", scope },
        ...(options.refresh !== "none" && { refresh_token: refresh, expires_in: 7_200 }),
        ...(options.idToken && { id_token: await idToken(options, nonce) }),
      },
    };
  };

  return {
    tokens,
    refreshTokens,
    complaints,
    keys: async () => ({ keys: [{ ...(await exportJWK(own.publicKey)), kid: "own", alg: "RS256", use: "sig" }] }),
    double: (asked) => {
      if (asked.place === options.authorize && asked.method === "GET") return authorize(asked);
      return asked.place === options.token && asked.method === "POST" ? token(asked) : undefined;
    },
  };
}

async function idToken({ idToken, lies }: OauthOptions, nonce: string | undefined): Promise<string> {
  const now = Math.floor(Date.now() / 1_000);
  const basic = { iss: idToken!.issuer(), aud: CLIENT_ID, iat: now, exp: now + 300, ...(nonce !== undefined && { nonce }) };
  const claims: JWTPayload = { ...basic, ...idToken!.claims(), ...lies.claims };
  if (lies.signature === "none") return new UnsecuredJWT(claims).encode();
  if (lies.signature === "client secret") return new SignJWT(claims).setProtectedHeader({ alg: "HS256" }).sign(Buffer.from(CLIENT_SECRET));
  const { privateKey } = lies.signature === "foreign key" ? foreign : own;
  return new SignJWT(claims).setProtectedHeader({ alg: "RS256", kid: "own" }).sign(privateKey);
}

/** The discovery document of a provider. */
export function discovery(issuer: string, at: { authorize: string; token: string; keys: string; userinfo?: string }): Answer {
  return {
    body: {
      issuer,
      authorization_endpoint: `https://${at.authorize}`,
      token_endpoint: `https://${at.token}`,
      jwks_uri: `https://${at.keys}`,
      ...(at.userinfo && { userinfo_endpoint: `https://${at.userinfo}` }),
      response_types_supported: ["code"],
      subject_types_supported: ["public"],
      id_token_signing_alg_values_supported: ["RS256"],
      token_endpoint_auth_methods_supported: ["client_secret_post", "client_secret_basic"],
    },
  };
}

function isClient(authorization: string | undefined, sent: URLSearchParams): boolean {
  if (authorization === undefined) return sent.get("client_id") === CLIENT_ID && sent.get("client_secret") === CLIENT_SECRET;
  const [id = "", secret = ""] = Buffer.from(authorization.slice(6), "base64").toString().split(":");
  const plain = (text: string) => decodeURIComponent(text.replaceAll("+", " "));
  return plain(id) === CLIENT_ID && plain(secret) === CLIENT_SECRET;
}

/** The access token that a request presents. */
export function tokenOf({ headers }: Asked): string {
  return /^Bearer (.+)$/.exec(headers.authorization ?? "")?.[1] ?? "";
}
