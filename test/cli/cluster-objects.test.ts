/** `cluster --filename`: initial objects of a cluster. */
import { writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { CLUSTER_ROLES } from "../../src/cluster/rbac/resources.ts";
import { NAMESPACES, SERVICES } from "../../src/kube/object/resource.ts";
import { useServingCommands } from "./serving-commands.ts";
import { run } from "./support.ts";

const { newPath, serve, clientOf } = useServingCommands();

const SHOP = { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } };
const service = (metadata: Readonly<Record<string, unknown>>, port = 80) => ({
  apiVersion: "v1",
  kind: "Service",
  metadata,
  spec: { ports: [{ port }] },
});

/** A list, as kubectl prints it. */
const list = (...items: readonly object[]) => JSON.stringify({ apiVersion: "v1", kind: "List", items });

/** The arguments that name files with these texts. */
function filesOf(...texts: readonly string[]): string[] {
  return texts.flatMap((text) => {
    const path = newPath("objects");
    writeFileSync(path, text);
    return ["-f", path];
  });
}

async function begin(...argv: readonly string[]) {
  const path = newPath("kubeconfig");
  const { stop } = await serve(["cluster", "--name", "filled", "--kubeconfig", path, ...argv], { ready: /get namespaces\n/ });
  return { client: await clientOf({ path }), stop };
}

test("a cluster begins with the objects of its files, in their order; one without a namespace is in default", async () => {
  const files = filesOf(list(SHOP, service({ name: "web", namespace: "shop" })), list(service({ name: "api" })));
  const { client, stop } = await begin(...files);
  expect(await client.get(SERVICES, { namespace: "shop", name: "web" })).toMatchObject({ spec: { ports: [{ port: 80 }] } });
  expect(await client.get(SERVICES, { namespace: "default", name: "api" })).toBeDefined();
  expect(await stop()).toBe(0);
});

test("what a cluster has kept stays as it is", async () => {
  const data = ["--data", newPath("data")];
  const first = await begin(...filesOf(list(SHOP, service({ name: "web", namespace: "shop" }))), ...data);
  await first.stop();
  const files = filesOf(list(SHOP, service({ name: "web", namespace: "shop" }, 81), service({ name: "new", namespace: "shop" }, 82)));
  const { client, stop } = await begin(...files, ...data);
  const { items } = await client.list(SERVICES, { namespace: "shop" });
  expect(items.map(({ metadata, ...rest }) => [metadata.name, rest])).toMatchObject([
    ["new", { spec: { ports: [{ port: 82 }] } }],
    ["web", { spec: { ports: [{ port: 80 }] } }],
  ]);
  expect(await client.get(NAMESPACES, { name: "shop", namespace: "" })).toBeDefined();
  await stop();
});

test.each([
  [
    "a kind that it does not serve",
    { apiVersion: "example.com/v1", kind: "Widget", metadata: { name: "one" } },
    "Widget one",
    "the cluster serves no example.com/v1 Widget\n  Correct apiVersion and kind, or remove the document\n",
  ],
  [
    "an object whose namespace is missing",
    service({ name: "web", namespace: "nowhere" }),
    "Service nowhere/web",
    'namespaces "nowhere" not found\n  Add the Namespace "nowhere" before the object, in this file or in an earlier -f\n',
  ],
  [
    "an object that it refuses",
    service({ name: "Web", namespace: "shop" }),
    "Service shop/Web",
    "\n  Correct the document, or remove it\n",
  ],
])("%s ends the start, and is named with its place and a remedy", async (_what, object, name, why) => {
  const files = filesOf(`---\n${JSON.stringify(SHOP)}\n---\n${JSON.stringify(object)}\n`);
  const { code, stderr } = await run(["cluster", "--name", "filled", "--kubeconfig", newPath("kubeconfig"), ...files]);
  expect([code, stderr]).toEqual([2, expect.stringContaining(`error USAGE: Cannot create ${name} of "${files[1]}", document 2: `)]);
  expect(stderr).toContain(why);
});

test("a cluster runs the controllers that --controllers names", async () => {
  const { client, stop } = await begin("--controllers", "*, -clusterrole-aggregation-controller");
  // A cluster that runs it has rules before it serves.
  expect(await client.get(CLUSTER_ROLES, { namespace: "", name: "view" })).toMatchObject({ rules: [] });
  expect(await stop()).toBe(0);
});

test.each([
  { names: "*,-endpoint-controller", told: /No controller is called "endpoint-controller"\. Did you mean "endpoints-controller"\?/ },
  { names: "-endpoints-controller", told: /only excludes controllers starts none\. Put "\*" before it: \*,-endpoints-controller/ },
])("--controllers $names is refused", async ({ names, told }) => {
  const { code, stderr } = await run(["cluster", "--name", "filled", "--controllers", names]);
  expect([code, stderr]).toEqual([2, expect.stringMatching(told)]);
});
