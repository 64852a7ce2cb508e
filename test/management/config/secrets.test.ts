import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { fieldPaths } from "../../../docs/generate/schema-tables.ts";
import { parseManagementConfig } from "../../../src/management/config/config.ts";
import { MANAGEMENT_SCHEMA } from "../../../src/management/config/schema/config-schema.ts";
import { REDACTED, redacted, SECRET_SETTINGS } from "../../../src/management/config/secrets.ts";
import { config } from "./parsed.ts";

const every = config(readFileSync(join(import.meta.dirname, "../../../fixtures/management/config/good/every-field.yaml"), "utf8"));

/** Fields whose names only sound secret. */
const NOT_SECRET: Readonly<Record<string, string>> = {
  "auth.password": "a section without a password",
  "auth.accessKeyMaxTTLSeconds": "a time",
  "auth.loginAccessKeyTTLSeconds": "a time",
  "vault.auth.tokenFile": "the path of a file, not its content",
  "vault.auth.tokenSecretRef": "the name of a Secret, not its content",
  "vault.auth.tokenSecretRef.key": "the name of a key of a Secret",
};

describe("secret settings", () => {
  test("are all fields whose name says secret, password, token or key, but for named exceptions", () => {
    const fields = fieldPaths(MANAGEMENT_SCHEMA);
    const suspicious = fields.filter((field) => /secret|password|token|key|credential/i.test(field.slice(field.lastIndexOf(".") + 1)));
    expect(suspicious.filter((field) => !SECRET_SETTINGS.includes(field)).sort()).toEqual(Object.keys(NOT_SECRET).sort());
    expect(SECRET_SETTINGS.filter((field) => !fields.includes(field))).toEqual([]);
  });

  test("are shown only to administrators, and everything else to all users", () => {
    const text = JSON.stringify(every);
    const hidden = JSON.stringify(redacted(every));
    // The fixture marks every secret with this word.
    expect(text.match(/hidden/g)).toHaveLength(SECRET_SETTINGS.length);
    expect(hidden).not.toContain("hidden");
    expect(hidden.split(REDACTED)).toHaveLength(SECRET_SETTINGS.length + 1);
    expect(redacted(every)).toMatchObject({
      auth: {
        oidc: { clientId: "oidc-client", clientSecret: REDACTED },
        customHttpHeaders: { "X-My-Header": REDACTED },
        connectors: [{ id: "company", oidc: { clientSecret: REDACTED } }, {}, {}, {}, {}, {}],
      },
      audit: { path: "/var/log/audit.log", dataStoreEndpoint: REDACTED },
      vault: { auth: { token: REDACTED, tokenSecretRef: { name: "vault", key: "token" } } },
    });
    expect(text).toContain("vault-hidden");
  });

  test("that are empty stay empty, and nothing is added", () => {
    const empty = config('vault: {auth: {token: ""}}');
    expect(redacted(empty)).toEqual(empty);
  });

  test("within an address are its user and password", () => {
    const { apps } = redacted(
      config('apps: {repositories: [{url: "https://me:p@ss@charts.example.com/x@y"}, {url: "https://charts.example.com/@x"}]}'),
    );
    expect(apps.repositories?.map(({ url }) => url)).toEqual([
      `https://${REDACTED}@charts.example.com/x@y`,
      "https://charts.example.com/@x",
    ]);
  });

  test("are not quoted by problems, whether of the wrong type or in the wrong place", () => {
    const text = `auth: {sourceHostA: {clientSecret: 314159}, clusterManager: sesame, customHttpHeaders: {X-Key: 161803}}
apps: {repositories: [{password: 271828}, sesame]}
vault: {auth: sesame}
audit: {maxAge: shown}
`;
    const result = parseManagementConfig(text);
    const told = JSON.stringify(result);
    const wrong = result.ok ? [] : result.problems.filter(({ severity }) => severity === "error");
    expect(wrong.map(({ field }) => field)).toHaveLength(7);
    expect(told).not.toMatch(/314159|271828|sesame/);
    expect(told).toContain("shown");
  });
});
