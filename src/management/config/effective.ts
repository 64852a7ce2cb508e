/**
 * Defaults that depend on another field, on the environment, or on the meaning of an empty value.
 *
 * @module
 */
import type { Environment } from "../../kube/client/kube-config.ts";
import type { Infer } from "../../schema/schema.ts";
import { AUDIT_SIZE_MB } from "./schema/audit-schema.ts";
import type { CONNECTOR } from "./schema/auth-schema.ts";
import type { MANAGEMENT_SCHEMA } from "./schema/config-schema.ts";
import { METRICS_RETENTION, type METRICS } from "./schema/cost-schema.ts";
import { DIRECTORY_PROVIDER_A, NAME_ID_DEFAULT, OIDC, SOURCE_HOST_B_URL } from "./schema/provider-schema.ts";
import { effectiveRequirements, type WrittenRequirements } from "./rules/requirements.ts";

/** The variable that holds the address of the vault when `vault.address` is left out. */
export const VAULT_ADDRESS_VARIABLE = "VAULT_ADDR";

/** The content of the file, with the defaults of its schema. */
export type WrittenConfig = Infer<typeof MANAGEMENT_SCHEMA>;

/** The same content with amounts as texts; only amounts can have several types. */
type WithAmounts<T> = T extends readonly unknown[]
  ? T
  : T extends object
    ? { readonly [Name in keyof T]: unknown extends T[Name] ? string : WithAmounts<T[Name]> }
    : T;

/** The platform's configuration as it is in effect. `MANAGEMENT_SCHEMA` describes each field. */
export type ManagementConfig = WithAmounts<WrittenConfig>;

/** Fills in the defaults that the schema alone cannot. */
export function effectiveConfig(written: WrittenConfig, environment: Environment): ManagementConfig {
  const { auth, apps, audit, vault, costControl, imageBuilder } = written;
  const address = vault.address || environment[VAULT_ADDRESS_VARIABLE];
  const { global, cluster } = costControl;
  return {
    ...written,
    auth: { ...auth, ...effectiveProviders(auth), connectors: auth.connectors.map((one) => ({ ...one, ...effectiveProviders(one) })) },
    apps: { ...apps, ...(apps.predefinedApps && { predefinedApps: apps.predefinedApps.map(withTitle) }) },
    audit: { ...audit, maxSize: audit.maxSize || AUDIT_SIZE_MB },
    vault: { ...vault, ...(address && { address }) },
    costControl: {
      ...costControl,
      global: { ...global, metrics: effectiveMetrics(global.metrics) },
      cluster: { ...cluster, metrics: effectiveMetrics(cluster.metrics), costbackend: withRequirements(cluster.costbackend) },
    },
    imageBuilder: withRequirements(imageBuilder),
  };
}

type Providers = Omit<Infer<typeof CONNECTOR>, "id" | "displayName">;

function effectiveProviders({ oidc, sourceHostB, directoryProviderA, directoryProviderB, saml }: Providers): Providers {
  return {
    ...(oidc && { oidc: { ...oidc, scopes: orDefault(oidc.scopes, OIDC.fields.scopes.default) } }),
    ...(sourceHostB && { sourceHostB: { ...sourceHostB, baseURL: sourceHostB.baseURL || SOURCE_HOST_B_URL } }),
    ...(directoryProviderA && {
      directoryProviderA: {
        ...directoryProviderA,
        scopes: orDefault(directoryProviderA.scopes, DIRECTORY_PROVIDER_A.fields.scopes.default),
      },
    }),
    ...(directoryProviderB && { directoryProviderB: { ...directoryProviderB, tenant: directoryProviderB.tenant || "common" } }),
    ...(saml && { saml: { ...saml, nameIDPolicyFormat: nameIdFormat(saml.nameIDPolicyFormat) } }),
  };
}

function orDefault(list: readonly string[], byDefault: readonly string[]): readonly string[] {
  return list.length === 0 ? byDefault : list;
}

/** A value without a colon is the last component of a SAML 1.1 format. */
function nameIdFormat(written: string): string {
  if (written === "") return NAME_ID_DEFAULT;
  return written.includes(":") ? written : `urn:oasis:names:tc:SAML:1.1:nameid-format:${written}`;
}

function withTitle<App extends { readonly chart?: string; readonly title?: string }>(app: App): App {
  const title = app.title || app.chart?.slice(app.chart.lastIndexOf("/") + 1);
  return title ? { ...app, title } : app;
}

function effectiveMetrics(metrics: Infer<typeof METRICS>) {
  return withRequirements({ ...metrics, retention: metrics.retention || METRICS_RETENTION });
}

function withRequirements<T extends { readonly resources?: WrittenRequirements }>(service: T) {
  const { resources, ...rest } = service;
  return { ...rest, ...(resources !== undefined && { resources: effectiveRequirements(resources) }) };
}
