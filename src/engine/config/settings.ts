import { decode } from "../../schema/decode.ts";
import { fieldPath, indexPath } from "../../schema/field.ts";
import { keyStartOf, startOf, textOf, valueAt, type Node } from "../../schema/node.ts";
import { objectToNode } from "../../schema/object-node.ts";
import { Report, sortProblems, type Problem } from "../../schema/problem.ts";
import { defaultOf, type Infer } from "../../schema/schema.ts";
import { readYaml } from "../../schema/yaml.ts";
import { cidrProblem, isCovered } from "./cidr.ts";
import { SETTINGS_SCHEMA } from "./settings-schema.ts";

/** The engine's own settings, with all defaults filled in. `SETTINGS_SCHEMA` describes each of them. */
export type Settings = Infer<typeof SETTINGS_SCHEMA>;

/** Settings, or all of their problems. */
export type SettingsResult =
  | { readonly ok: true; readonly settings: Settings; readonly warnings: readonly Problem[] }
  | { readonly ok: false; readonly problems: readonly Problem[] };

/** Settings of an empty file. */
export const DEFAULT_SETTINGS = deepFreeze(defaultOf(SETTINGS_SCHEMA)) as Settings;

/**
 * Reads a settings file. Problems have the codes of `readYaml` and `decode`, and CONFIG_VALUE for contradictions.
 *
 * Warns if `addressPolicy.allow` is empty, because the tenant may then point host clients at any address (CVE-2021-25740). Also warns if
 * `addressPolicy.deny` contains all of it, because no address is then copied.
 *
 * @example
 * const result = parseSettings("onError: skip-patch\n", { file: "settings.yaml" });
 * result.ok && result.settings.onError; // "skip-patch"
 */
export function parseSettings(text: string, options: { file?: string } = {}): SettingsResult {
  const report = new Report();
  const node = readYaml(text, { file: options.file ?? "settings.yaml", report });
  return node === undefined ? { ok: false, problems: report.problems } : resolve(node, report);
}

/**
 * Reads settings from parsed data, with positions 0:0.
 *
 * @example
 * resolveSettings({ limits: { fuel: 1_000_000 } });
 */
export function resolveSettings(object: unknown, options: { file?: string } = {}): SettingsResult {
  const report = new Report();
  return resolve(objectToNode(object, { file: options.file ?? "<object>", report }), report);
}

/**
 * Reads settings from a part of a larger document.
 *
 * @example
 * const result = resolveSettingsNode(valueAt(document, "settings")!);
 */
export function resolveSettingsNode(node: Node): SettingsResult {
  return resolve(node, new Report());
}

function resolve(node: Node, report: Report): SettingsResult {
  const settings = decode(SETTINGS_SCHEMA, node, { report });
  checkCidrs(node, report);
  checkSelector(valueAt(node, "selector"), report);
  checkElection(valueAt(node, "leaderElection"), { settings, report });
  if (report.failed || settings === undefined) return { ok: false, problems: sortProblems(report.problems) };
  warnOfOpenPolicy(node, { settings, report });
  warnOfClosedPolicy(node, { settings, report });
  return { ok: true, settings, warnings: sortProblems(report.problems) };
}

function checkCidrs(node: Node, report: Report): void {
  for (const name of ["allow", "deny"]) {
    const list = valueAt(valueAt(node, "addressPolicy"), name);
    for (const [index, item] of (list?.kind === "list" ? list.items : []).entries()) {
      const text = textOf(item);
      const problem = text === undefined ? undefined : cidrProblem(text);
      if (problem === undefined) continue;
      const message = `Expected a CIDR, found ${JSON.stringify(text)}: ${problem}`;
      report.error({ code: "CONFIG_VALUE", at: startOf(item), field: indexPath(`addressPolicy.${name}`, index), message });
    }
  }
}

/** The rules of client-go: a leader stops before others begin, and has time for a second attempt. */
function checkElection(node: Node | undefined, { settings, report }: { settings: Settings | undefined; report: Report }): void {
  // A value of the wrong type counts as absent; it is reported already.
  const times = settings?.leaderElection as Partial<Settings["leaderElection"]> | undefined;
  if (node === undefined || times === undefined) return;
  const { leaseDurationSeconds = Infinity, renewDeadlineSeconds = 1, retryPeriodSeconds = 0 } = times;
  const refuse = (name: string, message: string) => {
    const at = startOf(valueAt(node, name) ?? node);
    report.error({ code: "CONFIG_VALUE", at, field: fieldPath("leaderElection", name), message });
  };
  if (renewDeadlineSeconds >= leaseDurationSeconds) refuse("renewDeadlineSeconds", "Expected less than leaseDurationSeconds");
  if (1.2 * retryPeriodSeconds >= renewDeadlineSeconds)
    refuse("retryPeriodSeconds", "Expected less than renewDeadlineSeconds divided by 1.2");
}

/** Whether an operator of a label selector needs values; the others take none. */
const NEEDS_VALUES: ReadonlyMap<string, boolean> = new Map([
  ["In", true],
  ["NotIn", true],
  ["Exists", false],
  ["DoesNotExist", false],
]);

function checkSelector(node: Node | undefined, report: Report): void {
  const list = valueAt(node, "matchExpressions");
  for (const [index, item] of (list?.kind === "list" ? list.items : []).entries()) {
    const operator = textOf(valueAt(item, "operator"));
    const values = valueAt(item, "values");
    const found = values?.kind === "list" ? values.items.length : 0;
    const wanted = NEEDS_VALUES.get(operator ?? "");
    // An unknown operator is reported already.
    if (wanted === undefined || wanted === found > 0) continue;
    const message = wanted ? `The operator ${operator} needs values` : `The operator ${operator} takes no values`;
    report.error({
      code: "CONFIG_VALUE",
      at: startOf(values ?? item),
      field: fieldPath(indexPath("selector.matchExpressions", index), "values"),
      message,
    });
  }
}

function warnOfOpenPolicy(node: Node, { settings, report }: { settings: Settings; report: Report }): void {
  if (settings.addressPolicy.allow.length > 0) return;
  const section = node.kind === "map" ? node.entries.get("addressPolicy") : undefined;
  const message = "The tenant can point host clients at any address (CVE-2021-25740), because allow is empty";
  const hint = "List the CIDRs of the tenant's pods, as they are after the patches";
  const at = section === undefined ? startOf(node) : keyStartOf(section);
  report.warning({ code: "CONFIG_VALUE", at, field: "addressPolicy.allow", message, hint });
}

/** Warns if `deny` contains everything that `allow` permits. */
function warnOfClosedPolicy(node: Node, { settings, report }: { settings: Settings; report: Report }): void {
  const { allow, deny } = settings.addressPolicy;
  if (allow.length === 0 || !allow.every((cidr) => isCovered(cidr, deny))) return;
  const section = valueAt(node, "addressPolicy")!;
  const message = "No address is copied, because addressPolicy.deny covers every address that allow permits, and deny takes precedence";
  const hint = "Remove the CIDRs of the tenant's pods from deny, or list other CIDRs in allow";
  report.warning({ code: "CONFIG_VALUE", at: startOf(valueAt(section, "allow")!), field: "addressPolicy.allow", message, hint });
}

/** Freezes a value and everything in it, because all settings share the lists of the defaults. */
function deepFreeze(value: unknown): unknown {
  if (typeof value === "object" && value !== null) Object.values(Object.freeze(value)).forEach(deepFreeze);
  return value;
}
