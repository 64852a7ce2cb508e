/** An embedded cluster as a process. */
import { copyFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Api, type Access } from "./api.ts";
import { Command } from "./processes.ts";

/** One cluster that runs. */
export interface ClusterProcess {
  readonly api: Api;
  /** Writes a kubeconfig that leads to it. */
  writeKubeconfig(path: string): void;
  stop(): Promise<void>;
}

/** Starts `cluster` on a free port; its kubeconfig is written into the folder. */
export async function startClusterProcess(name: string, folder: string): Promise<ClusterProcess> {
  const path = join(folder, `${name}.kubeconfig`);
  const command = new Command(["cluster", "--name", name, "--kubeconfig", path], { folder });
  if (!(await command.said("get namespaces\n"))) throw new Error(`the cluster does not start: ${command.output}`);
  const api = new Api(accessOf(readFileSync(path, "utf8")));
  return {
    api,
    writeKubeconfig: (to) => copyFileSync(path, to),
    async stop() {
      api.close();
      await command.kill();
    },
  };
}

function accessOf(kubeconfig: string): Access {
  const field = (name: string) => new RegExp(`${name}: "?([^"\\s]+)`).exec(kubeconfig)![1]!;
  return {
    url: field("server"),
    token: field("token"),
    ca: Buffer.from(field("certificate-authority-data"), "base64").toString("utf8"),
  };
}
