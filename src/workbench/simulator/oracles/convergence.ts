import { formatKey, keyOf, parseKey, type ObjectKey } from "../../../kube/object/key.ts";
import { ENDPOINT_SLICES, ENDPOINTS, SERVICES } from "../../../kube/object/resource.ts";
import type { KubeObject, Service } from "../../../kube/object/types.ts";
import { toHost } from "../../../engine/reconcile/convert/to-host.ts";
import type { Rules } from "../../../engine/reconcile/rules/rules.ts";
import type { World } from "../world.ts";
import { differenceOf, SKIP_MIRROR_LABEL } from "./equal.ts";
import { expectationOf, type ExpectedCopy } from "./expectation.ts";
import { decidesBackends, isCopy } from "./marks.ts";
import { checkReaders } from "./readers.ts";
import { checkReferences } from "./references.ts";
import { checkTenantView } from "./tenant-view.ts";

/** A problem that is found at rest, with the name of its oracle. */
export interface Unconverged {
  readonly oracle: string;
  readonly message: string;
}

/** Codes that explain why a copy differs from its expected content, or is missing. */
const EXPLAINS = [
  "LOOP_STOPPED",
  "API_INVALID",
  "ONE_WAY_EDIT",
  "REVERSE_NOT_INVERSE",
  "EXPRESSION_ERROR",
  "EXPRESSION_RESULT",
  "ADDRESS_REFUSED",
];

/** Codes of objects that wait for a long time. */
const WAITS = ["LOOP_STOPPED", "API_INVALID", "WRITES_SLOWED"];

/** L1, L2 and L6: every object has its expected copy, there are no others, and missing copies are explained. */
export function checkConvergence(world: World): Unconverged | undefined {
  for (const rules of world.generation.rules) {
    const objects = world.clusters.tenant.objects(rules.kind.resource).values();
    for (const tenant of objects) {
      const wrong = checkObject(world, rules, tenant);
      if (wrong !== undefined) return wrong;
    }
    const orphan = findOrphan(world, rules);
    if (orphan !== undefined) return { oracle: "L2", message: orphan };
  }
  return checkReaders(world) ?? checkTenantView(world) ?? checkReferences(world);
}

function checkObject(world: World, rules: Rules, tenant: KubeObject): Unconverged | undefined {
  const key = keyOf(tenant);
  const what = `${rules.kind.resource.plural} ${formatKey(key)}`;
  const hostKey = rules.translator.toHost(key, rules.kind.resource);
  const host = hostKey && world.clusters.host.objects(rules.kind.resource).get(formatKey(hostKey));
  const expected = expectationOf(world, rules, tenant, hostKey);
  const notes = world.replicas.map((replica) => replica.notes(rules.kind.resource.plural, key));
  if ("why" in expected) return unexplained(what, expected, notes);
  const isFree = expected.kind === "copy or none" && (host === undefined || isCopy(world, host) === undefined);
  if (expected.kind === "unknown" || isFree) return undefined;
  const wanted = toHost(rules, { tenant, host, hostKey: hostKey!, ...servicesAt(world, key, hostKey!) });
  if (wanted.rejected !== undefined)
    return notes.every((codes) => codes.length > 0) ? undefined : { oracle: "L6", message: `${what} is refused, and no note reports this` };
  const explained = notes.every((codes) => codes.some((code) => WAITS.includes(code)));
  if (explained) return undefined;
  if (host === undefined || isCopy(world, host) === undefined) return { oracle: "L1", message: `${what} has no copy` };
  if (rules.kind.resource === ENDPOINTS && seenTwice(world, rules, tenant, host)) {
    return { oracle: "L1", message: `readers get the backends of ${what} twice, or not at all` };
  }
  const difference = differenceOf(rules, wanted.object, host);
  const foreign = difference?.endsWith("expected none") !== true && /: expected none, /.test(difference ?? "");
  if (difference === undefined || (foreign && notes.every((codes) => codes.some((code) => EXPLAINS.includes(code))))) return undefined;
  return { oracle: "L1", message: `the copy of ${what} differs in ${difference}` };
}

function unexplained(
  what: string,
  { why }: Extract<ExpectedCopy, { why: string }>,
  notes: readonly (readonly string[])[],
): Unconverged | undefined {
  const silent = notes.findIndex((codes) => !codes.includes(why));
  return silent < 0
    ? undefined
    : { oracle: "L6", message: `replica ${silent} does not report ${why} for ${what}, but ${notes[silent]!.join(", ") || "nothing"}` };
}

