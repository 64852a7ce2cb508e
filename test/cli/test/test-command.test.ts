/**
 * `test` on real files: the tests that run, reports, written files, and exit codes.
 */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { run } from "../support.ts";

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), "endpoint-sync-test-"))));
afterEach(() => rmSync(folder, { recursive: true }));

function write(files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
}

const test_ = (...argv: readonly string[]) => run(["test", folder, ...argv]);

/** A test file whose tests expect these IPs of 10.0.0.1, by name. */
function file(tests: Readonly<Record<string, string>>, more = ""): string {
  const entries = Object.entries(tests).map(
    ([name, ip]) => `  - it: ${name}\n    object: web\n    asserts:\n      - equal: { path: "subsets[0].addresses[0].ip", value: ${ip} }\n`,
  );
  return `apiVersion: cli.endpointsync.dev/v1alpha1
kind: PatchTest
patches:
  - path: subsets[*].addresses[*].ip
    expression: value.replace(/^10\\./, "100.")
objects:
  web:
    metadata: { name: web, namespace: shop }
    subsets: [{ addresses: [{ ip: 10.0.0.1 }], ports: [{ port: 80 }] }]
tests:
${entries.join("")}${more}`;
}

const GREEN = file({ "moves IPs": "100.0.0.1" });
const RED = file({ "moves IPs": "100.0.0.1", "keeps IPs": "10.0.0.1" });

describe("the exit code", () => {
  test.each<{ what: string; files: Readonly<Record<string, string>>; argv?: readonly string[]; code: number; says: RegExp }>([
    { what: "of tests that pass is 0", files: { "a.patch-test.yaml": GREEN }, code: 0, says: /^PASS 1 {2}FAIL 0 /m },
    { what: "of a test that fails is 1", files: { "a.patch-test.yaml": RED }, code: 1, says: /^PASS 1 {2}FAIL 1 /m },
    {
      what: "of a file that cannot be run is 2, whatever else ran",
      files: { "a.patch-test.yaml": RED, "b.patch-test.yaml": `${GREEN}unknown: 1\n` },
      code: 2,
      says: /1 file could not be run/,
    },
    { what: "of a folder without tests is 2", files: { "a.yaml": GREEN }, code: 2, says: /USAGE: Found no test files in/ },
    { what: "of a folder without tests can be 0", files: {}, argv: ["--pass-with-no-tests"], code: 0, says: /^PASS 0 /m },
    {
      what: "of a filter that wants nothing is 2",
      files: { "a.patch-test.yaml": GREEN },
      argv: ["--filter", "x"],
      code: 2,
      says: /No test name matches/,
    },
    {
      what: "of a filter that wants nothing can be 0",
      files: { "a.patch-test.yaml": GREEN },
      argv: ["--filter", "x", "--pass-with-no-tests"],
      code: 0,
      says: /^PASS 0 /m,
    },
    {
      what: "of a file without tests is 2",
      files: { "a.patch-test.yaml": file({}) + "  []\n" },
      code: 2,
      says: /The test files contain no tests/,
    },
    { what: "of a reporter that does not exist is 2", files: {}, argv: ["--reporter", "x"], code: 2, says: /Expected one of pretty/ },
    { what: "of a threshold that is not a percentage is 2", files: {}, argv: ["--threshold", "101"], code: 2, says: /from 0 to 100/ },
    { what: "of a filter that does not parse is 2", files: {}, argv: ["--filter", "/(/"], code: 2, says: /Invalid regular expression/ },
    { what: "of a watched document is 2", files: {}, argv: ["--watch", "--reporter", "json"], code: 2, says: /while watching/ },
    { what: "of a watch that would stop early is 2", files: {}, argv: ["--watch", "--fail-fast"], code: 2, says: /cannot be used with/ },
  ])("$what", async ({ files, argv = [], code, says }) => {
    write(files);
    const answer = await test_(...argv);
    expect(answer.stdout + answer.stderr).toMatch(says);
    expect(answer.code).toBe(code);
  });
});

test("a failing test is shown with the patch, the values of its expression, and its line", async () => {
  write({ "a.patch-test.yaml": RED });
  const { stdout } = await test_();
  expect(stdout).toMatch(/^ {2}PASS {2}moves IPs/m);
  expect(stdout).toMatch(/^FAIL {2}keeps IPs +\S*a\.patch-test\.yaml:\d+$/m);
  expect(stdout).toContain("100.0.0.1");
});

