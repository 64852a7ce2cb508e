/**
 * A further kind is one entry: a test has one, and everything that is done with a synced kind is done with it.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { skeletonOf } from "../../../src/cli/test/skeleton.ts";
import { runCli } from "../../../src/cli/program.ts";
import { resolveConfig } from "../../../src/engine/config/config.ts";
import { DEFAULT_SETTINGS } from "../../../src/engine/config/settings.ts";
import { createEngine } from "../../../src/engine/engine.ts";
import { SYNCED_KINDS } from "../../../src/engine/kinds/synced-kinds.ts";
import type { SyncedKind } from "../../../src/engine/reconcile/rules/rules.ts";
import { requiredPermissions } from "../../../src/engine/sync/cluster/permissions.ts";
import type { KubeObject } from "../../../src/kube/object/types.ts";
import { createSimulator, loadPatches, type SimulatedConfiguration } from "../../../src/testing.ts";
import { checkLaws } from "../../../src/workbench/laws/check-laws.ts";
import { createTestTerminal } from "../../cli/support.ts";
import { startWidgetClusters, type WidgetClusters } from "./widget-clusters.ts";
import { WIDGETS, WIDGETS_KIND, withBodyOf } from "./widget-kind.ts";

const KINDS: readonly SyncedKind[] = [...SYNCED_KINDS, WIDGETS_KIND];
const VCLUSTER = { name: "blue", namespace: "vc-blue" };

const PREFIX = { path: "parts[*].maker", expression: '"host-" + value', reverseExpression: 'value.replace(/^host-/, "")' };
const PATCHED = { sync: { toHost: { widgets: { patches: [PREFIX] } } } };
const TYPO = { sync: { toHost: { widgets: { patches: [{ path: "colur", expression: "value" }] } } } };

const PURPLE = { sync: { toHost: { widgets: { patches: [{ path: "colour", expression: '"purple"' }] } } } };

const widget = (name: string, namespace: string, body: object = { size: 3, parts: [{ name: "wheel", maker: "acme" }] }): KubeObject => ({
  apiVersion: "example.com/v1",
  kind: "Widget",
  metadata: { name, namespace },
  ...body,
});

const FILES = {
  "vcluster.yaml": JSON.stringify(PATCHED),
  "typo.yaml": JSON.stringify(TYPO),
  "purple.yaml": JSON.stringify(PURPLE),
  "none.yaml": "{}",
  "widget.yaml": JSON.stringify(widget("web", "shop", { size: 3, colour: "red", parts: [{ name: "wheel", maker: "acme" }] })),
};

/** Runs a command that knows of Widgets, or of what is given. */
async function cli(argv: readonly string[], kinds: readonly SyncedKind[] | undefined = KINDS) {
  const terminal = createTestTerminal({ files: FILES });
  const code = await runCli(argv, terminal, kinds);
  return { code, out: terminal.stdout, err: terminal.stderr };
}

async function widgetEngine(config: object, kinds: readonly SyncedKind[] = KINDS) {
  const resolved = resolveConfig(config, { kinds });
  if (!resolved.ok) throw new Error(JSON.stringify(resolved.problems));
  return createEngine({ config: resolved.config, vcluster: VCLUSTER, kinds });
}

