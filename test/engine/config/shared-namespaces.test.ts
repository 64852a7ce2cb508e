import * as fc from "fast-check";
import { expect, test } from "vitest";
import { parseConfig } from "../../../src/engine/config/config.ts";
import { sharedNamespace } from "../../../src/engine/config/shared-namespaces.ts";
import { compileNamespaces } from "../../../src/engine/translate/translator.ts";

const VCLUSTER = { name: "blue", namespace: "vc-blue" };

function messages(byName: Readonly<Record<string, string>>, vcluster: typeof VCLUSTER | undefined = VCLUSTER): string[] {
  const lines = Object.entries(byName).map(([tenant, host]) => `        ${JSON.stringify(tenant)}: ${JSON.stringify(host)}\n`);
  const text = `sync:\n  toHost:\n    namespaces:\n      enabled: true\n      mappings:\n       byName:\n${lines.join("")}`;
  const result = parseConfig(text, { file: "f", ...(vcluster && { vcluster }) });
  return result.ok ? [] : result.problems.map(({ line, message }) => `${line}: ${message}`);
}

test.each([
  {
    why: "an exact entry in the range of a pattern",
    byName: { "team-a": "h-b", "team-*": "h-*" },
    told: ['8: The tenant namespaces "team-a" and "team-b" would share "h-b" because of the mapping at line 7 and this one'],
  },
  {
    why: "a pattern before an exact entry",
    byName: { "team-*": "all-*", other: "all-a" },
    told: ['8: The tenant namespaces "team-a" and "other" would share "all-a" because of the mapping at line 7 and this one'],
  },
  {
    why: "two patterns, one within the other",
    byName: { "team-*": "h-*", "other-*": "h-x-*" },
    told: ['8: The tenant namespaces "team-x-z" and "other-z" would share "h-x-z" because of the mapping at line 7 and this one'],
  },
  {
    why: "the name of the virtual cluster makes them one",
    byName: { "${name}-*": "h-*", a: "h-${name}" },
    told: ['8: The tenant namespaces "blue-blue" and "a" would share "h-blue" because of the mapping at line 7 and this one'],
  },
])("$why is refused, and both lines are named", ({ byName, told }) => {
  expect(messages(byName as never)).toEqual(told);
});

test.each([
  { why: "an exact entry that says what the pattern says", byName: { "team-b": "h-b", "team-*": "h-*" } },
  { why: "an exact entry outside of the pattern", byName: { "team-a": "k-b", "team-*": "h-*" } },
  { why: "patterns that say the same", byName: { "team-*": "h-*", "team-a-*": "h-a-*" } },
  { why: "a third entry that takes the others out of the way", byName: { "team-a": "h-b", "team-*": "h-*", "team-b": "k" } },
  { why: "a third pattern that does", byName: { "team-*": "h-*", "other-*": "h-x-*", "team-x-*": "k-*" } },
  { why: "a tenant namespace that cannot be", byName: { "*": "h*", "x-*": "h-x-*" } },
])("$why is accepted", ({ byName }) => {
  expect(messages(byName as never)).toEqual([]);
});

test("nothing is said of a name that is not known", () => {
  expect(messages({ "a-*": "${name}-*", b: "v-b" }, undefined)).toEqual([]);
});

test("mappings in which no two entries share anything give every tenant namespace a host namespace of its own", () => {
  const part = fc.constantFrom("", "a", "b", "a-", "b-", "a-b", "a-b-", "b-a-");
  const pattern = fc
    .tuple(
      part,
      part.filter((text) => text !== ""),
    )
    .map(([tenant, host]) => ({ tenant: `${tenant}*`, host: `h${host}*` }));
  const name = fc.constantFrom("a", "b", "a-b", "b-a", "a-b-a", "ab");
  const exact = fc.tuple(name, name).map(([tenant, host]) => ({ tenant, host: `h${host}` }));
  const mappings = fc.uniqueArray(fc.oneof(pattern, exact), { selector: ({ tenant }) => tenant, minLength: 2, maxLength: 4 });
  const namespaces = fc.uniqueArray(fc.stringMatching(/^[ab]([-ab]{0,4}[ab])?$/), { minLength: 12, maxLength: 40 });
  fc.assert(
    fc.property(mappings, namespaces, (all, names) => {
      const hosts = all.map(({ host }) => host);
      const apart = all.every((left, at) => all.slice(at + 1).every((right) => sharedNamespace(left, right, all) === undefined));
      const { toHost } = compileNamespaces(Object.fromEntries(all.map(({ tenant, host }) => [tenant, host])), VCLUSTER);
      const reached = names.flatMap((from) => toHost(from) ?? []);
      if (apart && new Set(hosts).size === hosts.length) expect(new Set(reached).size).toBe(reached.length);
    }),
    { numRuns: 3_000 },
  );
  fc.assert(
    fc.property(mappings, (all) => {
      const { toHost } = compileNamespaces(Object.fromEntries(all.map(({ tenant, host }) => [tenant, host])), VCLUSTER);
      for (const [at, left] of all.entries())
        for (const right of all.slice(at + 1)) {
          const shared = sharedNamespace(left, right, all);
          if (shared !== undefined) expect(shared.tenants.map(toHost)).toEqual([shared.host, shared.host]);
        }
    }),
    { numRuns: 3_000 },
  );
});
