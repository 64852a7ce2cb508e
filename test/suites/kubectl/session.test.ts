/**
 * Everyday use of a cluster by the kubectl programs of this machine: by the newest one, or by all of them
 * with `KUBECTL=all`.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startCluster, type Cluster } from "../../../src/clusters.ts";
import { CONFIG_MAPS, ENDPOINTS, NAMESPACES, SECRETS, SERVICES, type ResourceType } from "../../../src/kube/object/resource.ts";
import { findKubectls, MINORS_PROMISED } from "./find-kubectl.ts";
import { AGE, createKubectl, type Kubectl, type Said } from "./kubectl.ts";

const found = findKubectls(process.env);
const all = process.env["KUBECTL"] === "all";
const used = all ? found : found.slice(-1);
const missing = MINORS_PROMISED.filter((promised) => !found.some(({ minor }) => minor === promised));

// These never run: they only say in the report what was not tried.
test.runIf(false).each(found.length === 0 ? [29] : [])("no kubectl from 1.%s on is on this machine: nothing was tried", () => {});
test.runIf(false).each(all ? missing : [])("kubectl 1.%s is not on this machine", () => {});

const configMap = (name: string, data: object, more: object = {}) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, namespace: "shop" },
  data,
  ...more,
});
const service = (port: number) => ({
  apiVersion: "v1",
  kind: "Service",
  metadata: { name: "db", namespace: "shop" },
  spec: {
    ports: [
      { name: "sql", port: 5432 },
      { name: "web", port },
    ],
  },
});
const endpoints = {
  apiVersion: "v1",
  kind: "Endpoints",
  metadata: { name: "db", namespace: "shop" },
  subsets: [{ addresses: [{ ip: "10.1.0.1" }, { ip: "10.1.0.2" }], ports: [{ name: "sql", port: 5432 }] }],
};

/** The lines of a table, blanks between columns made one. */
const rows = (text: string) => text.trim().split("\n").map((line) => line.trim().split(/ {2,}/)); // prettier-ignore

