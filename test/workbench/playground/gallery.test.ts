/**
 * Every example of the gallery works as it stands, and the documented examples are all there.
 */
import { readFileSync } from "node:fs";
import { load } from "js-yaml";
import { describe, expect, test } from "vitest";
import type { PatchDefinition } from "../../../src/engine/patch/patch-definition.ts";
import type { KubeObject } from "../../../src/kube/object/types.ts";
import { evaluate } from "../../../src/workbench/playground/worker/evaluate.ts";
import { GALLERY } from "../../../src/workbench/playground/gallery.ts";
import { tryPairs } from "../../../src/workbench/playground/worker/pairs.ts";
import { testFileOf } from "../../../src/workbench/playground/test-file.ts";
import { runSuite } from "../../../src/workbench/patch-tests/run-suite.ts";

const example = (name: string) => GALLERY.find((one) => one.name === name)!;
const read = (file: string) => readFileSync(new URL(`../../../${file}`, import.meta.url), "utf8");

interface Written {
  readonly sync?: { readonly toHost?: { readonly endpoints?: { readonly patches?: readonly PatchDefinition[] } } };
}
const patchesOf = (config: string) => (load(config) as Written).sync?.toHost?.endpoints?.patches ?? [];
const objectOf = (yaml: string | undefined) => load(yaml ?? "") as KubeObject | undefined;

describe.each(GALLERY)("$name", ({ name, title, about, state }) => {
  test("says what it shows", () => {
    expect(name).toMatch(/^[a-z0-9-]+$/);
    expect(title).not.toBe("");
    expect(about).not.toBe("");
  });

  test("has an answer, and the same one again", async () => {
    const answer = await evaluate(state);
    expect(await evaluate(state)).toEqual(answer);
    const broken = name === "broken-expression";
    expect(answer.problems.some(({ severity }) => severity === "error")).toBe(broken);
    expect(answer.host === undefined).toBe(broken);
    expect(answer.fuel).toBe([...answer.outcomes, ...(answer.back?.outcomes ?? [])].reduce((sum, { fuel }) => sum + fuel, 0));
  });

  test("becomes a test file that passes", async () => {
    const file = testFileOf(state, await evaluate(state));
    if (name === "broken-expression") return expect(file).toBeUndefined();
    const { problems, results } = await runSuite("a.patch-test.yaml", { read: () => Promise.resolve(file!) });
    expect(problems.filter(({ severity }) => severity === "error")).toEqual([]);
    expect(results.length).toBeGreaterThan(0);
    expect(results.filter(({ verdict }) => verdict !== "passed")).toEqual([]);
  });
});

test("names are told apart, and titles of one group too", () => {
  expect(new Set(GALLERY.map(({ name }) => name)).size).toBe(GALLERY.length);
  expect(new Set(GALLERY.map(({ group, title }) => `${group}/${title}`)).size).toBe(GALLERY.length);
});

describe("the documented examples", () => {
  interface Case {
    readonly why: string;
    readonly patch: PatchDefinition;
    readonly object: Partial<KubeObject>;
    readonly host?: Partial<KubeObject>;
    readonly outcome?: string;
    readonly refused?: string;
  }
  const cases = (load(read("fixtures/patches/documented.yaml")) as Case[]).filter(
    ({ patch, refused }) => refused === undefined && patch.path.startsWith("metadata"),
  );
  const documented = GALLERY.filter(({ group }) => group === "Documented patches");

  test("are in the gallery, all that are about metadata", () => {
    expect(documented.map(({ title }) => title.toLowerCase())).toEqual(cases.map(({ why }) => why.toLowerCase()));
  });

  test.each(cases.map((one, index) => ({ ...one, index })))(
    "$why",
    async ({ index, patch, object, host = object, outcome = "applied" }) => {
      const { state } = documented[index]!;
      expect(patchesOf(state.config)).toEqual([patch]);
      expect(objectOf(state.tenant)!.metadata).toEqual({ name: "example", namespace: "default", ...object.metadata });
      const answer = await evaluate(state);
      expect(answer.outcomes.map((one) => one.outcome)).toEqual([outcome]);
      const { labels, annotations } = objectOf(answer.host)!.metadata;
      expect({ labels, annotations }).toEqual({ labels: host.metadata?.labels, annotations: host.metadata?.annotations });
    },
  );
});

