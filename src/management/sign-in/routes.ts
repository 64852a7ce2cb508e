import type { IncomingMessage, ServerResponse } from "node:http";
import type { Chance } from "../../base/chance.ts";
import type { Clock } from "../../base/clock.ts";
import { isEngineError, messageOf } from "../../base/errors.ts";
import { silentLogger } from "../../base/logger.ts";
import type { Logger } from "../../base/logger.ts";
import { noMetrics } from "../../base/metrics.ts";
import type { Metrics } from "../../base/metrics.ts";
import { createAnswerWriter } from "../../apiserver/http/answer/answer-writer.ts";
import { READ_MS } from "../../apiserver/http/limits/limits.ts";
import { remoteAddressOf } from "../../apiserver/http/client-address.ts";
import type { AddressOf } from "../../apiserver/http/client-address.ts";
import type { AuditRecord } from "../../apiserver/types/audit-record.ts";
import { Answering } from "../../apiserver/http/exchange.ts";
import { internalError, noSuchPath, statusOf } from "../../apiserver/types/status.ts";
import type { Provider } from "./providers/admit.ts";
import { findConnector } from "./providers/connectors.ts";
import { setCustomHeaders } from "../config/custom-headers.ts";
import { SIGN_IN_LIMITS } from "./limits/limits.ts";
import type { SignInLimits } from "./limits/limits.ts";
import { createLocalMemory } from "./limits/memory.ts";
import type { SignInMemory } from "./limits/memory.ts";
import { createLogout } from "./logout.ts";
import { createOidcClients } from "./oidc/oidc-clients.ts";
import { createOidcLogin } from "./oidc/oidc-login.ts";
import { createSignInOutcomes } from "./outcomes.ts";
import { createPasswordLogin } from "./password-login.ts";
import type { Linked, SignedIn, SignInPorts } from "./ports.ts";
import type { SignInSettings } from "./settings.ts";
import { told } from "./told.ts";
import { answerJson } from "./visit.ts";
import type { Visit } from "./visit.ts";

/** What the sign-in endpoints work with. */
export interface SignInRoutesOptions {
  /** `status.auth` as it is now. */
  readonly config: () => SignInSettings;
  readonly ports: SignInPorts;
  readonly clock: Clock;
  readonly chance: Pick<Chance, "bytes">;
  /** Address of the platform as browsers see it, without a slash at its end. The endpoints are at `/auth/` below it. */
  readonly baseUrl: () => string;
  /** The text of a file that settings name. */
  readonly readFile: (path: string) => Promise<string>;
  /** Default: that of the connection. Behind a proxy all connections come from one. */
  readonly addressOf?: AddressOf;
  /** What has begun and what has failed. Default: this process alone knows. */
  readonly memory?: SignInMemory;
  /** Default {@link SIGN_IN_LIMITS}, each by itself. */
  readonly limits?: Partial<SignInLimits>;
  /** Default: silent. */
  readonly logger?: Logger;
  /** Default: nobody counts. */
  readonly metrics?: Metrics;
}

/** Answers a request for sign-in; false, with nothing done, when the path is none of these endpoints. Never rejects. */
export type SignInRoutes = (request: IncomingMessage, response: ServerResponse, path: string, audit?: AuditRecord) => Promise<boolean>;

const CONNECTOR_PATH = /^\/auth\/([^/]+)\/(login|callback)$/;

/**
 * The endpoints of sign-in:
 *
 * - `POST /auth/password/login` takes `username` and `password`.
 * - `GET /auth/{connector}/login` leads to the provider, `GET /auth/{connector}/callback` back from it.
 * - `POST /auth/exchange` takes `code` and `code_verifier` from a program that began a login with `redirect` and `code_challenge`.
 * - `POST /auth/link` takes the same, with a login key, and makes the identity one of that key's user.
 * - `POST /auth/logout` ends the login key that the request shows.
 *
 * @example
 * const routes = createSignInRoutes({ config, ports, clock, chance, baseUrl: () => "https://platform.example", readFile });
 * createServer(async (request, response) => {
 *   if (!(await routes(request, response, new URL(request.url!, "http://any").pathname))) response.writeHead(404).end();
 * });
 */
