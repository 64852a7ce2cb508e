/**
 * Which settings are secret, and the configuration without them, for people who are not administrators.
 *
 * @module
 */
import { fieldPath } from "../../schema/field.ts";
import type { Problem } from "../../schema/problem.ts";
import type { ManagementConfig } from "./effective.ts";

/** What is shown in place of a secret. */
export const REDACTED = "********";

/** Every secret setting; `[]` is any item of a list. */
export const SECRET_SETTINGS: readonly string[] = [
  "auth.oidc.clientSecret",
  "auth.sourceHostA.clientSecret",
  "auth.sourceHostB.clientSecret",
  "auth.directoryProviderA.clientSecret",
  "auth.directoryProviderB.clientSecret",
  "auth.clusterManager.bearerToken",
  "auth.connectors[].oidc.clientSecret",
  "auth.connectors[].sourceHostA.clientSecret",
  "auth.connectors[].sourceHostB.clientSecret",
  "auth.connectors[].directoryProviderA.clientSecret",
  "auth.connectors[].directoryProviderB.clientSecret",
  "oidc.clients[].clientSecret",
  "apps.repositories[].password",
  "audit.dataStoreEndpoint",
  "vault.auth.token",
];

/**
 * A copy in which {@link REDACTED} stands for every secret setting that is not empty, and for user and password of every
 * address. What else a text holds, such as the proposed values of an app, is not looked at.
 *
 * @example
 * redacted(config).vault.auth?.token; // "********"
 */
export function redacted(config: ManagementConfig): ManagementConfig {
  return withoutSecrets(config, "") as ManagementConfig;
}

function withoutSecrets(value: unknown, field: string): unknown {
  if (typeof value === "string") return value !== "" && SECRET_SETTINGS.includes(field) ? REDACTED : withoutCredentials(value);
  if (Array.isArray(value)) return value.map((item) => withoutSecrets(item, `${field}[]`));
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).map(([name, member]) => [name, withoutSecrets(member, fieldPath(field, name))] as const);
  return Object.fromEntries(members);
}

/** `https://user:password@host` → `https://********@host`. */
function withoutCredentials(text: string): string {
  return text.replace(/:\/\/[^\s/?#]*@/g, `://${REDACTED}@`);
}

/**
 * Problems without the values that were found where a secret belongs, or in place of what holds one: problems are logged.
 *
 * @example
 * withoutFound([problem]); // "Expected text, found 1234" of a password → "Expected text"
 */
export function withoutFound(problems: readonly Problem[]): Problem[] {
  return problems.map((problem) => {
    const field = problem.field.replace(/\[\d+\]/g, "[]");
    const holdsSecrets = SECRET_SETTINGS.some((secret) => secret.startsWith(field) && /^$|^[.[]/.test(secret.slice(field.length)));
    return holdsSecrets ? { ...problem, message: problem.message.replace(/, found [^]*$/, "") } : problem;
  });
}
