import { dump } from "js-yaml";

/** How structured output is written. */
export type OutputFormat = "yaml" | "json";

/** One value as YAML or as indented JSON, with its line end. */
export function formatValue(value: unknown, format: OutputFormat): string {
  return format === "json" ? `${JSON.stringify(value, null, 2)}\n` : dump(value, { lineWidth: -1, noRefs: true });
}

/** Several objects: YAML documents, or in JSON one object as itself and more as a List. */
export function formatObjects(objects: readonly unknown[], format: OutputFormat): string {
  if (format === "yaml") return objects.map((object) => formatValue(object, "yaml")).join("---\n");
  return formatValue(objects.length === 1 ? objects[0] : { apiVersion: "v1", kind: "List", items: objects }, "json");
}

/**
 * Columns padded to the widest cell, two spaces apart.
 *
 * @example
 * formatTable([["NAME", "AGE"], ["web", "3s"]]); // "NAME  AGE\nweb   3s\n"
 */
export function formatTable(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_cell, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows
    .map(
      (row) =>
        `${row
          .map((cell, column) => cell.padEnd(widths[column]!))
          .join("  ")
          .trimEnd()}\n`,
    )
    .join("");
}
