import type { Command } from "commander";
import { systemClock } from "../../base/clock.ts";
import { EngineError } from "../../base/errors.ts";
import { suggest } from "../../base/suggest.ts";
import { SYNCED_KINDS } from "../../engine/kinds/synced-kinds.ts";
import { serviceOfSlice } from "../../engine/kinds/slice-labels.ts";
import { ourMarkers } from "../../engine/translate/identity.ts";
import { formatKey, keyOf, parseKey, sameKey, type ObjectKey } from "../../kube/object/key.ts";
import { ENDPOINT_SLICES, SERVICES, type ResourceType } from "../../kube/object/resource.ts";
import { explainObject, type ObjectExplanation } from "../../engine/sync/inspect/explanation.ts";
import type { Preview } from "../../engine/sync/inspect/preview.ts";
import { syncId } from "../../engine/sync/state/sync-id.ts";
import { examples, type CommandContext } from "../process/command.ts";
import { describeExplanation } from "../inspect/explanation-text.ts";
import type { Inspection } from "../inspect/inspection.ts";
import { findKind } from "../inspect/object-kind.ts";
import { EXIT_FAILED } from "../process/exit-codes.ts";
import { parsePositive } from "../input/options.ts";
import { addInspectionFlags, withInspection, type InspectionFlags } from "../inspect/open-inspection.ts";
import { reportFailure, reportWarning } from "../output/messages.ts";
import { describeSources, inspectReaders } from "../inspect/backend-sources.ts";
import { inspectVisibility } from "../inspect/visibility.ts";
import { formatValue, visible } from "../output/output.ts";

/** `why`: explains why an object looks as it does on the host. */
export function defineWhy(command: Command, context: CommandContext): void {
  const { kinds = SYNCED_KINDS } = context;
  addInspectionFlags(command)
    .argument("<kind>", formatChoice(kinds.map(({ resource }) => resource.plural)))
    .argument("<object>", "namespace/name of the tenant object, or of its copy on the host")
    .option("--wait <seconds>", "maximum time to wait until no write for the object is pending (default: do not wait)", parsePositive)
    .addHelpText(
      "after",
      examples(
        "endpoint-sync why endpoints shop/web --tenant-kubeconfig tenant.kubeconfig --host-kubeconfig host.kubeconfig \\\n--config vcluster.yaml --name blue --namespace vc-blue",
      ),
    )
    .action((kind: string, name: string, flags: WhyFlags) => {
      const resource = findKind(
        kind,
        kinds.map((one) => one.resource),
        kinds,
      );
      const about = { resource, key: parseName(name) };
      const wait = createWait(context, flags);
      return withInspection(context, flags, (inspection) => why(context, flags, { ...about, inspection, wait }));
    });
}

interface WhyFlags extends InspectionFlags {
  /** In seconds. */
  readonly wait?: number;
}

/** Replaces the usual hint, because the setting is already set. */
const ALLOW_SLICES = "Grant permission to list endpointslices of API group discovery.k8s.io on both clusters, which backends: auto needs";

/** `endpoints, services or endpointslices`. */
function formatChoice(words: readonly string[]): string {
  return words.length === 1 ? words[0]! : `${words.slice(0, -1).join(", ")} or ${words.at(-1)!}`;
}

/** @throws USAGE for anything but `namespace/name`. */
function parseName(text: string): ObjectKey {
  if (/^[^/\s]+\/[^/\s]+$/.test(text)) return parseKey(text);
  throw new EngineError("USAGE", `Cannot look up "${text}": expected namespace/name, such as shop/web`);
}

interface About {
  readonly resource: ResourceType;
  readonly key: ObjectKey;
  readonly inspection: Inspection;
  /** Reports whether to wait once more for a pending write. */
  readonly wait: () => boolean;
}

/**
 * Creates a function that reports whether to wait. The time limit starts at its first call, because the inspection before it takes time.
 */
function createWait({ terminal }: CommandContext, { wait: seconds = 0 }: WhyFlags): () => boolean {
  let until: number | undefined;
  return () => {
    if (seconds <= 0) return false;
    if (until !== undefined) return systemClock.now() < until;
    terminal.err("Waiting for a pending write");
    until = systemClock.now() + seconds * 1_000;
    return true;
  };
}

