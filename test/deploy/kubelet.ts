/**
 * Stands in for what runs Pods: each Deployment and StatefulSet of a cluster gets one process of this checkout, with the files that its
 * Pods would mount and the command line that they would have, and is told to be there once the process is ready.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdirSync, mkdtempSync, openSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { Agent, fetch } from "undici";
import type { Cluster } from "../../src/clusters.ts";
import { DEPLOYMENTS, STATEFUL_SETS } from "../../src/cluster/kinds/workloads.ts";
import { keyOf } from "../../src/kube/object/key.ts";
import { CONFIG_MAPS, SECRETS, type ResourceType } from "../../src/kube/object/resource.ts";
import type { KubeObject } from "../../src/kube/object/types.ts";
import { ownPorts } from "../support/own-port.ts";

const MAIN = resolve(import.meta.dirname, "../../src/cli/main.ts");
const LOOK_MS = 100;

interface Volume {
  readonly name: string;
  readonly configMap?: { readonly name: string };
  readonly secret?: { readonly secretName: string };
}
interface Workload extends KubeObject {
  readonly spec: {
    readonly replicas: number;
    readonly template: {
      readonly spec: {
        readonly serviceAccountName: string;
        readonly volumes: readonly Volume[];
        readonly containers: readonly {
          readonly args: readonly string[];
          readonly env: readonly { readonly name: string; readonly value?: string }[];
          readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
          readonly readinessProbe: { readonly httpGet: { readonly path: string; readonly scheme?: string } };
        }[];
      };
    };
  };
}

interface Running {
  readonly generation: number;
  readonly folder: string;
  readonly process: ChildProcess;
  /** What its readiness probe asks. */
  readonly probe: string;
}

/** What runs Pods. */
export interface Kubelet {
  stop(): Promise<void>;
}

/** What a kubelet needs to know. */
export interface KubeletOptions {
  readonly cluster: Cluster;
  /** Where the etcd is that workloads are to use, over HTTP; undefined when they use none. */
  readonly etcd: string | undefined;
  /** File that all that they say is added to. */
  readonly log: string;
}

/** Starts to look at a cluster. */
export function startKubelet(options: KubeletOptions): Kubelet {
  const { cluster } = options;
  const running = new Map<string, Running>();
  let stopped = false;
  let looking = Promise.resolve();

  async function end(id: string): Promise<void> {
    const found = running.get(id);
    if (found === undefined) return;
    running.delete(id);
    if (found.process.exitCode === null) {
      const over = once(found.process, "exit");
      found.process.kill("SIGTERM");
      await over;
    }
    rmSync(found.folder, { recursive: true });
  }

  async function look(): Promise<void> {
    const seen = new Set<string>();
    for (const type of [DEPLOYMENTS, STATEFUL_SETS]) {
      for (const workload of (await cluster.client.list(type, {})).items as Workload[]) {
        const id = `${type.plural}/${workload.metadata.uid}`;
        seen.add(id);
        await bring(id, type, workload);
      }
    }
    for (const id of [...running.keys()]) if (!seen.has(id)) await end(id);
  }

  async function bring(id: string, type: ResourceType, workload: Workload): Promise<void> {
    const generation = Number(workload.metadata["generation"]);
    if (running.get(id)?.generation !== generation) {
      await end(id);
      running.set(id, { generation, ...(await startPod(options, workload)) });
    }
    const { replicas } = workload.spec;
    const counts = {
      replicas,
      updatedReplicas: replicas,
      ...((await isReady(running.get(id)!)) && { readyReplicas: replicas, availableReplicas: replicas }),
    };
    const status = {
      observedGeneration: generation,
      ...counts,
      ...(type === STATEFUL_SETS && { currentRevision: "1", updateRevision: "1" }),
    };
    const current = await cluster.client.get(type, keyOf(workload));
    if (current?.metadata["generation"] === generation)
      await cluster.registry.patch(type, keyOf(workload), "merge", { status }, { subresource: "status" });
  }

  void (async () => {
    while (!stopped) {
      looking = look();
      await looking;
      await new Promise((next) => setTimeout(next, LOOK_MS));
    }
  })();
  return {
    async stop() {
      stopped = true;
      await looking;
      for (const id of [...running.keys()]) await end(id);
    },
  };
}

