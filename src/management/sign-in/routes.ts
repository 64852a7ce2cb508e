import type { Chance } from "../../base/chance.ts";
import type { Clock } from "../../base/clock.ts";
import { isEngineError, messageOf } from "../../base/errors.ts";
import { silentLogger, type Logger } from "../../base/logger.ts";
import { noMetrics, type Metrics } from "../../base/metrics.ts";
import { READ_MS } from "../../apiserver/http/limits/limits.ts";
import { remoteAddressOf, type AddressOf } from "../../apiserver/http/client-address.ts";
import { Answering, createAnswerWriter } from "../../apiserver/http/answering.ts";
import { internalError, noSuchPath, statusOf } from "../../apiserver/types/status.ts";
import type { Provider } from "./rules/admit.ts";
import { findConnector } from "./rules/connectors.ts";
import { setCustomHeaders } from "../config/custom-headers.ts";
import { SIGN_IN_LIMITS, type SignInLimits } from "./limits/limits.ts";
import { createLocalMemory, type SignInMemory } from "./limits/memory.ts";
import { createBegins } from "./logins/begins.ts";
import { createFormLogin } from "./logins/form-login.ts";
import { createLogout } from "./logins/logout.ts";
import { createSignInOutcomes } from "./logins/outcomes.ts";
import { createPasswordLogin } from "./logins/password-login.ts";
import { createPrograms, programOf, sendBack, waitingOf } from "./logins/programs.ts";
import { createProviderLogin } from "./logins/provider-login.ts";
import { createTokenLogin } from "./logins/token-login.ts";
import type { UiSettings } from "./pages/look.ts";
import { createPages } from "./pages/pages.ts";
import { waysOf } from "./pages/ways.ts";
import type { Linked, SignedIn, SignInPorts } from "./ports.ts";
import { isLive, type ProviderClients } from "./providers/provider-clients.ts";
import type { SignInSettings } from "./settings.ts";
import { errorForUser } from "./provider-troubles.ts";
import { answerJson, demandOwnPage, expectMethod, readFields, wantsPage, type Visit } from "./visit.ts";

/** Options of {@link createSignInRoutes}. */
export interface SignInRoutesOptions {
  /** The current settings of `status.auth`. */
  readonly config: () => SignInSettings;
  readonly ports: SignInPorts;
  readonly clock: Clock;
  readonly chance: Pick<Chance, "bytes">;
  /** Address of the platform as browsers see it, without a slash at its end. The endpoints are at `/auth/` below it. */
  readonly baseUrl: () => string;
  /** The clients of the configured providers. */
  readonly clients: ProviderClients;
  /** The style of pages. Default: no settings. */
  readonly ui?: () => UiSettings;
  /** Creates a kubeconfig with a key. Default: there is no download. */
  readonly kubeconfig?: (key: string) => string;
  /** Address of the client. Default: that of the connection. Behind a proxy, all connections have the same one. */
  readonly addressOf?: AddressOf;
  /** Keeps unfinished logins and counts of failures. Default: in this process. */
  readonly memory?: SignInMemory;
  /** The default for each limit is in {@link SIGN_IN_LIMITS}. */
  readonly limits?: Partial<SignInLimits>;
  /** Default: silent. */
  readonly logger?: Logger;
  /** Default: none. */
  readonly metrics?: Metrics;
}

/** Handles a request for sign-in. Returns false, and does nothing, if the path is not one of these endpoints. Never rejects. */
export type SignInRoutes = (visit: Visit, path: string) => Promise<boolean>;

/** Matches anything that can be a key, generated or given. */
const KEY_FORM = /^[\x21-\x7e]{1,1024}$/;
const CONNECTOR_PATH = /^\/auth\/([^/]+)\/(login|callback|metadata)$/;

