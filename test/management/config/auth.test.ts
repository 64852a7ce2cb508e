/**
 * The section `auth` of the platform's configuration, with its providers. Source: specification 2, "status.auth".
 */
import { describe, expect, test } from "vitest";
import { parseManagementConfig } from "../../../src/management/config/config.ts";
import { config, errors, warnings } from "./parsed.ts";

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
    const provider = "saml: {redirectURI: https://x}, directoryProviderA: {serviceAccountFilePath: /a}, oidc: {clientId: [x]}";
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

  test("administrators of directoryProviderB are named by the id of a group", () => {
    const sections = "directoryProviderB: {}, directoryProviderA: {}, connectors: [{id: corp, directoryProviderB: {}}]";
    const at = (connector: string, group: string) =>
      errors(`auth: {${sections}, administrators: [{connector: ${connector}, group: ${group}}]}`);
    const id = "00000000-0000-4000-8000-0000006F7073";
    for (const connector of ["directoryProviderB", "corp"]) {
      expect(at(connector, "ops")).toEqual([expect.stringContaining("auth.administrators[0].group: Expected the id of a group")]);
      expect(at(connector, id)).toEqual([]);
    }
    expect(at("directoryProviderA", "ops@acme.example")).toEqual([]);
  });

  test("directoryProviderA needs adminEmail when serviceAccountFilePath is set", () => {
    expect(errors("auth: {directoryProviderA: {serviceAccountFilePath: /a.json}}")).toEqual([
      'CONFIG_REQUIRED auth.directoryProviderA.adminEmail: Missing "adminEmail", which serviceAccountFilePath requires',
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

  test("saml without ssoIssuer warns: one key may sign for many issuers, whose users have the same names", () => {
    const saml = "ca: x, ssoURL: https://id.example/sso";
    expect(warnings(`auth: {saml: {${saml}}}`)).toEqual([expect.stringContaining("Without ssoIssuer, any issuer")]);
    expect(warnings(`auth: {saml: {${saml}, ssoIssuer: https://id.example}}`)).toEqual([]);
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
