/**
 * Two virtual clusters of one name on one host. What happens to one of them must never be seen at the other, nor at what the operator has
 * beside both.
 *
 * @module
 */
import { ENDPOINTS, SECRETS, SERVICES } from "../outside/api.ts";
import { hold, type Case } from "../outside/cases.ts";
import type { Place } from "../outside/names.ts";
import { until } from "../outside/processes.ts";
import { faultOf } from "../outside/syncer.ts";
import { holdEnded, inWorld, type VirtualCluster, type World } from "./world.ts";

/** Secrets of the tenant that Endpoints name are brought to the host. */
const REFERENCES = {
  secrets: { enabled: true },
  endpoints: { patches: [{ path: 'metadata.annotations["example.com/secret"]', reference: { apiVersion: "v1", kind: "Secret" } }] },
};

type Mappings = Readonly<Record<string, string>> | undefined;

/** Which namespaces are mapped, of each of both. */
const SHAPES: Readonly<Record<string, readonly [Mappings, Mappings]>> = {
  "both plain": [undefined, undefined],
  "one by pattern": [{ "team-*": "h-team-*" }, undefined],
  "one exactly": [{ "team-a": "h-team-a" }, undefined],
  "both by pattern": [{ "team-*": "h-team-*" }, { "team-*": "g-team-*" }],
  "both onto one": [{ "team-*": "h-team-*" }, { "team-*": "h-team-*" }],
};
const SHARED = "both onto one";

const HOMES = ["v1", "v2"] as const;
const HOST_NAMESPACES = [...HOMES, "h-team-a", "g-team-a"];
const TEAM_DB: Place = ["team-a", "db"];
const SHOP_DB: Place = ["shop", "db"];
const RAW: Place = ["team-a", "raw"];
const OLD: Place = ["shop", "old"];
/** Where its copy belongs, the operator has something already. */
const TAKEN: Place = ["team-a", "ops"];
const CREDENTIALS: readonly Place[] = [
  ["team-a", "creds"],
  ["shop", "creds"],
];

/** Shapes, which of both starts first, and to which of both things happen. The first of them have every shape once. */
export function pairs(): Case[] {
  const cases: Case[] = [];
  for (const turn of [0, 1, 2, 3]) {
    for (const [at, shape] of Object.keys(SHAPES).entries()) {
      const order = (at + turn) % 2 === 0 ? 0 : 1;
      // When the first one of a shared place goes, the second one may have its names, so that both change: only the second is acted on.
      const isFirst = shape === SHARED ? false : turn < 2;
      if (shape === SHARED && turn >= 2) continue;
      const acted = isFirst ? order : order === 0 ? 1 : 0;
      const name = `${shape}; ${HOMES[order]} starts first, ${HOMES[acted]} is changed`;
      cases.push({ name, run: () => inWorld((world) => playPair(world, { shape, order, acted })) });
    }
  }
  return cases;
}

interface Pair {
  readonly shape: string;
  readonly order: 0 | 1;
  readonly acted: 0 | 1;
}

async function playPair(world: World, { shape, order, acted }: Pair): Promise<string> {
  await world.host.api.namespaces(...HOST_NAMESPACES);
  const both = [await add(world, shape, 0), await add(world, shape, 1)] as const;
  const [first, second] = order === 0 ? both : [both[1], both[0]];
  const [one, other] = acted === 0 ? both : [both[1], both[0]];
  await operatorBeside(world, both);
  if (shape === SHARED) for (const place of [TEAM_DB, RAW, CREDENTIALS[0]!]) deny(second, place);
  for (const member of both) await furnish(member);

  await world.phase("the first starts", [first], () => start(first));
  await world.phase("the second starts", [second], () => start(second));
  await world.phase("a tenant changes", [one], () => change(one));
  await world.phase("the other tenant changes", [other], () => change(other));
  await world.phase("restart of both", [], async () => {
    for (const member of both) await member.syncer.stop();
    for (const member of [second, first]) await member.syncer.begin();
  });
  await world.phase("kill of both, changes meanwhile", [one], async () => {
    for (const member of both) await member.syncer.kill();
    await one.remove(ENDPOINTS, RAW);
    await one.putEndpoints(SHOP_DB);
    for (const member of [first, second]) await member.syncer.begin();
  });
  await world.phase("cleanup", [one], async () => {
    await one.syncer.stop();
    one.gone = true;
    holdEnded(await one.syncer.command("cleanup", ["--yes"]), 0, "cleanup");
  });
  await world.phase("start after the cleanup", [one], () => start(one));
  await rebuild(world, one);
  await world.phase("plan and audit", [], () => inspected(both));
  const [here, there] = both.map(({ hostProxy }) => hostProxy.accepted.length);
  return `${here} and ${there} host writes`;
}

function add(world: World, shape: string, at: 0 | 1): Promise<VirtualCluster> {
  const mappings = SHAPES[shape]![at];
  return world.add({ label: HOMES[at], name: "blue", namespace: HOMES[at], toHost: REFERENCES, ...(mappings && { mappings }) });
}

