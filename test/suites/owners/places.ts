/**
 * Which cluster is which, and where copies stand when that was decided otherwise before: swapped kubeconfigs, virtual clusters within
 * virtual clusters, another namespace mode, copies of an earlier version.
 *
 * @module
 */
import { ENDPOINTS, SECRETS, SERVICES } from "../outside/api.ts";
import { hold, type Case } from "../outside/cases.ts";
import { checkOut, EARLIER } from "../outside/earlier.ts";
import { hostPlace, type Place } from "../outside/names.ts";
import { until } from "../outside/processes.ts";
import { tell } from "../outside/proxy.ts";
import { Syncer } from "../outside/syncer.ts";
import { holdEnded, inWorld, type VirtualCluster, type World } from "./world.ts";

const BLUE = { label: "blue", name: "blue", namespace: "v1" } as const;
const DB: Place = ["team-a", "db"];
const SHOP: Place = ["shop", "db"];

/** All of them. */
export const PLACES: readonly Case[] = [
  { name: "swapped kubeconfigs", run: () => inWorld(swapped) },
  { name: "a virtual cluster within another one", run: () => inWorld((world) => nested(world, "green")) },
  { name: "a virtual cluster within another one of its name", run: () => inWorld((world) => nested(world, "blue")) },
  { name: "imports of the outer one in the host namespace of the inner one", run: () => inWorld(nestedImports) },
  { name: "from mapped namespaces to a single one", run: () => inWorld(single) },
  { name: "the brake of one beside many copies of the other", run: () => inWorld(braked) },
  { name: "copies of two that an earlier version made, both plain", run: () => inWorld((world) => upgraded(world, undefined)) },
  {
    name: "copies of two that an earlier version made, one mapped",
    run: () => inWorld((world) => upgraded(world, { "team-*": "h-team-*" })),
  },
];

async function furnish(member: VirtualCluster): Promise<void> {
  await member.tenant.api.namespaces("team-a", "shop");
  for (const place of [DB, SHOP]) {
    await member.putService(place);
    await member.putEndpoints(place);
  }
  await member.putEndpoints(["shop", "canary"]);
  member.gone = false;
}

/** The host given for the tenant, and the tenant for the host. */
async function swapped(world: World): Promise<string> {
  await world.host.api.namespaces("v1");
  const blue = await world.add(BLUE);
  await furnish(blue);
  await blue.tenant.api.namespaces("v1");
  await blue.syncer.begin();
  await world.agreed([blue]);
  await blue.syncer.stop();
  const { tenant: host, host: tenant } = blue.syncer.options;
  const wrong = new Syncer({ ...blue.syncer.options, id: "swapped", tenant, host });
  const marks = [host.writes.length, tenant.writes.length];
  const ended = await wrong.start();
  const writes = [...host.writes.slice(marks[0]), ...tenant.writes.slice(marks[1])];
  await wrong.kill();
  hold(ended !== undefined, `run starts with swapped kubeconfigs, and writes ${writes.map(tell).join("; ")}`);
  hold(
    ended.code !== 0 && /swap/i.test(ended.output),
    `run ended with ${ended.code} and tells nothing of swapping: ${ended.output.slice(-500)}`,
  );
  hold(writes.length === 0, `it wrote ${writes.map(tell).join("; ")}`);
  for (const command of ["plan", "audit"]) {
    const { code, output } = await wrong.command(command);
    hold(code !== 0 && /swap/i.test(output), `${command} ended with ${code}: ${output.slice(-300)}`);
  }
  await world.phase("the right way round", [], () => blue.syncer.begin());
  return "";
}

