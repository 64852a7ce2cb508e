/**
 * `docs/guides/deploy.md`: its commands are run as they stand, in order, against two embedded clusters, one of them with a stand-in for
 * what runs Pods; and its tables of permissions are those of `deploy/`.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { VARIANTS } from "../deploy/install/variants.ts";
import { build, kubectlPath } from "../deploy/overlays.ts";
import { permissionsOf } from "../deploy/roles.ts";
import { etcdVersion, startEtcd, type Etcd } from "../support/etcd.ts";
import { GUIDE_FILES, hasKubectl, openGuideShell, stepsOf, type GuideShell } from "../support/guide-shell.ts";
import { blocksOf } from "../support/markdown.ts";

const ROOT = resolve(import.meta.dirname, "../..");
const PAGE = readFileSync(join(ROOT, "docs/guides/deploy.md"), "utf8");
const SITE = join(ROOT, "test/deploy/site.ts");
const blocks = blocksOf(PAGE);

describe.runIf(hasKubectl)("the commands, in order", () => {
  const withEtcd = new Set(blocks.flatMap(({ words, line }) => (words.includes("etcd") ? [line] : [])));
  const steps = stepsOf(blocks).filter(({ line }) => etcdVersion !== undefined || !withEtcd.has(line));
  let shell: GuideShell;
  let site: ChildProcess | undefined;
  let etcd: Etcd | undefined;

  beforeAll(async () => {
    etcd = etcdVersion === undefined ? undefined : await startEtcd();
    shell = openGuideShell({ ready: /never/ });
    // The guide changes its overlays.
    cpSync(join(GUIDE_FILES, "deploy"), join(shell.folder, "deploy"), { recursive: true });
    const started = spawn(process.execPath, [SITE, shell.folder, ...(etcd === undefined ? [] : [etcd.url])], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    site = started;
    await Promise.race([once(started.stdout, "data"), once(started, "exit").then(([code]) => expect(code).toBe("running"))]);
  });
  afterAll(async () => {
    if (site?.exitCode === null) {
      const over = once(site, "exit");
      site.kill("SIGTERM");
      await over;
    }
    await etcd?.remove();
    await shell?.close();
  });

  const said = () => (existsSync(join(shell.folder, "pods.log")) ? readFileSync(join(shell.folder, "pods.log"), "utf8") : "");

  test("are many", () => expect(steps.length).toBeGreaterThan(15));

  test.each(steps)("line $line", async (step) => {
    await shell.run(step).catch((error: unknown) => {
      throw new Error(`${String(error)}\n${said()}`, { cause: error });
    });
  });

  test("write nothing into the log that is an error", () => {
    const lines = said().split("\n");
    expect(lines.length).toBeGreaterThan(10);
    expect(lines.filter((line) => /"level":"(error|warn)"/.test(line))).toEqual([]);
  });
});

/** The permissions of a table, as `verb resource`, with whether they are required. */
function tableOf(overlay: string, side: string): readonly string[] {
  const [, rows = ""] = new RegExp(`<!-- permissions: ${overlay} ${side} -->\\n\\n((?:\\|.*\\n)+)`).exec(PAGE) ?? [];
  return rows.split("\n").flatMap((row) => {
    const [, permissions = "", , need = ""] = row.split("|").map((cell) => cell.trim());
    const words = [...permissions.matchAll(/`([^`]+)`/g)].map(([, word]) => word!);
    const verbs = words.filter((word) => VERBS.has(word));
    return words.filter((word) => !VERBS.has(word)).flatMap((resource) => verbs.map((verb) => `${verb} ${resource}, ${need}`));
  });
}

const VERBS = new Set(["get", "list", "watch", "create", "update", "delete"]);

/** Everything works without Events, and without knowing which cluster it is; reads of what is referred to may be granted name by name. */
function needOf({ resource, verb }: { readonly resource: string; readonly verb: string }): string {
  const isRead = ["get", "list", "watch"].includes(verb);
  const isOptional = ["events", "namespaces"].includes(resource) || (["secrets", "configmaps"].includes(resource) && isRead);
  return isOptional ? "worth having" : "required";
}

describe.runIf(kubectlPath !== undefined)("the tables of permissions", () => {
  test.each([
    ["sidecar/references-and-slices", "host"],
    ["sidecar/tenant/references-and-slices", "tenant"],
  ])("%s: those of the overlay, and no other", (overlay, side) => {
    const given = permissionsOf(build(overlay)).map((permission) => `${permission.verb} ${permission.resource}, ${needOf(permission)}`);
    expect([...tableOf(overlay, side)].sort()).toEqual([...new Set(given)].sort());
  });

  test("the other overlays give nothing that is not in them", () => {
    const known = (overlay: string) => new Set(permissionsOf(build(overlay)).map(({ verb, resource }) => `${verb} ${resource}`));
    const all = { host: known("sidecar/references-and-slices"), tenant: known("sidecar/tenant/references-and-slices") };
    for (const overlay of ["sidecar/single-namespace", "sidecar/multi-namespace"]) {
      expect([...known(overlay)].filter((permission) => !all.host.has(permission))).toEqual([]);
    }
    expect([...known("sidecar/tenant/basic")].filter((permission) => !all.tenant.has(permission))).toEqual([]);
    for (const overlay of ["management/sqlite", "management/etcd"]) expect([...known(overlay)]).toEqual([]);
  });
});

test("every file of deploy/install is named, those of the first table beside their overlays", () => {
  const beside = [...PAGE.matchAll(/^\| `deploy\/([\w/-]+)` \| [^|]+ \| `([\w-]+)\.yaml` \|$/gm)].map(([, overlay, name]) => [
    name,
    overlay,
  ]);
  expect(beside.length).toBe(7);
  for (const [name, overlay] of beside) expect(VARIANTS[name!]).toMatchObject({ overlay });
  expect(Object.keys(VARIANTS).filter((name) => !PAGE.includes(`${name}.yaml\``))).toEqual([]);
});

test("every overlay is in the first table", () => {
  const listed = [...PAGE.matchAll(/^\| `deploy\/([\w/-]+)` \|/gm)].map(([, overlay]) => overlay);
  expect(listed.sort()).toEqual(
    [
      ...["sidecar/single-namespace", "sidecar/references-and-slices", "sidecar/multi-namespace"],
      ...["sidecar/tenant/basic", "sidecar/tenant/references-and-slices", "management/sqlite", "management/etcd"],
    ].sort(),
  );
});