describe("without a cluster", () => {
  test("render translates and patches an object", async () => {
    const { code, out, err } = await cli(["render", "--config", "vcluster.yaml", "-f", "widget.yaml", "--name", "blue", "-o", "json"]);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(JSON.parse(out)).toMatchObject({
      kind: "Widget",
      metadata: { name: "web-x-shop-x-blue" },
      size: 3,
      parts: [{ maker: "host-acme" }],
    });
  });

  test("render and validate refuse what its schema does not allow", async () => {
    const { code, err } = await cli(["render", "--config", "purple.yaml", "-f", "widget.yaml", "--name", "blue", "-o", "json"]);
    expect({ code, err }).toEqual({ code: 1, err: expect.stringContaining('colour: Expected "red", "green" or "blue", found "purple"') });
    const validated = await cli(["validate", "purple.yaml", "-f", "widget.yaml"]);
    expect(validated).toMatchObject({ code: 2, err: expect.stringContaining('Expected "red", "green" or "blue", found "purple"') });
  });

  test("no other command line knows of it", async () => {
    const { err } = await cli(["render", "--config", "vcluster.yaml", "-f", "widget.yaml"], SYNCED_KINDS);
    expect(err).toContain("objects of this kind are not synced");
  });

  test("validate counts its patches and knows its fields", async () => {
    expect((await cli(["validate", "vcluster.yaml"])).out).toContain("Found 1 patch on widgets.");
    const { err } = await cli(["validate", "typo.yaml"]);
    expect(err).toContain('The path finds nothing: there is no "colur" in Widget');
    expect(err).toContain('Did you mean "colour"?');
  });

  test("validate --laws tries its values, also on objects", async () => {
    const { code, out } = await cli(["validate", "vcluster.yaml", "--laws", "-f", "widget.yaml"]);
    expect(code).toBe(0);
    expect(out).toContain("widgets.patches[0] parts[*].maker: ");
  });

  test("test init writes a test on its sample", async () => {
    const resolved = resolveConfig(PATCHED, { kinds: KINDS });
    if (!resolved.ok) throw new Error("The configuration is valid");
    const loaded = { config: resolved.config, settings: DEFAULT_SETTINGS, vcluster: VCLUSTER, kinds: KINDS };
    const read = async (file: string) => FILES[file as keyof typeof FILES];
    const { objects, tests, skipped } = await skeletonOf({ loaded, file: "web.patch-test.yaml", names: { config: "vcluster.yaml" }, read });
    expect([objects.map(({ file }) => file), tests.file, skipped]).toEqual([["widget.yaml"], "web.patch-test.yaml", []]);
    expect(tests.text).toContain("value: host-acme");
  });

  test("its patches are put under test in code", async () => {
    const patches = await loadPatches({ config: PATCHED, kinds: KINDS });
    try {
      const patch = patches.patch("parts[*].maker", "widgets");
      expect(patch.toHost("acme").value).toBe("host-acme");
      expect(patch.sampleValues(3)).toHaveLength(3);
    } finally {
      patches.dispose();
    }
  });

  test("laws judge its patches by what its fields may hold", async () => {
    const turned = 'value.split("").reverse().join("")';
    const engine = await widgetEngine({
      sync: {
        toHost: {
          widgets: {
            patches: [
              { path: "colour", expression: turned, reverseExpression: turned },
              { path: "parts[*].name", expression: '"a-" + value', reverseExpression: "value" },
            ],
          },
        },
      },
    });
    try {
      const { pairs, lists } = checkLaws(engine);
      expect(pairs).toMatchObject([
        { list: "widgets", path: "colour", verdict: "lossless", evidence: { kind: "exhausted", values: 3 } },
        { list: "widgets", path: "parts[*].name", verdict: "oscillates" },
      ]);
      expect(lists).toMatchObject([{ list: "widgets" }]);
    } finally {
      engine.dispose();
    }
  });

  test("permissions ask for it, and for no Service because of it", async () => {
    const toHost = { endpoints: { enabled: false }, services: { enabled: false }, widgets: {} };
    const engine = await widgetEngine({ sync: { toHost } });
    const asked = requiredPermissions(engine);
    engine.dispose();
    const verbs = (side: string) => asked.filter((one) => one.side === side && one.resource === WIDGETS).map(({ verb }) => verb);
    expect(verbs("tenant")).toEqual(["list", "watch", "get", "update"]);
    expect(verbs("host")).toEqual(["list", "watch", "create", "update", "delete"]);
    expect(asked.filter(({ resource, verb }) => resource.plural === "services" && verb === "get")).toEqual([]);
  });
});