/** Objects of the operator beside the copies: a Service without selector and its Endpoints, a Secret, and Endpoints in a copy's place. */
async function operatorBeside(world: World, both: readonly VirtualCluster[]): Promise<void> {
  const subsets = [{ addresses: [{ ip: "10.99.0.1" }], ports: [{ port: 1, protocol: "TCP" }] }];
  for (const namespace of HOST_NAMESPACES) {
    await world.operator(SERVICES, [namespace, "own"], { spec: { ports: [{ port: 1 }] } });
    await world.operator(ENDPOINTS, [namespace, "own"], { subsets });
    await world.operator(SECRETS, [namespace, "own"], { data: {} });
  }
  for (const member of both) {
    const place = member.host(TAKEN);
    if (!(await world.host.api.get(ENDPOINTS, ...place))) await world.operator(ENDPOINTS, place, { subsets });
    deny(member, TAKEN);
  }
}

function deny(member: VirtualCluster, place: Place): void {
  const [namespace, name] = member.host(place);
  for (const { plural } of [SERVICES, ENDPOINTS, SECRETS]) member.denied.add(`${plural} ${namespace}/${name}`);
}

/** Initial objects of a tenant. */
async function furnish(member: VirtualCluster): Promise<void> {
  await member.tenant.api.namespaces("team-a", "shop");
  for (const place of CREDENTIALS) await member.putSecret(place);
  for (const place of [TEAM_DB, SHOP_DB]) {
    await member.putService(place);
    await member.putEndpoints(place, { "example.com/secret": "creds" });
  }
  for (const place of [RAW, OLD, TAKEN]) await member.putEndpoints(place);
  await member.putEndpoints(["shop", "canary"]);
}

async function start(member: VirtualCluster, args: readonly string[] = []): Promise<void> {
  member.gone = false;
  await member.syncer.begin(args);
}

/** A change, two creations and a removal. */
async function change(member: VirtualCluster): Promise<void> {
  const added: Place = ["team-a", `new-${member.label}`];
  await member.putEndpoints(TEAM_DB);
  await member.putService(added);
  await member.putEndpoints(added);
  await member.remove(ENDPOINTS, OLD);
}

/** The commands report only the objects of their own virtual cluster. */
async function inspected(both: readonly [VirtualCluster, VirtualCluster]): Promise<void> {
  for (const [one, other] of [both, [both[1], both[0]] as const]) {
    for (const command of ["plan", "audit"]) {
      const { code, output } = await one.syncer.command(command);
      // Something of the operator stands where a copy belongs: audit tells it.
      hold(code === (command === "audit" ? 1 : 0), `${command} of ${one.label} ended with ${code}: ${output.slice(-500)}`);
      const others = [...other.owned].filter((id) => !one.owned.has(id) && !one.denied.has(id)).map((id) => id.split(" ")[1]!);
      const named = others.filter((place) => output.split(/\s+/).includes(place));
      hold(named.length === 0, `${command} of ${one.label} names ${named.join(" ")} of ${other.label}`);
    }
  }
}

/** The tenant cluster is gone and another one of its name is there. Nothing happens before someone says which one it stands for. */
async function rebuild(world: World, one: VirtualCluster): Promise<void> {
  const old = await one.tenant.api.clusterUid();
  await world.phase("start with a rebuilt tenant", [], async () => {
    await one.syncer.stop();
    one.tenant = await world.cluster(`tenant-rebuilt-${one.label}`);
    one.syncer.options = { ...one.syncer.options, tenant: await world.proxy(one.tenant) };
    const refused = await one.syncer.start();
    hold(refused !== undefined, "run starts although the tenant cluster is another one");
    hold(refused.code !== 0 && refused.output.includes("CLUSTER_IDENTITY"), `run ended with ${refused.code}: ${faultOf(refused)}`);
    hold(refused.output.includes(`--adopt-cluster ${old}`), `the remedy is not told: ${faultOf(refused)}`);
  });
  await world.phase("--adopt-cluster", [one], async () => {
    one.forget();
    await furnish(one);
    await one.remove(ENDPOINTS, RAW);
    await start(one, ["--adopt-cluster", old]);
    await rebound(world, one);
  });
  await world.phase("restart without it", [], async () => {
    await one.syncer.stop();
    await one.syncer.begin();
  });
}

/** Every copy that is left says that it is of the new tenant cluster. */
async function rebound(world: World, one: VirtualCluster): Promise<void> {
  const uid = await one.tenant.api.clusterUid();
  let former: string[] = [];
  await until(
    "every copy is of the new tenant cluster",
    async () => {
      const look = await world.look();
      const copies = [...one.owned].filter((id) => look.has(id));
      former = copies.filter((id) => look.get(id)!.metadata.annotations?.["sync.platform/cluster-uid"] !== uid);
      return former.length === 0;
    },
    () => former,
  );
}
