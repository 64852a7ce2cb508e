/** Every synced kind is served by an overlay of `deploy/`, and the roles of each overlay allow what its kinds need. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { loadAll } from "js-yaml";
import { describe, expect, test } from "vitest";
import { parseConfig } from "../../src/engine/config/config.ts";
import { parseSettings } from "../../src/engine/config/settings.ts";
import { createEngine } from "../../src/engine/engine.ts";
import { SYNCED_KINDS } from "../../src/engine/kinds/synced-kinds.ts";
import type { SyncedKind } from "../../src/engine/reconcile/rules/rules.ts";
import { requiredPermissions, type Permission } from "../../src/engine/sync/cluster/permissions.ts";
import { groupOf } from "../../src/kube/object/resource.ts";
import type { KubeObject } from "../../src/kube/object/types.ts";
import { WIDGETS_KIND } from "../engine/kinds/widget-kind.ts";
import { INSTALL_FOLDER } from "./install/variants.ts";
import { ofKind } from "./overlays.ts";
import { qualified, permissionsOf } from "./roles.ts";

const VCLUSTER = { name: "blue", namespace: "vc-blue" };

/** The tenant's part of in-pod is vCluster's own administrator. */
const OVERLAYS = [
  { overlay: "single-namespace", tenant: "tenant-basic" },
  { overlay: "multi-namespace", tenant: "tenant-basic" },
  { overlay: "references-and-slices", tenant: "tenant-references-and-slices" },
  { overlay: "in-pod", tenant: undefined },
];

const built = (name: string) => loadAll(readFileSync(join(INSTALL_FOLDER, `${name}.yaml`), "utf8")) as KubeObject[];

/** What the overlay's own configuration, with more sections, asks of both clusters for one kind. */
async function askedFor(kind: SyncedKind, objects: readonly KubeObject[], { kinds = SYNCED_KINDS, more = "" } = {}) {
  const [{ data } = { data: {} as Record<string, string> }] = ofKind<{ readonly data: Record<string, string> }>(objects, "ConfigMap");
  const config = parseConfig(
    [{ text: data["vcluster.yaml"]!, file: "vcluster.yaml" }, ...(more === "" ? [] : [{ text: more, file: "more.yaml" }])],
    { kinds },
  );
  const settings = parseSettings(data["settings.yaml"]!);
  if (!config.ok || !settings.ok) throw new Error(JSON.stringify({ config, settings }));
  const engine = await createEngine({ config: config.config, settings: settings.settings, vcluster: VCLUSTER, kinds });
  engine.dispose();
  const isServed = engine.rules.some((rule) => rule.enabled && rule.kind.resource === kind.resource);
  return isServed ? requiredPermissions(engine).filter(({ resource }) => resource === kind.resource) : [];
}

/** Those of the permissions that no role gives, in words. */
function missing(
  asked: readonly Permission[],
  { host, tenant }: { host: readonly KubeObject[]; tenant: readonly KubeObject[] | undefined },
) {
  return asked.flatMap(({ side, verb, resource, namespace }) => {
    const objects = side === "host" ? host : tenant;
    const isGiven = permissionsOf(objects ?? []).some(
      ({ role, ...permission }) =>
        (role["kind"] === "ClusterRole" || role.metadata.namespace === namespace) &&
        permission.verb === verb &&
        permission.resource === resource.plural &&
        permission.group === groupOf(resource),
    );
    return isGiven || objects === undefined
      ? []
      : [`${verb} ${qualified(resource.plural, groupOf(resource))}${namespace && ` in ${namespace}`} on the ${side}`];
  });
}

describe.each(OVERLAYS)("the roles of $overlay", ({ overlay, tenant }) => {
  const objects = { host: built(overlay), tenant: tenant === undefined ? undefined : built(tenant) };

  test.each(SYNCED_KINDS)("allow what $plural need", async (kind) => {
    expect(missing(await askedFor(kind, objects.host), objects)).toEqual([]);
  });

  test("lack what a kind needs that they do not serve", async () => {
    const kinds = [...SYNCED_KINDS, WIDGETS_KIND];
    const asked = await askedFor(WIDGETS_KIND, objects.host, { kinds, more: "sync: { toHost: { widgets: {} } }" });
    expect(asked.length).toBeGreaterThan(0);
    const given = asked.filter(({ side }) => side === "host" || tenant !== undefined);
    expect(missing(asked, objects)).toHaveLength(given.length);
  });
});

/** The kinds that no overlay serves. */
async function unserved(kinds: readonly SyncedKind[]): Promise<string[]> {
  const found = await Promise.all(
    kinds.map(async (kind) => {
      const asked = await Promise.all(OVERLAYS.map(({ overlay }) => askedFor(kind, built(overlay), { kinds })));
      return asked.flat().length === 0 ? [kind.section] : [];
    }),
  );
  return found.flat();
}

test("every synced kind is served by an overlay", async () => {
  expect(await unserved(SYNCED_KINDS)).toEqual([]);
  expect(await unserved([...SYNCED_KINDS, WIDGETS_KIND])).toEqual(["widgets"]);
});