// Certificates that only a cluster's own clients know.
const dispatcher = new Agent({ connect: { rejectUnauthorized: false } });

async function isReady({ probe }: Running): Promise<boolean> {
  return fetch(probe, { dispatcher }).then(
    ({ status }) => status === 200,
    () => false,
  );
}

async function startPod({ cluster, etcd, log }: KubeletOptions, workload: Workload): Promise<Omit<Running, "generation">> {
  const { namespace = "" } = workload.metadata;
  const { serviceAccountName, volumes, containers } = workload.spec.template.spec;
  const { args, env, volumeMounts, readinessProbe } = containers[0]!;
  const folder = mkdtempSync(join(tmpdir(), "endpoint-sync-pod-"));
  for (const { name, mountPath } of volumeMounts) {
    mkdirSync(join(folder, mountPath), { recursive: true });
    const volume = volumes.find((one) => one.name === name);
    const files = volume === undefined ? {} : await filesOf(cluster, namespace, volume);
    for (const [file, content] of Object.entries(files)) writeFileSync(join(folder, mountPath, file), content);
  }
  const [port] = await ownPorts(1);
  const values = Object.fromEntries(env.map(({ name, value = namespace }) => [name, value]));
  const inPod = args.map((argument) =>
    argument.replace(/\$\((\w+)\)/g, (_all, name: string) => values[name]!).replace(/=(?=\/)/, `=${folder}`),
  );
  const own = [`--health-address=127.0.0.1:${port}`, "--metrics-address=127.0.0.1:0"];
  const program = inPod.includes("management") ? managementArgs(inPod, port!, etcd) : [...inPod, ...own, await hostKubeconfig()];

  async function hostKubeconfig(): Promise<string> {
    const { kubeconfig } = await cluster.tokenFor({ serviceAccount: `${namespace}/${serviceAccountName}` });
    writeFileSync(join(folder, "host"), kubeconfig);
    return `--host-kubeconfig=${join(folder, "host")}`;
  }

  const { path, scheme = "HTTP" } = readinessProbe.httpGet;
  const output = openSync(log, "a");
  const child = spawn(process.execPath, [MAIN, ...program], { stdio: ["ignore", output, output] });
  closeSync(output);
  return { folder, process: child, probe: `${scheme.toLowerCase()}://127.0.0.1:${port}${path}` };
}

/** Of the server, at a port of this machine; the etcd of a test speaks HTTP. */
function managementArgs(args: readonly string[], port: number, etcd: string | undefined): readonly string[] {
  const rest = args.filter((argument) => !/^--(host|port)=/.test(argument) && !/^--etcd-(ca|cert|key)=/.test(argument));
  return [
    ...rest.map((argument) => (argument.startsWith("--etcd=") ? `--etcd=${etcd ?? ""}` : argument)),
    "--host=127.0.0.1",
    `--port=${port}`,
  ];
}

async function filesOf(cluster: Cluster, namespace: string, { configMap, secret }: Volume): Promise<Readonly<Record<string, Buffer>>> {
  const key = { namespace, name: configMap?.name ?? secret?.secretName ?? "" };
  const type = configMap === undefined ? SECRETS : CONFIG_MAPS;
  if (key.name === "") return {};
  const { data = {} } = ((await cluster.client.get(type, key)) ?? {}) as { readonly data?: Readonly<Record<string, string>> };
  return Object.fromEntries(Object.entries(data).map(([name, text]) => [name, Buffer.from(text, type === SECRETS ? "base64" : "utf8")]));
}
