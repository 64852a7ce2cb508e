/**
 * Checks across the patches of one list, and across lists.
 *
 * @module
 */
import { fieldPath } from "../../../schema/field.ts";
import { keyStartOf, startOf, textOf, valueAt, type MapNode, type Node } from "../../../schema/node.ts";
import type { Report } from "../../../schema/problem.ts";
import { bodyFields } from "../../reconcile/rules/kind-description.ts";
import type { SyncedKind } from "../../reconcile/rules/rules.ts";
import { effectiveBackends, type BackendsMode } from "../backends-mode.ts";
import type { PatchRules } from "./patch-rules.ts";
import type { CheckedPatch } from "./patches.ts";

/**
 * Warns about every `reverseExpression` that can never run because it is at or below a body that is synced back from the host. Such a body
 * is synced back as one value, and only if every patch there can be undone.
 */
export function warnOfDeadReverses(kind: SyncedKind, patches: readonly CheckedPatch[], report: Report): void {
  if (!kind.bodyFlows) return;
  const fields = bodyFields(kind);
  const isBelow = ({ path }: CheckedPatch) => path?.segments[0]?.kind === "key" && fields.includes(path.segments[0].key);
  const below = patches.filter(isBelow);
  const oneWay = below.find(({ node }) => node.entries.has("expression") && !node.entries.has("reverseExpression"));
  for (const { node, field } of below) {
    const reverse = node.entries.get("reverseExpression");
    if (reverse === undefined) continue;
    const unpaired = !node.entries.has("expression");
    if (!unpaired && oneWay === undefined) continue;
    const cause = unpaired ? "the patch has no expression to undo" : `patches[${oneWay!.index}] has no reverseExpression`;
    const message = `reverseExpression never takes effect: ${kind.bodyInWords} are synced back as one value, and ${cause}`;
    const hint = unpaired
      ? "Add the expression that reverseExpression undoes"
      : `Add a reverseExpression to patches[${oneWay!.index}], or remove the reverseExpression here`;
    report.warning({ code: "CONFIG_VALUE", at: keyStartOf(reverse), field: fieldPath(field, "reverseExpression"), message, hint });
  }
}

/**
 * Checks the sections against the setting `backends`: it is an error if the file disables slices that the setting requires, and
 * a warning if something never takes effect.
 */
export function checkBackends(toHost: Node | undefined, { report, settings }: PatchRules): void {
  const slices = valueAt(toHost, "endpointSlices");
  const refused = slices?.kind === "map" ? valueAt(slices, "enabled") : undefined;
  const switchedOff = valueAt(valueAt(toHost, "endpoints"), "enabled");
  const backends = effectiveBackends(settings.backends, {
    endpoints: { enabled: !isFalse(switchedOff) },
    endpointSlices: { configured: slices?.kind === "map" },
  });
  if (backends !== "endpoints" && isFalse(refused)) {
    const message = `Cannot disable slices, because the settings contain backends: ${backends}`;
    const hint = "Remove enabled: false, or set backends: endpoints";
    report.error({ code: "CONFIG_VALUE", at: startOf(refused!), field: "sync.toHost.endpointSlices.enabled", message, hint });
  }
  const written = { slices: backends !== "endpoints" || (slices?.kind === "map" && !isFalse(refused)), endpoints: backends !== "slices" };
  if (isFalse(switchedOff)) return written.slices ? warnOfNoBackends(switchedOff!, backends, report) : undefined;
  if (written.slices && written.endpoints) warnOfUnequalLists(toHost, { backends, report });
  if (!written.endpoints) warnOfIdlePatches(toHost, report);
}

/** Warns that disabling Endpoints disables all backends. For slices without Endpoints, there is the setting `backends`. */
function warnOfNoBackends(at: Node, backends: BackendsMode, report: Report): void {
  const nothing = "Neither Services nor their backends are synced: endpoints.enabled: false takes precedence over the setting backends";
  const message = backends === "endpoints" ? "Copied slices have no host Service: syncing Services requires syncing Endpoints" : nothing;
  const hint = "For slices without Endpoints, set backends: slices in the settings, and remove this field";
  report.warning({ code: "CONFIG_VALUE", at: startOf(at), field: "sync.toHost.endpoints.enabled", message, hint });
}

function warnOfIdlePatches(toHost: Node | undefined, report: Report): void {
  const section = valueAt(toHost, "endpoints");
  if (section?.kind !== "map" || patchCount(section) === 0) return;
  const message = "These patches do nothing: with backends: slices in the settings, no Endpoints are written";
  const at = keyStartOf(section.entries.get("patches")!);
  const hint = SAME_RULES.endpointSlices;
  report.warning({ code: "CONFIG_VALUE", at, field: "sync.toHost.endpoints.patches", message, hint });
}

const SAME_RULES = {
  endpoints: "Write the same patches for endpoints, where the paths of backends begin with subsets, for example subsets[*].addresses[*].ip",
  endpointSlices:
    "Write the same patches for endpointSlices, where the paths of backends begin with endpoints or ports, for example endpoints[*].addresses[*]",
};

