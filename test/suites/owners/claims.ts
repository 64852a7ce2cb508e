/**
 * False claims of ownership by tenants and others: markers of other syncers, names that mean two things, objects that only look like copies.
 *
 * @module
 */
import { ENDPOINTS, SECRETS, SERVICES, type Kind, type Thing } from "../outside/api.ts";
import { hold, type Case } from "../outside/cases.ts";
import type { Place } from "../outside/names.ts";
import { checkOut, EARLIER } from "../outside/earlier.ts";
import { until } from "../outside/processes.ts";
import { faultOf } from "../outside/syncer.ts";
import { holdEnded, inWorld, type VirtualCluster, type World } from "./world.ts";

const BLUE = { label: "blue", name: "blue", namespace: "v1" } as const;
const subsetsOf = (ip: string) => ({ subsets: [{ addresses: [{ ip }], ports: [{ port: 80, protocol: "TCP" }] }] });

/** All of them. */
export const CLAIMS: readonly Case[] = [
  { name: "tenant objects with markers of one other syncer", run: () => inWorld((world) => marked(world, ["a.io/"])) },
  { name: "tenant objects with markers of two other syncers", run: () => inWorld((world) => marked(world, ["a.io/", "b.io/"])) },
  { name: "tenant objects with markers of vCluster", run: () => inWorld((world) => marked(world, ["vcluster.loft.sh/"])) },
  {
    name: "tenant objects with markers, copied by an earlier version",
    run: () => inWorld((world) => marked(world, ["a.io/", "b.io/"], true)),
  },
  { name: "tenant objects with markers of a neighbour's own prefix", run: () => inWorld(neighbour) },
  { name: "another syncer's copies end the start", run: () => inWorld(realSyncer) },
  { name: "--services external, mapped: Services of the operator", run: () => inWorld(foreignServices) },
  { name: "--services external: two tenant Services of one host name", run: () => inWorld(sharedService) },
  { name: "a reference that means two Secrets", run: () => inWorld((world) => ambiguous(world, true)) },
  { name: "a reference that can mean one Secret only", run: () => inWorld((world) => ambiguous(world, false)) },
  { name: "a reference to another virtual cluster's Secret", run: () => inWorld(anothersSecret) },
];

/** Marks of a syncer of this family on a copy. */
export function markersOf(
  prefix: string,
  { kind, vcluster, source, copy, uid = "0b7e" }: { kind: Kind; vcluster: string; source: Place; copy?: Place; uid?: string },
): { labels: Record<string, string>; annotations: Record<string, string> } {
  const goText = prefix.startsWith("vcluster.loft.sh");
  return {
    labels: { [`${prefix}managed-by`]: vcluster, [`${prefix}namespace`]: source[0] },
    annotations: {
      [`${prefix}object-name`]: source[1],
      [`${prefix}object-namespace`]: source[0],
      [`${prefix}object-uid`]: uid,
      [`${prefix}object-kind`]: goText ? `/v1, Kind=${kind.kind}` : `v1/${kind.kind}`,
      ...(copy && { [`${prefix}object-host-name`]: copy[1], [`${prefix}object-host-namespace`]: copy[0] }),
    },
  };
}

