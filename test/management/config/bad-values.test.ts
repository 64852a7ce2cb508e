/**
 * Meaningless values are refused with file, line and column, one by one.
 */
import { describe, expect, test } from "vitest";
import { parseManagementConfig } from "../../../src/management/config/config.ts";

/** A setting, and a value that is refused there, as written in the file. `[]` is an item of a list. */
const BAD: readonly (readonly [field: string, ...values: string[]])[] = [
  ["vault.syncInterval", "banana", "1", "5d", "-1m", "0s", "999ms", "25h", "1m banana", "1e3s"],
  [
    "vault.address",
    "vault",
    "vault.example.com:8200",
    "http://vault.example.com",
    "ftp://vault.example.com",
    "https://",
    '"https://a b"',
    "https://u:p@vault.example.com",
    "https://vault.example.com:99999",
  ],
  ["vault.namespace", "a/../b", "..", "a//b", "a?b", '"a b"'],
  ["vault.enabled", "maybe", "1"],
  ["vault.auth.tokenSecretRef.name", "Vault", "a/b"],
  ["vault.auth.tokenSecretRef.key", "a/b", '"a b"'],
  ["costControl.global.metrics.retention", "banana", "1", "-1y", "1 y", "forever"],
  ["costControl.cluster.metrics.retention", "1month", "1.5y"],
  ["costControl.global.metrics.storage.size", "a lot", "10GB", "-5Gi", "ten"],
  ["costControl.global.metrics.storage.storageClass", "Fast", "a/b", "--"],
  ["costControl.global.metrics.replicas", "many", "-1", "1.5", "4294967296"],
  ["costControl.settings.averageCPUPricePerNode.price", "cheap", "-1"],
  ["platformDB.storageClass", "a b", "../x"],
  ["imageBuilder.resources.limits.cpu", "fast", "-1"],
  ["auth.oidc.issuerUrl", "issuer.example.com", "https://", "javascript:alert(1)", "file:///etc/passwd", "https://a b"],
  ["auth.oidc.redirectURI", "/auth/oidc/callback", "platform"],
  ["auth.oidc.postLogoutRedirectURI", "javascript:alert(1)"],
  ["auth.oidc.caFile", '"-----BEGIN CERTIFICATE-----\\nabc"', "/etc/platform/", '"/etc/a\\nb"', '" "'],
  ["auth.oidc.scopes[]", '"open id"', '""', '"a\\"b"'],
  ["auth.oidc.usernameClaim", '" sub"', '"a\\nb"'],
  ["auth.oidc.clientSecret", '"secret\\n"'],
  ["auth.sourceHostA.hostName", "https://source.example.com", "a/b", "a:99999", "-"],
  ["auth.sourceHostA.rootCA", '"-----BEGIN CERTIFICATE-----"', "/etc/"],
  ["auth.sourceHostA.orgs[].name", '""', '" acme"'],
  ["auth.sourceHostB.baseURL", "source.example.com", "ssh://source.example.com"],
  ["auth.directoryProviderA.adminEmail", "admin", "admin@", "@example.com", "a b@example.com", "Admin <admin@example.com>"],
  ["auth.directoryProviderA.hostedDomains[]", "https://example.com", '"*.example.com"', "a@example.com"],
  ["auth.directoryProviderA.scopes[]", "two words"],
  ["auth.directoryProviderB.tenant", "a/b", "two words", ".."],
  ["auth.saml.ssoURL", "sso", "javascript:alert(1)"],
  ["auth.saml.ca", '"-----BEGIN CERTIFICATE-----"'],
  ["auth.clusterManager.host", "clusters/x", "two words", "ftp://clusters.example.com"],
  ["auth.loginAccessKeyTTLSeconds", "-1", "1.5", "1d"],
  ["auth.password.minLength", "0", "5000"],
  ["oidc.clients[].redirectURIs[]", "dashboard", "https://a/#x"],
  ["apps.repositories[].url", "charts", "file:///srv/charts", "javascript:alert(1)"],
  ["apps.predefinedApps[].chart", "two words"],
  ["apps.predefinedApps[].iconUrl", "icon", "javascript:alert(1)"],
  ["audit.path", "/var/log/", '"/var/log/a\\nb"'],
  ["audit.maxAge", "-1", "seven", "1.5"],
  ["audit.level", "-1", "high"],
  ["audit.dataStoreTTL", "-1", "24h"],
  ["audit.policy.rules[].verbs[]", "GET", "get list"],
  ["audit.policy.rules[].nonResourceURLs[]", "healthz", "/a*b"],
  ["audit.policy.rules[].requestTargets[]", "Everything", "management"],
  ["audit.policy.rules[].resources[].group", "Management", "a/b"],
  ["audit.policy.rules[].resources[].resources[]", "Teams", "a/b/c"],
  ["platformHost", "https://platform.example.com", "a/b"],
  ["devWorkspaceSubDomain", "https://workspace.example.com", "*", "a.*.b"],
  ["projectNamespacePrefix", "P-", "-a"],
  ["uiSettings.logoURL", "javascript:alert(1)", "logo.svg", "data:text/html,x"],
  ["uiSettings.faviconURL", "//example.com/icon.png", "two words"],
  ["uiSettings.primaryColor", "#12", "red;background:url(x)", "rgb(1,2,3", "#ggg"],
  ["uiSettings.sidebarColor", "url(x)"],
  ["uiSettings.customCss[]", "javascript:alert(1)", "style.css"],
  ["uiSettings.customJavaScript[]", "data:text/javascript,x"],
  ["uiSettings.navBarButtons[].link", "javascript:alert(1)", "help"],
  ["uiSettings.navBarButtons[].position", "Middle"],
  ["uiSettings.externalURLs.allow[]", "two words", "javascript:alert(1)"],
];

