/**
 * A person who signs in for a program: the steps in the browser.
 */
import { expect, vi } from "vitest";
import { USERS } from "../../../src/management/kinds/types.ts";
import { createProviderFetch } from "../../../src/management/sign-in/oidc/provider-fetch.ts";
import type { Management } from "../../../src/management/api/management.ts";
import { WAIT } from "../../support/patience.ts";

const PASSWORD = "correct horse battery";

/** Makes the user who signs in. */
export async function makeJane({ registry }: Management): Promise<void> {
  await registry.create(USERS, "", { metadata: { name: "jane" }, spec: { password: PASSWORD } });
}

/** The address that the program asks the person to open, once it is in the text. */
export async function askedAddress(text: () => string): Promise<URL> {
  await vi.waitFor(() => expect(text()).toMatch(/^http\S+redirect=/m), WAIT);
  return new URL(/^http\S+/m.exec(text())![0]);
}

/** The user's steps in a browser: a password, the answer to the question, and the way back to the program. */
export async function signInAt(management: Pick<Management, "url" | "caPem">, url: URL, answer = "allow"): Promise<Response> {
  const fields = { username: "jane", password: PASSWORD, ...Object.fromEntries(url.searchParams) };
  const asked = await post(management, "/auth/password/login", {}, fields);
  const confirm = /name="confirm" value="([^"]+)"/.exec(await asked.text())![1]!;
  const cookie = asked.headers.getSetCookie()[0]!.split(";")[0]!;
  return fetch((await post(management, "/auth/confirm", { cookie }, { confirm, answer })).headers.get("location")!);
}

/** Ends a key at the platform. */
export async function endKey(management: Pick<Management, "url" | "caPem">, key: string): Promise<void> {
  const { ok, status } = await post(management, "/auth/logout", { authorization: `Bearer ${key}` }, {});
  if (!ok) throw new Error(`The key was not ended: ${status}`);
}

function post(
  { url, caPem }: Pick<Management, "url" | "caPem">,
  path: string,
  headers: Record<string, string>,
  fields: Record<string, string>,
) {
  const reach = createProviderFetch(caPem === "" ? {} : { ca: caPem });
  const form = { ...headers, "content-type": "application/x-www-form-urlencoded" };
  return reach(`${url}${path}`, { method: "POST", headers: form, body: new URLSearchParams(fields) });
}