/** Tenants write what another syncer would write on copies: nothing of it says anything about the copies of this one. */
async function marked(world: World, prefixes: readonly string[], before = false): Promise<string> {
  const root = before ? checkOut(EARLIER) : undefined;
  if (before && root === undefined) return `skipped: this clone does not have ${EARLIER}`;
  await world.host.api.namespaces("v1");
  const blue = await world.add(BLUE);
  const { api } = blue.tenant;
  await api.namespaces("shop");
  const evil = prefixes.map((prefix, at): [Kind, Place, string] => [at === 1 ? SERVICES : ENDPOINTS, ["shop", `evil-${at}`], prefix]);
  for (const [kind, source, prefix] of evil) {
    const metadata = { namespace: source[0], name: source[1], ...markersOf(prefix, { kind, vcluster: "blue", source }) };
    await api.create(kind, { metadata, ...(kind === SERVICES ? { spec: { ports: [{ port: 80 }] } } : subsetsOf("10.3.0.1")) });
  }
  await blue.putEndpoints(["shop", "good"]);
  blue.gone = false;
  await blue.syncer.begin([], root);
  const copies = evil.map(([kind, source]): [Kind, Place] => [kind, blue.host(source)]);
  await until("the copies are there", async () => (await all(world, copies)).every((copy) => copy !== undefined));
  await world.agreed([blue]);
  if (prefixes[0] === "vcluster.loft.sh/") {
    for (const copy of await all(world, copies)) {
      const keys = Object.keys({ ...copy!.metadata.labels, ...copy!.metadata.annotations });
      hold(!keys.some((key) => key.startsWith("vcluster.loft.sh/")), `markers of vCluster crossed: ${keys.join(" ")}`);
    }
  }
  await blue.syncer.stop();
  for (const [command, ...args] of [["plan"], ["audit"], ["why", "endpoints", "shop/good"]] as const) {
    const ended = await blue.syncer.command(command, args);
    // Keys that an earlier version synced are removed: there is something to do.
    if (before) hold(!ended.output.includes("OTHER_SYNCER"), `${command} ended with ${ended.code}: ${ended.output.slice(-500)}`);
    else holdEnded(ended, 0, command);
  }
  await blue.syncer.begin();
  await blue.putEndpoints(["shop", "good"]);
  for (const [kind, source] of evil) await api.remove(kind, ...source);
  await world.agreed([blue]);
  await until("the copies are gone", async () => (await all(world, copies)).every((copy) => copy === undefined));
  return "";
}

function all(world: World, places: readonly [Kind, Place][]): Promise<(Thing | undefined)[]> {
  return Promise.all(places.map(([kind, place]) => world.host.api.get(kind, ...place)));
}

/** A neighbour on the host has a marker prefix of its own, and a tenant writes that neighbour's markers: the neighbour must not mind. */
async function neighbour(world: World): Promise<string> {
  await world.host.api.namespaces("v1", "g1", "h-team-a");
  const prefix = "green.example/";
  const mappings = { "team-*": "h-team-*" };
  const green = await world.add({ label: "green", name: "green", namespace: "g1", mappings, settings: { markerPrefix: prefix } });
  const blue = await world.add(BLUE);
  for (const member of [green, blue]) {
    await member.tenant.api.namespaces("team-a", "shop");
    await member.putEndpoints(["shop", "canary"]);
    await member.putEndpoints(["team-a", "db"]);
  }
  const source: Place = ["shop", "evil"];
  const markers = markersOf(prefix, { kind: ENDPOINTS, vcluster: "green", source, copy: blue.host(source) });
  Object.assign(markers.annotations, {
    [`${prefix}vcluster`]: "green",
    [`${prefix}vcluster-namespace`]: "g1",
    [`${prefix}cluster-uid`]: "0b7e",
  });
  await blue.tenant.api.create(ENDPOINTS, { metadata: { namespace: "shop", name: "evil", ...markers }, ...subsetsOf("10.3.0.1") });
  blue.owned.add(`endpoints ${blue.host(source).join("/")}`);
  blue.extra.add(`endpoints ${blue.host(source).join("/")}`);
  const begin = async (member: VirtualCluster) => {
    member.gone = false;
    await member.syncer.begin();
  };
  await world.phase("the tenant's own syncer starts", [blue], () => begin(blue));
  await world.phase("the neighbour starts", [green], () => begin(green));
  await world.phase("the neighbour restarts", [], async () => {
    await green.syncer.stop();
    await green.syncer.begin();
  });
  return "";
}

