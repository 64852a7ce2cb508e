/**
 * The rules of `sync.toHost.namespaces.mappings.byName`: `tenant: host`, both exact, or both a prefix followed by one `*`, which matches
 * the same text on both sides. The virtual cluster has the same rules, so that one file is valid for both.
 *
 * @module
 */
import { fieldPath } from "../../schema/field.ts";
import { keyStartOf, startOf, textOf, valueAt, type MapEntry, type Node } from "../../schema/node.ts";
import type { Position, Report } from "../../schema/problem.ts";
import { sharedNamespace } from "./shared-namespaces.ts";

/** Name and host namespace of the virtual cluster. */
export interface VclusterIdentity {
  readonly name: string;
  readonly namespace: string;
}

/** Maximum length of the text before the `*`, with `${name}` filled in. The rest of the name is for the text that `*` matches. */
const PREFIX_MAX = 32;

const PLACEHOLDER = "${name}";
const FIELD = "sync.toHost.namespaces.mappings.byName";

const NOT_SHARED = "Two tenant namespaces cannot share a host namespace";

/** One side of a mapping. */
interface Side {
  readonly written: string;
  /** The same with `${name}` filled in. */
  readonly text: string;
  readonly at: Position;
  readonly field: string;
  readonly of: "tenant" | "host";
}

/**
 * Checks the mappings if `enabled` is true; the code of every problem is CONFIG_VALUE. Without `vcluster`, `${name}` counts as one
 * letter, and the host namespace of the virtual cluster is not compared.
 */
export function checkNamespaces(section: Node | undefined, options: { report: Report; vcluster?: VclusterIdentity | undefined }): void {
  const enabled = valueAt(section, "enabled");
  if (enabled?.kind !== "scalar" || enabled.value !== true) return;
  const byName = valueAt(valueAt(section, "mappings"), "byName");
  const entries = byName?.kind === "map" ? [...byName.entries] : [];
  if (entries.length === 0) return reportEmpty(byName ?? enabled, options.report);
  const name = options.vcluster?.name;
  const sides = entries.map(([key, entry]) => sidesOf({ key, entry, name: name ?? "v" }));
  for (const pair of sides) checkPair(pair, options);
  checkTwice(
    sides.map(([tenant]) => tenant),
    options.report,
  );
  checkTwice(
    sides.flatMap(([, host]) => host ?? []),
    options.report,
  );
  checkShared(sides, options);
}

/**
 * The mappings with `${name}` filled in on both sides.
 *
 * @example
 * fillName({ "team-*": "${name}-team-*" }, "blue"); // { "team-*": "blue-team-*" }
 */
export function fillName(byName: Readonly<Record<string, string>>, name: string): Record<string, string> {
  const filled = Object.create(null) as Record<string, string>;
  for (const [tenant, host] of Object.entries(byName)) filled[fill(tenant, name)] = fill(host, name);
  return filled;
}

function fill(text: string, name: string): string {
  return text.replaceAll(PLACEHOLDER, () => name);
}

function sidesOf({ key, entry, name }: { key: string; entry: MapEntry; name: string }): [Side, Side | undefined] {
  const field = fieldPath(FIELD, key);
  const tenant: Side = { written: key, text: fill(key, name), at: keyStartOf(entry), field, of: "tenant" };
  const host = textOf(entry.value);
  if (host === undefined) return [tenant, undefined];
  return [tenant, { written: host, text: fill(host, name), at: startOf(entry.value), field, of: "host" }];
}

function reportEmpty(node: Node, report: Report): void {
  const hint = 'Write at least one entry, such as "team-*": "${name}-team-*", or set enabled to false';
  report.error({ code: "CONFIG_VALUE", at: startOf(node), field: FIELD, message: "Namespace mapping is enabled but empty", hint });
}

type Options = { readonly report: Report; readonly vcluster?: VclusterIdentity | undefined };

