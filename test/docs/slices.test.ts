/**
 * `docs/guides/sync-endpoint-slices.md`: its configuration is valid without a warning, its permissions are what the sync needs, and
 * its labels are those of the source. Its command is run as it stands.
 */
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { load } from "js-yaml";
import { expect, test } from "vitest";
import { startCluster } from "../../src/cluster/cluster.ts";
import { parseConfig } from "../../src/engine/config/config.ts";
import { ENDPOINT_SLICES, ENDPOINTS, groupOf, NAMESPACES } from "../../src/kube/object/resource.ts";
import { SERVICE_NAME, SKIP_MIRROR, SLICE_MANAGER, sliceManager } from "../../src/engine/kinds/slice-labels.ts";
import { DEFAULT_MARKER_PREFIX, MANAGED_BY } from "../../src/engine/translate/markers.ts";
import { hasKubectl } from "../support/guide-shell.ts";
import { blocksOf } from "../support/markdown.ts";

const PAGE = readFileSync(join(resolve(import.meta.dirname, "../.."), "docs/guides/sync-endpoint-slices.md"), "utf8");

function block(word: string): string {
  const found = blocksOf(PAGE).find(({ words }) => words.includes(word));
  if (found === undefined) throw new Error(`No block ${word}`);
  return found.text;
}

test("the configuration syncs slices, without a warning", () => {
  const result = parseConfig(block("vcluster.yaml"));
  expect(result).toMatchObject({ ok: true, warnings: [], config: { endpointSlices: { enabled: true, configured: true } } });
});

test.each([
  { block: "tenant-rule", verbs: ["get", "list", "watch", "update"] },
  { block: "host-rule", verbs: ["list", "watch", "create", "update", "delete"] },
])("$block allows $verbs on slices and nothing else", ({ block: word, verbs }) => {
  expect(load(block(word))).toEqual({ apiGroups: [groupOf(ENDPOINT_SLICES)], resources: [ENDPOINT_SLICES.plural], verbs });
});

test("auto-rule allows to read copies of Endpoints and slices, as is asked for at the start", () => {
  expect(load(block("auto-rule"))).toEqual({
    apiGroups: ["", "discovery.k8s.io"],
    resources: [ENDPOINTS.plural, ENDPOINT_SLICES.plural],
    verbs: ["get"],
  });
});

test("labels are named as the source names them", () => {
  for (const label of [SERVICE_NAME, SKIP_MIRROR, SLICE_MANAGER]) expect(PAGE).toContain(label);
  const manager = `${SLICE_MANAGER}=${sliceManager(DEFAULT_MARKER_PREFIX)}`;
  expect(PAGE).toContain(`${DEFAULT_MARKER_PREFIX}${MANAGED_BY}=blue,${manager}`);
});

/** Not blocking: the cluster lives in this process. */
const bash = promisify(execFile);

test.runIf(hasKubectl)("the last command takes away the copies of slices, and nothing else", async () => {
  const host = await startCluster({ name: "host" });
  const folder = mkdtempSync(join(tmpdir(), "endpoint-sync-slices-guide-"));
  try {
    writeFileSync(join(folder, "host.kubeconfig"), host.kubeconfig);
    await host.client.create(NAMESPACES, { apiVersion: "v1", kind: "Namespace", metadata: { name: "vc-blue" } });
    const managers = { ours: sliceManager(DEFAULT_MARKER_PREFIX), mirrored: "endpointslicemirroring-controller.k8s.io" };
    for (const [name, manager] of Object.entries(managers)) {
      const labels = { [`${DEFAULT_MARKER_PREFIX}${MANAGED_BY}`]: "blue", [SLICE_MANAGER]: manager };
      const { apiVersion, kind } = ENDPOINT_SLICES;
      const metadata = { namespace: "vc-blue", name, labels };
      await host.client.create(ENDPOINT_SLICES, { apiVersion, kind, metadata, addressType: "IPv4", endpoints: [], ports: [] });
    }
    const { text } = blocksOf(PAGE).find(({ language }) => language === "sh")!;
    const { stdout } = await bash("bash", ["-e", "-c", text], { cwd: folder });
    expect(stdout.match(/"(\w+)" deleted/g)).toEqual(['"ours" deleted']);
  } finally {
    await host.stop();
    rmSync(folder, { recursive: true });
  }
});
