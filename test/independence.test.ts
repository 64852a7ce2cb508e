/**
 * What tests must not share.
 *
 * Judges share no code with what they judge: the suites that look at the syncer from outside, and the models of permissions and of keys,
 * import nothing of the source, not even indirectly.
 */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, matchesGlob, relative, resolve } from "node:path";
import { expect, test } from "vitest";
import { LONG } from "../.config/long-tests.ts";

const ROOT = resolve(import.meta.dirname, "..");
const SUITES = ["outside", "chaos", "owners", "edits", "cuts", "versions", "real-servers", "attackers", "callers", "soak"];
const MODELS = ["test/suites/management-chaos/model.ts", "test/suites/key-chains/model.ts"];
/** For which the source makes a certificate. */
const CERTIFIED = ["test/suites/chaos/proxy.ts"];

/** The files that a file imports. */
function importsOf(file: string): string[] {
  const text = readFileSync(join(ROOT, file), "utf8");
  const named = [...text.matchAll(/\bfrom\s+"(\.[^"]+)"|\bimport\("(\.[^"]+)"\)|^import\s+"(\.[^"]+)"/gm)];
  return named.map((match) => relative(ROOT, resolve(ROOT, dirname(file), (match[1] ?? match[2] ?? match[3])!)));
}

test("a judge imports nothing of the source, and neither does what it imports", () => {
  const judges = SUITES.flatMap((suite) =>
    readdirSync(join(ROOT, "test/suites", suite))
      .filter((name) => name.endsWith(".ts"))
      .map((name) => `test/suites/${suite}/${name}`),
  );
  expect(judges.length).toBeGreaterThan(20);
  const reached = new Set([...judges, ...MODELS]);
  const shared: string[] = [];
  // Grows while it is walked.
  for (const file of reached) {
    for (const imported of importsOf(file)) {
      if (!imported.startsWith("src/")) reached.add(imported);
      else if (!CERTIFIED.includes(file)) shared.push(`${file} → ${imported}`);
    }
  }
  expect(shared).toEqual([]);
});

test("those that need a certificate still do", () => {
  expect(CERTIFIED.filter((file) => !importsOf(file).includes("src/apiserver/access/certificates.ts"))).toEqual([]);
});

test("a test that replaces modules or has V8 count calls is not one of those that share a process", () => {
  const needsOwnModules = /^vi\.(mock|doMock)\(|^\s*vi\.resetModules\(|useCountedCalls\(/m;
  const files = readdirSync(join(ROOT, "test"), { recursive: true, encoding: "utf8" }).map((name) => `test/${name}`);
  const found = files.filter((file) => file.endsWith(".test.ts") && needsOwnModules.test(readFileSync(join(ROOT, file), "utf8")));
  expect(found.length).toBeGreaterThan(2);
  expect(found.filter((file) => !LONG.some((glob) => matchesGlob(file, glob)))).toEqual([]);
});
