import { timingSafeEqual } from "node:crypto";
import type { Chance } from "../../../base/chance.ts";
import type { Clock } from "../../../base/clock.ts";
import { isEngineError } from "../../../base/errors.ts";
import { sha256Hex } from "../../../base/digest.ts";
import type { AddressOf } from "../../../apiserver/http/client-address.ts";
import { badRequest, forbiddenPath, tooManyRequests, unauthorized } from "../../../apiserver/types/status.ts";
import { admit } from "../providers/admit.ts";
import type { Provider } from "../providers/admit.ts";
import { findConnector } from "../providers/connectors.ts";
import { addressSubject, createAttempts } from "../limits/attempts.ts";
import { filterGroups } from "./groups-filters.ts";
import { tooMuch } from "../identity.ts";
import type { Identity } from "../identity.ts";
import type { SignInLimits } from "../limits/limits.ts";
import { loopbackRedirect } from "./loopback.ts";
import type { SignInMemory } from "../limits/memory.ts";
import type { LoginSecrets } from "./oidc-client.ts";
import type { OidcClients } from "./oidc-clients.ts";
import { challengeOf, isChallenge, isChallengeOf, secretText } from "./pkce.ts";
import type { SignInOutcomes } from "../outcomes.ts";
import type { Linked, ProviderTokens, SignedIn, SignInPorts } from "../ports.ts";
import type { SignInSettings } from "../settings.ts";
import { told } from "../told.ts";
import { answerRedirect, bearerOf, cookieOf, expectMethod, readFields } from "../visit.ts";
import type { Visit } from "../visit.ts";

/** What login by OpenID Connect needs. */
export interface OidcLoginOptions {
  readonly config: () => SignInSettings;
  readonly ports: SignInPorts;
  readonly memory: SignInMemory;
  readonly clock: Pick<Clock, "monotonic">;
  readonly chance: Pick<Chance, "bytes">;
  readonly clients: OidcClients;
  readonly limits: SignInLimits;
  /** Where a request comes from. */
  readonly addressOf: AddressOf;
  readonly outcomes: SignInOutcomes;
  /** Address of the platform, without a slash at its end. */
  readonly baseUrl: () => string;
}

const MINUTE_MS = 60_000;

/** The steps of a login at a provider. Each throws what the answer is then. */
export interface OidcLogin {
  /** Sends the browser to the provider. */
  begin(visit: Visit, provider: Provider<"oidc">): Promise<void>;
  /** Takes the browser back: the key, or undefined when it has been sent on to the program that waits for it. */
  finish(visit: Visit, provider: Provider<"oidc">): Promise<SignedIn | undefined>;
  /** Gives the program the key for the code that the browser brought it. */
  exchange(visit: Visit): Promise<SignedIn>;
  /** Links the identity behind such a code to the user whose login key the request shows. */
  link(visit: Visit): Promise<Linked>;
}

/** A program that waits for the end of a login on the user's machine. */
interface Waiting {
  readonly redirect: string;
  readonly challenge: string;
}

/** A login that has begun. */
interface Pending extends LoginSecrets {
  readonly connector: string;
  readonly redirectUri: string;
  /** What only the browser that began has. */
  readonly browser: string;
  readonly waiting: Waiting | undefined;
}

/** A login that has ended and whose key is not made yet. */
interface Finished {
  readonly identity: Identity;
  readonly tokens: ProviderTokens;
  readonly challenge: string;
  /** The provider that said so: the connector may have another one by the time that the code comes. */
  readonly issuerUrl: string | undefined;
}

/** Logins that may begin. */
interface Begins {
  /** @throws API_TOO_MANY_REQUESTS when too many begin, from this address or in all. */
  begin(address: string): Promise<void>;
  /** Somebody has signed in at this address. */
  know(address: string): Promise<void>;
}

/**
 * Counts logins that begin. Strangers share two thirds, and an address has a sixth, so that nobody keeps out those who have signed in
 * before. Each server counts by itself: counting among all would be a write for each that is refused.
 */
