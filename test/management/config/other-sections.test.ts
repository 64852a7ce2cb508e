/**
 * The sections of the platform's configuration other than `auth`. Source: specification 2.
 */
import { describe, expect, test } from "vitest";
import { config, errors, warnings, every } from "./parsed.ts";

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
    expect(errors("audit: {enabled: true}")).toEqual([
      'CONFIG_REQUIRED audit.path: Missing "path", which is required when enabled is true',
    ]);
    expect(errors("audit: {enabled: true, path: /audit.log}")).toEqual([]);
    expect(errors("audit: {enabled: false}")).toEqual([]);
  });

  test("audit level and policy exclude each other", () => {
    expect(errors("audit: {level: 1, policy: {}}")).toEqual(["CONFIG_VALUE audit.level: Found level together with policy"]);
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

  test("audit files are kept forever, rotate at 100 megabytes and are not compressed by default", () => {
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

  test("projectNamespacePrefix is p- when it is left out, and empty is not a prefix", () => {
    expect(config("").projectNamespacePrefix).toBe("p-");
    expect(config('projectNamespacePrefix: ""').projectNamespacePrefix).toBe("");
    expect(config("projectNamespacePrefix: team-").projectNamespacePrefix).toBe("team-");
  });

  test("deprecated sections are accepted with a warning", () => {
    const found = warnings("oidc: {enabled: true}\ndevWorkspaceSubDomain: '*.workspace.example.com'\n");
    expect(found.filter((line) => !line.includes("Shown only"))).toEqual([
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
    const idle = (text: string) => warnings(text).filter((line) => line.endsWith("Has no effect without block: true"));
    expect(idle("uiSettings: {externalURLs: {allow: [changelog]}}")).toHaveLength(1);
    expect(idle("uiSettings: {externalURLs: {allow: [changelog], block: true}}")).toEqual([]);
  });

  test("vault.address is that of the environment when it is left out", () => {
    const environment = { VAULT_ADDR: "https://vault.example.com" };
    expect(config("", environment).vault.address).toBe("https://vault.example.com");
    expect(config('vault: {address: ""}', environment).vault.address).toBe("https://vault.example.com");
    expect(config("vault: {address: https://own}", environment).vault.address).toBe("https://own");
    expect(config("").vault).not.toHaveProperty("address");
  });

  test("a vault from which nothing is copied for want of a token is reported", () => {
    const told = (text: string) => warnings(text).filter((line) => line.includes("Nothing is copied"));
    expect(told('vault: {enabled: true, auth: {token: "", tokenFile: ""}}')).toHaveLength(1);
    expect(told("vault: {enabled: true, auth: {token: a}}")).toEqual([]);
    expect(told("vault: {enabled: true, auth: {tokenFile: /a}}")).toEqual([]);
    expect(told("vault: {auth: {}}")).toEqual([]);
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