/** A host object with another syncer's markers that is not a copy of ours prevents the start. */
async function realSyncer(world: World): Promise<string> {
  await world.host.api.namespaces("v1");
  const blue = await world.add(BLUE);
  await blue.tenant.api.namespaces("shop");
  await blue.putEndpoints(["shop", "db"]);
  const copy = blue.host(["shop", "db"]);
  const uid = (await blue.tenant.api.get(ENDPOINTS, "shop", "db"))!.metadata.uid!;
  const markers = markersOf("vcluster.loft.sh/", { kind: ENDPOINTS, vcluster: "blue", source: ["shop", "db"], copy, uid });
  await world.operator(ENDPOINTS, copy, { metadata: markers, ...subsetsOf("10.3.0.9") });
  const before = (await world.look()).get(`endpoints ${copy.join("/")}`)!;
  const ended = await blue.syncer.start();
  hold(ended !== undefined, "run starts beside the copies of another syncer");
  hold(ended.code !== 0 && ended.output.includes("OTHER_SYNCER"), `run ended with ${ended.code}: ${faultOf(ended)}`);
  const after = (await world.look()).get(`endpoints ${copy.join("/")}`);
  hold(after?.metadata.resourceVersion === before.metadata.resourceVersion, "the copy of the other syncer was written");
  blue.gone = false;
  await blue.syncer.begin(["--adopt", "vcluster.loft.sh/"]);
  await world.agreed([blue]);
  return "";
}

const SERVICE = { spec: { ports: [{ port: 80 }] } };

/** Services that the operator has in a mapped namespace are no copies, whatever a tenant calls its Endpoints. */
async function foreignServices(world: World): Promise<string> {
  await world.host.api.namespaces("v1", "h-team-a");
  const blue = await world.add({ ...BLUE, mappings: { "team-*": "h-team-*" }, args: ["--services", "external"] });
  await blue.tenant.api.namespaces("team-a", "shop");
  const uids = new Map<string, string>();
  for (const name of ["db", "db2", "named", "misnamed", "left", "marked", "canary"]) {
    const { metadata } = await blue.tenant.api.create(SERVICES, { metadata: { namespace: "team-a", name }, ...SERVICE });
    uids.set(name, metadata.uid!);
    await blue.tenant.api.create(ENDPOINTS, { metadata: { namespace: "team-a", name }, ...subsetsOf("10.6.6.6") });
  }
  const marked = (name: string) => {
    const uid = uids.get(name)!;
    return markersOf("vcluster.loft.sh/", { kind: SERVICES, vcluster: "blue", source: ["team-a", name], copy: ["h-team-a", name], uid });
  };
  for (const name of ["db", "db2"]) await world.operator(SERVICES, ["h-team-a", name], SERVICE);
  for (const [name, tenantName] of [
    ["named", "named"],
    ["misnamed", "named"],
  ] as const) {
    const annotations = { "sync.platform/stands-for": `team-a/${tenantName}` };
    await world.operator(SERVICES, ["h-team-a", name], { metadata: { annotations }, ...SERVICE });
  }
  for (const name of ["left", "marked", "canary"]) {
    await world.operator(SERVICES, ["h-team-a", name], { metadata: marked(name), ...SERVICE });
  }
  for (const name of ["db2", "marked"]) await world.operator(ENDPOINTS, ["h-team-a", name], subsetsOf("10.9.9.9"));
  const byController = { labels: { "endpoints.kubernetes.io/managed-by": "endpoint-controller" } };
  await world.operator(ENDPOINTS, ["h-team-a", "left"], { metadata: byController, ...subsetsOf("10.9.9.8") });
  const before = await world.look();
  await blue.syncer.begin();
  const addressOf = async (name: string) => JSON.stringify((await world.host.api.get(ENDPOINTS, "h-team-a", name))?.["subsets"]);
  for (const name of ["canary", "left", "named"]) {
    const said = async () => `${name}: ${await addressOf(name)}`;
    await until(
      `${name} has its backends`,
      async () => (await said()).includes("10.6.6.6"),
      () => blue.syncer.log.slice(-300),
    );
  }
  // One that is written after the others shows that the others were looked at.
  await blue.tenant.api.merge(ENDPOINTS, ["team-a", "canary"], subsetsOf("10.6.6.7"));
  await until("the canary moves", async () => ((await addressOf("canary")) ?? "").includes("10.6.6.7"));
  for (const name of ["db", "misnamed"]) {
    const address = await addressOf(name);
    hold(address === undefined, `the operator's Service h-team-a/${name} has backends: ${address}`);
  }
  const after = await world.look();
  for (const id of ["endpoints h-team-a/db2", "endpoints h-team-a/marked", "services h-team-a/db", "services h-team-a/db2"]) {
    hold(
      before.get(id)!.metadata.resourceVersion === after.get(id)?.metadata.resourceVersion,
      `${id} was written: ${JSON.stringify(after.get(id)?.["subsets"])}`,
    );
  }
  return "";
}

