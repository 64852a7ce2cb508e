import { isRecord } from "../../../base/json.ts";
import type { KubeObject } from "../../../kube/object/types.ts";
import { startOf, toJson, valueAt, type Node } from "../../../schema/node.ts";
import type { ProblemInput, Report } from "../../../schema/problem.ts";
import { readYaml } from "../../../schema/yaml.ts";
import type { TextName } from "../protocol.ts";

/** A Kubernetes object, with its node in the text. */
export interface ReadObject {
  readonly object: KubeObject;
  readonly node: Node;
}

/**
 * The Kubernetes objects of a text: every YAML document, and the items of lists. Reports anything else as a problem.
 *
 * @example
 * readObjectsOfText("apiVersion: v1\nkind: Endpoints\nmetadata: { name: web }\n", { file: "tenant", report })[0].object.kind; // "Endpoints"
 */
export function readObjectsOfText(text: string, { file, report }: { readonly file: TextName; readonly report: Report }): ReadObject[] {
  const documents = documentsOf(text);
  if (documents === undefined) {
    const message = `Found more than ${DOCUMENTS_MAX} documents`;
    report.error({ code: "CONFIG_SYNTAX", at: { file, line: 1, column: 1 }, field: "", message, hint: "Keep only what the patches need" });
    return [];
  }
  return documents
    .map((document) => readYaml(document, { file, report }))
    .filter((node) => node !== undefined)
    .filter((node) => node.kind !== "map" || node.entries.size > 0)
    .flatMap((node) => objectsOf(node, {}, report));
}

/** Maximum number of documents in one text, because each costs as much as all lines before it. */
const DOCUMENTS_MAX = 100;

/**
 * Splits a text into its documents. Each one starts with as many empty lines as there are lines before it, so that its positions are those
 * of the whole text. Returns undefined if there are too many documents.
 */
function documentsOf(text: string): string[] | undefined {
  const lines = text.split(/\r\n|\r|\n/);
  const starts = [0, ...lines.flatMap((line, index) => (/^---(\s|$)/.test(line) ? [index + 1] : []))];
  if (starts.length > DOCUMENTS_MAX) return undefined;
  return starts.map((start, index) => {
    const end = starts[index + 1] === undefined ? lines.length : starts[index + 1]! - 1;
    return "\n".repeat(start) + lines.slice(start, end).join("\n");
  });
}

/** The objects of a document. A list from an API server, unlike one from kubectl, has items without apiVersion and kind. */
function objectsOf(node: Node, defaults: Partial<KubeObject>, report: Report): ReadObject[] {
  const data = { ...defaults, ...(toJson(node) as KubeObject) };
  const items = valueAt(node, "items");
  if (typeof data.kind === "string" && data.kind.endsWith("List") && items?.kind === "list") {
    const own = data.kind === "List" ? {} : { apiVersion: data.apiVersion, kind: data.kind.slice(0, -"List".length) };
    return items.items.flatMap((item) => objectsOf(item, own, report));
  }
  const wrong = problemOf(node, data);
  if (wrong !== undefined) report.error(wrong);
  return wrong === undefined ? [{ object: data, node }] : [];
}

function problemOf(node: Node, data: KubeObject): ProblemInput | undefined {
  const at = startOf(node);
  if (node.kind !== "map") return { code: "CONFIG_TYPE", at, field: "", message: "Expected a Kubernetes object" };
  for (const field of ["apiVersion", "kind"] as const) {
    if (typeof data[field] === "string") continue;
    const hint = "Every object needs apiVersion and kind, as in the output of kubectl get -o yaml";
    return { code: "CONFIG_REQUIRED", at, field, message: `Expected ${field}`, hint };
  }
  if (!isRecord(data.metadata) || typeof data.metadata["name"] !== "string" || data.metadata["name"] === "")
    return { code: "CONFIG_REQUIRED", at, field: "metadata.name", message: "Expected metadata with a name" };
  return mapProblem(valueAt(node, "metadata")!);
}

/** Checks the parts of metadata that the syncer relies on. An API server would refuse an object in which they are wrong. */
function mapProblem(metadata: Node): ProblemInput | undefined {
  const namespace = valueAt(metadata, "namespace");
  if (namespace !== undefined && (namespace.kind !== "scalar" || typeof namespace.value !== "string"))
    return { code: "CONFIG_TYPE", at: startOf(namespace), field: "metadata.namespace", message: "Expected a string" };
  for (const field of ["labels", "annotations"]) {
    const map = valueAt(metadata, field);
    if (map === undefined) continue;
    if (map.kind !== "map")
      return { code: "CONFIG_TYPE", at: startOf(map), field: `metadata.${field}`, message: "Expected a map of strings" };
    for (const [key, { value }] of map.entries) {
      if (value.kind === "scalar" && typeof value.value === "string") continue;
      const hint = "Put quotes around the value";
      return { code: "CONFIG_TYPE", at: startOf(value), field: `metadata.${field}.${key}`, message: "Expected a string", hint };
    }
  }
  return undefined;
}
