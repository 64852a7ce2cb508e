/**
 * The forecast of `validate` for the fuel of large objects.
 */
import { expect, test } from "vitest";
import { run } from "../support.ts";

const IP = "subsets[*].addresses[*].ip";
const HEAVY = 'context.virtualObject.subsets[0].addresses.filter((one) => one.ip === value).length > 0 ? value : "10.0.0.1"';

function validate(patches: readonly object[], limits: object = {}, section = "endpoints") {
  const files = {
    "vcluster.yaml": JSON.stringify({ sync: { toHost: { [section]: { patches } } } }),
    "settings.yaml": JSON.stringify({ addressPolicy: { allow: ["10.0.0.0/8"] }, limits }),
  };
  return run(["validate", "vcluster.yaml", "--settings", "settings.yaml"], { files });
}

test("is the same each time, and grows with the addresses", async () => {
  const patches = [{ path: IP, expression: "value" }];
  const [one, other] = [await validate(patches), await validate(patches)];
  expect(one).toEqual(other);
  const [, some, many] = /Fuel for endpoints: ([\d,]+) with 250 addresses, ([\d,]+) with 1,000 addresses; the limit is 30 million\./.exec(
    one.stdout,
  )!;
  const number = (text: string | undefined) => Number(text!.replaceAll(",", ""));
  expect(number(many) / number(some)).toBeGreaterThan(3.5);
  expect(number(many) / number(some)).toBeLessThan(4.5);
  expect(one.stderr).toBe("");
});

test("a patch that looks at all addresses for each is warned of, at the patch", async () => {
  const { code, stdout, stderr } = await validate([
    { path: "metadata.annotations.a", expression: "value" },
    { path: IP, expression: HEAVY },
  ]);
  expect(code).toBe(0);
  expect(stderr).toMatch(
    /^vcluster\.yaml:1:\d+: warning EXPRESSION_FUEL sync\.toHost\.endpoints\.patches\[1\]: An object with 1,000 addresses would need [^\n]*fuel, but the limit is 30 million: the remaining values would stay unpatched\. Make this patch cheaper/,
  );
  expect(stdout).toMatch(/Fuel for endpoints: 2\.\d million with 250 addresses, 4\d\.\d million with 1,000/);
});

test("tells the smallest size that is too large, and once", async () => {
  const { stderr } = await validate([{ path: IP, expression: HEAVY }], { objectFuel: 500_000 });
  expect(stderr.match(/EXPRESSION_FUEL/g)).toHaveLength(1);
  expect(stderr).toContain("An object with 250 addresses would need more than 1.5 million fuel, but the limit is 500,000");
});

test("a single evaluation that needs too much is warned of too", async () => {
  const { stderr } = await validate(
    [
      {
        path: "metadata.labels.app",
        expression: "context.virtualObject.subsets[0].addresses.map((one) => one.ip.split('.')).length > 1e6 ? 'a' : value",
      },
    ],
    { fuel: 10_000 },
  );
  expect(stderr).toContain("An object with 250 addresses would need more fuel for one evaluation of this patch than limits.fuel allows");
});

test("slices count too, and Services have no addresses", async () => {
  const slices = await validate([{ path: "endpoints[*].addresses[*]", expression: "value" }], {}, "endpointSlices");
  expect(slices.stdout).toMatch(/Fuel for endpointSlices: /);
  const services = await validate([{ path: "metadata.labels.app", expression: "value" }], {}, "services");
  expect(services.stdout).not.toContain("Fuel for");
});
