import { loadAll, YAMLException } from "js-yaml";
import { EngineError, messageOf } from "../../base/errors.ts";
import { isRecord } from "../../base/json.ts";
import type { KubeObject } from "../../kube/object/types.ts";
import type { Terminal } from "../process/terminal.ts";

/** Maximum number of values in one file, including those that aliases repeat: ten lines can expand to a billion. */
const VALUES_MAX = 1_000_000;

/**
 * Reads the Kubernetes objects of a YAML or JSON file: every document, and the items of lists.
 *
 * @throws CONFIG_FILE when the file cannot be read.
 * @throws CONFIG_SYNTAX when it is neither YAML nor JSON, or contains something that is not a Kubernetes object.
 */
export async function readObjects(terminal: Terminal, path: string): Promise<KubeObject[]> {
  const documents = parseDocuments(await terminal.read(path), path);
  refuseBomb(documents, path);
  return documents.flatMap((document, index) => {
    const objects = document === null || document === undefined ? [] : flatten(document, path);
    for (const object of objects) PLACES.set(object, `"${path}", document ${index + 1}`);
    return objects;
  });
}

const PLACES = new WeakMap<KubeObject, string>();

/** Returns where {@link readObjects} found an object, for messages: `"objects.yaml", document 2`. */
export function documentOf(object: KubeObject): string | undefined {
  return PLACES.get(object);
}

/** Reads the objects of several files, in order. @throws as {@link readObjects}. */
export async function readFiles(terminal: Terminal, paths: readonly string[]): Promise<KubeObject[]> {
  return (await Promise.all(paths.map((path) => readObjects(terminal, path)))).flat();
}

/**
 * Reads a file that contains exactly one object.
 *
 * @throws USAGE when there is none or more than one; errors of {@link readObjects}.
 */
export async function readObject(terminal: Terminal, path: string): Promise<KubeObject> {
  const objects = await readObjects(terminal, path);
  if (objects.length === 1) return objects[0]!;
  throw new EngineError("USAGE", `Cannot use "${path}": expected exactly one object, found ${objects.length}`, {
    details: { hint: "Copy the intended object into a separate file" },
  });
}

/** Kind and key of an object, for messages: `Endpoints shop/web`. */
export function displayName({ kind, metadata }: KubeObject): string {
  return [kind, [metadata.namespace, metadata.name].filter(Boolean).join("/")].filter(Boolean).join(" ");
}

function parseDocuments(text: string, path: string): unknown[] {
  try {
    return loadAll(text, { filename: path });
  } catch (error) {
    // The parser may also throw errors of other types.
    const { reason, mark } = error instanceof YAMLException ? error : { reason: messageOf(error), mark: undefined };
    const place = mark === undefined ? "" : ` at line ${mark.line + 1}, column ${mark.column + 1}`;
    throw new EngineError("CONFIG_SYNTAX", `Cannot parse "${path}"${place}: ${reason}`, { cause: error });
  }
}

function refuseBomb(documents: readonly unknown[], path: string): void {
  let left = VALUES_MAX;
  const count = (value: unknown): void => {
    left -= 1;
    if (left < 0) throw new EngineError("CONFIG_SYNTAX", `Cannot use "${path}": it contains more than ${VALUES_MAX} values`);
    if (typeof value === "object" && value !== null) Object.values(value).forEach(count);
  };
  documents.forEach(count);
}

/**
 * Returns the objects of a document: itself, or the items of a List. Items of a typed list such as `EndpointsList` have no kind of their
 * own.
 */
function flatten(document: unknown, path: string): KubeObject[] {
  if (!isRecord(document) || typeof document["kind"] !== "string" || typeof document["apiVersion"] !== "string") {
    const hint = "Every document needs apiVersion and kind, as in the output of kubectl get -o yaml";
    throw new EngineError("CONFIG_SYNTAX", `Cannot use "${path}": found a document that is not a Kubernetes object`, { details: { hint } });
  }
  const { apiVersion, kind, metadata, items } = document;
  if (kind.endsWith("List") && Array.isArray(items)) {
    const own = kind === "List" ? {} : { apiVersion, kind: kind.slice(0, -"List".length) };
    return items.flatMap((item) => flatten(isRecord(item) ? { ...own, ...item } : item, path));
  }
  return [{ ...document, apiVersion: String(apiVersion), kind: String(kind), metadata: isRecord(metadata) ? metadata : {} }];
}
