/**
 * The management API under the most used client library for JavaScript, over TLS and below its base path.
 */
import {
  AuthorizationV1Api,
  CustomObjectsApi,
  KubeConfig,
  KubernetesObjectApi,
  makeInformer,
  PatchStrategy,
  setHeaderOptions,
  Watch,
  type KubernetesListObject,
  type KubernetesObject,
} from "@kubernetes/client-node";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startManagement, type Management } from "../../../src/management/api/management.ts";
import { eventually } from "../../conformance/sandbox-namespace.ts";

const GROUP = { group: "management.platform", version: "v1" };
const API_VERSION = "management.platform/v1";
const TEAMS = { ...GROUP, plural: "teams" };
const KEYS = { ...GROUP, plural: "ownedaccesskeys" };
const namespace = "client-node";
const SECRETS = { ...GROUP, plural: "sharedsecrets", namespace };

interface Custom extends KubernetesObject {
  spec?: Record<string, unknown>;
  status?: Record<string, unknown>;
}

let management: Management;
let config: KubeConfig;
let custom: CustomObjectsApi;
let objects: KubernetesObjectApi;

function configWith(key: string): KubeConfig {
  const made = new KubeConfig();
  made.loadFromString(management.kubeconfig(key));
  return made;
}

beforeAll(async () => {
  management = await startManagement();
  config = configWith(management.adminKey!);
  custom = config.makeApiClient(CustomObjectsApi);
  objects = KubernetesObjectApi.makeApiClient(config);
});
afterAll(() => management.stop());

async function codeOf(call: Promise<unknown>): Promise<number> {
  try {
    await call;
    return 200;
  } catch (error) {
    return (error as { code: number }).code;
  }
}
const answered = async <T>(call: Promise<unknown>) => (await call) as T;

describe("CustomObjectsApi", () => {
  test("creates, reads, lists, replaces, patches and deletes Teams", async () => {
    const name = "typed";
    const body = { apiVersion: API_VERSION, kind: "Team", metadata: { name, labels: { app: "typed" } }, spec: { users: ["jane"] } };
    const created = await answered<Custom>(custom.createClusterCustomObject({ ...TEAMS, body }));
    expect(created).toMatchObject(body);
    const replaced = await answered<Custom>(
      custom.replaceClusterCustomObject({ ...TEAMS, name, body: { ...created, spec: { groups: ["a"] } } }),
    );
    expect(replaced.spec).toEqual({ groups: ["a"] });
    expect(await codeOf(custom.replaceClusterCustomObject({ ...TEAMS, name, body: created }))).toBe(409);
    const patch = [{ op: "add", path: "/metadata/annotations/my-annotation", value: "my-value" }];
    const annotated = await answered<Custom>(custom.patchClusterCustomObject({ ...TEAMS, name, body: patch }));
    expect(annotated.metadata!.annotations).toEqual({ "my-annotation": "my-value" });
    const merged = await answered<Custom>(
      custom.patchClusterCustomObject(
        { ...TEAMS, name, body: { spec: { displayName: "T" } } },
        setHeaderOptions("Content-Type", PatchStrategy.MergePatch),
      ),
    );
    expect(merged.spec).toEqual({ groups: ["a"], displayName: "T" });
    const found = await answered<{ items: Custom[] }>(custom.listClusterCustomObject({ ...TEAMS, labelSelector: "app=typed" }));
    expect(found.items.map(({ metadata }) => metadata!.name)).toEqual([name]);
    await custom.deleteClusterCustomObject({ ...TEAMS, name });
    expect(await codeOf(custom.getClusterCustomObject({ ...TEAMS, name }))).toBe(404);
  });

  test("creates SharedSecrets in a namespace, and finds them in all", async () => {
    const spec = { data: { password: "cGFzc3dvcmQ=" } };
    await custom.createNamespacedCustomObject({ ...SECRETS, body: { metadata: { name: "db" }, spec } });
    expect(await custom.getNamespacedCustomObject({ ...SECRETS, name: "db" })).toMatchObject({ kind: "SharedSecret", spec });
    const { items } = await answered<{ items: Custom[] }>(
      custom.listCustomObjectForAllNamespaces({ ...GROUP, resourcePlural: "sharedsecrets" }),
    );
    expect(items.map(({ metadata }) => `${metadata!.namespace}/${metadata!.name}`)).toEqual(["client-node/db"]);
  });

  test("makes a key whose user sees only their own", async () => {
    const spec = { user: "jane", type: "User" };
    const made = await answered<Custom>(custom.createClusterCustomObject({ ...KEYS, body: { metadata: { name: "jane" }, spec } }));
    const jane = configWith(String(made.spec!["key"])).makeApiClient(CustomObjectsApi);
    const { items } = await answered<{ items: Custom[] }>(jane.listClusterCustomObject(KEYS));
    expect(items.map(({ metadata, spec: seen }) => [metadata!.name, seen])).toEqual([["jane", spec]]);
    expect(await codeOf(jane.getNamespacedCustomObject({ ...SECRETS, name: "db" }))).toBe(403);
    await custom.deleteClusterCustomObject({ ...KEYS, name: "jane" });
    expect(await codeOf(jane.listClusterCustomObject(KEYS))).toBe(401);
  });

  test("gets tokens, and reads the configuration", async () => {
    const made = await answered<Custom>(
      custom.createClusterCustomObject({ ...GROUP, plural: "directclusterendpointtokens", body: { spec: { ttl: 60 } } }),
    );
    expect(String(made.status!["token"]).split(".")).toHaveLength(3);
    const read = await custom.getClusterCustomObject({ ...GROUP, plural: "config", name: "config" });
    expect(read).toMatchObject({ kind: "Config", status: { auth: { password: {} } } });
  });

  test("asks what it may do", async () => {
    const review = config.makeApiClient(AuthorizationV1Api);
    const spec = { resourceAttributes: { group: GROUP.group, resource: "teams", verb: "create" } };
    expect((await review.createSelfSubjectAccessReview({ body: { spec } })).status?.allowed).toBe(true);
  });
});

