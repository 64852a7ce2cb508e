/**
 * `README.md`: every block of commands, pasted in order into one shell, in a copy of the checkout. The package is built there, and
 * `npx` runs what was built. `npm run test:package` does the same where the tarball is installed.
 */
import { cpSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { createHttpClient } from "../../src/kube/client/http-client.ts";
import { loadKubeConfig } from "../../src/kube/client/kube-config.ts";
import type { ClusterClient } from "../../src/kube/object/cluster-client.ts";
import { ENDPOINTS, NAMESPACES, SECRETS } from "../../src/kube/object/resource.ts";
import { openPastedShell, type PastedShell } from "../support/pasted-shell.ts";
import { WAIT } from "../support/patience.ts";
import { pasteReadmeBlock, README_BLOCKS, README_COMMANDS, README_SHIMS } from "../support/readme-blocks.ts";

const ROOT = resolve(import.meta.dirname, "../..");
/** A build, and processes that start, on a machine that is busy. */
const LONG_MS = 900_000;
/** What a clone has, as far as the commands read it. */
const CLONE = [
  "package.json",
  "README.md",
  "CHANGELOG.md",
  "LICENSE",
  "tsconfig.json",
  ".config",
  "src",
  "types",
  "fixtures",
  "docs",
  "deploy",
];

test("every block of commands is known, in the order of the page", () => {
  expect(README_COMMANDS.map((text, index) => text.slice(0, README_BLOCKS[index]?.begins.length))).toEqual(
    README_BLOCKS.map(({ begins }) => begins),
  );
});

describe("pasted in a clone", () => {
  let folder: string;
  let shell: PastedShell;
  let clients: readonly ClusterClient[];

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "endpoint-sync-readme-"));
    for (const name of CLONE) cpSync(join(ROOT, name), join(folder, name), { recursive: true });
    symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
    // What `npm ci` installs is there already.
    shell = openPastedShell({ folder, shims: { ...README_SHIMS, npm: `[ "$1" = ci ] && exit 0` } });
  });
  afterAll(async () => {
    await shell.close();
    rmSync(folder, { recursive: true, force: true });
  }, LONG_MS);

  async function connect(name: string): Promise<ClusterClient> {
    const kubeConfig = await loadKubeConfig({ path: join(folder, "try", `${name}.kubeconfig`) });
    return createHttpClient({ kubeConfig, clock: systemClock });
  }

  /** What is true behind a block, beside what it prints. */
  const truths: Readonly<Record<string, () => Promise<void>>> = {
    "npx endpoint-sync why": async () => {
      clients = await Promise.all(["tenant", "host"].map(connect));
      const host = clients[1]!;
      expect(await host.get(ENDPOINTS, { namespace: "default", name: "web-x-shop-x-blue" })).toMatchObject({
        metadata: { annotations: { "example.com/team": "blue-storefront", "example.com/tls-secret": "shop-tls-x-shop-x-blue" } },
        subsets: [{ addresses: [{ ip: "10.1.0.11", hostname: "blue-db-0" }] }],
      });
      const secret = await vi.waitFor(() => host.get(SECRETS, { namespace: "default", name: "shop-tls-x-shop-x-blue" }), WAIT);
      expect(secret).toMatchObject({ data: { "tls.crt": Buffer.from("demo").toString("base64") } });
    },
    "kill %1 %2 %3": async () => {
      // A connection from before may be cut while it is asked, and the command may still be ending.
      const isGone = (client: ClusterClient) => expect(client.list(NAMESPACES)).rejects.toThrow(/cannot be reached|ECONNREFUSED/);
      for (const client of clients) await vi.waitFor(() => isGone(client), WAIT);
      const left = () => readdirSync(join(folder, "try")).filter((name) => name.endsWith(".kubeconfig"));
      await vi.waitFor(() => expect(left()).toEqual([]), WAIT);
    },
  };

  test.each(README_BLOCKS.map((block, index) => ({ ...block, text: README_COMMANDS[index]! })).filter(({ notIn }) => !notIn?.clone))(
    "$begins …",
    async ({ text, ...block }) => {
      await pasteReadmeBlock(shell, text, block);
      await truths[block.begins]?.();
    },
    LONG_MS,
  );

  test(
    "tests of patches in the clone itself pass: those that are there to fail are called otherwise",
    async () => {
      const printed = await shell.paste("cd ..\nnpx endpoint-sync test init\nnpx endpoint-sync test");
      expect(printed).toMatch(/PASS \d+ +FAIL 0 +ERROR 0 /);
    },
    LONG_MS,
  );
});
