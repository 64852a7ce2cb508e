import type { Chance } from "../../../base/chance.ts";
import type { Clock } from "../../../base/clock.ts";
import type { AddressOf } from "../../../apiserver/http/client-address.ts";
import { badRequest, noSuchPath, unauthorized } from "../../../apiserver/types/status.ts";
import { addressSubject } from "../limits/attempts.ts";
import type { Identity } from "../identity.ts";
import type { SignInLimits } from "../limits/limits.ts";
import type { SignInMemory } from "../limits/memory.ts";
import type { LoginSecrets } from "../oidc/oidc-client.ts";
import { challengeOf, secretText } from "../oidc/pkce.ts";
import type { ProviderTokens, Linked, SignedIn, SignInPorts } from "../ports.ts";
import type { ProviderClient, RedirectClient, ProviderSaid } from "../providers/provider-client.ts";
import type { ProviderClients } from "../providers/provider-clients.ts";
import type { Provider } from "../rules/admit.ts";
import { findConnector } from "../rules/connectors.ts";
import { placeOf } from "../rules/place.ts";
import type { SignInSettings } from "../settings.ts";
import { answerRedirect, bearerOf, expectMethod, type Visit } from "../visit.ts";
import type { Begins } from "./begins.ts";
import { hasLoginCookie, setLoginCookie } from "./cookies.ts";
import type { SignInOutcomes } from "./outcomes.ts";
import { forProgram, waitingOf, type FinishedLogin, type Programs, type Waiting } from "./programs.ts";
import { takenIdentity } from "./taken-identity.ts";

/** Options of login at a provider. */
export interface ProviderLoginOptions {
  readonly config: () => SignInSettings;
  readonly ports: SignInPorts;
  readonly memory: SignInMemory;
  readonly clock: Pick<Clock, "monotonic">;
  readonly chance: Pick<Chance, "bytes">;
  readonly clients: ProviderClients;
  readonly begins: Begins;
  readonly programs: Programs;
  readonly limits: SignInLimits;
  /** The address of the client. */
  readonly addressOf: AddressOf;
  readonly outcomes: SignInOutcomes;
  /** Address of the platform, without a slash at its end. */
  readonly baseUrl: () => string;
}

/** The steps of a login at a provider. Each throws the error for the response. */
export interface ProviderLogin {
  /** Sends the browser to the provider. */
  begin(visit: Visit, provider: Provider): Promise<void>;
  /** Handles the browser's return. Returns the key; undefined when the user is asked whether the waiting program may have it. */
  finish(visit: Visit, provider: Provider): Promise<SignedIn | undefined>;
  /** Returns the key for the code with which the browser was redirected to a program. */
  exchange(visit: Visit): Promise<SignedIn>;
  /** Links the identity of the login for such a code to the user whose login key the request presents. */
  link(visit: Visit): Promise<Linked>;
  /**
   * Returns the identity in a provider's claims, according to the connector's current settings.
   *
   * @throws API_FORBIDDEN when the user may not sign in.
   */
  admitted(provider: Provider, said: ProviderSaid): FinishedLogin;
  /** Creates the key. */
  signIn(identity: Identity, tokens: ProviderTokens): Promise<SignedIn>;
  /** Address to which a provider sends users back. */
  redirectUriOf(provider: Provider): string;
}

/** A login that has begun. */
interface Pending extends LoginSecrets {
  readonly connector: string;
  /** Kind and address of the provider: the connector may have another one by the time the browser returns. */
  readonly place: string;
  readonly redirectUri: string;
  /** The value of the cookie that only the browser that began the login has. */
  readonly browser: string;
  readonly waiting: Waiting | undefined;
}

/**
 * Login at a provider: authorization code flow with PKCE, state and nonce. The secrets of a login are stored here and valid for one use.
 *
 * @example
 * const login = createProviderLogin({ config, ports, clock, chance, clients, begins, programs, limits, addressOf, outcomes, baseUrl });
 */
