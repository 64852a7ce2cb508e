/**
 * `docs/guides/several-replicas.md`: its commands are run as written, in order, and print what the page says.
 */
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, test } from "vitest";
import { describeEtcd } from "../../support/etcd.ts";
import { hasKubectl, openGuideShell, stepsOf, type GuideShell } from "../../support/guide-shell.ts";
import { blocksOf } from "../../support/markdown.ts";

const PAGE = readFileSync(join(resolve(import.meta.dirname, "../../.."), "docs/guides/several-replicas.md"), "utf8");

describeEtcd(
  "several-replicas",
  () => {
    let shell: GuideShell;
    beforeAll(() => {
      shell = openGuideShell({ ready: /serving (insecure )?client (requests|traffic)|get teams\n|first start\n/ });
    });
    afterAll(() => shell.close());

    test.each(stepsOf(blocksOf(PAGE)))("line $line", (step) => shell.run(step));
  },
  hasKubectl ? undefined : "kubectl",
);