describe("between two clusters", () => {
  let clusters: WidgetClusters;
  beforeAll(async () => {
    clusters = await startWidgetClusters();
    await clusters.tenant.create(WIDGETS, widget("web", "shop"));
  });
  afterAll(() => clusters.stop());

  const about = (command: readonly string[], config = "vcluster.yaml") => cli([...command, ...clusters.flags, "--config", config]);

  test("plan shows what would be written", async () => {
    const { code, out, err } = await about(["plan"]);
    expect({ code, err }).toEqual({ code: 1, err: "" });
    expect(out).toContain("host Widget vc-blue/web-x-shop-x-blue");
    expect(out).toContain("maker: host-acme");
    expect(out).toContain("Plan: 1 to create, 0 to update, 0 to delete. Converges.");
  });

  test("why explains an object by any name of the kind", async () => {
    for (const name of ["widgets", "Widget", "wd"]) {
      const { code, out } = await about(["why", name, "shop/web"]);
      expect(code).toBe(0);
      expect(out).toContain("shop/web");
    }
    expect((await cli(["why", "--help"])).out.replace(/\s+/g, " ")).toContain("endpoints, services, endpointslices or widgets");
  });

  test("why explains what to do where it is not synced", async () => {
    const { code, err } = await about(["why", "widgets", "shop/web"], "none.yaml");
    expect(code).not.toBe(0);
    expect(err).toContain("This syncer does not sync Widget objects");
    expect(err).toContain("They are synced once sync.toHost.widgets is configured");
  });

  test("audit finds what is missing, and cleanup what is left", async () => {
    const { code, out } = await about(["audit", "-o", "json"]);
    expect(code).toBe(1);
    expect(JSON.parse(out)).toMatchObject([{ kind: "Widget", tenant: "shop/web" }]);
    expect((await about(["cleanup", "--kind", "wd", "--yes"])).code).toBe(0);
  });
});

describe("in the simulator", () => {
  const PLAIN = { name: "widgets", configs: [{ sync: { toHost: { widgets: {} } } }] };
  const MORE = [
    { name: "widgets that are patched", configs: [PATCHED, ...PLAIN.configs] },
    { name: "widgets and slices", configs: [{ sync: { toHost: { widgets: {}, endpointSlices: {} } } }] },
  ];

  async function violations(
    kind: SyncedKind,
    { seeds, configurations }: { seeds: number; configurations: readonly SimulatedConfiguration[] },
  ) {
    const simulator = await createSimulator({ kinds: [...SYNCED_KINDS, kind], configurations });
    const fired = new Map<string, number>();
    try {
      for (let seed = 1; seed <= seeds; seed += 1) {
        const run = await simulator.run(seed);
        for (const [act, count] of run.fired) fired.set(act, (fired.get(act) ?? 0) + count);
        if (run.violation !== undefined) return { seed, fired, violation: run.violation, shrunk: await simulator.shrink(run) };
      }
      return { fired, violation: undefined };
    } finally {
      simulator.dispose();
    }
  }

  test("nothing is wrong with it, whatever people do", async () => {
    const { fired, violation } = await violations(WIDGETS_KIND, { seeds: 60, configurations: [PLAIN, ...MORE] });
    expect(violation).toBeUndefined();
    for (const act of [
      "tenant creates Widget",
      "tenant changes the body of Widget",
      "host changes the body of Widget",
      "tenant deletes Widget",
    ])
      expect(fired.get(act) ?? 0, act).toBeGreaterThan(0);
  });

  const forgets = (object: KubeObject): KubeObject => {
    const { colour: _forgotten, ...kept } = object;
    return kept as KubeObject;
  };

  test.each<[string, Partial<SyncedKind>]>([
    ["a body that forgets a field", { withBody: (host, desired) => forgets(withBodyOf(host, desired)) }],
    [
      "fingerprints that forget a field",
      {
        hostFingerprint: (object) => WIDGETS_KIND.hostFingerprint(forgets(object)),
        tenantFingerprint: (object) => WIDGETS_KIND.tenantFingerprint(forgets(object)),
      },
    ],
  ])("%s: found, and shown by a short history", async (_what, bug) => {
    const { violation, shrunk } = await violations({ ...WIDGETS_KIND, ...bug }, { seeds: 100, configurations: [PLAIN] });
    expect(violation).toBeDefined();
    expect(shrunk!.violation!.oracle).toBe(violation!.oracle);
    expect(shrunk!.decisions.length).toBeLessThan(20);
  });
});
