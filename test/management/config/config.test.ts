import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { DEFAULT_MANAGEMENT_CONFIG, parseManagementConfig } from "../../../src/management/config/config.ts";
import { MANAGEMENT_SCHEMA } from "../../../src/management/config/config-schema.ts";
import { fieldsOf } from "../../config/fields.ts";
import { config, errors, warnings } from "./parsed.ts";

const FIXTURES = join(import.meta.dirname, "../../../fixtures/management/config");
const every = config(readFileSync(join(FIXTURES, "good/every-field.yaml"), "utf8"));
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
        password: { disabled: false },
        connectors: [],
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
      vault: { enabled: false, skipTLSVerify: false },
      costControl: { global: { metrics }, cluster: { metrics, costbackend: {} } },
      platformDB: { storageClass: null },
      imageBuilder: { enabled: false },
    });
    expect(DEFAULT_MANAGEMENT_CONFIG).toEqual(config(""));
  });

  test("shows what is configured beside the defaults of what is left out", () => {
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
    expect(missing.sort()).toEqual(["audit.level", "auth.connectors.*.saml.ca", "auth.saml.ca"]);
  });

  test("takes null for a setting that is left out", () => {
    const text = "auth: {loginAccessKeyTTLSeconds: null, oidc: null, groupsFilters: null}\naudit: null\nprojectNamespacePrefix:\n";
    expect(config(text)).toEqual(config(""));
  });

  test("can not be changed by those who share it", () => {
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

  // Each section by what the file of all fields says of it, and a value of the wrong type.
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
    ["auth.password.disabled", "shows password.disabled and refuses other types", every.auth.password, { disabled: true }],
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

describe("auth", () => {
  test("team and user creation are not disabled by default", () => {
    expect(config("").auth).toMatchObject({ disableTeamCreation: false, disableUserCreation: false });
  });

  test("password sign-in is not disabled by default", () => {
    expect(config("auth: {password: {}}").auth.password.disabled).toBe(false);
  });

  test("accessKeyMaxTTLSeconds is 0, no cap, when it is left out", () => {
    expect(config("").auth.accessKeyMaxTTLSeconds).toBe(0);
    expect(config("auth: {accessKeyMaxTTLSeconds: 0}").auth.accessKeyMaxTTLSeconds).toBe(0);
    expect(errors("auth: {accessKeyMaxTTLSeconds: -1}")).toEqual([
      "CONFIG_VALUE auth.accessKeyMaxTTLSeconds: Expected at least 0, found -1",
    ]);
  });

  test("loginAccessKeyTTLSeconds is 20 days when it is left out, and 0 stays 0", () => {
    expect(config("").auth.loginAccessKeyTTLSeconds).toBe(20 * 24 * 60 * 60);
    expect(config("auth: {loginAccessKeyTTLSeconds: 0}").auth.loginAccessKeyTTLSeconds).toBe(0);
  });

  test("customHttpHeaders are headers that an answer can carry", () => {
    expect(config("auth: {customHttpHeaders: {X-My-Header: my-value}}").auth.customHttpHeaders).toEqual({ "X-My-Header": "my-value" });
    expect(errors('auth: {customHttpHeaders: {X: "a\\r\\nSet-Cookie: b"}}')).toHaveLength(1);
    expect(errors("auth: {customHttpHeaders: {X: a, x: b}}")).toHaveLength(1);
    expect(warnings("auth: {customHttpHeaders: {Transfer-Encoding: chunked}}")).toHaveLength(1);
  });

  test("a bad expression of groupsFilters is a configuration error at its place", () => {
    const result = parseManagementConfig('auth:\n  groupsFilters:\n    - "^team-(a"\n');
    expect(result).toMatchObject({
      ok: false,
      problems: [{ code: "CONFIG_VALUE", line: 3, column: 14, field: "auth.groupsFilters[0]" }],
    });
    expect(errors(`auth: {groupsFilters: ["${"a".repeat(1_025)}"]}`)).toHaveLength(1);
  });

  test("every rule of a provider holds inside a connector too", () => {
    const provider = "saml: {redirectURI: x}, directoryProviderA: {serviceAccountFilePath: /a}, oidc: {clientId: [x]}";
    const inAuth = errors(`auth: {${provider}}`);
    const inConnector = errors(`auth: {connectors: [{id: one, ${provider}}]}`);
    expect(inAuth).toHaveLength(3);
    expect(inConnector).toEqual(inAuth.map((line) => line.replace(" auth.", " auth.connectors[0].")));
  });

  test("defaults of a provider are in effect inside a connector too", () => {
    const providers =
      "oidc: {}, sourceHostB: {}, directoryProviderA: {}, directoryProviderB: {}, saml: {ca: x, nameIDPolicyFormat: emailAddress}";
    const { connectors, ...auth } = config(`auth: {${providers}, connectors: [{id: one, ${providers}}]}`).auth;
    const { id: _id, ...connector } = connectors[0]!;
    expect(auth).toMatchObject(connector);
    expect(Object.keys(connector)).toHaveLength(5);
  });

  test("connectors have ids of their own, and none is that of a section", () => {
    const saml = "saml: {ca: x}";
    expect(errors(`auth: {connectors: [{id: a, ${saml}}, {id: b, ${saml}}]}`)).toEqual([]);
    expect(errors(`auth: {connectors: [{id: a, ${saml}}, {id: a, ${saml}}]}`)).toHaveLength(1);
    expect(errors(`auth: {${saml}, connectors: [{id: saml, ${saml}}]}`)).toHaveLength(1);
    expect(errors(`auth: {connectors: [{id: saml, ${saml}}]}`)).toEqual([]);
    expect(errors(`auth: {connectors: [{${saml}}]}`)).toEqual(['CONFIG_REQUIRED auth.connectors[0]: Missing required field "id"']);
  });
});

describe("providers", () => {
  test("oidc scopes are email and profile when they are empty", () => {
    expect(config("auth: {oidc: {}}").auth.oidc?.scopes).toEqual(["email", "profile"]);
    expect(config("auth: {oidc: {scopes: []}}").auth.oidc?.scopes).toEqual(["email", "profile"]);
    expect(config("auth: {oidc: {scopes: [openid]}}").auth.oidc?.scopes).toEqual(["openid"]);
  });

  test("sourceHostB is the public hosted address unless baseURL says otherwise", () => {
    expect(config("auth: {sourceHostB: {}}").auth.sourceHostB?.baseURL).toMatch(/^https:\/\/[a-z.]+$/);
    expect(config('auth: {sourceHostB: {baseURL: ""}}').auth.sourceHostB?.baseURL).toMatch(/^https:\/\/[a-z.]+$/);
    expect(config("auth: {sourceHostB: {baseURL: http://own}}").auth.sourceHostB?.baseURL).toBe("http://own");
  });

  test("sourceHostB keeps groups that are left out apart from an empty list", () => {
    expect(config("auth: {sourceHostB: {}}").auth.sourceHostB).not.toHaveProperty("groups");
    expect(config("auth: {sourceHostB: {groups: []}}").auth.sourceHostB?.groups).toEqual([]);
  });

  test("directoryProviderA scopes are profile and email when they are empty", () => {
    expect(config("auth: {directoryProviderA: {}}").auth.directoryProviderA?.scopes).toEqual(["profile", "email"]);
    expect(config("auth: {directoryProviderA: {scopes: []}}").auth.directoryProviderA?.scopes).toEqual(["profile", "email"]);
  });

  test("directoryProviderA needs adminEmail when serviceAccountFilePath is set", () => {
    expect(errors("auth: {directoryProviderA: {serviceAccountFilePath: /a.json}}")).toEqual([
      'CONFIG_REQUIRED auth.directoryProviderA.adminEmail: Missing "adminEmail", which serviceAccountFilePath needs',
    ]);
    expect(errors("auth: {directoryProviderA: {serviceAccountFilePath: /a.json, adminEmail: a@b.c}}")).toEqual([]);
    expect(errors("auth: {directoryProviderA: {adminEmail: a@b.c}}")).toEqual([]);
  });

  test("directoryProviderB tenant is common when it is left out, and any other form is taken", () => {
    const tenantOf = (fields: string) => config(`auth: {directoryProviderB: {${fields}}}`).auth.directoryProviderB?.tenant;
    const uuid = "11111111-2222-3333-4444-555555555555";
    expect([tenantOf(""), tenantOf('tenant: ""')]).toEqual(["common", "common"]);
    for (const tenant of ["consumers", "organizations", uuid, "example.com"]) expect(tenantOf(`tenant: ${tenant}`)).toBe(tenant);
  });

  test("directoryProviderB takes all types of groups by default", () => {
    expect(config("auth: {directoryProviderB: {}}").auth.directoryProviderB?.onlySecurityGroups).toBe(false);
  });

  test("saml needs one of caData, ca and insecureSkipSignatureValidation", () => {
    expect(errors("auth: {saml: {}}")).toHaveLength(1);
    expect(errors("auth: {saml: {insecureSkipSignatureValidation: false}}")).toHaveLength(1);
    for (const one of ["caData: bm8=", "ca: /ca.pem", "insecureSkipSignatureValidation: true"])
      expect(errors(`auth: {saml: {${one}}}`)).toEqual([]);
    expect(errors("auth: {saml: {caData: no-base64}}")).toEqual(["CONFIG_VALUE auth.saml.caData: Expected base64"]);
  });

  test("saml nameIDPolicyFormat is persistent by default, and an abbreviation is completed", () => {
    const formatOf = (field: string) => config(`auth: {saml: {ca: x, ${field}}}`).auth.saml?.nameIDPolicyFormat;
    expect(formatOf("")).toBe("urn:oasis:names:tc:SAML:2.0:nameid-format:persistent");
    expect(formatOf("nameIDPolicyFormat: emailAddress")).toBe("urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress");
    const whole = "urn:oasis:names:tc:SAML:2.0:nameid-format:transient";
    expect(formatOf(`nameIDPolicyFormat: "${whole}"`)).toBe(whole);
    expect(formatOf('nameIDPolicyFormat: ""')).toBe(formatOf(""));
  });
});

describe("other sections", () => {
  test("the title of a predefined app is the name of its chart unless it has one", () => {
    const titles = (apps: string) => config(`apps: {predefinedApps: ${apps}}`).apps.predefinedApps?.map(({ title }) => title);
    expect(titles('[{chart: repo/web}, {chart: web}, {chart: repo/web, title: Web}, {chart: repo/web, title: ""}, {}]')).toEqual([
      "web",
      "web",
      "Web",
      "web",
      undefined,
    ]);
  });

  test("audit needs a path when it is enabled", () => {
    expect(errors("audit: {enabled: true}")).toEqual(['CONFIG_REQUIRED audit.path: Missing "path", which enabled needs']);
    expect(errors("audit: {enabled: true, path: /audit.log}")).toEqual([]);
    expect(errors("audit: {enabled: false}")).toEqual([]);
  });

  test("audit level and policy exclude each other", () => {
    expect(errors("audit: {level: 1, policy: {}}")).toEqual(["CONFIG_VALUE audit.level: Found level beside policy"]);
    expect(errors("audit: {level: 1}")).toEqual([]);
    expect(errors("audit: {policy: {rules: []}}")).toEqual([]);
    expect(errors("audit: {level: some}")).toHaveLength(1);
  });

  test("audit rules keep their order, and a rule without a level is one of level None", () => {
    const text = "audit: {policy: {omitStages: [Panic], rules: [{users: [b]}, {users: [a], level: Metadata}]}}";
    expect(config(text).audit.policy).toEqual({
      omitStages: ["Panic"],
      rules: [
        { users: ["b"], level: "None" },
        { users: ["a"], level: "Metadata" },
      ],
    });
  });

  test("audit files are kept for ever, rotate at 100 megabytes and are not compressed by default", () => {
    expect(config("").audit).toMatchObject({ maxAge: 0, maxBackups: 0, maxSize: 100, compress: false });
    expect(config("audit: {maxSize: 0}").audit.maxSize).toBe(100);
    expect(config("audit: {maxAge: 1, maxBackups: 2, maxSize: 3, compress: true}").audit).toMatchObject({
      maxAge: 1,
      maxBackups: 2,
      maxSize: 3,
      compress: true,
    });
  });

  test("platformHost is a domain without a scheme", () => {
    for (const host of ["platform.example.com", "localhost:8443", "10.0.0.1", '"[::1]:443"', '""'])
      expect(errors(`platformHost: ${host}`)).toEqual([]);
    for (const host of ["https://platform.example.com", "a/b", "a b"]) expect(errors(`platformHost: ${host}`)).toHaveLength(1);
  });

  test("projectNamespacePrefix is p- when it is left out, and empty is no prefix", () => {
    expect(config("").projectNamespacePrefix).toBe("p-");
    expect(config('projectNamespacePrefix: ""').projectNamespacePrefix).toBe("");
    expect(config("projectNamespacePrefix: team-").projectNamespacePrefix).toBe("team-");
  });

  test("deprecated sections are taken with a warning", () => {
    expect(warnings("oidc: {enabled: true}\ndevWorkspaceSubDomain: '*.workspace.example.com'\n")).toEqual([
      "CONFIG_VALUE oidc: Is deprecated",
      "CONFIG_VALUE devWorkspaceSubDomain: Is deprecated",
    ]);
  });

  test("buttons are at BottomEnd unless they say otherwise, and nowhere else", () => {
    const text = "uiSettings: {navBarButtons: [{text: a}, {position: TopStart}]}";
    expect(config(text).uiSettings.navBarButtons?.map(({ position }) => position)).toEqual(["BottomEnd", "TopStart"]);
    expect(errors("uiSettings: {navBarButtons: [{position: Middle}]}")).toHaveLength(1);
  });

  test("externalURLs.allow without block is shown with a warning", () => {
    expect(warnings("uiSettings: {externalURLs: {allow: [changelog]}}")).toHaveLength(1);
    expect(warnings("uiSettings: {externalURLs: {allow: [changelog], block: true}}")).toEqual([]);
  });

  test("vault.address is that of the environment when it is left out", () => {
    const environment = { VAULT_ADDR: "https://vault.example.com" };
    expect(config("", environment).vault.address).toBe("https://vault.example.com");
    expect(config('vault: {address: ""}', environment).vault.address).toBe("https://vault.example.com");
    expect(config("vault: {address: https://own}", environment).vault.address).toBe("https://own");
    expect(config("").vault).not.toHaveProperty("address");
  });

  test("what requests leave out is as in limits", () => {
    const resourcesOf = (text: string) => config(`imageBuilder: {resources: ${text}}`).imageBuilder.resources;
    expect(resourcesOf("{limits: {cpu: 2, memory: 1024Mi}}")).toEqual({
      requests: { cpu: "2", memory: "1Gi" },
      limits: { cpu: "2", memory: "1Gi" },
    });
    expect(resourcesOf("{requests: {cpu: 0.5}, limits: {cpu: 2, memory: 1Gi}}")?.requests).toEqual({ cpu: "500m", memory: "1Gi" });
    expect(resourcesOf("{requests: {cpu: 1}}")).toEqual({ requests: { cpu: "1" } });
    expect(resourcesOf("{}")).toEqual({});
  });

  test.each(["costControl.global.metrics", "costControl.cluster.metrics", "costControl.cluster.costbackend", "imageBuilder"])(
    "requests are not above limits in %s",
    (path) => {
      const within = (inner: string) => path.split(".").reduceRight((text, name) => `{${name}: ${text}}`, inner);
      expect(errors(within("{resources: {requests: {cpu: 2}, limits: {cpu: 1999m}}}"))).toEqual([
        `CONFIG_VALUE ${path}.resources.requests.cpu: Expected at most the limit 1999m, found 2`,
      ]);
      expect(errors(within("{resources: {requests: {cpu: 2, memory: 1Gi}, limits: {cpu: 2000m, memory: 1024Mi}}}"))).toEqual([]);
      expect(errors(within("{resources: {claims: [{name: gpu, request: one}]}}"))).toEqual([]);
    },
  );

  test("metrics are kept for 1y by default", () => {
    const { costControl } = config("costControl: {global: {metrics: {retention: ''}}}");
    expect([costControl.global.metrics.retention, costControl.cluster.metrics.retention]).toEqual(["1y", "1y"]);
    expect(every.costControl.global.metrics).toMatchObject({ retention: "30d", storage: { storageClass: "fast", size: "50Gi" } });
  });

  test("a storage class of null, of an empty text and of a dash are three things", () => {
    const classOf = (written: string) => config(`platformDB: {${written}}`).platformDB.storageClass;
    expect(["", "storageClass: null", 'storageClass: ""', 'storageClass: "-"'].map(classOf)).toEqual([null, null, "", "-"]);
    const metrics = (written: string) => config(`costControl: {cluster: {metrics: {storage: {${written}}}}}`).costControl.cluster.metrics;
    expect(['storageClass: ""', "storageClass:"].map((written) => metrics(written).storage.storageClass)).toEqual(["", null]);
  });
});