async function why({ terminal, exit }: CommandContext, { output, wait }: WhyFlags, about: About): Promise<void | "again"> {
  const { resource, inspection } = about;
  if (!inspection.rules.some(({ kind }) => kind.resource === resource)) throw notSynced(resource, inspection);
  const key = tenantKeyOf(about);
  const preview = await inspection.preview({ ids: [syncId(resource.plural, key)] });
  const explanation = explainObject(preview, resource, key);
  if (explanation === undefined) throw new EngineError("INTERNAL", `Broken invariant: ${formatKey(key)} was not inspected`);
  const isPending = explanation.writes.length > 0;
  if (isPending && about.wait()) return "again";
  if (isPending && wait !== undefined) {
    terminal.err(`A write for ${formatKey(key)} is still pending after ${wait} s. Check that a syncer is running`);
    exit(EXIT_FAILED);
  }
  const { uid, resourceVersion } = explanation.tenant ?? {};
  const slowed = uid === undefined ? [] : await inspection.slowed({ namespace: key.namespace, uid, resourceVersion, isPending });
  const service = serviceOf(inspection, resource, key);
  if (service !== undefined && assumesPermissions(inspection, preview, service)) reportWarning(terminal, TAKEN_FOR_GRANTED);
  const invisible =
    service === undefined ? [] : await inspectVisibility(terminal, inspection, [service], await inspection.withheld(service));
  const explained = { ...explanation, notes: [...explanation.notes, ...slowed, ...invisible.map(({ note }) => note)] };
  if (isNowhere(explanation)) exit(reportFailure(terminal, notFound({ ...about, key })));
  const { resource: _resource, ...rest } = explained;
  const readers = service === undefined ? undefined : await inspectReaders(inspection, [service]);
  const sources = readers?.services[0]?.sources;
  if (output !== undefined) return terminal.out(formatValue(plain({ kind: resource.kind, ...rest, readers: sources }), output));
  terminal.out(visible(describeExplanation(explained)));
  for (const one of readers?.services ?? []) terminal.out(visible(describeSources(one)));
}

const TAKEN_FOR_GRANTED =
  "backends: auto is evaluated with the permissions of these kubeconfigs. A syncer without permissions on EndpointSlices copies only Endpoints, and its log names the missing permissions";

/** Reports whether slices are pending for the Service. A syncer without permissions on slices never writes them. */
function assumesPermissions({ engine }: Inspection, { writes }: Preview, service: ObjectKey): boolean {
  const place = engine.backends === "auto" ? engine.translator.toHost(service, SERVICES) : undefined;
  if (place === undefined) return false;
  return writes.some(({ resource, operation }) => {
    const of = resource === ENDPOINT_SLICES && operation.action === "create" ? serviceOfSlice(operation.object) : undefined;
    return of !== undefined && sameKey(of, place);
  });
}

/**
 * Returns the tenant key for a key that the user passed. If only the host has an object with this key, and it is a copy, returns its
 * source.
 */
function tenantKeyOf({ resource, key, inspection }: About): ObjectKey {
  const copy = inspection.host.now(resource, key);
  if (copy === undefined || inspection.tenant.now(resource, key) !== undefined) return key;
  const rules = inspection.rules.find(({ kind }) => kind.resource === resource)!;
  const source = ourMarkers(rules, copy, resource);
  return source === undefined ? key : { namespace: source.namespace, name: source.name };
}

function isNowhere({ tenant, host, orphans }: ObjectExplanation): boolean {
  return tenant === undefined && host?.whose !== "copy" && orphans.length === 0;
}

/** Returns the error for an unknown object. It suggests a similar name in the namespace, or the same name in another namespace. */
function notFound({ resource, key, inspection }: About): EngineError {
  const keys = inspection.tenant.source(resource).list().map(keyOf);
  const inNamespace = keys.filter(({ namespace }) => namespace === key.namespace).map(({ name }) => name);
  const nearest = suggest(key.name, inNamespace);
  const elsewhere =
    keys.find(({ name }) => name === key.name) ?? keys.find(({ namespace, name }) => suggest(formatKey(key), [`${namespace}/${name}`]));
  const meant = nearest === undefined ? elsewhere : { namespace: key.namespace, name: nearest };
  const hint = meant === undefined ? "Check the namespace and the name" : `Did you mean ${formatKey(meant)}?`;
  return new EngineError("API_NOT_FOUND", `The tenant has no ${resource.kind} "${formatKey(key)}", and the host has no copy of it`, {
    details: { hint },
  });
}

/** Returns the key of the Service that the object belongs to, or of the object itself if it is a Service. */
function serviceOf({ rules, tenant }: Inspection, resource: ResourceType, key: ObjectKey): ObjectKey | undefined {
  const object = tenant.before(resource, key);
  return object && rules.find(({ kind }) => kind.resource === resource)!.kind.serviceOf(key, object);
}

/** Removes undefined fields, which YAML cannot represent. */
function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

function notSynced(resource: ResourceType, { kinds, fallback }: Inspection): EngineError {
  const isAsked = resource === ENDPOINT_SLICES && fallback !== undefined;
  const hint = isAsked ? ALLOW_SLICES : kinds.find((kind) => kind.resource === resource)!.whyNotSynced;
  return new EngineError("SYNC_DISABLED", `This syncer does not sync ${resource.kind} objects`, { details: { hint } });
}