function createBegins({ clock, memory, limits }: Pick<OidcLoginOptions, "clock" | "memory" | "limits">): Begins {
  const { beginsPerMinute, knownMs } = limits;
  const window = (max: number) => createAttempts({ clock, max, windowMs: MINUTE_MS });
  const kept = Math.floor(beginsPerMinute / 3);
  const byAddress = window(Math.max(1, Math.floor(beginsPerMinute / 6)));
  const all = { strangers: window(beginsPerMinute - kept), known: window(kept) };
  const known = memory.attempts("known-addresses", { max: 1, windowMs: knownMs });
  const ALL = "all";
  return {
    async begin(address) {
      if (!(await byAddress.begin(address))) throw tooManyRequests(await byAddress.wait(address));
      if ((await known.wait(address)) !== undefined && (await all.known.begin(ALL))) return;
      if (!(await all.strangers.begin(ALL))) throw tooManyRequests(await all.strangers.wait(ALL));
    },
    know: async (address) => void (await known.begin(address)),
  };
}

/**
 * Login by OpenID Connect: authorization code flow with PKCE, state and nonce, all kept here and good for one use.
 *
 * @example
 * const login = createOidcLogin({ config, ports, clock, chance, clients, limits, addressOf, baseUrl: () => "https://platform.example" });
 */
