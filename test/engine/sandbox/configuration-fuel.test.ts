import { describe, expect, test } from "vitest";
import { resolveConfig } from "../../../src/engine/config/config.ts";
import { resolveSettings } from "../../../src/engine/config/settings.ts";
import { createEngine } from "../../../src/engine/engine.ts";

const VCLUSTER = { name: "blue", namespace: "vc-blue" };

function load({ expressions, configurationFuel }: { expressions: readonly string[]; configurationFuel: number }): Promise<unknown> {
  const patches = expressions.map((expression, index) => ({ path: `metadata.annotations.note${index}`, expression }));
  const config = resolveConfig({ sync: { toHost: { endpoints: { enabled: true, patches } } } });
  const settings = resolveSettings({ limits: { configurationFuel } });
  if (!config.ok || !settings.ok) throw new Error("The configuration is good");
  return createEngine({ config: config.config, settings: settings.settings, vcluster: VCLUSTER });
}

const many = (count: number) => Array.from({ length: count }, (_, index) => `value + ${index}`);

describe("the fuel of a configuration", () => {
  test("is shared by all its expressions", async () => {
    await expect(load({ expressions: many(3), configurationFuel: 10_000 })).resolves.toBeDefined();
    const failure = await load({ expressions: many(10), configurationFuel: 10_000 }).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: "EXPRESSION_FUEL", details: { limit: 10_000, field: "expression", patch: 3 } });
    expect((failure as Error).message).toContain("raise limits.configurationFuel");
  });

  test("is not spent by texts that come up again", async () => {
    await expect(load({ expressions: Array<string>(100).fill("value"), configurationFuel: 10_000 })).resolves.toBeDefined();
  });

  test("leaves room for thousands of expressions", async () => {
    await expect(load({ expressions: many(900), configurationFuel: 200_000_000 / 50 })).resolves.toBeDefined();
  });
});
