/**
 * The platform's configuration as a whole: what is in effect, what is refused. Source: specification 2.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { DEFAULT_MANAGEMENT_CONFIG, parseManagementConfig } from "../../../src/management/config/config.ts";
import { MANAGEMENT_SCHEMA } from "../../../src/management/config/schema/config-schema.ts";
import { fieldsOf } from "../../engine/config/fields.ts";
import { config, every, FIXTURES } from "./parsed.ts";

const wrongTypes = readFileSync(join(FIXTURES, "bad/types.problems"), "utf8");

/** The fields of the schema that a value has, as `fieldsOf` names them. */
function shownFields(value: unknown, schema: unknown): Set<string> {
  const all = fieldsOf(schema);
  const has = (at: unknown, names: readonly string[]): boolean => {
    const [name, ...rest] = names;
    if (name === undefined) return at !== undefined && at !== null;
    if (typeof at !== "object" || at === null) return false;
    return name === "*" ? Object.values(at).some((item) => has(item, rest)) : has((at as Record<string, unknown>)[name], rest);
  };
  return new Set(all.filter((field) => has(value, field.split("."))));
}

describe("the effective configuration", () => {
  test("of an empty file is the default of every setting that has one", () => {
    const metrics = { retention: "1y", storage: { storageClass: null } };
    expect(config("")).toEqual({
      auth: {
        password: { disabled: false, minLength: 8 },
        connectors: [],
        administrators: [],
        identityRefreshSeconds: 900,
        identityStaleSeconds: 86_400,
        disableTeamCreation: false,
        disableUserCreation: false,
        accessKeyMaxTTLSeconds: 0,
        loginAccessKeyTTLSeconds: 1_728_000,
        customHttpHeaders: {},
        groupsFilters: [],
      },
      apps: { noDefault: false },
      audit: { enabled: false, disableAgentSyncBack: false, maxAge: 0, maxBackups: 0, maxSize: 100, compress: false },
      projectNamespacePrefix: "p-",
      uiSettings: { externalURLs: { block: false } },
      vault: { enabled: false, skipTLSVerify: false, requestTimeoutSeconds: 10, answerMaxKiB: 2_048 },
      costControl: { global: { metrics }, cluster: { metrics, costbackend: {} } },
      platformDB: { storageClass: null },
      imageBuilder: { enabled: false },
    });
    expect(DEFAULT_MANAGEMENT_CONFIG).toEqual(config(""));
  });

  test("shows what is configured together with the defaults of the rest", () => {
    const { auth } = config(readFileSync(join(FIXTURES, "good/documented.yaml"), "utf8"));
    expect(auth).toMatchObject({
      accessKeyMaxTTLSeconds: 36_000,
      loginAccessKeyTTLSeconds: 60,
      customHttpHeaders: { "X-My-Header": "my-value" },
      sourceHostA: { clientId: "my-client-id", clientSecret: "my-client-secret" },
      disableTeamCreation: false,
      password: { disabled: false },
    });
  });

  test("shows every field of the specification that the file has", () => {
    const shown = shownFields(every, MANAGEMENT_SCHEMA);
    const missing = fieldsOf(MANAGEMENT_SCHEMA).filter((field) => !shown.has(field));
    expect(missing.sort()).toEqual(["audit.level", "auth.connectors.*.saml.ca", "auth.saml.ca", "vault.auth.tokenFile"]);
  });

  test("treats null as an absent setting", () => {
    const text = "auth: {loginAccessKeyTTLSeconds: null, oidc: null, groupsFilters: null}\naudit: null\nprojectNamespacePrefix:\n";
    expect(config(text)).toEqual(config(""));
  });

  test("cannot be changed by its readers", () => {
    expect(() => (every.auth.oidc!.scopes as string[]).push("x")).toThrow(TypeError);
    const { scopes } = config("auth: {oidc: {}}").auth.oidc!;
    expect(() => (scopes as string[]).push("x")).toThrow(TypeError);
  });

  test("comes from JSON as well", () => {
    expect(config(JSON.stringify({ auth: { accessKeyMaxTTLSeconds: 5 } })).auth.accessKeyMaxTTLSeconds).toBe(5);
  });
});

