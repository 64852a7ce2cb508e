import { suggest } from "../../../base/suggest.ts";
import type { Path, Segment } from "../../path/path.ts";
import type { SyncedKind } from "../../reconcile/rules/rules.ts";
import { startOf, type Node } from "../../../schema/node.ts";
import type { Report } from "../../../schema/problem.ts";
import type { ObjectSchema, Schema } from "../../../schema/schema.ts";

/** Fault of a path, and its correction. */
interface Misfit {
  readonly message: string;
  readonly hint: string;
}

/** Warns about a path that finds nothing in any object of the kind: patches with such paths are skipped silently. */
export function warnOfUnknownField(path: Path, at: { kind: SyncedKind; node: Node; field: string; report: Report }): void {
  const { kind, node, field, report } = at;
  const misfit = misfitOf(path.segments, kind);
  if (misfit !== undefined) report.warning({ code: "CONFIG_VALUE", at: startOf(node), field, ...misfit });
}

function misfitOf(segments: readonly Segment[], kind: SyncedKind): Misfit | undefined {
  let { schema }: { schema: Schema } = kind;
  let name = kind.resource.kind;
  for (const [index, segment] of segments.entries()) {
    const next = stepInto(schema, segment, { name, deeper: segments.slice(index) });
    if (next === undefined || "message" in next) return next;
    schema = next.schema;
    if (segment.kind === "key") name = segment.key;
  }
  return undefined;
}

/** Returns undefined if nothing more is known about the shape. */
function stepInto(
  schema: Schema,
  segment: Segment,
  { name, deeper }: { name: string; deeper: readonly Segment[] },
): Misfit | { readonly schema: Schema } | undefined {
  switch (schema.type) {
    case "list":
      if (segment.kind !== "key") return { schema: schema.items };
      return { message: `The path finds nothing: ${name} is a list`, hint: `Write ${name}[*] for all its elements` };
    case "map":
      return deeper.length > 1 && !isNested(schema.values) ? belowText(name, deeper) : { schema: schema.values };
    case "object":
      return segment.kind === "key" ? memberOf(schema, segment.key, name) : undefined;
    default:
      return undefined;
  }
}

function isNested({ type }: Schema): boolean {
  return type === "list" || type === "map" || type === "object";
}

function memberOf({ fields }: ObjectSchema, key: string, name: string): Misfit | { readonly schema: Schema } {
  if (Object.hasOwn(fields, key)) return { schema: fields[key]! };
  const names = Object.keys(fields);
  const meant = suggest(key, names);
  const hint = meant === undefined ? `Known fields: ${names.join(", ")}` : `Did you mean ${JSON.stringify(meant)}?`;
  return { message: `The path finds nothing: there is no ${JSON.stringify(key)} in ${name}`, hint };
}

/** The usual cause is an unquoted key that contains dots. */
function belowText(name: string, deeper: readonly Segment[]): Misfit {
  const keys = deeper.flatMap((segment) => (segment.kind === "key" ? [segment.key] : []));
  const hint =
    keys.length === deeper.length ? `Quote a key with dots: ${name}[${JSON.stringify(keys.join("."))}]` : "Omit the rest of the path";
  return { message: `The path finds nothing: ${name} are strings, which have no fields`, hint };
}
