import { readFileSync } from "node:fs";
import { load } from "js-yaml";
import { describe, expect, test } from "vitest";
import type { PatchDefinition } from "../../../src/engine/patch/patch-definition.ts";
import { compilePatches } from "../../../src/engine/patch/compile.ts";
import type { OutcomeKind, PatchEngine } from "../../../src/engine/patch/types.ts";
import { createSandbox } from "../../../src/engine/sandbox/sandbox.ts";
import { engine as plain, objectWith, recordReferences, run, translator } from "./setting.ts";

interface Case {
  readonly why: string;
  readonly patch: PatchDefinition;
  readonly object?: Readonly<Record<string, unknown>>;
  readonly host?: Readonly<Record<string, unknown>>;
  readonly outcome?: OutcomeKind;
  readonly back?: Readonly<Record<string, unknown>> | "none";
  readonly refused?: string;
}

const cases = load(readFileSync(new URL("../../../fixtures/patches/documented.yaml", import.meta.url), "utf8")) as Case[];
const engines: { name: string; engine: PatchEngine }[] = [
  { name: "the sandbox", engine: await createSandbox({ toHostDns: (name) => translator.dns(name) }) },
  { name: "Node's own engine", engine: plain },
];

describe.each(engines)("a documented example in $name", ({ engine }) => {
  test.each(cases.filter(({ refused }) => refused === undefined))(
    "works: $why",
    ({ patch, object = {}, host = object, outcome = "applied", back }) => {
      const before = objectWith(object);
      const there = run([patch], before, { engine });
      expect(there.object).toEqual(objectWith(host));
      expect(there.outcomes).toEqual([expect.objectContaining({ patch: 0, outcome })]);
      if (back === "none") return;
      recordReferences(there);
      const here = run([patch], there.object, { engine, direction: "toTenant" });
      expect(here.object).toEqual(objectWith(back ?? object));
    },
  );

  test.each(cases.filter(({ refused }) => refused !== undefined))("is refused: $why", ({ patch, refused }) => {
    expect(() => compilePatches([patch], { engine })).toThrow(expect.objectContaining({ code: refused }));
  });
});
