import { timingSafeEqual } from "node:crypto";
import { sha256Hex } from "../../../base/digest.ts";
import { cookieOf, type Visit } from "../visit.ts";

/** A cookie of one browser, for the steps of one login. */
export interface LoginCookie {
  /** The step of the login, and the secret that is part of addresses or forms. */
  readonly purpose: "sign-in" | "confirm";
  readonly secret: string;
  readonly value: string;
  /** Seconds; 0 deletes the cookie. */
  readonly maxAge: number;
}

/** Returns a name for one login, so that two logins in the same browser do not conflict. */
function nameOf({ purpose, secret }: Pick<LoginCookie, "purpose" | "secret">): string {
  return `${purpose}-${sha256Hex(secret).slice(0, 16)}`;
}

/**
 * Sets a cookie that scripts and other sites cannot read. The browser sends the cookie of a sign-in with the redirect back from a provider,
 * which is a GET from another site.
 */
export function setLoginCookie({ response }: Visit, baseUrl: string, { value, maxAge, ...cookie }: LoginCookie): void {
  const { protocol, pathname } = new URL(baseUrl);
  const path = `Path=${pathname.replace(/\/$/, "")}/auth/`;
  const secure = protocol === "https:" ? "; Secure" : "";
  const sameSite = cookie.purpose === "sign-in" ? "Lax" : "Strict";
  response.appendHeader("Set-Cookie", `${nameOf(cookie)}=${value}; ${path}; HttpOnly; SameSite=${sameSite}; Max-Age=${maxAge}${secure}`);
}

/** Reports whether the browser has the cookie with this value. */
export function hasLoginCookie(visit: Visit, { value, ...cookie }: Pick<LoginCookie, "purpose" | "secret" | "value">): boolean {
  const found = cookieOf(visit, nameOf(cookie));
  if (found === undefined) return false;
  const [one, other] = [Buffer.from(found), Buffer.from(value)];
  return one.length === other.length && timingSafeEqual(one, other);
}