describe("KubernetesObjectApi", () => {
  const team: Custom = { apiVersion: API_VERSION, kind: "Team", metadata: { name: "generic", namespace: "" }, spec: { users: ["jane"] } };

  test("finds the kind, and creates, reads, patches, replaces and deletes", async () => {
    const created = await objects.create(team);
    expect(created.metadata?.uid).toBeTruthy();
    const read = await objects.read<Custom>({ ...team, metadata: { name: "generic", namespace: "" } });
    expect(read.spec).toEqual({ users: ["jane"] });
    const patched = await objects.patch<Custom>({ ...team, spec: { displayName: "G" } });
    expect(patched.spec).toEqual({ users: ["jane"], displayName: "G" });
    const replaced = await objects.replace<Custom>({ ...patched, spec: { groups: ["a"] } });
    expect(replaced.spec).toEqual({ groups: ["a"] });
    expect((await objects.list<Custom>(API_VERSION, "Team")).items.map(({ metadata }) => metadata!.name)).toEqual(["generic"]);
    await objects.delete(team);
    expect(await codeOf(objects.read({ ...team, metadata: { name: "generic", namespace: "" } }))).toBe(404);
  });

  test("applies on the server side, and meets a conflict", async () => {
    const apply = (manager: string, displayName: string, force = false) =>
      objects.patch<Custom>({ ...team, spec: { displayName } }, undefined, undefined, manager, force, PatchStrategy.ServerSideApply);
    await apply("one", "1");
    expect(await codeOf(apply("two", "2"))).toBe(409);
    expect((await apply("two", "2", true)).spec).toMatchObject({ displayName: "2" });
    await objects.delete(team);
  });
});

describe("following", () => {
  test("Watch reports existing objects, changes and deletions", async () => {
    const events: string[] = [];
    const watch = await new Watch(config).watch(
      `/apis/${API_VERSION}/namespaces/watched/sharedsecrets`,
      {},
      (type: string, object: Custom) => void events.push(`${type} ${object.metadata!.name} ${String(object.spec!["displayName"])}`),
      () => {},
    );
    const at = { ...SECRETS, namespace: "watched" };
    await custom.createNamespacedCustomObject({ ...at, body: { metadata: { name: "one" }, spec: { displayName: "a" } } });
    await custom.patchNamespacedCustomObject({ ...at, name: "one", body: [{ op: "replace", path: "/spec/displayName", value: "b" }] });
    await custom.deleteNamespacedCustomObject({ ...at, name: "one" });
    await eventually("three events", async () => events.length >= 3 || undefined);
    watch.abort();
    expect(events).toEqual(["ADDED one a", "MODIFIED one b", "DELETED one b"]);
  });

  test("an informer holds the existing objects", async () => {
    const list = () => answered<KubernetesListObject<Custom>>(custom.listClusterCustomObject(TEAMS));
    const informer = makeInformer<Custom>(config, `/apis/${API_VERSION}/teams`, list);
    const seen: string[] = [];
    for (const event of ["add", "update", "delete"] as const)
      informer.on(event, ({ metadata }) => void seen.push(`${event} ${metadata!.name}`));
    await custom.createClusterCustomObject({ ...TEAMS, body: { metadata: { name: "before" } } });
    await informer.start();
    await custom.createClusterCustomObject({ ...TEAMS, body: { metadata: { name: "later" } } });
    await custom.patchClusterCustomObject({ ...TEAMS, name: "later", body: [{ op: "add", path: "/spec/displayName", value: "x" }] });
    await custom.deleteClusterCustomObject({ ...TEAMS, name: "before" });
    await eventually("all events", async () => seen.includes("delete before") || undefined);
    expect(informer.get("later")?.spec).toEqual({ displayName: "x" });
    expect(informer.list().map(({ metadata }) => metadata!.name)).toEqual(["later"]);
    await informer.stop();
    await custom.deleteClusterCustomObject({ ...TEAMS, name: "later" });
    expect(seen).toEqual(["add before", "add later", "update later", "delete before"]);
  });
});