function servicesAt(world: World, key: ObjectKey, hostKey: ObjectKey) {
  const at = (side: "tenant" | "host", where: ObjectKey) =>
    world.clusters[side].objects(SERVICES).get(formatKey(where)) as Service | undefined;
  return { tenantService: at("tenant", key), hostService: at("host", hostKey) };
}

/** Describes a copy whose source is gone, was recreated, should have no copy, or has its copy at another place. */
function findOrphan(world: World, rules: Rules): string | undefined {
  for (const [id, host] of world.clusters.host.objects(rules.kind.resource)) {
    const marks = isCopy(world, host);
    if (marks === undefined) continue;
    const what = `${rules.kind.resource.plural} ${id}`;
    const source = world.clusters.tenant.objects(rules.kind.resource).get(marks.source);
    if (source === undefined) {
      if (isHeld(world, rules, marks.source)) continue;
      return `${what} still exists, although its source ${marks.source} does not`;
    }
    const hostKey = rules.translator.toHost(parseKey(marks.source), rules.kind.resource);
    const expected = expectationOf(world, rules, source, hostKey);
    // Replicas that disagreed about the copy are slowed down, and report that.
    const isSlowed = world.replicas.every((replica) => replica.notes(rules.kind.resource.plural, keyOf(source)).includes("WRITES_SLOWED"));
    if (isSlowed) continue;
    if (expected.kind === "no copy") return `${what} still exists, although ${marks.source} should have no copy: ${expected.why}`;
    if (expected.kind.startsWith("copy") && source.metadata.uid !== marks.uid)
      return `${what} is a copy of the deleted object ${marks.source} with the uid ${marks.uid}`;
    if (expected.kind === "copy" && formatKey(hostKey!) !== id && isReplaced(world, rules, source, hostKey!))
      return `${what} still exists, although the copy of ${marks.source} is ${formatKey(hostKey!)}`;
  }
  return undefined;
}

/** Reports whether an object has the copy that replaces those at other places. A refused object keeps them. */
function isReplaced(world: World, rules: Rules, tenant: KubeObject, hostKey: ObjectKey): boolean {
  const key = keyOf(tenant);
  const host = world.clusters.host.objects(rules.kind.resource).get(formatKey(hostKey));
  if (host === undefined || isCopy(world, host)?.uid !== tenant.metadata.uid) return false;
  if (toHost(rules, { tenant, host, hostKey, ...servicesAt(world, key, hostKey) }).rejected !== undefined) return false;
  return !world.replicas.some((replica) => replica.notes(rules.kind.resource.plural, key).includes("API_INVALID"));
}

/** Reports whether every replica has a note that the delete brake keeps the copy. */
function isHeld(world: World, { kind }: Rules, source: string): boolean {
  return world.replicas.every((replica) => replica.notes(kind.resource.plural, parseKey(source)).includes("DELETE_BRAKE"));
}

/** Reports whether readers see backends twice or not at all: the host must mirror the Endpoints only if some slice has no copy. */
function seenTwice(world: World, { translator }: Rules, tenant: KubeObject, host: KubeObject): boolean {
  if (!world.resources.includes(ENDPOINT_SLICES) || decidesBackends(world)) return false;
  const { namespace = "", name = "", labels } = tenant.metadata;
  const slices = [...world.clusters.tenant.objects(ENDPOINT_SLICES).values()].filter(
    ({ metadata }) => metadata.namespace === namespace && metadata.labels?.["kubernetes.io/service-name"] === name,
  );
  const hostService = translator.toHost({ namespace, name }, SERVICES)?.name;
  const copied = slices.filter((slice) => {
    const place = translator.toHost(keyOf(slice), ENDPOINT_SLICES);
    const copy = place && world.clusters.host.objects(ENDPOINT_SLICES).get(formatKey(place));
    return copy && isCopy(world, copy)?.uid === slice.metadata.uid && copy.metadata.labels?.["kubernetes.io/service-name"] === hostService;
  });
  const skips = host.metadata.labels?.[SKIP_MIRROR_LABEL] === "true";
  if (labels?.[SKIP_MIRROR_LABEL] === "true") return !skips;
  // If slices are not synced, copies that are left from before do not replace the Endpoints.
  if (world.generation.rules.every(({ kind }) => kind.resource !== ENDPOINT_SLICES)) return skips;
  // If only some slices have copies, the previous state stays.
  return copied.length === 0 ? skips : copied.length === slices.length && !skips;
}
