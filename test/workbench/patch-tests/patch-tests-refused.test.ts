/**
 * A patch test does not pass with a result that an API server would refuse.
 */
import { expect, test } from "vitest";
import { runText } from "./patch-tests-support.ts";

async function told(patch: string, states: string): Promise<string[]> {
  const text = `patches: [${patch}]
objects:
  web: { metadata: { name: web }, subsets: [{ addresses: [{ ip: 10.0.0.1, hostname: db-0 }], ports: [{ name: http, port: 80 }] }] }
tests: [{ it: t, object: web${states === "" ? "" : `, ${states}`} }]
`;
  const { problems, results } = await runText(text);
  return [...problems.map(({ message }) => message), ...results.flatMap(({ failures }) => failures.map(({ message }) => message))];
}

test.each([
  [
    "a port as text",
    '{ path: "subsets[*].ports[*].port", expression: "String(value)" }',
    "subsets.ports.port: Invalid type: found string, expected int32",
  ],
  [
    "a hostname in capitals",
    '{ path: "subsets[*].addresses[*].hostname", expression: value.toUpperCase() }',
    'hostname: Invalid value: "DB-0": ',
  ],
  ["a port name that is too long", '{ path: "subsets[*].ports[*].name", expression: value.repeat(16) }', "ports[0].name: Invalid value: "],
  ["a port that is none", '{ path: "subsets[*].ports[*].port", expression: "value + 70000" }', "port: Invalid value: 70080: "],
])("fails for %s, whether or not it asserts anything", async (_what, patch, why) => {
  for (const states of ["asserts: [{ exists: { path: metadata.name } }]", ""]) {
    const failures = (await told(patch, states)).filter((message) => message.includes("API server would refuse it"));
    expect(failures, states).toEqual([expect.stringContaining(why)]);
  }
});

test("passes when the refusal is what it expects", async () => {
  expect(await told('{ path: "subsets[*].ports[*].port", expression: "String(value)" }', "result: rejected")).toEqual([]);
});

test("does not blame patches for what an incomplete object of a test lacks", async () => {
  const text = `patches: [{ path: metadata.labels.tier, expression: '"x-" + value' }]
objects: { web: { metadata: { name: web, labels: { tier: a } }, subsets: [{ addresses: [{ ip: no-address }] }] } }
tests: [{ it: t, object: web, asserts: [{ equal: { path: metadata.labels.tier, value: x-a } }] }]
`;
  expect((await runText(text)).results.map(({ verdict }) => verdict)).toEqual(["passed"]);
});
