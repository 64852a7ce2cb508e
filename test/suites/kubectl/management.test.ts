/**
 * Everyday use of the management API by the kubectl programs of this machine; see `session.test.ts`. Over TLS, below
 * its base path, on every kind; and what its tokens do in a cluster.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runCli } from "../../../src/cli/program.ts";
import { startManagement, type Management } from "../../../src/management/api/management.ts";
import type { ResourceType } from "../../../src/kube/object/resource.ts";
import { OWNED_ACCESS_KEYS, SHARED_SECRETS, TEAMS, USERS } from "../../../src/management/kinds/types.ts";
import { formatKubeconfig } from "../../../src/apiserver/access/kubeconfig.ts";
import { createTestTerminal } from "../../cli/support.ts";
import { until } from "../../support/fake-clock.ts";
import { findKubectls } from "./find-kubectl.ts";
import { createKubectl, type Kubectl } from "./kubectl.ts";

const found = findKubectls(process.env);
const used = process.env["KUBECTL"] === "all" ? found : found.slice(-1);

const object = (kind: string, name: string, spec: object, namespace?: string) => ({
  apiVersion: "management.platform/v1",
  kind,
  metadata: { name, ...(namespace !== undefined && { namespace }) },
  spec,
});
const team = (name: string, spec: object = {}) => object("Team", name, spec);
const secret = (name: string, spec: object = {}) => object("SharedSecret", name, spec, "shop");
const rows = (text: string) => text.trim().split("\n").map((line) => line.trim().split(/ {2,}/)); // prettier-ignore

/** Storable objects, each with a field that changes. */
const STORED: readonly { type: ResourceType; resource: string; more: readonly string[] }[] = [
  { type: SHARED_SECRETS, resource: "sharedsecret", more: ["-n", "shop"] },
  { type: TEAMS, resource: "team", more: [] },
  { type: OWNED_ACCESS_KEYS, resource: "ownedaccesskey", more: [] },
  { type: USERS, resource: "users.management.platform", more: [] },
];