export function createProviderLogin(options: ProviderLoginOptions): ProviderLogin {
  const { config, ports, memory, chance, clients, begins, programs, limits, addressOf, outcomes, baseUrl } = options;
  const { pendingMax: max, pendingLifetimeMs } = limits;
  const logins = memory.once<Pending>("logins", { lifetimeMs: pendingLifetimeMs, max });

  const admitted = (provider: Provider, said: ProviderSaid): FinishedLogin => ({
    identity: takenIdentity(provider, said, { settings: config(), limits }),
    tokens: said.tokens,
  });

  /** Identifies the user who returned from the provider. */
  const identify = async (visit: Visit, provider: Provider, pending: Pending): Promise<FinishedLogin> => {
    const address = new URL(pending.redirectUri);
    address.search = visit.query.toString();
    const client = redirecting(await clients(provider));
    const finished = admitted(provider, await client.redeem(address, pending));
    await begins.know(addressSubject(addressOf(visit.request)));
    return finished;
  };

  const signIn = async (identity: Identity, tokens: ProviderTokens) => {
    const signedIn = await ports.signIn(identity, tokens);
    outcomes.succeeded(identity.connector);
    return signedIn;
  };

  const redeem = async (visit: Visit): Promise<FinishedLogin> => {
    const finished = await programs.redeem(visit);
    const { connector, place } = finished.identity;
    const now = findConnector(config(), connector);
    if (place !== undefined && (now === undefined || placeOf(now) !== place))
      throw unauthorized("the connector was changed or removed during the sign-in: sign in again");
    return finished;
  };

  const redirectUriOf = ({ connector, settings }: Provider): string => {
    const { redirectURI = "" } = settings as { readonly redirectURI?: string };
    return redirectURI || `${baseUrl()}/auth/${encodeURIComponent(connector)}/callback`;
  };

  return {
    admitted,
    signIn,
    redirectUriOf,

    async begin(visit, provider) {
      expectMethod(visit, "GET");
      const waiting = waitingOf(visit.query);
      await begins.begin(addressSubject(addressOf(visit.request)));
      const client = redirecting(await clients(provider));
      const [state, nonce, verifier, browser] = [secretText(chance), secretText(chance), secretText(chance), secretText(chance)];
      const redirectUri = redirectUriOf(provider);
      const { connector } = provider;
      await logins.put(state, { connector, place: placeOf(provider), redirectUri, state, nonce, verifier, browser, waiting });
      setLoginCookie(visit, baseUrl(), {
        ...{ purpose: "sign-in", secret: state, value: browser },
        maxAge: Math.ceil(pendingLifetimeMs / 1_000),
      });
      answerRedirect(visit, client.authorizationUrl({ redirectUri, state, nonce, challenge: challengeOf(verifier) }));
    },

    async finish(visit, provider) {
      expectMethod(visit, "GET");
      const state = visit.query.get("state") ?? "";
      const pending = await logins.take(state);
      if (pending === undefined || pending.connector !== provider.connector || pending.place !== placeOf(provider)) {
        throw badRequest("this login is unknown, has ended or took too long: start again");
      }
      setLoginCookie(visit, baseUrl(), { purpose: "sign-in", secret: state, value: "", maxAge: 0 });
      // Without this, a link could sign a user in as another one.
      if (!hasLoginCookie(visit, { purpose: "sign-in", secret: state, value: pending.browser }))
        throw badRequest("this login was started in another browser: start again");
      const { waiting } = pending;
      if (waiting === undefined) {
        const { identity, tokens } = await identify(visit, provider, pending);
        return signIn(identity, tokens);
      }
      try {
        await programs.ask(visit, await identify(visit, provider, pending), waiting);
      } catch (error) {
        throw forProgram(error, waiting);
      }
      return undefined;
    },

    async exchange(visit) {
      const { identity, tokens } = await redeem(visit);
      return outcomes.during(identity.connector, () => signIn(identity, tokens));
    },

    async link(visit) {
      const key = bearerOf(visit);
      if (key === undefined) throw unauthorized("send your sign-in key in the header Authorization: Bearer KEY");
      const { identity, tokens } = await redeem(visit);
      return ports.link(key, identity, tokens);
    },
  };
}

function redirecting(client: ProviderClient): RedirectClient {
  if (client.flow !== "redirect") throw noSuchPath();
  return client;
}