function checkPair([tenant, host]: [Side, Side | undefined], { report, vcluster }: Options): void {
  for (const side of host === undefined ? [tenant] : [tenant, host]) {
    const problem = sideProblem(side);
    if (problem !== undefined) refuse(report, side, problem);
  }
  if (host === undefined) return;
  if (isPattern(tenant) !== isPattern(host)) {
    return refuse(report, host, "Expected both sides to end in *, or neither", "Map a pattern to a pattern, or a name to a name");
  }
  if (host.text === "*")
    return refuse(
      report,
      host,
      'Expected text before the "*" of the host side',
      "Write a prefix that no other tenant uses, such as ${name}-*",
    );
  if (vcluster !== undefined && covers(host, vcluster.namespace)) {
    refuse(report, host, `Expected a host namespace other than ${JSON.stringify(vcluster.namespace)}, in which the virtual cluster runs`);
  }
}

function sideProblem({ written, text, of }: Side): string | undefined {
  if (written === "") return `Expected a ${of} namespace, found an empty string`;
  if (written.split(PLACEHOLDER).length > 2) return `Found ${PLACEHOLDER} twice in ${JSON.stringify(written)}`;
  if (written.replaceAll(PLACEHOLDER, "").includes("${"))
    return `Expected no placeholder other than ${PLACEHOLDER} in ${JSON.stringify(written)}`;
  if (!text.includes("*"))
    return /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(text)
      ? undefined
      : `Expected the name of a ${of} namespace, found ${JSON.stringify(written)}`;
  const prefix = text.slice(0, -1);
  if (!text.endsWith("*") || prefix.includes("*")) return `Expected one "*", at the end, found ${JSON.stringify(written)}`;
  if (prefix.length > PREFIX_MAX)
    return `Expected at most ${PREFIX_MAX} characters before the "*", found ${prefix.length} in ${JSON.stringify(prefix)}`;
  return /^([a-z0-9][-a-z0-9]*)?$/.test(prefix) ? undefined : `Expected a prefix of a ${of} namespace, found ${JSON.stringify(written)}`;
}

function checkTwice(sides: readonly Side[], report: Report): void {
  const seen = new Set<string>();
  for (const side of sides) {
    const hint = side.of === "host" ? NOT_SHARED : "Remove one of the two entries";
    if (seen.has(side.text)) refuse(report, side, `The ${side.of} namespace ${JSON.stringify(side.text)} is mapped twice`, hint);
    seen.add(side.text);
  }
}

/** Reports tenant namespaces that would share a host namespace. Skips invalid entries, and entries with `${name}` if it is unknown. */
function checkShared(sides: readonly (readonly [Side, Side | undefined])[], { report, vcluster }: Options): void {
  const isSound = (side: Side) => sideProblem(side) === undefined && (vcluster !== undefined || !side.written.includes(PLACEHOLDER));
  const sound = sides.flatMap(([tenant, host]) => {
    if (host === undefined || !isSound(tenant) || !isSound(host) || isPattern(tenant) !== isPattern(host)) return [];
    const refused = host.text === "*" || (vcluster !== undefined && covers(host, vcluster.namespace));
    return refused ? [] : [{ line: tenant.at.line, side: host, tenant: tenant.text, host: host.text }];
  });
  for (const [index, later] of sound.entries()) {
    for (const earlier of sound.slice(0, index)) {
      const shared = later.host === earlier.host ? undefined : sharedNamespace(earlier, later, sound);
      if (shared === undefined) continue;
      const [one, other] = shared.tenants.map((name) => JSON.stringify(name));
      const where = `because of the mapping at line ${earlier.line} and this one`;
      refuse(
        report,
        later.side,
        `The tenant namespaces ${one} and ${other} would share ${JSON.stringify(shared.host)} ${where}`,
        NOT_SHARED,
      );
      break;
    }
  }
}

function isPattern({ text }: Side): boolean {
  return text.includes("*");
}

function covers({ text }: Side, namespace: string): boolean {
  return text.endsWith("*") ? namespace.startsWith(text.slice(0, -1)) : text === namespace;
}

function refuse(report: Report, { at, field }: Side, message: string, hint = ""): void {
  report.error({ code: "CONFIG_VALUE", at, field, message, hint });
}