/** The tenant of one is the host of another one: copies of copies are right there. */
async function nested(world: World, name: string): Promise<string> {
  await world.host.api.namespaces("v1");
  const blue = await world.add(BLUE);
  await furnish(blue);
  const inner = await world.add({ label: "inner", name, namespace: "v1" }, blue.tenant);
  await blue.tenant.api.namespaces("v1");
  await inner.tenant.api.namespaces("shop");
  const innerPlace = hostPlace(inner.virtual, SHOP);
  const outerPlace = hostPlace(blue.virtual, innerPlace);
  await inner.putService(SHOP);
  const arrives = async (what: string) => {
    await inner.putEndpoints(SHOP);
    const ip = [...inner.said.values()].find(({ kind }) => kind === ENDPOINTS)!.text;
    const arrived = async () => JSON.stringify((await world.host.api.get(ENDPOINTS, ...outerPlace))?.["subsets"] ?? "").includes(`"${ip}"`);
    await until(`${what}: it arrives through both`, arrived, () => `${inner.syncer.log.slice(-300)} ${blue.syncer.log.slice(-300)}`);
  };
  await inner.syncer.begin();
  await blue.syncer.begin();
  await arrives("both started");
  for (const member of [inner, blue]) await member.syncer.stop();
  for (const member of [blue, inner]) await member.syncer.begin();
  await arrives("both restarted");
  await inner.tenant.api.remove(ENDPOINTS, ...SHOP);
  await inner.tenant.api.remove(SERVICES, ...SHOP);
  await until("it goes through both", async () => (await world.host.api.get(ENDPOINTS, ...outerPlace)) === undefined);
  return "";
}

/** The other's copies are not part of those of which so many may go. */
async function braked(world: World): Promise<string> {
  await world.host.api.namespaces("v1", "v2", "h-team-a");
  const small = await world.add({ ...BLUE, label: "v1", mappings: { "team-*": "h-team-*" } });
  const large = await world.add({ ...BLUE, label: "v2", namespace: "v2" });
  for (const [member, count] of [
    [large, 90],
    [small, 22],
  ] as const) {
    await furnish(member);
    for (let at = 0; at < count; at += 1) await member.putEndpoints(["team-a", `many-${at}`]);
    await member.syncer.begin();
    await world.agreed([member]);
  }
  await small.syncer.stop();
  for (let at = 0; at < 22; at += 1) await small.tenant.api.remove(ENDPOINTS, "team-a", `many-${at}`);
  // The tester goes on to expect the copies: nothing may be deleted of them.
  await world.phase("start without most of its objects", [], () => small.syncer.begin());
  hold(small.syncer.log.includes("brake"), `the log does not tell of the brake: ${small.syncer.log.slice(-400)}`);
  return "";
}

/** The copies of two virtual clusters of one name are from a version that did not tell them apart. Nothing of both is written again. */
async function upgraded(world: World, mappings: Readonly<Record<string, string>> | undefined): Promise<string> {
  const root = checkOut(EARLIER);
  if (root === undefined) return `skipped: this clone does not have ${EARLIER}`;
  await world.host.api.namespaces("v1", "v2", "h-team-a");
  const mapped = await world.add({ ...BLUE, label: "v1", ...(mappings && { mappings }) });
  const plain = await world.add({ ...BLUE, label: "v2", namespace: "v2" });
  for (const member of [mapped, plain]) {
    await furnish(member);
    // One at a time: they did each other harm.
    await member.syncer.begin([], root);
    await world.agreed([member]);
    await member.syncer.stop();
  }
  await world.phase("the first starts", [], () => mapped.syncer.begin());
  await world.phase("the second starts", [], () => plain.syncer.begin());
  await world.phase("a tenant changes", [mapped], () => mapped.putEndpoints(DB));
  await world.phase("the other tenant changes", [plain], () => plain.putEndpoints(DB));
  await world.phase("cleanup", [mapped], async () => {
    await mapped.syncer.stop();
    mapped.gone = true;
    // Without the uid it may leave copies alone that do not say whose they are; with it, it may not. It refuses when there are none.
    await mapped.syncer.command("cleanup", ["--yes"]);
    const uid = ["--cluster-uid", await mapped.tenant.api.clusterUid()];
    await mapped.syncer.command("cleanup", ["--yes", ...uid]);
  });
  return "";
}

