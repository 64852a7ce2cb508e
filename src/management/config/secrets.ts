/**
 * The secret settings, and the configuration without them, for users who are not administrators.
 *
 * @module
 */
import { fieldPath } from "../../schema/field.ts";
import type { Problem } from "../../schema/problem.ts";
import type { ManagementConfig } from "./effective.ts";

/** Replaces a secret. */
export const REDACTED = "********";

/** Every secret setting; `[]` is any item of a list. In a map, every value is secret; the names are not. */
export const SECRET_SETTINGS: readonly string[] = [
  "auth.oidc.clientSecret",
  "auth.sourceHostA.clientSecret",
  "auth.sourceHostB.clientSecret",
  "auth.directoryProviderA.clientSecret",
  "auth.directoryProviderB.clientSecret",
  "auth.clusterManager.bearerToken",
  "auth.customHttpHeaders",
  "auth.connectors[].oidc.clientSecret",
  "auth.connectors[].sourceHostA.clientSecret",
  "auth.connectors[].sourceHostB.clientSecret",
  "auth.connectors[].directoryProviderA.clientSecret",
  "auth.connectors[].directoryProviderB.clientSecret",
  "oidc.clients[].clientSecret",
  "apps.repositories[].password",
  "apps.predefinedApps[].initialValues",
  "audit.dataStoreEndpoint",
  "vault.auth.token",
];

/**
 * Returns a copy in which {@link REDACTED} replaces every secret setting that is not empty, and the user and password of every address.
 * Other parts of a text are not inspected.
 *
 * @example
 * redacted(config).vault.auth?.token; // "********"
 */
export function redacted(config: ManagementConfig): ManagementConfig {
  return withoutSecrets(config, "") as ManagementConfig;
}

function withoutSecrets(value: unknown, field: string, inSecret = false): unknown {
  const isSecret = inSecret || SECRET_SETTINGS.includes(field);
  if (typeof value === "string") return value !== "" && isSecret ? REDACTED : withoutCredentials(value);
  if (Array.isArray(value)) return value.map((item) => withoutSecrets(item, `${field}[]`, isSecret));
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).map(([name, member]) => [name, withoutSecrets(member, fieldPath(field, name), isSecret)] as const);
  return Object.fromEntries(members);
}

/** `https://user:password@host` → `https://********@host`. */
function withoutCredentials(text: string): string {
  return text.replace(/:\/\/[^\s/?#]*@/g, `://${REDACTED}@`);
}

/**
 * Returns the problems without the values found at or around a secret, because problems are logged.
 *
 * @example
 * withoutFound([problem]); // "Expected text, found 1234" of a password → "Expected text"
 */
export function withoutFound(problems: readonly Problem[]): Problem[] {
  return problems.map((problem) => {
    const field = problem.field.replace(/\[\d+\]/g, "[]");
    const holdsSecrets = SECRET_SETTINGS.some((secret) => isWithin(secret, field) || isWithin(field, secret));
    return holdsSecrets ? { ...problem, message: problem.message.replace(/, found [^]*$/, "") } : problem;
  });
}

function isWithin(inner: string, outer: string): boolean {
  return inner.startsWith(outer) && /^$|^[.[]/.test(inner.slice(outer.length));
}
