/** Commands that serve until they are stopped, each file of tests with a folder of its own for what they write. */
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, expect } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { runCli } from "../../src/cli/program.ts";
import { createHttpClient } from "../../src/kube/client/http-client.ts";
import { loadKubeConfig } from "../../src/kube/client/kube-config.ts";
import type { ClusterClient } from "../../src/kube/object/cluster-client.ts";
import { until } from "../support/fake-clock.ts";
import { ownPorts } from "../support/own-port.ts";
import { createTestTerminal, type TestTerminal } from "./support.ts";

/** A command that serves. */
export interface ServingCommand {
  readonly terminal: TestTerminal;
  /** Interrupts it, and answers its exit code. */
  stop(): Promise<number>;
}

/** Commands that a test file starts; those still running after a test are stopped, the last one first. */
export interface ServingCommands {
  readonly folder: string;
  /** A path in the folder that nothing has yet. */
  newPath(name: string): string;
  /** Runs a command until it has said `ready` on standard output; fails when it ends before. */
  serve(argv: readonly string[], options: { readonly ready: RegExp; readonly env?: Record<string, string> }): Promise<ServingCommand>;
  /** A client for what a kubeconfig leads to. */
  clientOf(kubeconfig: { readonly path: string } | { readonly text: string }): Promise<ClusterClient>;
  /** Has something else stopped after the test. */
  stopLater(one: { stop(): Promise<unknown> }): void;
}

/**
 * Options for a command that keeps its port in a folder: at the first start it gets one that is reserved until the next start, unless
 * `argv` names one.
 */
export async function portFor(folder: string, argv: readonly string[] = []): Promise<readonly string[]> {
  if (existsSync(folder) || argv.includes("--port")) return [];
  const [port] = await ownPorts(1);
  return ["--port", String(port)];
}

/** To be called at the top of a test file. */
export function useServingCommands(): ServingCommands {
  const folder = mkdtempSync(join(tmpdir(), "endpoint-sync-cli-"));
  const running: { stop(): Promise<unknown> }[] = [];
  let count = 0;
  afterEach(async () => {
    for (const one of running.splice(0).reverse()) await one.stop();
  });
  afterAll(() => rmSync(folder, { recursive: true }));
  return {
    folder,
    newPath: (name) => join(folder, `${name}-${(count += 1)}`),
    async serve(argv, { ready, env = {} }) {
      const terminal = createTestTerminal({ env });
      const ended = runCli(argv, terminal);
      const stop = () => {
        terminal.interrupt();
        return ended;
      };
      running.push({ stop });
      let over = false;
      void ended.then(() => (over = true));
      await until("it serves", () => over || ready.test(terminal.stdout));
      expect(over, terminal.stderr).toBe(false);
      return { terminal, stop };
    },
    async clientOf(kubeconfig) {
      const client = createHttpClient({ kubeConfig: await loadKubeConfig(kubeconfig), clock: systemClock });
      running.push({ stop: () => client.close() });
      return client;
    },
    stopLater: (one) => void running.push(one),
  };
}
