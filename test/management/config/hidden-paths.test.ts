/**
 * Paths of files that settings name are never shown to callers who have not signed in.
 */
import { expect, test } from "vitest";
import { startPlatform } from "../platform.ts";

const HIDDEN = "/srv/hidden-folder";
const PROVIDERS = `{
  oidc: {issuerUrl: "https://127.0.0.1:1", clientId: a, caFile: ${HIDDEN}/oidc.pem},
  sourceHostA: {clientId: a, hostName: "127.0.0.1:1", rootCA: ${HIDDEN}/host-a.pem},
  sourceHostB: {clientId: a, baseURL: "https://127.0.0.1:1"},
  directoryProviderA: {clientId: a, groups: [staff], serviceAccountFilePath: ${HIDDEN}/account.json, adminEmail: admin@example.com},
  directoryProviderB: {clientId: a},
  saml: {redirectURI: "https://p.example/auth/saml/callback", ssoURL: "https://127.0.0.1:1", ca: ${HIDDEN}/saml.pem},
}`;
const NAMES = ["oidc", "sourceHostA", "sourceHostB", "directoryProviderA", "directoryProviderB", "saml"];
const CONNECTORS = NAMES.map((name) => `{id: own-${name}, displayName: Own, ${name}: ${sectionOf(name)}}`);
const CONFIG = `auth: ${PROVIDERS.replace(/,\s*\}$/, `, connectors: [${CONNECTORS.join(", ")}]}`)}\naudit: {path: ${HIDDEN}/audit.log}\n`;

function sectionOf(name: string): string {
  return new RegExp(`  ${name}: (\\{.*\\}),`).exec(PROVIDERS)![1]!;
}

/** Sign-in at a directory would call its public service, which no test does. */
function ends(name: string): readonly string[] {
  const others = ["callback?code=a&state=b", "callback", "logout"];
  return name.includes("directoryProvider") ? others : ["login", ...others];
}

test("no unauthenticated answer has a path of a file that the configuration names", async () => {
  const platform = await startPlatform({ config: CONFIG, readFile: (path) => Promise.reject(new Error(`ENOENT: open '${path}'`)) });
  const { url } = platform.management;
  try {
    const connectors = [...NAMES, ...NAMES.map((name) => `own-${name}`), "password", "none"];
    const paths = connectors.flatMap((name) => ends(name).map((end) => `/auth/${name}/${end}`));
    const others = ["/login", "/auth", "/auth/connectors", "/.well-known/jwks.json", "/kubernetes/management/version", "/"];
    for (const path of [...paths, ...others, "/kubernetes/management/apis/management.platform/v1/config/config"]) {
      for (const method of ["GET", "POST"]) {
        const answer = await fetch(`${url}${path}`, { method, redirect: "manual" });
        const text = `${await answer.text()}${JSON.stringify([...answer.headers])}`;
        expect(text.includes("hidden-folder") || text.includes("ENOENT"), `${method} ${path}: ${text}`).toBe(false);
      }
    }
  } finally {
    await platform.stop();
  }
});
