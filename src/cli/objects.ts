import { loadAll, YAMLException } from "js-yaml";
import { EngineError } from "../base/errors.ts";
import { isRecord } from "../base/json.ts";
import type { KubeObject } from "../object/types.ts";
import type { Terminal } from "./terminal.ts";

/**
 * The Kubernetes objects of a YAML or JSON file: every document, and the items of a List.
 *
 * @throws CONFIG_FILE when the file can not be read.
 * @throws CONFIG_SYNTAX when it is neither YAML nor JSON, or holds something that is no Kubernetes object.
 */
export async function readObjects(terminal: Terminal, path: string): Promise<KubeObject[]> {
  const documents = parseDocuments(await terminal.read(path), path).filter((document) => document !== null && document !== undefined);
  return documents.flatMap((document) => flatten(document, path));
}

function parseDocuments(text: string, path: string): unknown[] {
  try {
    return loadAll(text, { filename: path });
  } catch (error) {
    if (error instanceof YAMLException)
      throw new EngineError("CONFIG_SYNTAX", `Cannot parse "${path}": ${error.message}`, { cause: error });
    throw error;
  }
}

function flatten(document: unknown, path: string): KubeObject[] {
  if (isRecord(document) && document["kind"] === "List" && Array.isArray(document["items"])) {
    return document["items"].flatMap((item) => flatten(item, path));
  }
  if (isRecord(document) && typeof document["kind"] === "string" && typeof document["apiVersion"] === "string") {
    const { apiVersion, kind, metadata } = document;
    return [{ ...document, apiVersion: String(apiVersion), kind: String(kind), metadata: isRecord(metadata) ? metadata : {} }];
  }
  throw new EngineError("CONFIG_SYNTAX", `Cannot use "${path}": found a document without apiVersion and kind, wanted Kubernetes objects`);
}
