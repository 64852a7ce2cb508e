import { dump } from "js-yaml";
import { escapeControls } from "../../base/escape-controls.ts";

/** Format of structured output. */
export type OutputFormat = "yaml" | "json";

/** Formats a value as YAML or as indented JSON, with a line end. */
export function formatValue(value: unknown, format: OutputFormat): string {
  return format === "json" ? `${JSON.stringify(value, null, 2)}\n` : dump(value, { lineWidth: -1, noRefs: true });
}

/** Formats several values as YAML documents. */
export function formatDocuments(values: readonly unknown[]): string {
  return values.map((value) => formatValue(value, "yaml")).join("---\n");
}

/** Formats objects as YAML documents, or as JSON: a single object as itself, several objects as a List. */
export function formatObjects(objects: readonly unknown[], format: OutputFormat): string {
  if (format === "yaml") return formatDocuments(objects);
  return formatValue(objects.length === 1 ? objects[0] : { apiVersion: "v1", kind: "List", items: objects }, "json");
}

/**
 * Escapes, as in JSON, the characters of a text that could move the cursor of a terminal or change the reading direction. Names in files
 * and messages of servers are not trusted.
 *
 * @example
 * visible("\u001b[2Jweb"); // "\\u001b[2Jweb"
 */
export function visible(text: string): string {
  return escapeControls(text, /(?![\n\t])\p{C}|[\u2028\u2029]/gu);
}
