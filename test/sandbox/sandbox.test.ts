import { expect, test } from "vitest";
import { createSandbox } from "../../src/sandbox/sandbox.ts";

test("evaluates an expression", async () => {
  const sandbox = await createSandbox();
  const context = {
    vcluster: { name: "blue", namespace: "team-a", config: {} },
    hostObject: null,
    virtualObject: null,
    path: "metadata.name",
  };
  expect(sandbox.evaluate(sandbox.compile("value + '-' + context.vcluster.name"), { value: "db", context }).value).toBe("db-blue");
});
