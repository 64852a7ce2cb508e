import { describe, expect, test } from "vitest";
import { compilePath } from "../../../src/engine/path/path.ts";
import { misfitOf, misspelling } from "../../../src/workbench/asserts/kind-fields.ts";
import { runText } from "../patch-tests/patch-tests-support.ts";

const SUITE = `patches:
  - { path: "subsets[*].addresses[*].ip", expression: 'context.path.includes("[0].ip") ? "10.9.9.9" : value' }
objects:
  web:
    metadata: { name: web, labels: { tier: front } }
    subsets: [{ addresses: [{ ip: 10.0.0.1 }, { ip: 10.0.0.2 }], ports: [{ port: 80 }] }]
`;

/** Report of a suite, in one line for each problem and each failure. */
async function told(text: string, options?: Parameters<typeof runText>[1]): Promise<string[]> {
  const { problems, results } = await runText(text, options);
  const failures = results.flatMap((result) => result.failures.map((failure) => `${result.verdict}: ${failure.message}`));
  return [...problems.map(({ message }) => message), ...failures];
}

const only = (text: string) => told(`${SUITE}tests: [{ it: t, object: web, ${text} }]\n`);

describe("a test that cannot fail is refused", () => {
  test.each([
    ["without statements in a list of them", "asserts: []", /^Expected at least 1 items/],
    ["without patches in a list of them", "patches: []", /^Expected at least 1 items/],
    ["a patch without an outcome", "patches: [{ path: 'subsets[*].addresses[*].ip' }]", /^The entry contains no expectation/],
    ["all of it excepted", "asserts: [{ unchanged: { except: [$] } }]", /^The exception covers the whole object/],
    ["all fields excepted", "asserts: [{ unchanged: { except: ['[*]'] } }]", /^The exception covers the whole object/],
    [
      "a misspelt exception",
      "asserts: [{ unchanged: { except: [subsets, 'subset[*].ports'] } }]",
      /^failed: Cannot look at subset\[\*\]\.ports/,
    ],
    ["a misspelt absence", "asserts: [{ notExists: { path: metadata.lables.tier } }]", /did you mean "labels"\?$/],
    [
      "a misspelt opposite",
      "asserts: [{ equal: { path: 'subsets[*].adresses[*].ip', value: x }, not: true }]",
      /did you mean "addresses"\?$/,
    ],
    [
      "a misspelt emptiness",
      "asserts: [{ isNullOrEmpty: { path: 'subsets[0].notReadyAdresses' } }]",
      /did you mean "notReadyAddresses"\?$/,
    ],
    [
      "a misspelt set",
      "set: { 'subsets[0].adresses[0].ip': 10.0.0.3 }, result: applied",
      /^error: .*subsets\[0\]\.adresses is not a field of the kind/,
    ],
    ["an empty message", "error: { match: startsWith, message: '' }", /^Expected a non-empty string/],
  ])("%s", async (_, text, message) => {
    expect(await only(text)).toEqual([expect.stringMatching(message)]);
  });

  test("no statement, where no patch finds anything", async () => {
    const bare = "The test has no assertions, and no patch finds a value";
    expect(await told(`${SUITE}tests: [{ it: t, object: {} }]\n`)).toEqual([expect.stringContaining(bare)]);
    const service = "{ apiVersion: v1, kind: Service, metadata: { name: a } }";
    expect(await told(`${SUITE}tests: [{ it: t, object: ${service} }]\n`)).toEqual([expect.stringContaining("no patches for this kind")]);
    expect(await told(`${SUITE}tests: [{ it: t, object: {}, result: unchanged }, { it: u, object: web }]\n`)).toEqual([]);
  });

  test("nothing is said against what is absent and may be there", async () => {
    expect(await only("asserts: [{ notExists: { path: metadata.labels.tire } }, { notExists: { path: metadata.uid } }]")).toEqual([]);
  });
});