test("JUnit has the time of every test, law and sequence, and JSON too", async () => {
  write({ "a.patch-test.yaml": file({ "moves IPs": "100.0.0.1" }, "laws:\n  - total: { runs: 5 }\n") });
  const { stdout: xml } = await test_("--reporter", "junit");
  const cases = xml.match(/<testcase .*/g)!;
  expect([cases.length, ...cases]).toEqual([2, expect.stringMatching(/ time="\d+\.\d{3}"/), expect.stringMatching(/ time="\d+\.\d{3}"/)]);
  const { stdout: json } = await test_("--reporter", "json");
  const { files } = JSON.parse(json) as { files: { results: { ms: unknown }[] }[] };
  expect(files[0]!.results.map(({ ms }) => Number.isInteger(ms))).toEqual([true, true]);
});

test("render has the names of a virtual cluster that a test file has without a context", async () => {
  const vcluster =
    "sync: {toHost: {endpoints: {patches: [{path: metadata.labels.of, expression: 'context.vcluster.name + \"_\" + context.vcluster.namespace'}]}}}";
  const web = "{ apiVersion: v1, kind: Endpoints, metadata: { name: web, namespace: shop, labels: { of: x } }, subsets: [] }";
  const asserts =
    "[{ equal: { path: metadata.labels.of, value: blue_vc-blue } }, { equal: { path: metadata.name, value: web-x-shop-x-blue } }]";
  const suite = `apiVersion: cli.endpointsync.dev/v1alpha1\nkind: PatchTest\nconfig: vcluster.yaml\ntests:\n  - { it: a, object: ${web}, asserts: ${asserts} }\n`;
  write({ "vcluster.yaml": vcluster, "web.yaml": web, "a.patch-test.yaml": suite });
  const tested = await test_();
  expect([tested.code, tested.stdout]).toEqual([0, expect.stringContaining("PASS 1 ")]);
  const rendered = await run(["render", "--config", join(folder, "vcluster.yaml"), "-f", join(folder, "web.yaml")]);
  expect(rendered.stdout).toMatch(/name: web-x-shop-x-blue\n {2}namespace: vc-blue\n {2}labels:\n {4}of: blue_vc-blue/);
});

test("only files are named that have a test that is wanted", async () => {
  write({ "a.patch-test.yaml": GREEN, "b.patch-test.yaml": RED });
  const { stdout, code } = await test_("-t", "/^keeps/");
  expect(stdout).not.toContain("a.patch-test.yaml");
  expect(stdout).not.toContain("moves IPs");
  expect([code, /^PASS .*$/m.exec(stdout)?.[0]]).toEqual([1, expect.stringMatching(/^PASS 0 {2}FAIL 1 /)]);
});

test("--fail-fast runs no file behind one with a failure", async () => {
  write({ "a.patch-test.yaml": GREEN, "b.patch-test.yaml": RED, "c.patch-test.yaml": RED });
  const { stdout, code } = await test_("--fail-fast");
  expect([code, stdout.match(/^\S*[abc]\.patch-test\.yaml/gm)?.map((line) => line.at(-17))]).toEqual([1, ["a", "b"]]);
});