describe("the sections of the file", () => {
  test("unknown fields are refused with a suggestion, in every section", () => {
    const result = parseManagementConfig("auth: {oidc: {issuerURL: x}}\nuiSetting: {}\n", { file: "platform.yaml" });
    const found = result.ok ? [] : result.problems.filter(({ severity }) => severity === "error");
    expect(found.map(({ file, line, column, code, hint }) => `${file}:${line}:${column} ${code} ${hint}`)).toEqual([
      'platform.yaml:1:15 CONFIG_UNKNOWN_FIELD Did you mean "issuerUrl"?',
      'platform.yaml:2:1 CONFIG_UNKNOWN_FIELD Did you mean "uiSettings"?',
    ]);
  });

  // Each section by its content in the file of all fields, and a value of the wrong type.
  test.each([
    ["auth.oidc", "shows oidc and refuses other types", every.auth.oidc?.issuerUrl, "https://issuer.example.com"],
    [
      "auth.sourceHostA.clientId",
      "shows sourceHostA and refuses other types",
      every.auth.sourceHostA?.orgs?.[0]?.teams,
      ["platform", "ops"],
    ],
    ["auth.sourceHostB.groups[0]", "shows sourceHostB and refuses other types", every.auth.sourceHostB?.groups, ["acme/platform"]],
    [
      "auth.directoryProviderA.scopes",
      "shows directoryProviderA and refuses other types",
      every.auth.directoryProviderA?.hostedDomains,
      ["example.com"],
    ],
    [
      "auth.directoryProviderB.onlySecurityGroups",
      "shows directoryProviderB and refuses other types",
      every.auth.directoryProviderB?.useGroupsAsWhitelist,
      true,
    ],
    ["auth.saml", "shows saml and refuses other types", every.auth.saml?.ssoURL, "https://saml.example.com/sso"],
    [
      "auth.clusterManager.bearerToken",
      "shows clusterManager and refuses other types",
      every.auth.clusterManager,
      { host: "clusters.example.com", bearerToken: "token-abc:cm-hidden", insecure: true },
    ],
    ["auth.password.disabled", "shows password.disabled and refuses other types", every.auth.password, { disabled: true, minLength: 8 }],
    ["auth.disableTeamCreation", "shows disableTeamCreation and refuses other types", every.auth.disableTeamCreation, true],
    ["auth.disableUserCreation", "shows disableUserCreation and refuses other types", every.auth.disableUserCreation, true],
    [
      "oidc.clients[0].redirectURIs",
      "shows the deprecated oidc section and refuses other types",
      every.oidc?.clients?.[0]?.name,
      "dashboard",
    ],
    [
      "apps.repositories[0].insecure",
      "shows the repositories of apps and refuses other types",
      every.apps.repositories?.[0]?.username,
      "reader",
    ],
    [
      "apps.predefinedApps[0].clusters",
      "shows predefined apps and refuses other types",
      every.apps.predefinedApps?.[0]?.initialVersion,
      "1.2.3",
    ],
    ["audit.dataStoreEndpoint", "shows the audit data store and refuses other types", every.audit.dataStoreTTL, 720],
    ["audit.disableAgentSyncBack", "shows disableAgentSyncBack and refuses other types", every.audit.disableAgentSyncBack, true],
    ["platformHost", "shows platformHost and refuses other types", every.platformHost, "platform.example.com"],
    ["uiSettings.logoURL", "shows uiSettings and refuses other types", every.uiSettings.logoURL, "https://example.com/logo.svg"],
    [
      "uiSettings.customJavaScript[0]",
      "shows lists of uiSettings and refuses other types",
      every.uiSettings.customCss,
      ["https://example.com/style.css"],
    ],
    [
      "uiSettings.externalURLs.block",
      "shows externalURLs and refuses other types",
      every.uiSettings.externalURLs,
      { block: true, allow: ["https://example.com", "changelog"] },
    ],
    ["vault.skipTLSVerify", "shows vault and refuses other types", every.vault.auth?.token, "vault-hidden"],
    [
      "costControl.cluster.costbackend.replicas",
      "shows costbackend and refuses other types",
      every.costControl.cluster.costbackend.replicas,
      1,
    ],
    [
      "costControl.cluster.costbackend.settings.averageCPUPricePerNode.price",
      "shows prices and refuses other types",
      every.costControl.settings?.averageRAMPricePerNode,
      { price: 4.5, timePeriod: "Monthly" },
    ],
    ["platformDB.storageClass", "shows platformDB and refuses other types", every.platformDB.storageClass, "fast"],
    ["imageBuilder.enabled", "shows imageBuilder and refuses other types", every.imageBuilder.enabled, true],
  ])("%s: %s", (field, _title, shown, expected) => {
    expect(shown).toEqual(expected);
    expect(wrongTypes).toContain(` error CONFIG_TYPE ${field}: `);
  });

  test("cost settings are taken beside costbackend and within it, and shown where they are", () => {
    expect(every.costControl.settings).toEqual(every.costControl.cluster.costbackend.settings);
    expect(config("costControl: {settings: {priceCurrency: EUR}}").costControl.cluster.costbackend.settings).toBeUndefined();
  });
});