describe("the recipes of the guide", () => {
  interface Recipe {
    readonly patches: readonly PatchDefinition[];
    readonly tenant: Partial<KubeObject>;
    readonly host: Partial<KubeObject>;
  }
  const blocks = [...read("docs/guides/write-patches.md").matchAll(/```yaml example\n([^]*?)```/g)].map(
    ([, yaml]) => load(yaml!) as Recipe,
  );
  const recipes = GALLERY.filter(({ group }) => group === "Recipes");

  test("are in the gallery, in its order", () => {
    expect(recipes.map(({ state }) => patchesOf(state.config))).toEqual(blocks.map(({ patches }) => patches));
  });

  test.each(blocks.map((block, index) => ({ ...block, title: recipes[index]!.title, index })))(
    "$title",
    async ({ index, tenant, host }) => {
      const { state } = recipes[index]!;
      expect(objectOf(state.tenant)).toMatchObject(tenant);
      expect(objectOf((await evaluate(state)).host)).toMatchObject(host);
    },
  );
});

describe("what has to be shown", () => {
  test("the demonstration's patches", async () => {
    expect(patchesOf(example("demo").state.config)).toEqual(patchesOf(read("fixtures/demo/vcluster.yaml")));
    const { outcomes } = await evaluate(example("demo").state);
    expect(outcomes.map(({ outcome }) => outcome)).toEqual(["applied", "applied", "applied", "applied", "applied"]);
  });

  test("an edit on the host in the first example, which comes back, and nothing else", async () => {
    const { state } = GALLERY[0]!;
    const { host, back } = await evaluate(state);
    expect(state.host).toBe(host!.replace("blue-storefront", "blue-payments"));
    expect(back).toMatchObject({ flowed: [{ before: "storefront", after: "payments" }], undone: [], settles: true });
  });

  test("the oscillating pair, with a smallest example", async () => {
    const { pairs, together } = await tryPairs(example("oscillating-pair").state);
    expect(together).toEqual([]);
    expect(pairs[0]).toMatchObject({ verdict: "oscillates", counterExample: { value: expect.any(String) as string } });
  });

  test("a broken expression, with its place", async () => {
    const { problems } = await evaluate(example("broken-expression").state);
    expect(problems.map(({ file, line, column, code }) => [file, line, column, code])).toEqual([
      ["config", 6, 39, "EXPRESSION_SYNTAX"],
      ["config", 7, 11, "CONFIG_UNKNOWN_FIELD"],
      ["config", 8, 24, "PATH_UNSUPPORTED"],
    ]);
  });

  test("a reference, whose object has a name on the host", async () => {
    const { host } = await evaluate(example("reference").state);
    expect(objectOf(host)!.metadata.annotations).toEqual({ "example.com/tls-secret": "shop-tls-x-shop-x-blue" });
  });

  test("EndpointSlices, whose Service is renamed", async () => {
    const { host, outcomes } = await evaluate(example("endpoint-slices").state);
    expect(outcomes.map(({ list, matches }) => [list, matches])).toEqual([["endpointSlices", 2], ["endpointSlices", 2]]); // prettier-ignore
    expect(objectOf(host)!.metadata.labels).toMatchObject({ "kubernetes.io/service-name": "db-x-data-x-blue" });
  });

  test("an address that the settings do not allow, as patched", async () => {
    const { host, notes } = await evaluate(example("address-policy").state);
    expect(objectOf(host)!["subsets"]).toMatchObject([{ addresses: [{ ip: "172.20.0.11" }, { ip: "172.20.0.12" }] }]);
    expect(notes).toMatchObject([{ code: "ADDRESS_REFUSED", message: expect.stringContaining("192.168.7.7") as string }]);
  });

  test("a path with [*], with all its matches", async () => {
    const { outcomes } = await evaluate(example("every-address").state);
    expect(outcomes).toMatchObject([{ matches: 4, changed: 4, outcome: "applied" }]);
  });

  test("edits that flow, edits that are taken back, and edits that stay", async () => {
    const back = async (name: string) => (await evaluate(example(name).state)).back!;
    const paths = (edits: readonly { path: string }[]) => edits.map(({ path }) => path);
    const flows = await back("edit-flows-back");
    expect(paths(flows.flowed)).toEqual([
      'metadata.annotations["example.com/team"]',
      'metadata.annotations["example.com/contact"]',
      "subsets",
    ]);
    expect(flows.undone).toEqual([]);
    const oneWay = await back("edit-one-way");
    expect(paths(oneWay.flowed)).toEqual(["metadata.labels.app"]);
    expect(oneWay.undone).toMatchObject([{ code: "ONE_WAY_EDIT", stays: false }]);
    expect((await back("edit-not-inverse")).undone).toMatchObject([{ code: "REVERSE_NOT_INVERSE", stays: false }]);
    expect((await back("edit-new-keys")).undone).toMatchObject([{ code: "EXCLUDED", stays: true }]);
  });
});