test("a case with [*] speaks of every match", async () => {
  expect(await only('path: "subsets[*].addresses[*].ip", cases: [{ in: 10.0.0.7, out: 10.9.9.9 }]')).toEqual([
    'failed: Expected "10.0.0.7" at subsets[0].addresses[1].ip to become "10.9.9.9", found "10.0.0.7"',
  ]);
});

test("an expected message that is a part of the one that came is told how to be one", async () => {
  const text = `patches: [{ path: metadata.labels.a, expression: value.b.c }]\ntests: [{ it: t, object: { metadata: { labels: { a: x } } }, error: { message: TypeError } }]\n`;
  expect(await told(text)).toEqual([expect.stringMatching(/; with match: regex, a part of it is enough$/)]);
});

test("golden files are not written from what fails otherwise", async () => {
  const text = `patches: [{ path: metadata.labels.a, expression: value.b.c }]
tests:
  - { it: fails, object: { metadata: { labels: { a: x } } }, expected: a.yaml }
  - { it: passes, object: { metadata: { labels: { b: x } } }, expected: b.yaml }\n`;
  const { results, writes } = await runText(text, { update: true });
  expect(results.map(({ verdict }) => verdict)).toEqual(["failed", "passed"]);
  expect(writes.map(({ file }) => file)).toEqual(["tests/b.yaml"]);
});

describe("objects that are none", () => {
  test.each([
    [{ kind: "Endpoints", subsets: "none" }, "subsets is a string in place of a list"],
    [{ kind: "Endpoints", subsets: [null] }, "subsets[0] is null in place of a map"],
    [{ kind: "Endpoints", metadata: { labels: [] } }, "metadata.labels is a list in place of a map"],
    [{ kind: "Service", spec: { port: [] } }, 'spec.port is not a field of the kind; did you mean "ports"?'],
    [{ kind: "EndpointSlice", endpoint: [] }, 'endpoint is not a field of the kind; did you mean "endpoints"?'],
    [{ kind: "Service", spec: { clusterIPs: ["10.0.0.1"], ipFamilyPolicy: "SingleStack" }, status: {} }, undefined],
    [{ kind: "Endpoints", subsets: null, metadata: { labels: null, generateName: "a-" } }, undefined],
    [{ kind: "Endpoints", subsets: [{ addresses: [{ ip: 7, zone: "a" }] }] }, undefined],
    [{ kind: "Pod", metdata: 1 }, undefined],
    ["text", undefined],
  ])("%j: %s", (object, why) => {
    expect(misfitOf(object)).toBe(why);
  });

  test.each([
    ["Endpoints", "subsets[*].ports[0].prot", '"port"'],
    ["Endpoints", "metadata.label.tier", '"labels"'],
    ["Endpoints", "metadata.labels.lables", undefined],
    ["Endpoints", "kind", undefined],
    ["Service", "spec.selektor", '"selector"'],
    ["Pod", "metadata.label", undefined],
  ])("paths of %s: %s", (kind, path, meant) => {
    const found = misspelling(kind, compilePath(path).segments);
    expect(meant === undefined ? found : found?.includes(`did you mean ${meant}?`)).toBe(meant === undefined ? undefined : true);
  });

  test.each([
    ["{ kind: Endpoints }", "kind without apiVersion"],
    ["{ metadata: { name: 5 } }", "metadata.name is not a string"],
    ["{ metadata: { namespace: {} } }", "metadata.namespace is not a string"],
    ["{ subsets: [null] }", "subsets[0] is null in place of a map"],
  ])("%s is an error", async (object, why) => {
    expect(await told(`${SUITE}tests: [{ it: t, object: ${object}, result: unchanged }]\n`)).toEqual([
      expect.stringMatching(/^error: Cannot use the object: /),
    ]);
    expect((await told(`${SUITE}tests: [{ it: t, object: ${object}, result: unchanged }]\n`))[0]).toContain(why);
  });
});

