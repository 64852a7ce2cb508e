import { EngineError, isEngineError } from "../base/errors.ts";
import { serviceAccountGroups } from "../server/impersonation.ts";
import type { Registry } from "../server/registry.ts";
import type { TokenBearer } from "../server/tokens.ts";
import { SERVICE_ACCOUNTS } from "./kinds/service-accounts.ts";
import { serviceAccountUser } from "./rbac/policy.ts";
import { AUTHENTICATED } from "./rbac/resources.ts";

/** Whom a token is to stand for. `system:authenticated` is added to the groups; a ServiceAccount is `namespace/name`. */
export type TokenSubject = { readonly user: string; readonly groups?: readonly string[] } | { readonly serviceAccount: string };

/** Credentials of one subject. */
export interface IssuedToken {
  readonly token: string;
  /** A kubeconfig (YAML) with this token. */
  readonly kubeconfig: string;
}

/**
 * For whom the token of a subject stands. That of a ServiceAccount ends with it.
 *
 * @throws API_NOT_FOUND when there is no such ServiceAccount, API_BAD_REQUEST when its text is not `namespace/name`.
 */
export async function bearerOf(registry: Registry, subject: TokenSubject): Promise<TokenBearer> {
  if ("user" in subject) {
    const { user: name, groups = [] } = subject;
    return { user: { name, groups: [...new Set([...groups, AUTHENTICATED])] } };
  }
  const [namespace = "", name = "", ...rest] = subject.serviceAccount.split("/");
  if (namespace === "" || name === "" || rest.length > 0) {
    const message = `Cannot issue a token: expected a ServiceAccount as "namespace/name", found ${JSON.stringify(subject.serviceAccount)}`;
    throw new EngineError("API_BAD_REQUEST", message);
  }
  const uidNow = async () => (await registry.get(SERVICE_ACCOUNTS, { namespace, name })).metadata.uid;
  const uid = await uidNow();
  return {
    user: { name: serviceAccountUser(namespace, name), groups: serviceAccountGroups(namespace) },
    holds: async () => (await unlessAbsent(uidNow)) === uid,
  };
}

async function unlessAbsent<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (isEngineError(error, "API_NOT_FOUND")) return undefined;
    throw error;
  }
}
