import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { tooOld } from "../../../src/cli/process/supported-node.ts";
import { ROOT } from "../support.ts";

test.each(["v22.19.0", "v22.20.1", "v23.0.0", "v24.21.0", "v26.0.0-nightly", "v100.0.0"])("%s is new enough", (version) => {
  expect(tooOld(version)).toBeUndefined();
});

test.each(["v22.18.9", "v21.7.3", "v20.20.2", "v18.0.0", "v9.11.2"])("%s is too old, and people are told what to do", (version) => {
  expect(tooOld(version)).toContain(`needs Node 22.19 or newer, but this is ${version.slice(1)}`);
});

test("the package asks for the same Node", () => {
  const { engines } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { engines: { node: string } };
  expect(engines.node).toBe(">=22.19");
  expect(tooOld("v22.19.0")).toBeUndefined();
  expect(tooOld("v22.18.0")).toBeDefined();
});