describe("laws", () => {
  test("that were tried on fewer values than wanted do not pass", async () => {
    const costly = "(() => { let sum = 0; for (let i = 0; i < 100000; i += 1) sum += i; return value; })()";
    const text = `patches: [{ path: metadata.labels.a, expression: "${costly}" }]\nlaws: [{ total: {} }]\n`;
    expect(await told(text)).toEqual([expect.stringMatching(/^failed: Only \d+ of 300 values of metadata\.labels\.a could be tried/)]);
  });

  test("about the way back say that there is none", async () => {
    expect(await told(`${SUITE}laws: [{ roundTrip: { path: "subsets[*].addresses[*].ip" } }]\n`)).toEqual([
      expect.stringContaining("has no reverseExpression"),
    ]);
  });
});

describe("sequences", () => {
  const sequence = (events: string, expectations: string) =>
    told(`${SUITE}sequences: [{ it: s, events: [${events}], expect: [${expectations}] }]\n`);
  const APPLY = "{ at: 0s, tenant: { apply: web } }";

  test.each([
    [
      "an event after the last look",
      `${APPLY}, { at: 20s, tenant: { delete: web } }`,
      "{ at: 10s, host: { web: present } }",
      /the last expectation is at 10s/,
    ],
    ["writes that none can be", APPLY, "{ at: 10s, host: { writes: { max: 0, since: 20s } } }", /^since is later/],
    ["0 writes or more", APPLY, "{ at: 10s, host: { writes: { min: 0 } } }", /^min 0 holds for any number of writes/],
    ["no number of writes", APPLY, "{ at: 10s, host: { writes: { min: 3, max: 2 } } }", /^min 3 is greater than max 2/],
    ["no statement about an object", APPLY, "{ host: { web: { asserts: [] } } }", /^Expected at least 1 items/],
    [
      "a misspelt absence",
      APPLY,
      "{ host: { web: { asserts: [{ notExists: { path: metadata.lables } }] } } }",
      /did you mean "labels"\?, in web/,
    ],
    [
      "a misspelt value",
      "{ at: 0s, tenant: { apply: web, set: { subset: [] } } }",
      "{ quiescent: true }",
      /subset is not a field of the kind/,
    ],
  ])("%s", async (_, events, expectations, message) => {
    expect(await sequence(events, expectations)).toEqual([expect.stringMatching(message)]);
  });

  test("an event before an expectation of no time, or at the time of the last, is fine", async () => {
    expect(
      await sequence(`${APPLY}, { at: 20s, tenant: { delete: web } }`, "{ at: 1s, host: { web: present } }, { host: { web: absent } }"),
    ).toEqual([]);
    expect(
      await sequence(`${APPLY}, { at: 2s, tenant: { delete: web } }`, "{ at: 2s, tenant: { web: absent, writes: { min: 0, max: 0 } } }"),
    ).toEqual([]);
  });
});

test("a failure elsewhere is not the failure of a case", async () => {
  const text = `patches: [{ path: metadata.labels.a, expression: value.x.y }, { path: metadata.labels.b, expression: value }]
tests: [{ it: t, object: { metadata: { labels: { a: x } } }, path: metadata.labels.b, cases: [{ in: y, error: EXPRESSION_ERROR }] }]\n`;
  expect(await told(text)).toEqual(["failed: Expected metadata.labels.b to fail with EXPRESSION_ERROR, found no failure there"]);
});

test("references are all of them", async () => {
  const text = `patches: [{ path: "metadata.annotations[*]", reference: { apiVersion: v1, kind: Secret } }]
tests: [{ it: t, object: { metadata: { annotations: { a: x, b: y } } }, references: [{ kind: Secret, tenant: default/x }] }]\n`;
  expect(await told(text)).toEqual([expect.stringMatching(/^failed: Expected no reference .*default\/y/)]);
});