/**
 * Both have one name and one namespace. What the outer one imports for the copies of the inner one stands where the inner one has its
 * copies, and says name and namespace of both.
 */
async function nestedImports(world: World): Promise<string> {
  const patch = { path: 'metadata.annotations["example.com/secret"]', reference: { apiVersion: "v1", kind: "Secret" } };
  const toHost = { endpoints: { patches: [patch] } };
  await world.host.api.namespaces("v1");
  const outer = await world.add({ ...BLUE, toHost });
  const inner = await world.add({ ...BLUE, label: "inner", toHost: {} }, outer.tenant);
  await outer.tenant.api.namespaces("v1");
  await inner.tenant.api.namespaces("shop");
  const copy = hostPlace(inner.virtual, SHOP);
  await world.operator(SECRETS, hostPlace(outer.virtual, ["v1", "creds"]), { data: { text: "c2VjcmV0" } });
  await inner.putEndpoints(SHOP, { "example.com/secret": "creds" });
  const imported = () => outer.tenant.api.get(SECRETS, "v1", "creds");
  await inner.syncer.begin();
  await outer.syncer.begin();
  await until(
    "the outer one imports",
    async () => (await imported()) !== undefined,
    () => outer.syncer.log.slice(-300),
  );
  const before = (await imported())!;
  for (const member of [inner, outer]) await member.syncer.stop();
  for (const member of [inner, outer]) await member.syncer.begin();
  const ip = () => [...inner.said.values()][0]!.text;
  await inner.putEndpoints(SHOP);
  const arrived = async () => JSON.stringify((await world.host.api.get(ENDPOINTS, ...hostPlace(outer.virtual, copy)))?.["subsets"] ?? "");
  await until("a change goes through both", async () => (await arrived()).includes(`"${ip()}"`));
  await inner.syncer.stop();
  await inner.syncer.command("cleanup", ["--yes"]);
  const after = await imported();
  hold(after?.metadata.resourceVersion === before.metadata.resourceVersion, "the inner one touched what the outer one has imported");
  return "";
}

/** Namespaces were mapped, and are no more. Old copies are not forgotten. */
async function single(world: World): Promise<string> {
  await world.host.api.namespaces("v1", "h-team-a");
  const blue = await world.add({ ...BLUE, mappings: { "team-*": "h-team-*" } });
  await world.operator(ENDPOINTS, ["h-team-a", "own"], { subsets: [{ addresses: [{ ip: "10.99.0.1" }] }] });
  await furnish(blue);
  await blue.syncer.begin();
  await world.agreed([blue]);
  await blue.syncer.stop();
  const old = blue.host(DB);
  blue.syncer.options = { ...blue.syncer.options, config: {} };
  await blue.syncer.begin();
  const copy = hostPlace({ ...blue.virtual, mappings: {} }, DB);
  await until("the new copy is there", async () => (await world.host.api.get(ENDPOINTS, ...copy)) !== undefined);
  await blue.syncer.stop();
  const left = async () => (await world.host.api.get(ENDPOINTS, ...old)) ?? (await world.host.api.get(SERVICES, ...old));
  if ((await left()) !== undefined) {
    const { code, output } = await blue.syncer.command("audit");
    hold(
      code === 1 && output.includes(old.join("/")),
      `audit ended with ${code} and does not name ${old.join("/")}: ${output.slice(-500)}`,
    );
    holdEnded(await blue.syncer.command("cleanup", ["--yes"]), 0, "cleanup");
    hold((await left()) === undefined, `cleanup leaves ${old.join("/")}`);
  }
  hold((await world.host.api.get(ENDPOINTS, "h-team-a", "own")) !== undefined, "what the operator has is gone");
  return "";
}