/**
 * The endpoints of sign-in:
 *
 * - `GET /login` shows all ways to sign in, and `GET /auth/connectors` returns them for programs.
 * - `POST /auth/password/login` takes `username` and `password`.
 * - `GET /auth/{connector}/login` redirects to the provider, which redirects back to `GET /auth/{connector}/callback`.
 * - `POST /auth/{connector}/callback` takes the form from a SAML provider, and `GET /auth/{connector}/metadata` returns metadata for the
 *   provider's administrator.
 * - `POST /auth/clusterManager/login` takes `token`.
 * - `POST /auth/confirm` takes the user's decision on the page that asks whether a program may have a key.
 * - `POST /auth/exchange` takes `code` and `code_verifier` from a program that began a login with `redirect` and `code_challenge`.
 * - `POST /auth/link` takes the same, with a login key, and links the identity to that key's user.
 * - `POST /auth/logout` ends the login key that the request presents.
 *
 * @example
 * const routes = createSignInRoutes({ config, ports, clock, chance, clients, baseUrl: () => "https://platform.example" });
 * createServer(async (request, response) => {
 *   if (!(await routes(request, response, new URL(request.url!, "http://any").pathname))) response.writeHead(404).end();
 * });
 */
export function createSignInRoutes(options: SignInRoutesOptions): SignInRoutes {
  const { config, ports, clock, clients, logger = silentLogger, memory = createLocalMemory(clock) } = options;
  const { addressOf = remoteAddressOf, metrics = noMetrics, ui = () => ({}), baseUrl, kubeconfig } = options;
  const limits = { ...SIGN_IN_LIMITS, ...options.limits };
  const pages = createPages({ baseUrl, ui });
  const programs = createPrograms({ ...options, memory, limits, pages });
  const passwordLogin = createPasswordLogin({ config, ports, programs, memory, limits, addressOf });
  const outcomes = createSignInOutcomes(metrics);
  const begins = createBegins({ clock, memory, limits });
  const login = createProviderLogin({ ...options, memory, begins, programs, limits, addressOf, outcomes });
  const formLogin = createFormLogin({ ...options, memory, begins, programs, login, limits, pages, addressOf });
  const tokenLogin = createTokenLogin({ ports, memory, limits, addressOf, clients, login, programs });
  const findProvider = (id: string): Provider | undefined => {
    const provider = findConnector(config(), id);
    return provider !== undefined && isLive(provider) ? provider : undefined;
  };
  const logout = createLogout({ ports, clients, findProvider, logger });
  const answering = new Answering(createAnswerWriter({ clock, readMs: READ_MS }));
  const passwords = () => config().password?.disabled !== true;

  /** Returns the key. The audit log records the user and the key, because no request to the API created the key. */
  const answerSignedIn = (visit: Visit, signedIn: SignedIn) => {
    const { key, name, user, expiresAt } = signedIn;
    visit.audit?.annotate("management.platform/signed-in", user);
    visit.audit?.annotate("management.platform/access-key", name);
    if (wantsPage(visit)) return pages.key(visit, signedIn);
    answerJson(visit, { accessKey: key, name, ...(expiresAt !== undefined && { expiresAt: new Date(expiresAt).toISOString() }) });
  };

  /** Handles a login in one step. The result of the step is undefined when a program waits for the key. */
  const inOneStep = async (visit: Visit, connector: string, step: () => Promise<SignedIn | undefined>) => {
    const signedIn = await outcomes.during(connector, step);
    if (signedIn === undefined) return;
    outcomes.succeeded(connector);
    answerSignedIn(visit, signedIn);
  };

  const fixed: Readonly<Record<string, (visit: Visit) => Promise<void>>> = {
    "/login": async (visit) => {
      expectMethod(visit, "GET");
      const waiting = waitingOf(visit.query);
      const program = waiting === undefined ? {} : { redirect: waiting.redirect, code_challenge: waiting.challenge };
      pages.login(visit, { password: passwords(), ways: waysOf(config()), program });
    },
    "/auth/connectors": async (visit) => {
      expectMethod(visit, "GET");
      answerJson(visit, { password: { enabled: passwords() }, connectors: waysOf(config()) });
    },
    "/auth/page.css": async (visit) => void pages.asset(visit, "page.css"),
    "/auth/page.js": async (visit) => void pages.asset(visit, "page.js"),
    "/auth/confirm": (visit) => programs.answer(visit),
    "/auth/kubeconfig": async (visit) => {
      expectMethod(visit, "POST");
      demandOwnPage(visit);
      const { key } = await readFields(visit, ["key"]);
      if (kubeconfig === undefined || !KEY_FORM.test(key)) throw noSuchPath();
      const bytes = Buffer.from(kubeconfig(key));
      visit.response.setHeader("Content-Disposition", 'attachment; filename="platform.kubeconfig"');
      visit.response.writeHead(200, { "Content-Type": "application/yaml", "Content-Length": bytes.length }).end(bytes);
    },
    "/auth/password/login": (visit) => inOneStep(visit, "password", () => passwordLogin(visit)),
    "/auth/exchange": async (visit) => answerSignedIn(visit, await login.exchange(visit)),
    "/auth/link": async (visit) => answerLinked(visit, await login.link(visit)),
    "/auth/logout": async (visit) => answerJson(visit, loggedOut(await logout(visit))),
  };

  const handlerOf = (path: string): ((visit: Visit) => Promise<void>) | undefined => {
    if (Object.hasOwn(fixed, path)) return fixed[path];
    const [, id, step] = CONNECTOR_PATH.exec(path) ?? [];
    if (id === undefined) return undefined;
    return async (visit) => {
      const provider = findProvider(decoded(id));
      if (provider === undefined) throw noSuchPath();
      visit.audit?.annotate("management.platform/connector", provider.connector);
      if (provider.kind === "clusterManager") return inOneStep(visit, provider.connector, () => tokenLogin(visit, provider));
      const steps = provider.kind === "saml" ? formLogin : login;
      if (step === "login") return outcomes.during(provider.connector, () => steps.begin(visit, provider));
      if (step === "metadata") return provider.kind === "saml" ? formLogin.metadata(visit, provider) : noPath();
      const signedIn = await outcomes.during(provider.connector, () => steps.finish(visit, provider));
      if (signedIn !== undefined) answerSignedIn(visit, signedIn);
    };
  };

  return async (visit, path) => {
    const handler = handlerOf(path);
    if (handler === undefined) return false;
    const { response, audit } = visit;
    setCustomHeaders(response, config().customHttpHeaders);
    response.setHeader("Cache-Control", "no-store");
    response.setHeader("X-Content-Type-Options", "nosniff");
    try {
      await handler(visit);
    } catch (error) {
      const status = statusOf(error);
      if (status === undefined) logger.error("A sign-in failed because of an internal error", { path, error: messageOf(error) });
      else if (status.code >= 500) logger.warn("A provider cannot be used for sign-in", { path, error: messageOf(error) });
      else logger.info("A sign-in was refused", { path, code: status.code, reason: status.message, ...causeOf(error) });
      const shown = statusOf(isEngineError(error) && status ? errorForUser(error) : internalError())!;
      audit?.annotate("management.platform/sign-in-refused", shown.message ?? "");
      const program = programOf(error);
      if (program !== undefined) sendBack(visit, program, shown.message ?? "");
      else if (!wantsPage(visit)) answering.status(visit, shown);
      else
        pages.failure(visit, {
          code: shown.code ?? 500,
          message: shown.message ?? "",
          retryAfterSeconds: shown.details?.retryAfterSeconds,
        });
    }
    return true;
  };
}

function noPath(): never {
  throw noSuchPath();
}

function causeOf(error: unknown): { readonly cause?: string } {
  return error instanceof Error && typeof error.cause === "string" ? { cause: error.cause } : {};
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // No connector has such an id.
    return "";
  }
}

/** Returns a linked identity. The audit log records it too. */
function answerLinked(visit: Visit, { user, subject }: Linked): void {
  visit.audit?.annotate("management.platform/linked", `${user}: ${subject}`);
  answerJson(visit, { user, subject });
}

function loggedOut(url: URL | undefined): object {
  return url === undefined ? {} : { logoutURL: url.href };
}
