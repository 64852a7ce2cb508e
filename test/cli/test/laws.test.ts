/**
 * `validate --laws`.
 */
import { describe, expect, test } from "vitest";
import { exampleFiles, run } from "../support.ts";

const list = (...patches: readonly string[]) =>
  ["sync:", "  toHost:", "    endpoints:", "      patches:", ...patches.map((patch) => `        - ${patch}`), ""].join("\n");
const OSCILLATES = `{ path: 'metadata.annotations[*]', expression: '"my-prefix-" + value', reverseExpression: 'value.slice(9)' }`;
const DRIFTS = `{ path: metadata.labels.app, expression: value.toLowerCase(), reverseExpression: value }`;
const LOSSLESS = `{ path: metadata.labels.tier, expression: 'value === "a" ? "b" : value === "b" ? "a" : value', reverseExpression: 'value === "a" ? "b" : value === "b" ? "a" : value' }`;
const ONE_WAY = `{ path: 'subsets[*].ports[*].name', expression: 'value.split("-")[1].trim()' }`;

/** Each drifts alone; together they swap their values forever. */
const swaps = (own: string, other: string) =>
  `{ path: metadata.annotations.${own}, expression: value, reverseExpression: 'context.hostObject.metadata.annotations.${other} ?? value' }`;
/** Lossless alone; on the way back it looks at what the next one changed. */
const FOLLOWS = `{ path: metadata.annotations.a, expression: 'context.virtualObject.metadata.annotations.b + "-" + value', reverseExpression: 'value.slice((context.hostObject.metadata.annotations.b + "-").length)' }`;
const PREFIXED = `{ path: metadata.annotations.b, expression: '"x" + value', reverseExpression: value.slice(1) }`;

const files: Record<string, string> = {
  ...exampleFiles(),
  "good.yaml": list(LOSSLESS, ONE_WAY),
  "drifts.yaml": list(DRIFTS, LOSSLESS),
  "oscillates.yaml": list(LOSSLESS, OSCILLATES),
  "together.yaml": list(swaps("a", "b"), swaps("b", "a")),
  "drift-together.yaml": list(ONE_WAY, FOLLOWS, PREFIXED),
  "bad.yaml": "sync: 1\n",
  "rare.yaml": list(
    `{ path: metadata.annotations.a, expression: 'value === atob("c2VsZG9t") ? "often" : value', reverseExpression: value }`,
  ),
  "seldom.yaml": "{apiVersion: v1, kind: Endpoints, metadata: {name: web, namespace: shop, annotations: {a: seldom}}}\n",
};
const validate = (...argv: readonly string[]) => run(["validate", "--settings", "settings.yaml", ...argv], { files });

