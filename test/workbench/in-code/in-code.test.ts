import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { loadPatch, loadPatches, patchMatchers, type LoadedPatches, type PatchUnderTest } from "../../../src/testing.ts";

expect.extend(patchMatchers);

const PATCHES = [
  {
    path: "subsets[*].addresses[*].ip",
    expression: 'value.startsWith("10.") ? "192.168." + value.slice(3) : value',
    reverseExpression: 'value.startsWith("192.168.") ? "10." + value.slice(8) : value',
  },
  {
    path: 'metadata.annotations["example.com/team"]',
    expression: 'context.vcluster.name + "-" + value',
    reverseExpression: "value.slice(context.vcluster.name.length + 1)",
  },
  { path: "metadata.labels[*]", expression: '[context.virtualObject.metadata.name, context.path, value].join("_")' },
  { path: "metadata.annotations.shout", expression: "value.toUpperCase()" },
  { path: "metadata.annotations.gone", expression: "null" },
  { path: "metadata.annotations.back", reverseExpression: 'context.virtualObject === null ? "new" : value' },
  { path: "metadata.annotations.config", expression: "context.vcluster.config.sync.toHost.endpoints.enabled + value" },
];

let patches: LoadedPatches;
const at = (place: string | number): PatchUnderTest => patches.patch(place);
beforeAll(async () => {
  patches = await loadPatches({ patches: PATCHES });
});
afterAll(() => patches.dispose());

