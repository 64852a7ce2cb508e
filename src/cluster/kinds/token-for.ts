import { EngineError, isEngineError } from "../../base/errors.ts";
import type { ResourceType } from "../../kube/object/resource.ts";
import type { KubeObject } from "../../kube/object/types.ts";
import { serviceAccountGroups } from "../../apiserver/access/impersonation.ts";
import type { Registry } from "../../apiserver/verbs/registry.ts";
import type { ComputeRequest } from "../../apiserver/types/resource-definition.ts";
import type { TokenBearer } from "../../apiserver/access/tokens.ts";
import { SERVICE_ACCOUNTS } from "./service-accounts.ts";
import { serviceAccountUser } from "../rbac/policy.ts";
import { AUTHENTICATED } from "../rbac/resources.ts";

/**
 * The user or ServiceAccount that a token represents. `system:authenticated` is added to the groups; a ServiceAccount is
 * `namespace/name`.
 */
export type TokenSubject = { readonly user: string; readonly groups?: readonly string[] } | { readonly serviceAccount: string };

/** Credentials of one subject. */
export interface IssuedToken {
  readonly token: string;
  /** A kubeconfig (YAML) with this token. */
  readonly kubeconfig: string;
}

/**
 * The identity that the token of a subject represents. A ServiceAccount's identity is valid only while the account exists.
 *
 * @throws API_NOT_FOUND if the ServiceAccount does not exist, API_BAD_REQUEST if its text is not `namespace/name`.
 */
export async function tokenUserOf(registry: Registry, subject: TokenSubject): Promise<TokenBearer> {
  if ("user" in subject) {
    const { user: name, groups = [] } = subject;
    return { user: { name, groups: [...new Set([...groups, AUTHENTICATED])] } };
  }
  const [namespace = "", name = "", ...rest] = subject.serviceAccount.split("/");
  if (namespace === "" || name === "" || rest.length > 0) {
    const message = `Cannot issue a token: expected a ServiceAccount as "namespace/name", found ${JSON.stringify(subject.serviceAccount)}`;
    throw new EngineError("API_BAD_REQUEST", message);
  }
  const account = await registry.get(SERVICE_ACCOUNTS, { namespace, name });
  return accountBearer({ account, read: (type, key) => unlessAbsent(registry.get(type, key)) });
}

/** An object that must exist for a token to be valid, as it was when the token was issued. */
export interface Bound {
  readonly type: ResourceType;
  readonly object: KubeObject;
}

/** A ServiceAccount, and further limits of its token. */
export interface AccountToken extends Pick<ComputeRequest, "read">, Pick<TokenBearer, "expiresAt" | "audiences"> {
  readonly account: KubeObject;
  /** The token is valid only while this object exists. */
  readonly bound?: Bound;
}

/** The identity that a ServiceAccount's token represents. It is valid while the account and the bound object exist with the same UIDs. */
export function accountBearer({ account, read, bound, ...rest }: AccountToken): TokenBearer {
  const { namespace = "", name = "" } = account.metadata;
  const needed: readonly Bound[] = [{ type: SERVICE_ACCOUNTS, object: account }, ...(bound ? [bound] : [])];
  const isThere = async ({ type, object: { metadata } }: Bound) => {
    const now = await read(type, { namespace: metadata.namespace ?? "", name: metadata.name! });
    return now?.metadata.uid === metadata.uid;
  };
  return {
    ...rest,
    user: { name: serviceAccountUser(namespace, name), groups: serviceAccountGroups(namespace) },
    holds: async () => (await Promise.all(needed.map(isThere))).every(Boolean),
  };
}

async function unlessAbsent<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (isEngineError(error, "API_NOT_FOUND")) return undefined;
    throw error;
  }
}