describe("validate --laws", () => {
  test("tells a verdict for every patch", async () => {
    const { code, stdout, stderr } = await validate("--config", "good.yaml", "--laws");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout.replace(/[\d,]+ checks/, "many checks").split("\n")).toEqual([
      "endpoints.patches[0] metadata.labels.tier: lossless, values come back unchanged; holds for every value",
      "endpoints.patches[1] subsets[*].ports[*].name: one-way, host edits are not synced back",
      '  expression fails for tenant "a"',
      "endpoints.patches combined: one-way; the patches are independent",
      "2 patches, many checks, seed 1",
      "Found 2 patches on endpoints.",
      "Fuel for endpoints: 640 with 250 addresses, 640 with 1,000 addresses; the limit is 30 million.",
      "The configuration is valid.",
      "",
    ]);
  });

  test("ends with 2 for a pair that oscillates, at its place", async () => {
    const { code, stdout, stderr } = await validate("--config", "oscillates.yaml", "--laws");
    expect(code).toBe(2);
    expect(stderr).toMatch(
      /^oscillates\.yaml:6:\d+: error REVERSE_NOT_INVERSE sync\.toHost\.endpoints\.patches\[1\]: The patch oscillates: tenant "a" → host "my-prefix-a" → tenant "-a" → [^]*\n1 error\n$/,
    );
    expect(stderr.split("\n").at(-3)!.indexOf("^")).toBe(stderr.split("\n").at(-4)!.indexOf("reverseExpression"));
    expect(stdout).toContain("endpoints.patches[1] metadata.annotations[*]: oscillates, each side keeps overwriting the other\n");
  });

  test("only warns of a pair that drifts", async () => {
    const { code, stdout, stderr } = await validate("--config", "drifts.yaml", "--laws");
    expect(code).toBe(0);
    expect(stderr).toMatch(
      /^drifts\.yaml:5:\d+: warning REVERSE_NOT_INVERSE sync\.toHost\.endpoints\.patches\[0\]: The patch drifts: tenant "A" → host "a" → tenant "a" → host "a"/,
    );
    expect(stdout).toMatch(/The configuration is valid, with 1 warning\.\n$/);
  });

  test("tells what patches do only together, at the last of them", async () => {
    const drifting = await validate("--config", "drift-together.yaml", "--laws");
    expect(drifting.code).toBe(0);
    expect(drifting.stderr).toMatch(
      /drift-together\.yaml:7:\d+: warning REVERSE_NOT_INVERSE sync\.toHost\.endpoints\.patches\[2\]: Patches #1 and #2 drift together, but not individually: tenant \{"metadata":\{"annotations":\{"a":"a","b":"a"\}\}\} → host [^]* → tenant \{"metadata":\{"annotations":\{"a":"","b":"a"\}\}\} → /,
    );
    expect(drifting.stdout).toContain("endpoints.patches combined: drifts; #1 and #2 tried on the same objects\n");
    const oscillating = await validate("--config", "together.yaml", "--laws");
    expect(oscillating.code).toBe(2);
    expect(oscillating.stderr).toContain("together.yaml:6:");
    expect(oscillating.stderr).toContain(
      "error REVERSE_NOT_INVERSE sync.toHost.endpoints.patches[1]: Patches #0 and #1 oscillate together",
    );
    expect(oscillating.stdout).toContain("endpoints.patches combined: oscillates; #0 and #1 tried on the same objects\n");
  });

  test("does not warn of a drift that is accepted, and of an entry that no patch needs does", async () => {
    const accepting = (path: string) =>
      `addressPolicy: { allow: [10.0.0.0/8] }\nacceptedDrifts:\n  - { path: ${path}, reason: all lower case here }\n`;
    const known = { ...files, "known.yaml": accepting("$.metadata.labels.app"), "idle.yaml": accepting("metadata.labels.tier") };
    const laws = (config: string, settings: string) =>
      run(["validate", "--config", config, "--settings", settings, "--laws", "--strict"], { files: known });
    const accepted = await laws("drifts.yaml", "known.yaml");
    expect({ code: accepted.code, stderr: accepted.stderr }).toEqual({ code: 0, stderr: "" });
    expect(accepted.stdout).toContain(
      "metadata.labels.app: drifts, the value that comes back differs from the original\n  accepted: all lower case here\n",
    );
    const idle = await laws("drifts.yaml", "idle.yaml");
    expect(idle.code).toBe(2);
    expect(idle.stderr).toMatch(/idle\.yaml:3:5: error CONFIG_VALUE acceptedDrifts\[0\]: No patch with this path drifts/);
    expect(idle.stderr).toContain("drifts.yaml:5:");
    // Oscillation is always an error.
    const restless = accepting("metadata.annotations[*]");
    const oscillating = await run(["validate", "oscillates.yaml", "--settings", "all.yaml", "--laws"], {
      files: { ...files, "all.yaml": restless },
    });
    expect(oscillating.code).toBe(2);
  });

  test("finds the place in the file that wins", async () => {
    const { stderr } = await validate("--config", "oscillates.yaml", "--config", "drifts.yaml", "--laws");
    expect(stderr).toMatch(/^drifts\.yaml:5:/);
  });

  test("answers data", async () => {
    const { code, stdout } = await validate("--config", "oscillates.yaml", "--laws", "-o", "json", "--seed", "4");
    expect(code).toBe(2);
    expect(JSON.parse(stdout)).toMatchObject({
      problems: [{ severity: "error", code: "REVERSE_NOT_INVERSE", line: 6 }],
      laws: {
        seed: 4,
        pairs: [
          { list: "endpoints", patch: 0, verdict: "lossless" },
          { patch: 1, verdict: "oscillates", counterExample: { value: "a" } },
        ],
      },
    });
    expect((await validate("--config", "good.yaml", "--laws", "-o", "yaml")).stdout).toMatch(/^problems: \[\]\nlaws:\n/);
  });

  test("tries the values of objects", async () => {
    expect((await validate("--config", "rare.yaml", "--laws")).stderr).toBe("");
    expect((await validate("--config", "rare.yaml", "--laws", "-f", "seldom.yaml")).stderr).toContain('tenant "seldom" → host "often"');
  });

  test("checks nothing when the configuration is wrong", async () => {
    const { code, stdout, stderr } = await validate("--config", "bad.yaml", "--laws");
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toMatch(/CONFIG_TYPE/);
  });

  test("refuses --seed without --laws", async () => {
    const { code, stderr } = await validate("--config", "good.yaml", "--seed", "1");
    expect(code).toBe(2);
    expect(stderr).toMatch(/^error USAGE: --seed has no effect without --laws\n {2}Add --laws/);
  });
});