/** Message of a failing matcher. */
function messageOf(check: () => void): string {
  try {
    check();
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error("The matcher holds");
}

describe("a patch under test", () => {
  test("answers value, outcome, fuel and place", () => {
    const run = at(0).toHost("10.1.2.3");
    expect(run).toMatchObject({ direction: "toHost", before: "10.1.2.3", value: "192.168.1.2.3", outcome: "applied" });
    expect(run.at).toBe("subsets[0].addresses[0].ip");
    expect(run.fuel).toBeGreaterThan(0);
    expect(at(1).toTenant("blue-shop")).toMatchObject({ direction: "toTenant", value: "shop", outcome: "applied" });
  });

  test("tells a failure as a value", () => {
    expect(at(0).toHost(7)).toMatchObject({ outcome: "error", code: "EXPRESSION_ERROR", message: expect.stringContaining("startsWith") });
  });

  test.each([
    { what: "nothing where there is nothing", place: 0, value: undefined, outcome: "noMatch", after: undefined },
    { what: "nothing where null came out", place: 4, value: "a", outcome: "applied", after: undefined },
    { what: "what went in where nothing is done in this direction", place: 5, value: "a", outcome: "noExpression", after: "a" },
  ])("answers $what", ({ place, value, outcome, after }) => {
    expect(at(place).toHost(value)).toMatchObject({ value: after, outcome });
    expect(at(place).toHost(value).value).toBe(after);
  });

  test("shows expressions the object around the value, and the context that is given", () => {
    const object = { metadata: { name: "db", namespace: "shop", labels: { tier: "old" } } };
    expect(at(2).toHost("new", { object }).value).toBe("db_metadata.labels.tier_new");
    expect(at(1).toHost("shop", { context: { vcluster: { name: "green" } } }).value).toBe("green-shop");
    const config = { sync: { toHost: { endpoints: { enabled: "mocked" } } } };
    expect(at(6).toHost("!").value).toBe("true!");
    expect(at(6).toHost("!", { context: { vcluster: { config } } }).value).toBe("mocked!");
    expect(at(5).toTenant("old").value).toBe("new");
    expect(at(5).toTenant("old", { context: { virtualObject: { metadata: { name: "web" } } } }).value).toBe("old");
  });

  test("runs apart from the other patches and their matches", () => {
    const object = { subsets: [{ addresses: [{ ip: "10.0.0.1" }, { ip: "10.0.0.2" }] }] };
    expect(at(0).toHost("10.9.9.9", { object }).fuel).toBe(at(0).toHost("10.9.9.9").fuel);
  });

  test("needs an object for paths with operators of JSONPath", async () => {
    const patch = await loadPatch({
      patch: { path: "$.subsets..ip", expression: "'192.' + value" },
      settings: { pathSyntax: "jsonpath" },
    });
    expect(() => patch.toHost("a")).toThrow(expect.objectContaining({ code: "USAGE" }));
    const object = { subsets: [{ addresses: [{ ip: "1" }], ports: [{ port: 80 }] }] };
    expect(patch.toHost("a", { object }).value).toBe("192.a");
    patch.dispose();
  });

  test("draws how the value came about", () => {
    expect(at(3).toHost("a").explain()).toBe(["value.toUpperCase()", "|     |", '"a"   "A"'].join("\n"));
  });
});

describe("loading", () => {
  let folder: string;
  beforeAll(() => void (folder = mkdtempSync(join(tmpdir(), "in-code-"))));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test("reads configuration and settings from files or data, and finds patches by path or position", async () => {
    const file = join(folder, "vcluster.yaml");
    const settings = join(folder, "settings.yaml");
    writeFileSync(file, JSON.stringify({ sync: { toHost: { endpoints: { patches: PATCHES.slice(0, 1) } } } }));
    writeFileSync(settings, "limits: { fuel: 20000 }\n");
    const services = { patches: [{ path: "metadata.labels.tier", expression: "value + '-x'" }] };
    const own = { sync: { toHost: { services } } };
    const fromFile = await loadPatch({ config: file, settings });
    expect(fromFile).toRewrite("10.0.0.1", "192.168.0.0.1");
    fromFile.dispose();
    const fromData = await loadPatch({ config: own, path: "metadata.labels.tier", list: "services" });
    expect(fromData).toMatchObject({ list: "services", index: 0 });
    expect(fromData).toRewrite("web", "web-x");
    fromData.dispose();
  });

  test.each([
    ["a file that is not there", { config: "none.yaml" }, "CONFIG_FILE", "none.yaml"],
    ["a wrong configuration", { config: { sync: { toHost: { endpoints: { patchs: [] } } } } }, "CONFIG_VALUE", "patches"],
    ["wrong settings", { config: {}, settings: { onEror: 1 } }, "CONFIG_VALUE", "onError"],
    [
      "a path that no patch has",
      { config: { sync: { toHost: { endpoints: { patches: PATCHES } } } }, path: "metadata.label[*]" },
      "USAGE",
      "Did you mean",
    ],
    ["no path among several", { config: { sync: { toHost: { endpoints: { patches: PATCHES } } } } }, "USAGE", "found 7"],
  ] as const)("refuses %s", async (_what, options, code, words) => {
    await expect(loadPatch(options)).rejects.toMatchObject({ code, message: expect.stringContaining(words) });
  });
});

describe("matchers", () => {
  test("hold where they should", () => {
    expect(at(0)).toRewrite("10.0.0.1", "192.168.0.0.1");
    expect(at(0)).toLeaveAlone("fd00::1");
    expect(at(1)).toRewriteBack("blue-shop", "shop");
    expect(at(1)).toRoundTrip({ runs: 50 });
    expect(at(1)).toCostLessThan(1_000);
    expect(at(0)).toFailWith("EXPRESSION_ERROR", 7);
    expect(at(4)).toRewrite("a", undefined);
  });

  test("hold under not where they should", () => {
    expect(at(0)).not.toRewrite("10.0.0.1", "10.0.0.1");
    expect(at(0)).not.toLeaveAlone("10.0.0.1");
    expect(at(0)).not.toLeaveAlone(7);
    expect(at(0)).not.toRewrite(7, undefined);
    expect(at(1)).not.toRewriteBack("blue-shop", "blue-shop");
    expect(at(0)).not.toRoundTrip();
    expect(at(3)).not.toRoundTrip();
    expect(at(0)).not.toCostLessThan(10);
    expect(at(0)).not.toFailWith("EXPRESSION_ERROR", "a");
    expect(at(0)).not.toFailWith("EXPRESSION_FUEL", 7);
  });

  test("say what was expected, what came, and how it came about", () => {
    expect(messageOf(() => expect(at(0)).toRewrite("172.16.0.9", "192.168.0.9"))).toBe(
      [
        'Expected "172.16.0.9" to become "192.168.0.9", found "172.16.0.9"',
        "",
        "patch #0  subsets[*].addresses[*].ip   at subsets[0].addresses[0].ip",
        '  value.startsWith("10.") ? "192.168." + value.slice(3) : value',
        "  |     |                                                 |",
        '  |     false                                             "172.16.0.9"',
        '  "172.16.0.9"',
        `fuel ${at(0).toHost("172.16.0.9").fuel}`,
      ].join("\n"),
    );
  });

  test.each([
    ["toRewrite", () => expect(at(3)).toRewrite(7, "7"), /^Expected 7 to become "7", found EXPRESSION_ERROR: .*toUpperCase/],
    ["toRewrite of a patch for the other direction", () => expect(at(5)).toRewrite("a", "b"), /found "a"\n/],
    ["toRewriteBack", () => expect(at(1)).toRewriteBack("blue-a", "b"), /^Expected "blue-a" to become "b", found "a"\n/],
    ["toLeaveAlone", () => expect(at(3)).toLeaveAlone("a"), /^Expected "a" to stay as it is, found "A"\n/],
    [
      "toFailWith",
      () => expect(at(3)).toFailWith("EXPRESSION_ERROR", "a"),
      /^Expected "a" to fail with EXPRESSION_ERROR, found "A" \(applied\)\n/,
    ],
    [
      "toRoundTrip",
      () => expect(at(0)).toRoundTrip(),
      /^Expected a lossless round trip, found verdict "drifts": [^]*tenant "192\.168\.[^]* → host /,
    ],
    [
      "toRoundTrip of one way",
      () => expect(at(3)).toRoundTrip(),
      /^Expected a lossless round trip, found verdict "one-way": host edits are not synced back/,
    ],
    ["toCostLessThan", () => expect(at(0)).toCostLessThan(5), /^Expected less than 5 fuel, found \d+ for "[^]*the most expensive of 300\n/],
    ["not.toRewrite", () => expect(at(3)).not.toRewrite("a", "A"), /^Expected "a" not to become "A"\n/],
    ["not.toFailWith", () => expect(at(3)).not.toFailWith("EXPRESSION_ERROR", 7), /^Expected 7 not to fail with EXPRESSION_ERROR: /],
    ["not.toRoundTrip", () => expect(at(1)).not.toRoundTrip({ runs: 50 }), /^Expected no lossless round trip, found verdict "lossless"/],
    [
      "not.toCostLessThan",
      () => expect(at(0)).not.toCostLessThan(10_000, { values: ["a"] }),
      /^Expected some value to cost 10000 fuel or more, found \d+ for "a"/,
    ],
  ])("tell why %s does not hold", (_name, check, message) => {
    expect(messageOf(check)).toMatch(message);
  });

  test("want a patch", () => {
    expect(() => expect("value").toRewrite("a", "b")).toThrow("expected a patch, as returned by loadPatch");
  });

  test("are functions that any runner can call: they answer pass, message, and values for a diff", () => {
    const answer = patchMatchers.toRewrite(at(3), "a", "B");
    expect(answer).toMatchObject({ pass: false, expected: "B", actual: "A" });
    expect(answer.message()).toContain('found "A"');
  });
});
