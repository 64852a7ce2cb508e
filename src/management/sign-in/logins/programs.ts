import type { Chance } from "../../../base/chance.ts";
import { isEngineError, type EngineError } from "../../../base/errors.ts";
import { badRequest, forbiddenPath, unauthorized } from "../../../apiserver/types/status.ts";
import type { Identity } from "../identity.ts";
import type { SignInLimits } from "../limits/limits.ts";
import type { SignInMemory } from "../limits/memory.ts";
import { loopbackRedirect } from "../oidc/loopback.ts";
import { isChallenge, isChallengeOf, secretText } from "../oidc/pkce.ts";
import type { Pages } from "../pages/pages.ts";
import type { ProviderTokens } from "../ports.ts";
import { answerRedirect, demandOwnPage, expectMethod, readFields, type Visit } from "../visit.ts";
import { hasLoginCookie, setLoginCookie } from "./cookies.ts";

/** A program that waits for the end of a login on the user's machine. */
export interface Waiting {
  readonly redirect: string;
  readonly challenge: string;
}

/** A login that has ended and whose key has not been created yet. */
export interface FinishedLogin {
  readonly identity: Identity;
  readonly tokens: ProviderTokens;
}

/** Gives keys to programs that wait for logins, if the users agree. */
export interface Programs {
  /** Shows the user a page that asks whether the program may have a key. */
  ask(visit: Visit, finished: FinishedLogin, waiting: Waiting): Promise<void>;
  /** Handles the user's answer on that page, and redirects the browser to the program: with a code, or with the refusal. */
  answer(visit: Visit): Promise<void>;
  /**
   * Returns the finished login for the code with which a browser was redirected to a program.
   *
   * @throws API_UNAUTHORIZED when the code is not valid, or belongs to another program.
   */
  redeem(visit: Visit): Promise<FinishedLogin>;
}

/** Options of waiting programs. */
export interface ProgramsOptions {
  readonly memory: SignInMemory;
  readonly chance: Pick<Chance, "bytes">;
  readonly limits: SignInLimits;
  readonly baseUrl: () => string;
  readonly pages: Pages;
}

/** Longest time that the user may take to answer, in milliseconds. */
const ANSWER_MS = 5 * 60_000;

/**
 * Keeps finished logins until a program fetches them. A link alone gives no program a key: the user must agree on a page of the platform,
 * in the browser that finished the login.
 */
export function createPrograms({ memory, chance, limits, baseUrl, pages }: ProgramsOptions): Programs {
  const { pendingMax: max, codeLifetimeMs } = limits;
  const confirmations = memory.once<FinishedLogin & { readonly waiting: Waiting; readonly browser: string }>("questions", {
    lifetimeMs: ANSWER_MS,
    max,
  });
  const codes = memory.once<FinishedLogin & { readonly challenge: string }>("codes", { lifetimeMs: codeLifetimeMs, max });
  return {
    async ask(visit, finished, waiting) {
      const [secret, browser] = [secretText(chance), secretText(chance)];
      await confirmations.put(secret, { ...finished, waiting, browser });
      setLoginCookie(visit, baseUrl(), { purpose: "confirm", secret, value: browser, maxAge: ANSWER_MS / 1_000 });
      const { username, preferredUsername } = finished.identity;
      pages.confirm(visit, { secret, program: new URL(waiting.redirect).origin, user: preferredUsername ?? username });
    },

    async answer(visit) {
      expectMethod(visit, "POST");
      demandOwnPage(visit);
      const { confirm: secret, answer } = await readFields(visit, ["confirm", "answer"]);
      const confirmation = await confirmations.take(secret);
      if (confirmation === undefined) throw badRequest("this login is unknown, has ended or took too long: start again");
      setLoginCookie(visit, baseUrl(), { purpose: "confirm", secret, value: "", maxAge: 0 });
      if (!hasLoginCookie(visit, { purpose: "confirm", secret, value: confirmation.browser }))
        throw badRequest("this login was started in another browser: start again");
      const { waiting, identity, tokens } = confirmation;
      if (answer !== "allow") return sendBack(visit, waiting, forbiddenPath("the user did not allow the program to have a key").message);
      const code = secretText(chance);
      await codes.put(code, { identity, tokens, challenge: waiting.challenge });
      answerRedirect(visit, withParameters(waiting.redirect, { code }));
    },

    async redeem(visit) {
      expectMethod(visit, "POST");
      const { code, code_verifier: verifier } = await readFields(visit, ["code", "code_verifier"]);
      const finished = await codes.take(code);
      if (finished === undefined || !isChallengeOf(finished.challenge, verifier)) {
        throw unauthorized("the code is unknown, expired, already used, or belongs to another program");
      }
      return { identity: finished.identity, tokens: finished.tokens };
    },
  };
}

const waitingFor = new WeakMap<EngineError, Waiting>();

/** Marks an error so that the waiting program gets it instead of the user. */
export function forProgram(error: unknown, waiting: Waiting | undefined): unknown {
  if (waiting !== undefined && isEngineError(error)) waitingFor.set(error, waiting);
  return error;
}

/** Returns the program that waits for the login that ended with this error. */
export function programOf(error: unknown): Waiting | undefined {
  return isEngineError(error) ? waitingFor.get(error) : undefined;
}

/** Informs the program that it gets no key; otherwise it would wait forever. */
export function sendBack(visit: Visit, { redirect }: Waiting, why: string): void {
  answerRedirect(visit, withParameters(redirect, { error: "access_denied", error_description: why }));
}

/**
 * Returns the program that waits for a login; undefined when the browser itself shows the key.
 *
 * @throws API_BAD_REQUEST for an address that is not on the user's machine, or without a challenge.
 */
export function waitingOf(query: Pick<URLSearchParams, "get">): Waiting | undefined {
  const text = query.get("redirect");
  if (text === null) return undefined;
  const redirect = loopbackRedirect(text);
  if (redirect === undefined) throw badRequest("redirect must be http://127.0.0.1:PORT/... or http://[::1]:PORT/...");
  const challenge = query.get("code_challenge") ?? "";
  if (!isChallenge(challenge) || (query.get("code_challenge_method") || "S256") !== "S256") {
    throw badRequest("redirect requires a code_challenge with the method S256");
  }
  return { redirect: redirect.href, challenge };
}

/** Like {@link waitingOf}, with the fields of a form. Empty fields count as absent. */
export function waitingInForm(fields: Readonly<Record<string, string>>): Waiting | undefined {
  return waitingOf(new URLSearchParams(Object.entries(fields).filter(([, value]) => value !== "")));
}

function withParameters(url: string, parameters: Readonly<Record<string, string>>): URL {
  const result = new URL(url);
  for (const [name, value] of Object.entries(parameters)) result.searchParams.set(name, value);
  return result;
}
