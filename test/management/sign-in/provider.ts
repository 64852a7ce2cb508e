/**
 * An OpenID Connect provider in process: signs real tokens, checks what a real provider checks, and lies where a test says so.
 */
import { createHash, generateKeyPairSync, randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { exportJWK, SignJWT, UnsecuredJWT, type JWTPayload } from "jose";
import { systemChance } from "../../../src/base/chance.ts";
import { systemClock } from "../../../src/base/clock.ts";
import { createServerCertificate } from "../../../src/apiserver/access/certificates.ts";

export const CLIENT_ID = "platform";
export const CLIENT_SECRET = "provider secret: % and +";

/** The key that every provider here publishes, and one that none does. They are too expensive to make for each test. */
const own = generateKeyPairSync("rsa", { modulusLength: 2048 });
const foreign = generateKeyPairSync("rsa", { modulusLength: 2048 });

/** How the provider differs from a good one. */
export interface Lies {
  /** Overrides claims of the ID token. */
  claims?: JWTPayload;
  /** How the ID token is signed. Default: with the key that the provider publishes. */
  signature?: "none" | "foreign key" | "client secret";
  /** The issuer of the discovery document. */
  issuer?: string;
  /** How the client may send its secret. Default: all ways. */
  authentication?: string[];
  /** False: there is no discovery document. */
  discovery?: boolean;
  /** Overrides parts of the discovery document. */
  document?: Readonly<Record<string, unknown>>;
  /** True: the answer to a refresh token has no ID token. */
  refreshesWithoutIdToken?: boolean;
}

/** A running provider. */
export interface TestProvider {
  readonly issuer: string;
  /** The authority of its certificate, if it speaks TLS. */
  readonly caPem: string;
  /** Claims of the ID token beyond `sub`. */
  claims: JWTPayload;
  /** Claims of the UserInfo endpoint. */
  userInfo: Record<string, unknown>;
  lies: Lies;
  /** Parameters of the requests to the authorization endpoint and to the token endpoint so far. */
  readonly authorizations: URLSearchParams[];
  readonly tokenRequests: { parameters: URLSearchParams; authorization: string | undefined }[];
  discoveries: number;
  /** Whether a refresh token is valid; undefined: none is given. */
  refreshes: boolean | undefined;
  close(): Promise<void>;
}

/** Starts a provider on a free port of loopback. `host` is the name in its addresses and its certificate. */
export async function startProvider({ tls = false, host = "127.0.0.1" } = {}): Promise<TestProvider> {
  const certificate = createServerCertificate({
    name: "provider",
    dnsNames: ["localhost", host],
    clock: systemClock,
    chance: systemChance,
  });
  const codes = new Map<string, URLSearchParams>();

  const tokenFor = async (asked: URLSearchParams): Promise<string> => {
    const now = Math.floor(Date.now() / 1_000);
    const basic = { iss: provider.issuer, aud: CLIENT_ID, sub: "user-1", iat: now, exp: now + 300, ...nonceOf(asked) };
    const claims: JWTPayload = { ...basic, ...provider.claims, ...provider.lies.claims };
    const { signature } = provider.lies;
    if (signature === "none") return new UnsecuredJWT(claims).encode();
    if (signature === "client secret") return new SignJWT(claims).setProtectedHeader({ alg: "HS256" }).sign(Buffer.from(CLIENT_SECRET));
    const { privateKey } = signature === "foreign key" ? foreign : own;
    return new SignJWT(claims).setProtectedHeader({ alg: "RS256", kid: "own" }).sign(privateKey);
  };

  const answers: Record<string, (request: IncomingMessage, response: ServerResponse, url: URL) => Promise<void> | void> = {
    "/.well-known/openid-configuration": (_, response) => {
      provider.discoveries++;
      if (provider.lies.discovery === false) return void response.writeHead(404).end();
      const issuer = provider.lies.issuer ?? provider.issuer;
      json(response, 200, {
        issuer,
        authorization_endpoint: `${provider.issuer}/authorize`,
        token_endpoint: `${provider.issuer}/token`,
        userinfo_endpoint: `${provider.issuer}/userinfo`,
        end_session_endpoint: `${provider.issuer}/logout`,
        jwks_uri: `${provider.issuer}/keys`,
        response_types_supported: ["code"],
        subject_types_supported: ["public"],
        id_token_signing_alg_values_supported: ["RS256"],
        ...provider.lies.document,
        ...(provider.lies.authentication && { token_endpoint_auth_methods_supported: provider.lies.authentication }),
      });
    },
    "/keys": async (_, response) =>
      json(response, 200, { keys: [{ ...(await exportJWK(own.publicKey)), kid: "own", alg: "RS256", use: "sig" }] }),
    "/authorize": (_, response, { searchParams }) => {
      provider.authorizations.push(searchParams);
      const back = new URL(searchParams.get("redirect_uri")!);
      const code = randomBytes(16).toString("hex");
      codes.set(code, searchParams);
      back.searchParams.set("code", code);
      back.searchParams.set("state", searchParams.get("state")!);
      response.writeHead(302, { Location: back.href }).end();
    },
    "/token": async (request, response) => {
      const parameters = new URLSearchParams(await bodyOf(request));
      provider.tokenRequests.push({ parameters, authorization: request.headers.authorization });
      if (parameters.get("grant_type") === "refresh_token") {
        if (!isClient(request, parameters)) return json(response, 401, { error: "invalid_client" });
        if (provider.refreshes !== true || parameters.get("refresh_token") !== "refresh")
          return json(response, 400, { error: "invalid_grant" });
        const token = { access_token: "access", token_type: "Bearer", expires_in: 300 };
        const isBare = provider.lies.refreshesWithoutIdToken === true;
        return json(response, 200, { ...token, ...(!isBare && { id_token: await tokenFor(new URLSearchParams()) }) });
      }
      const asked = codes.get(parameters.get("code") ?? "");
      codes.delete(parameters.get("code") ?? "");
      if (!isClient(request, parameters)) return json(response, 401, { error: "invalid_client" });
      const challenge = createHash("sha256")
        .update(parameters.get("code_verifier") ?? "")
        .digest("base64url");
      const fits = asked?.get("redirect_uri") === parameters.get("redirect_uri") && asked?.get("code_challenge") === challenge;
      if (asked === undefined || !fits) return json(response, 400, { error: "invalid_grant" });
      const refresh = provider.refreshes !== undefined && { refresh_token: "refresh" };
      const token = { access_token: "access", token_type: "Bearer", ...refresh, expires_in: 300 };
      json(response, 200, { ...token, id_token: await tokenFor(asked) });
    },
    "/userinfo": (request, response) => {
      if (request.headers.authorization !== "Bearer access") return void response.writeHead(401).end();
      json(response, 200, { sub: "user-1", ...provider.userInfo });
    },
  };
  const listener: RequestListener = (request, response) => {
    const url = new URL(request.url!, "http://any");
    const answer = answers[url.pathname];
    if (answer === undefined) return void response.writeHead(404).end();
    void Promise.resolve(answer(request, response, url));
  };
  const server = tls ? createTlsServer({ key: certificate.keyPem, cert: certificate.certPem }, listener) : createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const provider: TestProvider = {
    issuer: `${tls ? "https" : "http"}://${host}:${port}`,
    caPem: certificate.caPem,
    claims: { preferred_username: "jane", email: "jane@acme.example", email_verified: true, groups: ["dev", "ops"] },
    userInfo: {},
    lies: {},
    authorizations: [],
    tokenRequests: [],
    discoveries: 0,
    refreshes: true,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
  return provider;
}

/** Answers to a refresh token have none. */
function nonceOf(asked: URLSearchParams): { nonce?: string } {
  const nonce = asked.get("nonce");
  return nonce === null ? {} : { nonce };
}

/** The client sends its secret in a header or in the body. */
function isClient(request: IncomingMessage, parameters: URLSearchParams): boolean {
  const form = (text: string) => new URLSearchParams([["", text]]).toString().slice(1);
  const basic = `Basic ${Buffer.from(`${form(CLIENT_ID)}:${form(CLIENT_SECRET)}`).toString("base64")}`;
  // Some characters may be escaped or not.
  const plain = (text: string | undefined) =>
    decodeURIComponent(
      Buffer.from(text?.slice(6) ?? "", "base64")
        .toString()
        .replaceAll("+", " "),
    );
  if (request.headers.authorization !== undefined) return plain(request.headers.authorization) === plain(basic);
  return parameters.get("client_id") === CLIENT_ID && parameters.get("client_secret") === CLIENT_SECRET;
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

function json(response: ServerResponse, code: number, document: object): void {
  response.writeHead(code, { "Content-Type": "application/json" }).end(JSON.stringify(document));
}
