/**
 * The sidecar of an overlay, run in this process with the command line and the configuration that its Deployment has.
 */
import { runCli } from "../../src/cli/program.ts";
import type { KubeObject } from "../../src/kube/object/types.ts";
import { createTestTerminal, type TestTerminal } from "../cli/support.ts";
import { ofKind } from "./overlays.ts";

interface Workload {
  readonly spec: {
    readonly template: { readonly spec: { readonly containers: readonly { readonly args: readonly string[]; readonly env: Variables }[] } };
  };
}
type Variables = readonly { readonly name: string; readonly value?: string }[];

/** Where the two clusters are, instead of where a Pod finds them. */
export interface SidecarPlace {
  readonly tenantKubeconfig: string;
  readonly hostKubeconfig: string;
  /** Lines that are added to the settings. */
  readonly settings: string;
}

/** A sidecar that runs. */
export interface Sidecar {
  readonly terminal: TestTerminal;
  /** Its exit code; undefined while it runs. */
  readonly exitCode: number | undefined;
  /** What `/readyz` says; undefined while there is no answer. */
  readyz(): Promise<string | undefined>;
  /** Sends it SIGTERM, and tells its exit code. */
  stop(): Promise<number>;
}

const INSTEAD = { "--metrics-address": "127.0.0.1:0", "--health-address": "127.0.0.1:0", "--log-format": "text" };

/** Starts the sidecar of an overlay. */
export function startSidecar(objects: readonly KubeObject[], { tenantKubeconfig, hostKubeconfig, settings }: SidecarPlace): Sidecar {
  const [workload] = ofKind<Workload>(objects, "Deployment");
  const { args, env } = workload!.spec.template.spec.containers[0]!;
  // What has no value comes from the Pod: its namespace.
  const values = Object.fromEntries(env.map(({ name, value = workload!.metadata.namespace! }) => [name, value]));
  const instead: Readonly<Record<string, string>> = { ...INSTEAD, "--tenant-kubeconfig": tenantKubeconfig };
  const argv = args.map((argument) => {
    const [flag = ""] = argument.split("=");
    return instead[flag] === undefined
      ? argument.replace(/\$\((\w+)\)/g, (_all, name: string) => values[name]!)
      : `${flag}=${instead[flag]}`;
  });
  const [config] = ofKind<{ readonly data: Readonly<Record<string, string>> }>(objects, "ConfigMap");
  const mounted = Object.entries(config!.data).map(([name, text]) => [`/etc/endpoint-sync/config/${name}`, text] as const);
  const files = Object.fromEntries(mounted.map(([name, text]) => [name, name.endsWith("settings.yaml") ? `${text}\n${settings}\n` : text]));
  const terminal = createTestTerminal({ files });
  let exitCode: number | undefined;
  const ended = runCli([...argv, `--host-kubeconfig=${hostKubeconfig}`], terminal).then((code) => (exitCode = code));
  return {
    terminal,
    get exitCode() {
      return exitCode;
    },
    async readyz() {
      const address = /address=(\S+) .*readyz/.exec(terminal.stderr)?.[1];
      if (address === undefined) return undefined;
      return fetch(`http://${address}/readyz`).then(
        (answer) => answer.text(),
        () => undefined,
      );
    },
    stop() {
      terminal.interrupt();
      return ended;
    },
  };
}
