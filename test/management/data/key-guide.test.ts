/**
 * The part of `docs/guides/back-up-the-platform.md` that needs an etcd: its commands are run as written, in order, and print what the
 * page says.
 */
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, test } from "vitest";
import { describeEtcd } from "../../support/etcd.ts";
import { openGuideShell, stepsOf, type GuideShell } from "../../support/guide-shell.ts";
import { blocksOf } from "../../support/markdown.ts";

const PAGE = readFileSync(join(resolve(import.meta.dirname, "../../.."), "docs/guides/back-up-the-platform.md"), "utf8");
/** Those in `bash` are run here, the others where there need be no etcd. */
const BLOCKS = blocksOf(PAGE.slice(PAGE.indexOf("\n## Replace the encryption key of servers on one etcd\n")));
const STEPS = stepsOf(BLOCKS.map((block) => (block.language === "bash" ? { ...block, language: "sh" } : block)));

describeEtcd("replace the encryption key of servers on one etcd", () => {
  let shell: GuideShell;
  beforeAll(() => {
    shell = openGuideShell({ ready: /serving (insecure )?client (requests|traffic)|get teams\n|first start\n/ });
  });
  afterAll(() => shell.close());

  test.each(STEPS)("line $line", (step) => shell.run(step));
});
