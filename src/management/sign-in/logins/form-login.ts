import type { Chance } from "../../../base/chance.ts";
import type { AddressOf } from "../../../apiserver/http/client-address.ts";
import { badRequest, noSuchPath, unauthorized } from "../../../apiserver/types/status.ts";
import { addressSubject } from "../limits/attempts.ts";
import type { SignInLimits } from "../limits/limits.ts";
import type { SignInMemory } from "../limits/memory.ts";
import { secretText } from "../oidc/pkce.ts";
import type { Pages } from "../pages/pages.ts";
import type { SignedIn } from "../ports.ts";
import type { FormClient, FormLoginSecrets } from "../providers/provider-client.ts";
import type { ProviderClients } from "../providers/provider-clients.ts";
import type { Provider } from "../rules/admit.ts";
import { placeOf } from "../rules/place.ts";
import { answerSeeOther, expectMethod, readForm, type Visit } from "../visit.ts";
import type { Begins } from "./begins.ts";
import { hasLoginCookie, setLoginCookie } from "./cookies.ts";
import { forProgram, waitingOf, type FinishedLogin, type Programs, type Waiting } from "./programs.ts";
import type { ProviderLogin } from "./provider-login.ts";

/** Options of login by forms. */
export interface FormLoginOptions {
  readonly memory: SignInMemory;
  readonly chance: Pick<Chance, "bytes">;
  readonly clients: ProviderClients;
  readonly begins: Begins;
  readonly programs: Programs;
  readonly login: Pick<ProviderLogin, "admitted" | "signIn" | "redirectUriOf">;
  readonly limits: SignInLimits;
  readonly pages: Pages;
  /** The address of the client. */
  readonly addressOf: AddressOf;
  /** Address of the platform, without a slash at its end. */
  readonly baseUrl: () => string;
}

/** The steps of a login by forms. Each throws the error for the response. */
export interface FormLogin {
  /** Shows the form that leads to the provider. */
  begin(visit: Visit, provider: Provider): Promise<void>;
  /** Accepts the posted form, or the next request of the browser that posted it. Returns the key; undefined in all other steps. */
  finish(visit: Visit, provider: Provider): Promise<SignedIn | undefined>;
  /** Shows the document that an administrator of the provider needs. */
  metadata(visit: Visit, provider: Provider): Promise<void>;
}

/** State of a login by forms from its beginning to its end. */
interface Kept {
  readonly connector: string;
  /** Kind and address of the provider: the connector may have another one by the time the browser returns. */
  readonly place: string;
  /** `state` identifies the cookie that only the browser that began the login has. `browser` is the value of the cookie. */
  readonly state: string;
  readonly browser: string;
  readonly waiting: Waiting | undefined;
}

/** How long the id of a response is remembered, in milliseconds: no response is valid this long. */
const ANSWERS_MS = 25 * 60 * 60_000;
const UNKNOWN = "this login is unknown, has ended or took too long: start again";

/**
 * Login by forms. The browser posts the response from the provider's site, so the request lacks the login's cookie. The response is checked
 * and stored under a separate secret, and the browser then requests it again, with the cookie. A login that begins at the provider is not
 * supported.
 */
export function createFormLogin(options: FormLoginOptions): FormLogin {
  const { memory, chance, clients, begins, programs, login, limits, pages, addressOf, baseUrl } = options;
  const { pendingMax: max, pendingLifetimeMs: lifetimeMs, formBytesMax } = limits;
  const logins = memory.once<Kept & FormLoginSecrets>("forms", { lifetimeMs, max });
  const answers = memory.once<Kept & FinishedLogin>("answers", { lifetimeMs, max });
  const ids = memory.attempts("answer-ids", { max: 1, windowMs: ANSWERS_MS });

  const isOf = (kept: Kept, provider: Provider) => kept.connector === provider.connector && kept.place === placeOf(provider);

  /** Handles a form that the browser posts from the provider's site. */
  const receive = async (visit: Visit, provider: Provider): Promise<void> => {
    const { SAMLResponse: answer, RelayState: state } = await readForm(visit, ["SAMLResponse", "RelayState"], formBytesMax);
    const pending = await logins.take(state);
    if (pending === undefined || !isOf(pending, provider)) throw badRequest(UNKNOWN);
    const { redirectUri, requestId, ...kept } = pending;
    try {
      const { answerId, ...said } = await formClient(await clients(provider)).receive(answer, { redirectUri, requestId });
      const finished = login.admitted(provider, said);
      if (!(await ids.begin(`${kept.place} ${answerId}`)))
        throw Object.assign(unauthorized(UNKNOWN), { cause: "the assertion has already been used" });
      const secret = secretText(chance);
      await answers.put(secret, { ...kept, ...finished });
      const url = new URL(redirectUri);
      url.searchParams.set("saml", secret);
      answerSeeOther(visit, url);
    } catch (error) {
      throw forProgram(error, kept.waiting);
    }
  };

  /** Handles the next request of the browser that posted a response, with its cookie. */
  const claim = async (visit: Visit, provider: Provider): Promise<SignedIn | undefined> => {
    const kept = await answers.take(visit.query.get("saml") ?? "");
    if (kept === undefined || !isOf(kept, provider)) throw badRequest(UNKNOWN);
    const { state, browser, waiting, identity, tokens } = kept;
    setLoginCookie(visit, baseUrl(), { purpose: "sign-in", secret: state, value: "", maxAge: 0 });
    // Without this, a form of another site could sign a user in as another one.
    if (!hasLoginCookie(visit, { purpose: "sign-in", secret: state, value: browser }))
      throw badRequest("this login was started in another browser: start again");
    await begins.know(addressSubject(addressOf(visit.request)));
    if (waiting === undefined) return login.signIn(identity, tokens);
    await programs.ask(visit, { identity, tokens }, waiting);
    return undefined;
  };

  return {
    async begin(visit, provider) {
      expectMethod(visit, "GET");
      const waiting = waitingOf(visit.query);
      await begins.begin(addressSubject(addressOf(visit.request)));
      const client = formClient(await clients(provider));
      const [state, browser] = [secretText(chance), secretText(chance)];
      // An XML id cannot begin with a digit.
      const requestId = `_${secretText(chance)}`;
      const redirectUri = login.redirectUriOf(provider);
      await logins.put(state, { connector: provider.connector, place: placeOf(provider), redirectUri, requestId, state, browser, waiting });
      setLoginCookie(visit, baseUrl(), { purpose: "sign-in", secret: state, value: browser, maxAge: Math.ceil(lifetimeMs / 1_000) });
      pages.leave(visit, client.request({ redirectUri, requestId, secret: state }));
    },

    async finish(visit, provider) {
      if (visit.request.method === "POST") return void (await receive(visit, provider));
      expectMethod(visit, "GET");
      return claim(visit, provider);
    },

    async metadata(visit, provider) {
      expectMethod(visit, "GET");
      const bytes = Buffer.from(formClient(await clients(provider)).metadata(login.redirectUriOf(provider)));
      visit.response.writeHead(200, { "Content-Type": "application/samlmetadata+xml", "Content-Length": bytes.length }).end(bytes);
    },
  };
}

function formClient(client: Awaited<ReturnType<ProviderClients>>): FormClient {
  if (client.flow !== "form") throw noSuchPath();
  return client;
}