export function createOidcLogin(options: OidcLoginOptions): OidcLogin {
  const { config, ports, memory, chance, clients, limits, addressOf, outcomes, baseUrl } = options;
  const { pendingMax: max, pendingLifetimeMs, codeLifetimeMs } = limits;
  const begins = createBegins(options);
  const logins = memory.once<Pending>("logins", { lifetimeMs: pendingLifetimeMs, max });
  const codes = memory.once<Finished>("codes", { lifetimeMs: codeLifetimeMs, max });

  const setCookie = ({ response }: Visit, state: string, { value, maxAge }: { value: string; maxAge: number }) => {
    const { protocol, pathname } = new URL(baseUrl());
    const path = `Path=${pathname.replace(/\/$/, "")}/auth/`;
    const secure = protocol === "https:" ? "; Secure" : "";
    response.setHeader("Set-Cookie", `${cookieName(state)}=${value}; ${path}; HttpOnly; SameSite=Lax; Max-Age=${maxAge}${secure}`);
  };

  /** Who came back, by what the provider says of him. */
  const identify = async (visit: Visit, provider: Provider<"oidc">, pending: Pending) => {
    const address = new URL(pending.redirectUri);
    address.search = visit.query.toString();
    const { claims, tokens } = await (await clients(provider)).redeem(address, pending);
    const admission = admit(provider, claims);
    if (!admission.admitted) throw forbiddenPath(admission.reason);
    const { identity } = admission;
    const excess = tooMuch(identity, limits);
    if (excess !== undefined) throw forbiddenPath(excess);
    await begins.know(addressSubject(addressOf(visit.request)));
    return { identity: { ...identity, groups: filterGroups(identity.groups, config().groupsFilters) }, tokens };
  };

  /** The login behind the code that a browser brought to a program. */
  const redeem = async (visit: Visit): Promise<Finished> => {
    expectMethod(visit, "POST");
    const { code, code_verifier: verifier } = await readFields(visit, ["code", "code_verifier"]);
    const finished = await codes.take(code);
    if (finished === undefined || !isChallengeOf(finished.challenge, verifier)) {
      throw unauthorized("the code is unknown, has been used, took too long or is somebody else's");
    }
    const now = findConnector(config(), finished.identity.connector) as Provider<"oidc"> | undefined;
    if (now?.settings.issuerUrl !== finished.issuerUrl) throw unauthorized("the connector has another provider now: begin again");
    return finished;
  };

  const signIn = async (identity: Identity, tokens: ProviderTokens) => {
    const signedIn = await ports.signIn(identity, tokens);
    outcomes.succeeded(identity.connector);
    return signedIn;
  };

  return {
    async begin(visit, provider) {
      expectMethod(visit, "GET");
      const waiting = waitingOf(visit.query);
      await begins.begin(addressSubject(addressOf(visit.request)));
      const client = await clients(provider);
      const [state, nonce, verifier, browser] = [secretText(chance), secretText(chance), secretText(chance), secretText(chance)];
      const redirectUri = provider.settings.redirectURI || `${baseUrl()}/auth/${encodeURIComponent(provider.connector)}/callback`;
      await logins.put(state, { connector: provider.connector, redirectUri, state, nonce, verifier, browser, waiting });
      setCookie(visit, state, { value: browser, maxAge: Math.ceil(pendingLifetimeMs / 1_000) });
      answerRedirect(visit, client.authorizationUrl({ redirectUri, state, nonce, challenge: challengeOf(verifier) }));
    },

    async finish(visit, provider) {
      expectMethod(visit, "GET");
      const state = visit.query.get("state") ?? "";
      const pending = await logins.take(state);
      if (pending === undefined || pending.connector !== provider.connector) {
        throw badRequest("this login is unknown, has ended or took too long: begin again");
      }
      const cookie = cookieOf(visit, cookieName(state));
      setCookie(visit, state, { value: "", maxAge: 0 });
      // Without this, a link could sign somebody in as somebody else.
      if (cookie === undefined || !isSameText(cookie, pending.browser))
        throw badRequest("this login was begun in another browser: begin again");
      if (pending.waiting === undefined) {
        const { identity, tokens } = await identify(visit, provider, pending);
        return signIn(identity, tokens);
      }
      const { redirect, challenge } = pending.waiting;
      try {
        const code = secretText(chance);
        const { issuerUrl } = provider.settings;
        await codes.put(code, { ...(await identify(visit, provider, pending)), challenge, issuerUrl });
        answerRedirect(visit, withParameters(redirect, { code }));
      } catch (error) {
        if (!isEngineError(error)) throw error;
        outcomes.failed(provider.connector, error);
        // The program would wait forever.
        answerRedirect(visit, withParameters(redirect, { error: "access_denied", error_description: told(error).message }));
      }
      return undefined;
    },

    async exchange(visit) {
      const { identity, tokens } = await redeem(visit);
      return outcomes.during(identity.connector, () => signIn(identity, tokens));
    },

    async link(visit) {
      const key = bearerOf(visit);
      if (key === undefined) throw unauthorized("show the key of your sign-in: Authorization: Bearer KEY");
      const { identity } = await redeem(visit);
      return ports.link(key, identity);
    },
  };
}

/** One cookie per login, so that two in the same browser do not meet. */
function cookieName(state: string): string {
  return `sign-in-${sha256Hex(state).slice(0, 16)}`;
}

function isSameText(left: string, right: string): boolean {
  const [one, other] = [Buffer.from(left), Buffer.from(right)];
  return one.length === other.length && timingSafeEqual(one, other);
}

/** The program that a login is for; undefined when the browser itself shows the key. */
function waitingOf(query: URLSearchParams): Waiting | undefined {
  const text = query.get("redirect");
  if (text === null) return undefined;
  const redirect = loopbackRedirect(text);
  if (redirect === undefined) throw badRequest("redirect must be http://127.0.0.1:PORT/... or http://[::1]:PORT/...");
  const challenge = query.get("code_challenge") ?? "";
  if (!isChallenge(challenge) || (query.get("code_challenge_method") ?? "S256") !== "S256") {
    throw badRequest("redirect needs a code_challenge of the method S256");
  }
  return { redirect: redirect.href, challenge };
}

function withParameters(url: string, parameters: Readonly<Record<string, string>>): URL {
  const result = new URL(url);
  for (const [name, value] of Object.entries(parameters)) result.searchParams.set(name, value);
  return result;
}