const CASES = BAD.flatMap(([field, ...values]) => values.map((value) => [field, value] as const));

/** What a file needs besides a setting, in place of `…`. */
const BESIDE: Readonly<Record<string, string>> = {
  "auth.saml": "insecureSkipSignatureValidation: true, …",
};

/** The text of a file with a value at a setting, and the column where the value starts. */
function fileWith(field: string, value: string): { readonly text: string; readonly column: number } {
  const steps = field.replaceAll("[]", ".[]").split(".");
  const shape = steps.reduceRight((inner, step, index) => {
    const around =
      BESIDE[
        steps
          .slice(0, index + 1)
          .join(".")
          .replaceAll(".[]", "[]")
      ];
    return step === "[]" ? `[${inner}]` : `{${step}: ${around === undefined ? inner : `{${around.replace("…", inner.slice(1, -1))}}`}}`;
  }, "…");
  const plain = /^["{]/.test(value) ? value : JSON.stringify(value);
  const isText = !/^-?[0-9.]+$/.test(value);
  return { text: `# A comment.\n${shape.replace("…", () => (isText ? plain : value))}\n`, column: shape.indexOf("…") + 1 };
}

describe("a meaningless value", () => {
  test("has at least 97 cases", () => {
    expect(CASES.length).toBeGreaterThanOrEqual(97);
  });

  test.each(CASES)("is refused with its position at %s: %s", (field, value) => {
    const { text, column } = fileWith(field, value);
    const result = parseManagementConfig(text, { file: "platform.yaml" });
    const errors = (result.ok ? [] : result.problems).filter(({ severity }) => severity === "error");
    expect(
      errors.map((one) => `${one.file}:${one.line}:${one.column} ${one.field.replace(/\[\d+\]/g, "[]")}`),
      text,
    ).toEqual([`platform.yaml:2:${column} ${field}`]);
  });

  test("is refused however long it is", () => {
    const long = `${"a@".repeat(4_000)}${":".repeat(4_000)}`;
    const texts = BAD.map(([field]) => field).filter(
      (field) => !/replicas|price|enabled|TTL|maxAge|level|minLength|limits|clientSecret/.test(field),
    );
    const taken = texts.filter((field) => parseManagementConfig(fileWith(field, long).text).ok);
    expect(taken).toEqual([]);
  });
});

describe("a meaningful value", () => {
  test.each([
    ["vault.syncInterval", "1m", "90s", "1h30m", "0.5h", "1s", "24h", ""],
    ["vault.address", "https://vault.example.com:8200/", "http://127.0.0.1:8200", "http://[::1]:8200", "http://localhost", ""],
    ["vault.namespace", "team", "a/b/", ""],
    ["costControl.global.metrics.retention", "1y", "30d", "12h", "1y6d", ""],
    ["costControl.global.metrics.storage.storageClass", "-", "", "fast.ssd"],
    ["auth.oidc.issuerUrl", "http://127.0.0.1:1", "https://münchen.example/a?b=c", "https://[::1]:443/"],
    ["auth.oidc.caFile", "ca.pem", "/etc/platform/my ca.pem", ""],
    ["auth.clusterManager.host", "clusters.example.com", "https://clusters.example.com", "clusters:8443"],
    ["auth.directoryProviderA.adminEmail", "admin+x@example.com", ""],
    ["uiSettings.logoURL", "/logo.svg", "data:image/png;base64,AAAA", "https://example.com/logo.svg", ""],
    ["uiSettings.primaryColor", "navy", "#369", "rgb(0 0 0 / 50%)", "hsla(120, 100%, 50%, 0.3)", ""],
    ["uiSettings.navBarButtons[].link", "mailto:help@example.com", "/docs"],
    ["apps.repositories[].url", "oci://registry.example.com/charts", "https://me:p@ss@charts.example.com/x@y"],
    ["audit.policy.rules[].resources[].resources[]", "*", "teams/status", "*/status", "teams/*"],
    ["audit.policy.rules[].nonResourceURLs[]", "*", "/healthz*", "/version"],
    ["devWorkspaceSubDomain", "*.workspace.example.com", ""],
  ])("is taken at %s", (field, ...values) => {
    for (const value of values) {
      const result = parseManagementConfig(fileWith(field, JSON.stringify(value)).text);
      expect(result.ok ? [] : result.problems.filter(({ severity }) => severity === "error"), value).toEqual([]);
    }
  });
});