/** Two tenant objects have one host name: the host Service is that of the one that its markers name. */
async function sharedService(world: World): Promise<string> {
  await world.host.api.namespaces("v1");
  const blue = await world.add({ ...BLUE, args: ["--services", "external"] });
  const [owner, other]: [Place, Place] = [
    ["c", "a-x-b"],
    ["b-x-c", "a"],
  ];
  const copy = blue.host(owner);
  hold(copy.join() === blue.host(other).join(), "the two do not meet");
  await blue.tenant.api.namespaces("c", "b-x-c");
  const canary: Place = ["c", "canary"];
  for (const source of [owner, canary]) {
    const [namespace, name] = source;
    const { metadata } = await blue.tenant.api.create(SERVICES, { metadata: { namespace, name }, ...SERVICE });
    const about = { kind: SERVICES, vcluster: "blue", source, copy: blue.host(source), uid: metadata.uid! };
    await world.operator(SERVICES, blue.host(source), { metadata: markersOf("vcluster.loft.sh/", about), ...SERVICE });
  }
  await blue.tenant.api.create(SERVICES, { metadata: { namespace: other[0], name: other[1] }, ...SERVICE });
  const put = ([namespace, name]: Place, ip: string) =>
    blue.tenant.api.create(ENDPOINTS, { metadata: { namespace, name }, ...subsetsOf(ip) });
  await put(other, "10.6.6.6");
  await blue.syncer.begin();
  const textAt = async (place: Place) => JSON.stringify((await world.host.api.get(ENDPOINTS, ...place))?.["subsets"]) ?? "";
  await put(canary, "10.6.6.1");
  await until(
    "the canary arrives",
    async () => (await textAt(blue.host(canary))).includes("10.6.6.1"),
    () => blue.syncer.log.slice(-300),
  );
  hold(!(await textAt(copy)).includes("10.6.6.6"), "the host Service has the backends of another tenant object");
  await put(owner, "10.6.6.2");
  await until(
    "the owner has its backends",
    async () => (await textAt(copy)).includes("10.6.6.2"),
    () => blue.syncer.log.slice(-300),
  );
  return "";
}

const IMPORTS = {
  endpoints: { patches: [{ path: 'metadata.annotations["example.com/secret"]', reference: { apiVersion: "v1", kind: "Secret" } }] },
};

async function refer(member: VirtualCluster, [namespace, name]: Place, secret: string): Promise<void> {
  await member.tenant.api.create(ENDPOINTS, {
    metadata: { namespace, name, annotations: { "example.com/secret": secret } },
    ...subsetsOf("10.4.0.1"),
  });
}

/** Starts a virtual cluster that imports `shop/canary`, and asks from then on whether it has imported a Secret. */
async function beginImports(member: VirtualCluster): Promise<(...place: Place) => Promise<boolean>> {
  await member.syncer.begin();
  const imported = async (...place: Place) => (await member.tenant.api.get(SECRETS, ...place)) !== undefined;
  await until(
    "the canary's Secret arrives",
    () => imported("shop", "canary"),
    () => member.syncer.log.slice(-300),
  );
  return imported;
}