describe("coverage", () => {
  const config = `sync:
  toHost:
    endpoints:
      patches:
        - path: metadata.labels.tier
          expression: 'value === "db" ? "database" : value'
          reverseExpression: value
`;
  const suite = (tier: string) => `apiVersion: cli.endpointsync.dev/v1alpha1
kind: PatchTest
config: vcluster.yaml
tests:
  - it: is named
    object: { metadata: { name: web, labels: { tier: ${tier} } } }
`;
  const back = `  - it: comes back
    direction: toTenant
    object: { metadata: { name: web-x-shop-x-blue, namespace: vc-blue, labels: { tier: web } } }
    context: { virtualObject: { metadata: { name: web, namespace: shop } } }
`;

  test("counts the patches and branches that all files reach together, and tells what none of them does", async () => {
    write({ "vcluster.yaml": config, "a.patch-test.yaml": suite("db"), "b.patch-test.yaml": suite("db") });
    const { code, stdout, stderr } = await test_("--coverage");
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toContain("patch coverage 50% branch 50%");
    expect(stdout).toMatch(/^Not covered\n.*never taken: .*value\n.*reverseExpression \(metadata\.labels\.tier\): never ran\n/m);
  });

  test("below the threshold fails, and says so", async () => {
    write({ "vcluster.yaml": config, "a.patch-test.yaml": suite("db") + back });
    const { code, stdout, stderr } = await test_("--threshold", "80");
    expect([code, stderr]).toEqual([1, "Coverage is below 80%: 100% of the patches and 50% of their branches ran\n"]);
    expect(stdout).toMatch(/^PASS 2 {2}FAIL 0 /m);
    write({ "b.patch-test.yaml": suite("web") });
    expect(await test_("--threshold", "100")).toMatchObject({ code: 0, stderr: "" });
  });
});

describe("golden files", () => {
  const withGolden = (expected: string) => file({}, `  - it: as it was\n    object: web\n    expected: ${expected}\n`);

  test("are written with -u, and hold from then on", async () => {
    write({ "a.patch-test.yaml": withGolden("golden/web.yaml") });
    expect((await test_()).code).toBe(1);
    expect(existsSync(join(folder, "golden/web.yaml"))).toBe(false);
    const updated = await test_("-u");
    expect([updated.code, updated.stderr]).toEqual([0, `Wrote ${join(folder, "golden/web.yaml")}\n`]);
    expect(readFileSync(join(folder, "golden/web.yaml"), "utf8")).toContain("100.0.0.1");
    const again = await test_("-u");
    expect([again.code, again.stderr]).toEqual([0, ""]);
    expect((await test_()).code).toBe(0);
  });

  test("differ line by line", async () => {
    write({ "a.patch-test.yaml": withGolden("golden/web.yaml") });
    await test_("-u");
    const golden = join(folder, "golden/web.yaml");
    writeFileSync(golden, readFileSync(golden, "utf8").replace("100.0.0.1", "100.0.0.2"));
    const { stdout } = await test_();
    expect(stdout).toMatch(/^ {2}-.*100\.0\.0\.2$\n^ {2}\+.*100\.0\.0\.1$/m);
  });

  test("are not written outside of the test's folder and the working directory", async () => {
    write({ "in/a.patch-test.yaml": withGolden("../golden/web.yaml") });
    const { code, stderr } = await run(["test", join(folder, "in"), "-u"]);
    expect([code, stderr]).toEqual([2, expect.stringMatching(/CONFIG_FILE: Refusing to write/)]);
    expect(existsSync(join(folder, "golden"))).toBe(false);
  });
});

describe.runIf(existsSync("/proc/self"))("where the system makes no folders", () => {
  const NOWHERE = "/proc/endpoint-sync/inner";
  const failure = { code: 2, stderr: expect.stringMatching(/CONFIG_FILE: Cannot write .*mkdir '\/proc\/endpoint-sync'/) as string };

  test("a report is not written, and that is reported", async () => {
    write({ "a.patch-test.yaml": GREEN });
    expect(await test_("--reporter", `junit=${NOWHERE}/report.xml`)).toMatchObject(failure);
  });

  test("a first test is not written, and that is reported", async () => {
    expect(await run(["test", "init", NOWHERE])).toMatchObject(failure);
  });
});

test("folders of reports are for everyone who may read what is beside them", async () => {
  write({ "a.patch-test.yaml": GREEN });
  await test_("--reporter", `junit=${join(folder, "reports/report.xml")}`);
  mkdirSync(join(folder, "usual"));
  expect(statSync(join(folder, "reports")).mode).toBe(statSync(join(folder, "usual")).mode);
});

test("schema test is the JSON schema of test files", async () => {
  const { code, stdout } = await run(["schema", "test"]);
  expect([code, JSON.parse(stdout)]).toEqual([0, expect.objectContaining({ type: "object", additionalProperties: false })]);
});

