/**
 * The overlays of `deploy/` as kubectl builds them.
 */
import { execFileSync } from "node:child_process";
import { join, resolve } from "node:path";
import { loadAll } from "js-yaml";
import type { KubeObject } from "../../src/kube/object/types.ts";
import { findKubectls } from "../suites/kubectl/find-kubectl.ts";

const FOLDER = resolve(import.meta.dirname, "../../deploy");

/** The newest kubectl of this machine; undefined when there is none. */
export const kubectlPath: string | undefined = findKubectls(process.env).at(-1)?.path;

/** The folder of an overlay, such as `sidecar/single-namespace`. */
export function folderOf(overlay: string): string {
  return join(FOLDER, overlay);
}

/** What an overlay makes. */
export function build(overlay: string): readonly KubeObject[] {
  const text = execFileSync(kubectlPath!, ["kustomize", folderOf(overlay)], { encoding: "utf8" });
  return loadAll(text) as KubeObject[];
}

/** The objects of one kind among those that an overlay makes. */
export function ofKind<T = KubeObject>(objects: readonly KubeObject[], kind: string): readonly (KubeObject & T)[] {
  return objects.filter((object) => object["kind"] === kind) as (KubeObject & T)[];
}