/** On the host there is a Secret for `shop-x-a/db`, and a tenant in `a` asks for `db-x-shop`, which is called the same there. */
async function ambiguous(world: World, both: boolean): Promise<string> {
  await world.host.api.namespaces("v1");
  const blue = await world.add({ ...BLUE, toHost: IMPORTS });
  await blue.tenant.api.namespaces("a", "shop", ...(both ? ["shop-x-a"] : []));
  const data = { data: { text: "c2VjcmV0" } };
  await world.operator(SECRETS, ["v1", "db-x-shop-x-a-x-blue"], data);
  await world.operator(SECRETS, blue.host(["shop", "canary"]), data);
  await refer(blue, ["a", "greedy"], "db-x-shop");
  await refer(blue, ["shop", "canary"], "canary");
  const imported = await beginImports(blue);
  if (!both) {
    await until(
      "the only Secret that the name can mean arrives",
      () => imported("a", "db-x-shop"),
      () => blue.syncer.log.slice(-300),
    );
    return "";
  }
  // A later one shows that the first was looked at.
  await world.operator(SECRETS, blue.host(["shop", "late"]), data);
  await refer(blue, ["shop", "late"], "late");
  await until(
    "the late Secret arrives",
    () => imported("shop", "late"),
    () => blue.syncer.log.slice(-300),
  );
  const kept = async () => hold(!(await imported("a", "db-x-shop")), "a/db-x-shop was imported, and it may be that of shop-x-a/db");
  await kept();
  await refer(blue, ["shop-x-a", "meant"], "db");
  const annotations = { "sync.platform/stands-for": "shop-x-a/db" };
  await world.host.api.merge(SECRETS, ["v1", "db-x-shop-x-a-x-blue"], { metadata: { annotations } });
  await until(
    "it goes to the tenant that the operator names",
    () => imported("shop-x-a", "db"),
    () => blue.syncer.log.slice(-300),
  );
  await kept();
  return "";
}

/** Another virtual cluster in the same host namespace has a copy there, whose name a tenant of this one can name. */
async function anothersSecret(world: World): Promise<string> {
  await world.host.api.namespaces("v1");
  const blue = await world.add({ ...BLUE, toHost: IMPORTS });
  const other = await world.add({
    label: "other",
    name: "ns2-x-blue",
    namespace: "v1",
    toHost: { secrets: { enabled: true }, ...IMPORTS },
  });
  await other.tenant.api.namespaces("prod");
  await other.putSecret(["prod", "db"]);
  await refer(other, ["prod", "e"], "db");
  other.gone = false;
  await other.syncer.begin();
  await world.agreed([other]);
  await blue.tenant.api.namespaces("ns2", "shop");
  hold(blue.host(["ns2", "db-x-prod"]).join() === other.host(["prod", "db"]).join(), "the two do not meet");
  await world.operator(SECRETS, blue.host(["shop", "canary"]), { data: { text: "c2VjcmV0" } });
  await refer(blue, ["ns2", "greedy"], "db-x-prod");
  await refer(blue, ["shop", "canary"], "canary");
  const imported = await beginImports(blue);
  await blue.tenant.api.merge(ENDPOINTS, ["ns2", "greedy"], subsetsOf("10.4.0.2"));
  const copied = async () => JSON.stringify((await world.host.api.get(ENDPOINTS, ...blue.host(["ns2", "greedy"])))?.["subsets"] ?? "");
  await until(
    "its Endpoints are copied",
    async () => (await copied()).includes("10.4.0.2"),
    () => blue.syncer.log.slice(-300),
  );
  hold(!(await imported("ns2", "db-x-prod")), "the Secret of another virtual cluster was imported");
  return "";
}