describe("test init", () => {
  const init = () => run(["test", "init", folder]);

  test("makes a first test that passes, with a schema for editors", async () => {
    const { code, stdout, stderr } = await init();
    expect([code, stderr]).toEqual([0, ""]);
    const written = [...stdout.matchAll(/^Wrote (.*)$/gm)].map(([, name]) => name!.slice(folder.length + 1));
    expect(written).toEqual([
      "vcluster.yaml",
      "patch-tests/endpoints.yaml",
      "patch-tests/vcluster.patch-test.yaml",
      "patch-tests/patch-test.schema.json",
    ]);
    const text = readFileSync(join(folder, "patch-tests/vcluster.patch-test.yaml"), "utf8");
    expect(text).toMatch(/^# yaml-language-server: \$schema=patch-test\.schema\.json\n/);
    expect(await test_()).toMatchObject({ code: 0, stdout: expect.stringMatching(/^PASS 1 {2}FAIL 0 {2}ERROR 0 {2}SKIP 0/m) });
    // The test is about something: without the patch it fails.
    writeFileSync(join(folder, "vcluster.yaml"), readFileSync(join(folder, "vcluster.yaml"), "utf8").replace("+ value", ""));
    expect((await test_()).code).toBe(1);
  });

  test("overwrites nothing", async () => {
    await init();
    const names = ["vcluster.yaml", "patch-tests/endpoints.yaml", "patch-tests/vcluster.patch-test.yaml"];
    for (const name of names) writeFileSync(join(folder, name), `${readFileSync(join(folder, name), "utf8")}# mine\n`);
    const { code, stdout } = await init();
    expect([code, stdout]).toEqual([0, expect.not.stringContaining("Wrote")]);
    for (const name of names) expect(readFileSync(join(folder, name), "utf8")).toMatch(/# mine\n$/);
  });

  test("gives every patch of a configuration a test, and skips those that need another object", async () => {
    write({
      "vcluster.yaml": `sync:
  toHost:
    endpoints:
      patches:
        - path: subsets[*].addresses[*].ip
          expression: value.replace(/^10\\./, "100.")
        - path: metadata.annotations["example.com/limits"]
          expression: 'JSON.stringify({...JSON.parse(value), cpu: 1})'
        - path: metadata.annotations["example.com/upstream"]
          expression: virtualToHostDNS(value)
        - path: metadata.annotations["example.com/cpu"]
          expression: JSON.parse(value).cpu.toFixed(1)
        - path: metadata.annotations["example.com/tls"]
          reference: { apiVersion: v1, kind: Secret }
        - path: subsets[*].notReadyAddresses[*].ip
          expression: value
    services:
      patches:
        - path: metadata.labels.tier
          expression: value + ".example.com"
    secrets:
      enabled: true
`,
      "settings.yaml": "{}\n",
    });
    const { code, stderr } = await init();
    expect([code, stderr.match(/error/g)]).toEqual([0, null]);
    const ran = await test_();
    expect(ran.code).toBe(0);
    expect([...ran.stdout.matchAll(/^ {2}(PASS|SKIP) +(\S+: \S+)/gm)].map(([, verdict, name]) => `${verdict} ${name}`)).toEqual([
      "PASS endpoints: subsets[*].addresses[*].ip",
      'PASS endpoints: metadata.annotations["example.com/limits"]',
      'PASS endpoints: metadata.annotations["example.com/upstream"]',
      'SKIP endpoints: metadata.annotations["example.com/cpu"]',
      'PASS endpoints: metadata.annotations["example.com/tls"]',
      "PASS endpoints: subsets[*].notReadyAddresses[*].ip",
      "PASS services: metadata.labels.tier",
    ]);
    // Each place of a path with [*] is spoken of.
    writeFileSync(join(folder, "vcluster.yaml"), readFileSync(join(folder, "vcluster.yaml"), "utf8").replace('"100."', '"101."'));
    const broken = await test_();
    expect(broken.code).toBe(1);
    expect(broken.stdout).toMatch(/Expected subsets\[0\]\.addresses\[1\]\.ip to equal "100\.1\.0\.12", found "101\.1\.0\.12"/);
  });

  /** A configuration whose patches have these paths and this expression. */
  const configOf = (patches: Readonly<Record<string, readonly string[]>>, expression: string) =>
    JSON.stringify({
      sync: {
        toHost: Object.fromEntries(
          Object.entries(patches).map(([list, paths]) => [list, { enabled: true, patches: paths.map((path) => ({ path, expression })) }]),
        ),
      },
    });

  test("gives the sample a value where a path leads, so that each test fails when its expression is wrong", async () => {
    const patches = {
      endpoints: ["metadata.annotations[*]", "subsets[*].ports[-1].appProtocol", "subsets[*].notReadyAddresses[*].nodeName"],
      services: ["metadata.annotations[*]", "spec.ports[*].appProtocol"],
      endpointSlices: [
        "metadata.labels[*]",
        "endpoints[*].zone",
        "endpoints[*].hints.forZones[*].name",
        "endpoints[*].deprecatedTopology[*]",
      ],
    };
    const count = Object.values(patches).flat().length;
    write({ "vcluster.yaml": configOf(patches, "typeof value === 'string' ? 'b' + value : value + 1"), "settings.yaml": "{}\n" });
    expect((await init()).stderr).not.toContain("is not tested yet");
    expect(await test_()).toMatchObject({ code: 0, stdout: expect.stringContaining(`PASS ${count}  FAIL 0  ERROR 0  SKIP 0`) });
    write({ "vcluster.yaml": configOf(patches, "typeof value === 'string' ? 'broken' : value + 2") });
    expect(await test_()).toMatchObject({ code: 1, stdout: expect.stringContaining(`PASS 0  FAIL ${count}  ERROR 0  SKIP 0`) });
  });

  test("a test of a patch that removes a value fails when the patch keeps it", async () => {
    write({ "vcluster.yaml": configOf({ endpoints: ["subsets[*].addresses[*].nodeName"] }, "null"), "settings.yaml": "{}\n" });
    await init();
    expect((await test_()).code).toBe(0);
    write({ "vcluster.yaml": configOf({ endpoints: ["subsets[*].addresses[*].nodeName"] }, "'broken'") });
    expect((await test_()).code).toBe(1);
  });

  test("names each patch that it cannot test, with the reason, and only when it writes the tests", async () => {
    const section = (list: string, patch: string) => `    ${list}:\n      patches:\n        - ${patch}\n`;
    const reverse = "{ path: metadata.annotations.team, reverseExpression: value.trim() }";
    const spec = "{ path: 'spec.externalIPs[*]', expression: value }";
    write({ "vcluster.yaml": `sync:\n  toHost:\n${section("endpoints", reverse)}${section("services", spec)}`, "settings.yaml": "{}\n" });
    const { code, stderr } = await init();
    const file = join(folder, "patch-tests/vcluster.patch-test.yaml");
    expect([code, stderr.match(/^warning The patch .*$/gm)]).toEqual([
      0,
      [
        `warning The patch endpoints: metadata.annotations.team is not tested yet: its test in ${file} needs direction: toTenant and an object of the host: the patch has only a reverseExpression. Complete the test, and remove skip`,
        `warning The patch services: spec.externalIPs[*] is not tested yet: its test in ${file} needs another object or path: the value at spec.externalIPs[*] is not copied. Complete the test, and remove skip`,
      ],
    ]);
    expect(await test_()).toMatchObject({ code: 0, stdout: expect.stringContaining("PASS 0  FAIL 0  ERROR 0  SKIP 2") });
    expect((await init()).stderr).not.toContain("is not tested yet");
  });

  test("tests a patch with a JSONPath", async () => {
    write({ "vcluster.yaml": configOf({ endpoints: ["$..hostname"] }, "'a-' + value"), "settings.yaml": "pathSyntax: jsonpath\n" });
    expect((await init()).code).toBe(0);
    expect(await test_()).toMatchObject({ code: 0, stdout: expect.stringContaining("PASS 1  FAIL 0  ERROR 0  SKIP 0") });
  });

  test("tells what is wrong with the configuration", async () => {
    write({ "vcluster.yaml": "sync: 1\n" });
    expect(await init()).toMatchObject({ code: 2, stderr: expect.stringContaining("CONFIG_TYPE") });
    write({ "vcluster.yaml": "{}\n" });
    expect(await init()).toMatchObject({ code: 2, stderr: expect.stringContaining("has no patches to test") });
    expect(existsSync(join(folder, "patch-tests"))).toBe(false);
  });
});