describe.each(used)("kubectl 1.$minor", ({ path }) => {
  let cluster: Cluster;
  let kubectl: Kubectl;
  const stored = (type: ResourceType, name: string, namespace = "shop") => cluster.client.get(type, { namespace, name });
  const data = async (name: string) => (await stored(CONFIG_MAPS, name))?.["data"];

  beforeAll(async () => {
    cluster = await startCluster({ name: "demo" });
    kubectl = createKubectl(path, cluster.kubeconfig);
    await cluster.client.create(NAMESPACES, { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
  });
  afterAll(async () => {
    kubectl?.close();
    await cluster?.stop();
  });

  test("finds out what is served", async () => {
    const lines = rows(await kubectl.ok("api-resources"));
    expect(lines).toContainEqual(["endpoints", "ep", "v1", "true", "Endpoints"]);
    expect(lines).toContainEqual(["endpointslices", "discovery.k8s.io/v1", "true", "EndpointSlice"]);
    expect(await kubectl.ok("version")).toMatch(/Server Version: v1\.\d+/);
    expect(await kubectl.ok("api-versions")).toContain("coordination.k8s.io/v1\n");
  });

  test("explains kinds and their fields", async () => {
    const text = await kubectl.ok("explain endpoints.subsets.addresses");
    expect(text).toContain("FIELD: addresses <[]EndpointAddress>");
    expect(text).toMatch(/ip\t<string>[^\n]*\n +The IPv4 or IPv6 address\./);
    expect(text).toContain("targetRef\t<ObjectReference>");
    expect(await kubectl.ok("explain leases.metadata.managedFields.fieldsV1")).toMatch(
      /FIELD: fieldsV1 [^]*DESCRIPTION:\n +The fields, as a tree/,
    );
    expect(await kubectl.ok("explain leases.spec.preferredHolder")).toMatch(/FIELD: preferredHolder <string>[^]*Candidate that/);
    expect(await kubectl.ok("explain services.spec --recursive")).toMatch(/ports\t<\[\]ServicePort>[^\n]*\n +appProtocol\t<string>/);
  });

  test("asks who it is and what it may do", async () => {
    expect(await kubectl.ok("auth can-i create services -n shop")).toBe("yes\n");
    expect(rows(await kubectl.ok("auth can-i --list"))).toContainEqual(["*.*", "[]", "[]", "[*]"]);
    expect(rows(await kubectl.ok("auth whoami"))).toContainEqual(["Username", "kubernetes-admin"]);
  });

  test("creates objects with its own commands and from files", async () => {
    expect(await kubectl.ok("create namespace other")).toBe("namespace/other created\n");
    await kubectl.ok("create configmap made -n other --from-literal=a=1");
    await kubectl.ok("create secret generic made -n other --from-literal=a=1");
    await kubectl.ok("create service clusterip made -n other --tcp=80:8080");
    expect(await stored(CONFIG_MAPS, "made", "other")).toMatchObject({ data: { a: "1" } });
    expect(await stored(SECRETS, "made", "other")).toMatchObject({ type: "Opaque", data: { a: "MQ==" } });
    const made = { selector: { app: "made" }, ports: [{ name: "80-8080", port: 80, targetPort: 8080 }] };
    expect(await stored(SERVICES, "made", "other")).toMatchObject({ spec: made });
    expect(await kubectl.ok("create -f -", configMap("plain", { a: "1" }))).toBe("configmap/plain created\n");
    const again = await kubectl.run("create -f -", configMap("plain", {}));
    expect([again.code, again.err]).toEqual([1, expect.stringContaining('configmaps "plain" already exists')]);
  });

  test("is told of fields that the kind does not have", async () => {
    const { code, err } = await kubectl.run("create -f -", configMap("bogus", {}, { bogus: 1 }));
    expect([code, err]).toEqual([1, expect.stringContaining('unknown field "bogus"')]);
    expect(await stored(CONFIG_MAPS, "bogus")).toBeUndefined();
  });

  test("creates, applies and replaces what is in a List, and is told of fields there too", async () => {
    const listOf = (...items: object[]) => ({ apiVersion: "v1", kind: "List", items });
    const first = configMap("first", { a: "1" });
    expect(await kubectl.ok("create -f -", listOf(first))).toBe("configmap/first created\n");
    expect(await kubectl.ok("apply -f -", listOf(first, configMap("second", {})))).toContain("configmap/second created\n");
    expect(await kubectl.ok("replace -f -", listOf(configMap("first", { a: "2" })))).toBe("configmap/first replaced\n");
    expect(await data("first")).toEqual({ a: "2" });
    const { code, err } = await kubectl.run("create -f -", listOf(configMap("bogus", {}, { bogus: 1 })));
    expect([code, err]).toEqual([1, expect.stringContaining('unknown field "bogus"')]);
    expect(await kubectl.ok("delete -f -", listOf(first, configMap("second", {})))).toContain('"second" deleted');
  });

  test("applies, shows the difference, and applies again", async () => {
    expect(await kubectl.ok("apply -f -", service(80))).toBe("service/db created\n");
    const { code, out } = await kubectl.run("diff -f -", service(90));
    expect([code, out]).toEqual([1, expect.stringMatching(/^-\s+port: 80\n/m)]);
    expect(out).toMatch(/^\+\s+port: 90\n/m);
    expect(await kubectl.ok("apply -f -", service(90))).toBe("service/db configured\n");
    const ports = [
      { name: "sql", port: 5432 },
      { name: "web", port: 90 },
    ];
    expect(await stored(SERVICES, "db")).toMatchObject({ spec: { ports } });
    expect(await kubectl.ok("apply -f -", service(90))).toBe("service/db unchanged\n");
    expect((await kubectl.run("diff -f -", service(90))).code).toBe(0);
    expect(await kubectl.ok("apply --dry-run=server -f -", configMap("dry", {}))).toContain("created (server dry run)");
    expect(await stored(CONFIG_MAPS, "dry")).toBeUndefined();
  });

  test("takes away what an applied file has no more", async () => {
    await kubectl.ok("apply -f -", configMap("shrinking", { a: "1", b: "1" }));
    await kubectl.ok("apply -f -", configMap("shrinking", { a: "2" }));
    expect(await data("shrinking")).toEqual({ a: "2" });
  });

  test("applies on the server, meets a conflict, and forces it", async () => {
    const apply = (manager: string, value: string, more = "") =>
      kubectl.run(`apply --server-side --field-manager=${manager}${more} -f -`, configMap("shared", { a: value }));
    expect((await apply("one", "1")).out).toBe("configmap/shared serverside-applied\n");
    const refused = await apply("two", "2");
    expect([refused.code, refused.err]).toEqual([1, expect.stringContaining('Apply failed with 1 conflict: conflict with "one": .data.a')]);
    expect((await apply("two", "2", " --force-conflicts")).code).toBe(0);
    expect(await data("shared")).toEqual({ a: "2" });
    expect(await kubectl.ok("get cm shared -n shop -o yaml --show-managed-fields")).toMatch(/manager: two\n {4}operation: Apply/);
    expect((await kubectl.run("apply --server-side -f -", service(90))).err).not.toMatch(/conflict/);
  });

  test("shows tables, narrow and wide", async () => {
    await kubectl.ok("apply -f -", endpoints);
    const [head, row] = rows(await kubectl.ok("get svc db -n shop -o wide"));
    expect(head).toEqual(["NAME", "TYPE", "CLUSTER-IP", "EXTERNAL-IP", "PORT(S)", "AGE", "SELECTOR"]);
    expect(row).toEqual(["db", "ClusterIP", expect.stringMatching(/^10\.96\./), "<none>", "5432/TCP,90/TCP", expect.stringMatching(AGE), "<none>"]); // prettier-ignore
    expect(rows(await kubectl.ok("get ep db -n shop"))[1]).toEqual(["db", "10.1.0.1:5432,10.1.0.2:5432", expect.stringMatching(AGE)]);
    const everywhere = rows(await kubectl.ok("get svc -A --sort-by=.metadata.name --show-labels"));
    expect(everywhere.map(([namespace, name]) => `${namespace}/${name}`)).toEqual(["NAMESPACE/NAME", "shop/db", "default/kubernetes", "other/made"]); // prettier-ignore
    expect(await kubectl.ok("get all -n shop")).toContain("service/db");
    expect((await kubectl.run("get pods -n shop")).err).toContain("No resources found in shop namespace.");
  });

  test("shows objects in every other form", async () => {
    const get = (output: string) => kubectl.ok(["get", "cm", "plain", "-n", "shop", "-o", output]);
    expect(JSON.parse(await get("json"))).toMatchObject({ kind: "ConfigMap", metadata: { name: "plain" }, data: { a: "1" } });
    expect(await get("yaml")).toContain('data:\n  a: "1"\nkind: ConfigMap\n');
    expect(await get("name")).toBe("configmap/plain\n");
    expect(await get("jsonpath={.data.a}")).toBe("1");
    expect(await get("go-template={{.data.a}}")).toBe("1");
    expect(rows(await get("custom-columns=A:.data.a,N:.metadata.name"))).toEqual([["A", "N"], ["1", "plain"]]); // prettier-ignore
    const list = JSON.parse(await kubectl.ok("get cm -n shop -o json")) as { items: { kind: string }[] };
    expect(new Set(list.items.map(({ kind }) => kind))).toEqual(new Set(["ConfigMap"]));
    expect(await kubectl.ok("describe svc db -n shop")).toMatch(/Port: +sql {2}5432\/TCP/);
  });

  test("patches in every way", async () => {
    const patch = (body: object, type = "") => kubectl.ok(["patch", "cm", "plain", "-n", "shop", ...(type ? [`--type=${type}`] : []), "-p", JSON.stringify(body)]); // prettier-ignore
    expect(await patch({ data: { b: "2" } })).toBe("configmap/plain patched\n");
    await patch({ data: { a: null } }, "merge");
    await patch([{ op: "add", path: "/data/c", value: "3" }], "json");
    expect(await data("plain")).toEqual({ b: "2", c: "3" });
    expect(await patch({ data: { b: "2" } })).toBe("configmap/plain patched (no change)\n");
    const ports = { spec: { ports: [{ port: 90, name: "renamed" }] } };
    await kubectl.ok(["patch", "svc", "db", "-n", "shop", "-p", JSON.stringify(ports)]);
    expect(await stored(SERVICES, "db")).toMatchObject({ spec: { ports: [{ port: 5432 }, { port: 90, name: "renamed" }] } });
  });

  test("labels, annotates, edits and replaces", async () => {
    await kubectl.ok("label cm plain -n shop tier=front");
    await kubectl.ok("annotate cm plain -n shop note=hello");
    expect((await stored(CONFIG_MAPS, "plain"))!.metadata).toMatchObject({ labels: { tier: "front" }, annotations: { note: "hello" } });
    expect(await kubectl.ok("get cm -n shop -l tier=front -o name")).toBe("configmap/plain\n");
    await kubectl.ok("label cm plain -n shop tier-");
    expect((await stored(CONFIG_MAPS, "plain"))!.metadata.labels).toBeUndefined();
    const edited = await kubectl.edit("cm plain -n shop", 'c: "3"', 'c: "edited"');
    expect([edited.out, await data("plain")]).toEqual(["configmap/plain edited\n", { b: "2", c: "edited" }]);
    await kubectl.ok("replace -f -", configMap("plain", { whole: "new" }));
    expect(await data("plain")).toEqual({ whole: "new" });
  });

  test("waits for a condition, and watches", async () => {
    const waiting = kubectl.run("wait --for=jsonpath={.data.whole}=done cm/plain -n shop --timeout=90s");
    // Of a single object kubectl passes over the first event of a watch, whatever it tells; of a list it does not.
    const watching = kubectl.until(/done/, "get cm --field-selector=metadata.name=plain -n shop -o jsonpath={.data.whole} -w");
    await kubectl.ok(["patch", "cm", "plain", "-n", "shop", "-p", '{"data":{"whole":"done"}}']);
    expect((await waiting).out).toBe("configmap/plain condition met\n");
    expect((await watching).out).toContain("done");
  });

  test("deletes one, by label, and all", async () => {
    expect(await kubectl.ok("delete cm plain -n shop")).toMatch(/^configmap "plain" deleted/);
    expect((await kubectl.run("delete cm plain -n shop")).err).toContain('configmaps "plain" not found');
    await kubectl.ok("delete cm --all -n shop");
    expect((await cluster.client.list(CONFIG_MAPS, { namespace: "shop" })).items).toEqual([]);
    await kubectl.ok("delete -f -", endpoints);
    expect(await stored(ENDPOINTS, "db")).toBeUndefined();
    expect(await kubectl.ok("delete namespace other --timeout=90s")).toMatch(/^namespace "other" deleted/);
    expect(await stored(SERVICES, "made", "other")).toBeUndefined();
  });

  test("says what is wrong as with any other cluster", async () => {
    const said = async (words: string, input?: unknown): Promise<Said["err"]> => (await kubectl.run(words, input)).err;
    expect(await said("get cm nobody -n shop")).toBe('Error from server (NotFound): configmaps "nobody" not found\n');
    expect(await said("get poems")).toContain(`the server doesn't have a resource type "poems"`);
    expect(await said("create -f -", configMap("UPPER", {}))).toMatch(
      /metadata\.name: Invalid value: "UPPER": a lowercase RFC 1123 subdomain/,
    );
    expect(await said("create -f -", { ...configMap("lost", {}), metadata: { name: "lost", namespace: "nowhere" } })).toContain('namespaces "nowhere" not found'); // prettier-ignore
  });
});