/** Fields of a slice that have no counterpart in Endpoints. */
const OF_SLICES_ALONE = /^(?:\$[.])?endpoints\b[^.]*[.](?:zone|hints|deprecatedTopology|conditions[.](?:serving|terminating))\b/;

/** Reports whether the other kind could have a patch for the same data. */
function isForBoth(patch: Node): boolean {
  return !OF_SLICES_ALONE.test(textOf(valueAt(patch, "path")) ?? "");
}

/**
 * Warns when Endpoints and EndpointSlices are both synced and only one of them is patched: they would disagree. With `backends: auto`,
 * patches of Endpoints alone cause no warning: slices are made from the patched copies, and it is not known before the syncer runs which
 * Services have slices of their own.
 */
function warnOfUnequalLists(toHost: Node | undefined, { backends, report }: { backends: BackendsMode; report: Report }): void {
  const patched = (["endpoints", "endpointSlices"] as const).filter((name) => patchCount(valueAt(toHost, name), isForBoth) > 0);
  const [only] = patched;
  if (only === undefined || patched.length > 1 || (only === "endpoints" && backends === "auto")) return;
  const other = only === "endpoints" ? "endpointSlices" : "endpoints";
  const section = valueAt(toHost, only)!;
  const at = section.kind === "map" ? keyStartOf(section.entries.get("patches")!) : startOf(section);
  const message = `Only ${only} has patches for data that both kinds contain, but ${other} is synced too: clients on the host get different data from the two kinds`;
  report.warning({ code: "CONFIG_VALUE", at, field: `sync.toHost.${only}.patches`, message, hint: SAME_RULES[other] });
}

/** Warns about an explicit `services.enabled: true` together with `endpoints.enabled: false`. */
export function warnOfServicesAlone(toHost: Node | undefined, report: Report): void {
  const services = valueAt(valueAt(toHost, "services"), "enabled");
  if (services?.kind !== "scalar" || services.value !== true || !isFalse(valueAt(valueAt(toHost, "endpoints"), "enabled"))) return;
  const message = "Services are not synced: syncing them requires syncing Endpoints, which is disabled";
  const hint = "Set sync.toHost.endpoints.enabled to true, or this field to false";
  report.warning({ code: "CONFIG_VALUE", at: startOf(services), field: "sync.toHost.services.enabled", message, hint });
}

/** Warns about patches in sections whose patches this engine does not apply. */
export function warnOfForeignPatches(toHost: Node | undefined, report: Report): void {
  for (const name of ["secrets", "configMaps", "namespaces"]) {
    const section = valueAt(toHost, name);
    if (section?.kind !== "map" || patchCount(section) === 0) continue;
    const message = "This engine does not apply these patches: only the virtual cluster does";
    report.warning({
      code: "CONFIG_VALUE",
      at: keyStartOf(section.entries.get("patches")!),
      field: `sync.toHost.${name}.patches`,
      message,
    });
  }
}

/** The kinds that are copied for reference patches, with their sections of `sync.toHost`. */
const COPIED_BY_REFERENCE = [
  { apiVersion: "v1", kind: "Secret", section: "secrets" },
  { apiVersion: "v1", kind: "ConfigMap", section: "configMaps" },
];

/**
 * Warns about references to Secrets and ConfigMaps whose direction is not configured: these are copied from the host, while most authors
 * expect the opposite. Each kind is reported once, at the first patch that refers to it.
 */
export function warnOfUncopiedReferences(toHost: Node | undefined, patches: readonly CheckedPatch[], rules: PatchRules): void {
  if (rules.settings.references.mode !== "follow") return;
  for (const { section, ...wanted } of COPIED_BY_REFERENCE) {
    const first = patches.find(({ node }) => refersTo(node, wanted));
    if (first === undefined || valueAt(valueAt(toHost, section), "enabled") !== undefined) continue;
    const setting = `sync.toHost.${section}.enabled`;
    rules.report.warning({
      code: "CONFIG_VALUE",
      at: startOf(valueAt(valueAt(first.node, "reference"), "kind")!),
      field: `${first.field}.reference.kind`,
      message: `The tenant's ${wanted.kind} is not copied to the host, since ${setting} is not set: the host's ${wanted.kind} is copied to the tenant instead`,
      hint: `Set ${setting} to true to copy the tenant's ${wanted.kind}, or to false to copy the host's`,
    });
  }
}

function refersTo(patch: MapNode, wanted: { apiVersion: string; kind: string }): boolean {
  const reference = valueAt(patch, "reference");
  if (reference?.kind !== "map" || reference.entries.has("labels") || patch.entries.has("labels")) return false;
  return (["apiVersion", "kind"] as const).every((name) => textOf(valueAt(reference, name)) === wanted[name]);
}

function patchCount(section: Node | undefined, counts: (patch: Node) => boolean = () => true): number {
  const patches = valueAt(section, "patches");
  return patches?.kind === "list" ? patches.items.filter(counts).length : 0;
}

function isFalse(node: Node | undefined): boolean {
  return node?.kind === "scalar" && node.value === false;
}