export function createSignInRoutes(options: SignInRoutesOptions): SignInRoutes {
  const { config, ports, clock, readFile, logger = silentLogger, memory = createLocalMemory(clock) } = options;
  const { addressOf = remoteAddressOf, metrics = noMetrics } = options;
  const limits = { ...SIGN_IN_LIMITS, ...options.limits };
  const { discoveryLifetimeMs: lifetimeMs, providerTimeoutSeconds: timeoutSeconds } = limits;
  const clients = createOidcClients({ clock, readFile, lifetimeMs, timeoutSeconds });
  const passwordLogin = createPasswordLogin({ config, ports, memory, limits, addressOf });
  const outcomes = createSignInOutcomes(metrics);
  const login = createOidcLogin({ ...options, memory, clients, limits, addressOf, outcomes });
  const findProvider = (id: string): Provider<"oidc"> | undefined => {
    const provider = findConnector(config(), id);
    return provider !== undefined && isLive(provider) ? provider : undefined;
  };
  const logout = createLogout({ ports, clients, findProvider });
  const answering = new Answering(createAnswerWriter({ clock, readMs: READ_MS }));

  const handlerOf = (path: string): ((visit: Visit) => Promise<void>) | undefined => {
    if (path === "/auth/password/login") {
      return async (visit) => {
        const signedIn = await outcomes.during("password", () => passwordLogin(visit));
        outcomes.succeeded("password");
        answerSignedIn(visit, signedIn);
      };
    }
    if (path === "/auth/exchange") return async (visit) => answerSignedIn(visit, await login.exchange(visit));
    if (path === "/auth/link") return async (visit) => answerLinked(visit, await login.link(visit));
    if (path === "/auth/logout") return async (visit) => answerJson(visit, loggedOut(await logout(visit)));
    const [, id, step] = CONNECTOR_PATH.exec(path) ?? [];
    if (id === undefined) return undefined;
    return async (visit) => {
      const provider = findProvider(decoded(id));
      if (provider === undefined) throw noSuchPath();
      if (step === "login") return outcomes.during(provider.connector, () => login.begin(visit, provider));
      const signedIn = await outcomes.during(provider.connector, () => login.finish(visit, provider));
      if (signedIn !== undefined) answerSignedIn(visit, signedIn);
    };
  };

  return async (request, response, path, audit) => {
    const handler = handlerOf(path);
    if (handler === undefined) return false;
    setCustomHeaders(response, config().customHttpHeaders);
    response.setHeader("Cache-Control", "no-store");
    response.setHeader("X-Content-Type-Options", "nosniff");
    try {
      await handler({ request, response, audit, query: new URLSearchParams((request.url ?? "").split("?", 2)[1] ?? "") });
    } catch (error) {
      const status = statusOf(error);
      if (status === undefined) logger.error("A sign-in failed by a fault of ours", { path, error: messageOf(error) });
      else if (status.code >= 500) logger.warn("A provider cannot be used for sign-in", { path, error: messageOf(error) });
      else logger.info("A sign-in was refused", { path, code: status.code, reason: status.message, ...causeOf(error) });
      answering.status({ request, response, audit }, statusOf(isEngineError(error) && status ? told(error) : internalError())!);
    }
    return true;
  };
}

function causeOf(error: unknown): { readonly cause?: string } {
  return error instanceof Error && typeof error.cause === "string" ? { cause: error.cause } : {};
}

/** Sign-in goes through these; of other kinds only the rules are here. */
function isLive(provider: Provider): provider is Provider<"oidc"> {
  return provider.kind === "oidc";
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // No id can look like this.
    return "";
  }
}

/** Who has signed in, and with which key, is in the audit log; no request to the API made the key. */
function answerSignedIn(visit: Visit, { key, name, user, expiresAt }: SignedIn): void {
  visit.audit?.annotate("management.platform/signed-in", user);
  visit.audit?.annotate("management.platform/access-key", name);
  answerJson(visit, { accessKey: key, name, ...(expiresAt !== undefined && { expiresAt: new Date(expiresAt).toISOString() }) });
}

/** Who has another identity now is in the audit log too. */
function answerLinked(visit: Visit, { user, subject }: Linked): void {
  visit.audit?.annotate("management.platform/linked", `${user}: ${subject}`);
  answerJson(visit, { user, subject });
}

function loggedOut(url: URL | undefined): object {
  return url === undefined ? {} : { logoutURL: url.href };
}