describe.each(used)("kubectl 1.$minor", ({ path }) => {
  let management: Management;
  let kubectl: Kubectl;
  const opened: Kubectl[] = [];
  const as = (kubeconfig: string) => {
    const made = createKubectl(path, kubeconfig);
    opened.push(made);
    return made;
  };
  const specOf = async (type: ResourceType, name: string) =>
    (await management.registry.get(type, { namespace: type.namespaced ? "shop" : "", name }))["spec"];

  beforeAll(async () => {
    management = await startManagement();
    kubectl = as(management.kubeconfig(management.adminKey!));
  });
  afterAll(async () => {
    for (const each of opened) each.close();
    await management?.stop();
  });

  test("finds out what is served", async () => {
    const lines = rows(await kubectl.ok("api-resources --api-group=management.platform"));
    expect(lines.slice(1)).toEqual([
      ["config", "management.platform/v1", "false", "Config"],
      ["directclusterendpointtokens", "management.platform/v1", "false", "DirectClusterEndpointToken"],
      ["ownedaccesskeys", "oak", "management.platform/v1", "false", "OwnedAccessKey"],
      ["sharedsecrets", "ss", "management.platform/v1", "true", "SharedSecret"],
      ["teams", "tm", "management.platform/v1", "false", "Team"],
      ["users", "usr", "management.platform/v1", "false", "User"],
    ]);
    expect(await kubectl.ok("version")).toMatch(/Server Version: v1\.\d+/);
    expect(await kubectl.ok("api-versions")).toContain("management.platform/v1\n");
  });

  test.each(["sharedsecret", "team", "ownedaccesskey", "directclusterendpointtoken", "config"])("explains %s", async (resource) => {
    const text = await kubectl.ok(`explain ${resource} --recursive`);
    expect(text).toMatch(/GROUP: +management\.platform\n/);
    expect(text).toMatch(/\n {2}(spec|status)\t<\w+>/);
  });

  test("asks who it is and what it may do", async () => {
    expect(rows(await kubectl.ok("auth whoami"))).toContainEqual(["Username", "admin"]);
    expect(await kubectl.ok("auth can-i create teams")).toBe("yes\n");
    expect(rows(await kubectl.ok("auth can-i --list"))).toContainEqual(["*.*", "[]", "[]", "[*]"]);
  });

  describe.each(STORED)("$resource", ({ type, resource, more }) => {
    const words = (text: string) => [...text.replaceAll("KIND", resource).split(" "), ...more];
    const body = (name: string, displayName: string) => object(type.kind, name, { displayName }, type.namespaced ? "shop" : undefined);
    const shownName = async (name: string) => ((await specOf(type, name)) as { displayName?: string }).displayName;
    const said = `${type.kind.toLowerCase()}.management.platform`;

    test("is created, and not twice", async () => {
      expect(await kubectl.ok("create -f -", body("made", "a"))).toBe(`${said}/made created\n`);
      expect((await kubectl.run("create -f -", body("made", "a"))).err).toContain('"made" already exists');
      expect((await kubectl.run("create -f -", { ...body("bogus", "a"), spec: { bogus: 1 } })).err).toContain('unknown field "spec.bogus"');
    });

    test("is shown in every form", async () => {
      const get = (output: string) => kubectl.ok([...words("get KIND made"), "-o", output]);
      const [head, row] = rows(await kubectl.ok(words("get KIND made -o wide")));
      expect([head![0], head!.at(-1), row![0]]).toEqual(["NAME", "AGE", "made"]);
      expect(JSON.parse(await get("json"))).toMatchObject({ kind: type.kind, metadata: { name: "made" }, spec: { displayName: "a" } });
      expect(await get("yaml")).toMatch(new RegExp(`^apiVersion: management.platform/v1\\nkind: ${type.kind}\\n[^]*displayName: a\\n`));
      expect(await get("name")).toBe(`${said}/made\n`);
      expect(await get("jsonpath={.spec.displayName}")).toBe("a");
      expect(await get("go-template={{.spec.displayName}}")).toBe("a");
      expect(rows(await get("custom-columns=A:.spec.displayName"))).toEqual([["A"], ["a"]]);
      expect(await kubectl.ok(words("describe KIND made"))).toMatch(/Display Name: +a\n/);
      expect(rows(await kubectl.ok(`get ${resource} -A --show-labels`)).at(-1)).toContain("<none>");
    });

    test("is applied, compared, and applied again", async () => {
      expect(await kubectl.ok("apply -f -", body("applied", "a"))).toBe(`${said}/applied created\n`);
      const { code, out } = await kubectl.run("diff -f -", body("applied", "b"));
      expect([code, out]).toEqual([1, expect.stringMatching(/^-\s+displayName: a\n\+\s+displayName: b\n/m)]);
      expect(await kubectl.ok("apply -f -", body("applied", "b"))).toBe(`${said}/applied configured\n`);
      expect(await kubectl.ok("apply -f -", body("applied", "b"))).toBe(`${said}/applied unchanged\n`);
      expect((await kubectl.run("diff -f -", body("applied", "b"))).code).toBe(0);
      expect(await kubectl.ok("apply --dry-run=server -f -", body("dry", "a"))).toContain("created (server dry run)");
      expect((await kubectl.run(words("get KIND dry"))).err).toContain("NotFound");
    });

    test("is applied on the server, with a conflict", async () => {
      const apply = (manager: string, name: string, force = "") =>
        kubectl.run(`apply --server-side --field-manager=${manager}${force} -f -`, body("shared", name));
      expect((await apply("one", "1")).out).toBe(`${said}/shared serverside-applied\n`);
      const refused = await apply("two", "2");
      expect([refused.code, refused.err]).toEqual([1, expect.stringContaining('conflict with "one": .spec.displayName')]);
      expect((await apply("two", "2", " --force-conflicts")).code).toBe(0);
      expect(await shownName("shared")).toBe("2");
    });

    test("is patched in every way", async () => {
      const patch = (how: string, change: unknown) => kubectl.ok([...words(`patch KIND made --type=${how}`), "-p", JSON.stringify(change)]);
      await patch("json", [{ op: "replace", path: "/spec/displayName", value: "json" }]);
      expect(await shownName("made")).toBe("json");
      await patch("json", [{ op: "add", path: "/metadata/annotations/my-annotation", value: "x" }]);
      await patch("merge", { spec: { displayName: "merge" } });
      expect(await shownName("made")).toBe("merge");
      await patch("strategic", { spec: { displayName: "strategic" } });
      expect(await shownName("made")).toBe("strategic");
      expect(await kubectl.ok([...words("get KIND made"), "-o", "jsonpath={.metadata.annotations.my-annotation}"])).toBe("x");
    });

    test("is labelled, annotated, edited and replaced", async () => {
      await kubectl.ok(words("label KIND made tier=front"));
      await kubectl.ok(words("annotate KIND made note=hello"));
      expect(await kubectl.ok(words("get KIND -l tier=front -o name"))).toBe(`${said}/made\n`);
      const { out } = await kubectl.edit(words("KIND made").join(" "), "displayName: strategic", "displayName: edited");
      expect([out, await shownName("made")]).toEqual([`${said}/made edited\n`, "edited"]);
      expect(await kubectl.ok("replace -f -", body("made", "replaced"))).toBe(`${said}/made replaced\n`);
      expect(await shownName("made")).toBe("replaced");
    });

    test("is waited for and watched", async () => {
      const waiting = kubectl.run(words("wait --for=jsonpath={.spec.displayName}=done KIND/made --timeout=90s"));
      const watching = kubectl.until(
        /done/,
        words("get KIND --field-selector=metadata.name=made -o jsonpath={.spec.displayName} -w").join(" "),
      );
      await kubectl.ok([...words("patch KIND made --type=merge"), "-p", '{"spec":{"displayName":"done"}}']);
      expect((await waiting).out).toBe(`${said}/made condition met\n`);
      expect((await watching).out).toContain("done");
    });

    test("is deleted", async () => {
      expect(await kubectl.ok(words("delete KIND made"))).toMatch(
        new RegExp(`^${type.kind.toLowerCase()}\\.management\\.platform "made" deleted`),
      );
      expect((await kubectl.run(words("delete KIND made"))).err).toContain('"made" not found');
      await kubectl.ok("delete -f -", body("applied", "b"));
      await kubectl.ok(words("delete KIND shared --wait=true"));
    });
  });

  test("issues keys and tokens, and shows them once", async () => {
    const key = await kubectl.ok("create -o jsonpath={.spec.key} -f -", object("OwnedAccessKey", "once", { user: "jane" }));
    expect(key).toMatch(/^[a-z0-9]{64}$/);
    expect(await kubectl.ok("get ownedaccesskey once -o yaml")).not.toContain(key);
    const token = await kubectl.ok("create -o jsonpath={.status.token} -f -", {
      ...object("DirectClusterEndpointToken", "", { ttl: 600 }),
      metadata: {},
    });
    expect(token.split(".")).toHaveLength(3);
    expect((await kubectl.run("get directclusterendpointtokens")).err).toMatch(/MethodNotAllowed|not supported|not allowed/);
    await kubectl.ok("delete ownedaccesskey once");
  });

  test("shows the configuration, and cannot change it", async () => {
    expect(rows(await kubectl.ok("get config"))[1]![0]).toBe("config");
    expect(await kubectl.ok("get config.management.platform config -o jsonpath={.kind}")).toBe("Config");
    expect((await kubectl.run("label config config a=b")).err).toMatch(/MethodNotAllowed|not supported|not allowed/);
    expect((await kubectl.run("delete config config")).err).toMatch(/MethodNotAllowed|not supported|not allowed/);
  });

  describe("a user with few permissions", () => {
    let jane: Kubectl;
    beforeAll(async () => {
      const key = await kubectl.ok("create -o jsonpath={.spec.key} -f -", object("OwnedAccessKey", "jane", { user: "jane" }));
      jane = as(management.kubeconfig(key));
      const access = [{ name: "readers", verbs: ["get", "list"], users: ["jane"] }];
      await kubectl.ok("create -f -", secret("db", { data: { password: "cGFzc3dvcmQ=" }, access }));
      await kubectl.ok("create -f -", secret("hidden", { data: { password: "aGlkZGVu" } }));
      await management.settled();
    });

    test("is told what may be done", async () => {
      expect(await jane.ok("auth can-i get sharedsecret/db -n shop")).toBe("yes\n");
      expect((await jane.run("auth can-i get sharedsecret/hidden -n shop")).out).toBe("no\n");
      expect((await jane.run("auth can-i create teams")).out).toBe("no\n");
      expect(await jane.ok("auth can-i create ownedaccesskeys")).toBe("yes\n");
      expect(rows(await jane.ok("auth whoami"))).toContainEqual(["Username", "jane"]);
    });

    test("sees what is shared, by name, in lists and in watches, and the roles that follow from it", async () => {
      expect(await jane.ok("get sharedsecret db -n shop -o jsonpath={.spec.data.password}")).toBe("cGFzc3dvcmQ=");
      expect(
        rows(await jane.ok("get sharedsecrets -A"))
          .slice(1)
          .map(([, name]) => name),
      ).toEqual(["db"]);
      expect((await jane.run("get sharedsecret hidden -n shop")).err).toContain('User "jane" cannot get resource "sharedsecrets"');
      expect((await jane.until(/db/, "get sharedsecrets -A -w")).out).not.toContain("hidden");
      expect(await jane.ok("get roles,rolebindings -n shop -o name")).toMatch(
        /^role\.rbac\.authorization\.k8s\.io\/sharedsecret:db:0\nrolebinding\.rbac\.authorization\.k8s\.io\/sharedsecret:db:0\n$/,
      );
      expect((await kubectl.run("delete role sharedsecret:db:0 -n shop")).err).toMatch(/MethodNotAllowed|not supported|not allowed/);
      expect((await jane.run("delete sharedsecret db -n shop")).err).toContain("Forbidden");
    });

    test("applies their own keys, waits for them, and deletes them", async () => {
      const key = object("OwnedAccessKey", "own", { displayName: "a" });
      expect(await jane.ok("apply -f -", key)).toBe("ownedaccesskey.management.platform/own created\n");
      expect(
        await jane.ok("apply --server-side --field-manager=x -f -", object("OwnedAccessKey", "applied-own", { description: "b" })),
      ).toBe("ownedaccesskey.management.platform/applied-own serverside-applied\n");
      expect(await jane.ok("wait --for=jsonpath={.spec.displayName}=a ownedaccesskey/own --timeout=90s")).toContain("condition met");
      expect(await jane.ok("delete ownedaccesskey own applied-own")).toContain('"own" deleted');
      expect((await jane.run("get ownedaccesskey own")).err).toContain("NotFound");
    });
  });

  test("uses a cluster with a token of the platform", async () => {
    const folder = mkdtempSync(join(tmpdir(), "platform-token-"));
    const keys = join(folder, "jwks.json");
    writeFileSync(keys, await kubectl.ok("get --raw /.well-known/jwks.json"));
    const file = join(folder, "c1.kubeconfig");
    const terminal = createTestTerminal();
    const flags = ["--platform-issuer", management.url, "--platform-keys", keys, "--platform-target", "cluster=c1"];
    const ended = runCli(["cluster", "--name", "c1", "--kubeconfig", file, ...flags], terminal);
    try {
      await until("the cluster serves", () => terminal.stdout.includes("get namespaces\n"));
      await kubectl.ok("create -f -", team("viewers", { users: ["ann"], clusterRoles: [{ name: "view" }] }));
      const key = await kubectl.ok("create -o jsonpath={.spec.key} -f -", object("OwnedAccessKey", "ann", { user: "ann" }));
      const ann = as(management.kubeconfig(key));
      const token = await ann.ok("create -o jsonpath={.status.token} -f -", {
        apiVersion: "management.platform/v1",
        kind: "DirectClusterEndpointToken",
        metadata: {},
        spec: { scope: { clusters: [{ cluster: "c1" }] } },
      });
      const admin = readFileSync(file, "utf8");
      const url = /server: "?([^"\n]+)/.exec(admin)![1]!;
      const caPem = Buffer.from(/certificate-authority-data: "?([^"\n]+)/.exec(admin)![1]!, "base64").toString();
      const inCluster = as(formatKubeconfig({ name: "c1", url, caPem, token }));
      expect(rows(await inCluster.ok("get namespaces")).map(([name]) => name)).toContain("default");
      expect(rows(await inCluster.ok("auth whoami"))).toContainEqual(["Username", "ann"]);
      expect((await inCluster.run("create namespace other")).err).toContain('User "ann" cannot create resource "namespaces"');
      await kubectl.ok("delete team viewers");
      await kubectl.ok("delete ownedaccesskey ann");
    } finally {
      terminal.interrupt();
      await ended;
      rmSync(folder, { recursive: true });
    }
  });
});
