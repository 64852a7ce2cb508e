/** The syncer as a process, and the commands that look at what it does. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Command, type Ended } from "./processes.ts";
import type { Proxy } from "./proxy.ts";

/** The clusters of a syncer, and its virtual cluster. */
export interface SyncerOptions<Way extends Reached = Proxy> {
  readonly folder: string;
  /** Tells files apart; no two at a time may share it. */
  readonly id: string;
  readonly tenant: Way;
  readonly host: Way;
  readonly name: string;
  readonly namespace: string;
  /** `vcluster.yaml`, as JSON. */
  readonly config?: unknown;
  readonly settings?: unknown;
  readonly args?: readonly string[];
  /** Output of `run` once it has started. Default: that it leads, or syncs without `--leader-elect`. */
  readonly begun?: string;
  /** Options of its Node. */
  readonly node?: readonly string[];
}

/** How the syncer reaches a cluster. */
interface Reached {
  writeKubeconfig(path: string): void;
}

/** One virtual cluster's command lines. */
export class Syncer<Way extends Reached = Proxy> {
  options: SyncerOptions<Way>;
  #command: Command | undefined;

  constructor(options: SyncerOptions<Way>) {
    this.options = options;
  }

  get running(): boolean {
    return this.#command !== undefined && !this.#command.over;
  }

  /** Output of `run` since its last start. */
  get log(): string {
    return this.#command?.output ?? "";
  }

  /** Starts `run`; undefined once it syncs, how it ended if it refuses. */
  async start(args: readonly string[] = [], root?: string): Promise<Ended | undefined> {
    const quiet = ["--metrics-address", "", "--health-address", "", "--log-format", "json"];
    const argv = ["run", ...this.#clusters(), ...quiet, ...(this.options.args ?? []), ...args];
    const { folder, node = [], begun = argv.includes("--leader-elect") ? '"Leading"' : '"Syncing"' } = this.options;
    this.#command = new Command(argv, { folder, node, ...(root !== undefined && { root }) });
    return (await this.#command.said(begun)) ? undefined : this.#command.ended;
  }

  /** Starts `run`. @throws Error when it refuses. */
  async begin(args: readonly string[] = [], root?: string): Promise<void> {
    const refused = await this.start(args, root);
    if (refused !== undefined) throw new Error(`run ended with ${refused.code}: ${faultOf(refused)}`);
  }

  /** Sends a signal to `run`, if it runs. */
  signal(signal: NodeJS.Signals): void {
    if (this.running) this.#command!.child.kill(signal);
  }

  async stop(): Promise<void> {
    if (this.running) await this.#command!.stop();
  }

  async kill(): Promise<void> {
    if (this.running) await this.#command!.kill();
  }

  /** Another command of the same virtual cluster, to its end. */
  command(name: string, args: readonly string[] = []): Promise<Ended> {
    const external = name === "cleanup" ? [] : (this.options.args ?? []);
    return new Command([name, ...args, ...this.#clusters(), ...external], { folder: this.options.folder }).ended;
  }

  #clusters(): string[] {
    const { folder, id, tenant, host, name, namespace, config = {}, settings } = this.options;
    const file = (what: string, write: (path: string) => void) => {
      const path = join(folder, `${id}-${what}`);
      write(path);
      return path;
    };
    return [
      ...["--tenant-kubeconfig", file("tenant.kubeconfig", (path) => tenant.writeKubeconfig(path))],
      ...["--host-kubeconfig", file("host.kubeconfig", (path) => host.writeKubeconfig(path))],
      ...["--config", file("vcluster.yaml", (path) => writeFileSync(path, JSON.stringify(config)))],
      ...(settings === undefined ? [] : ["--settings", file("settings.yaml", (path) => writeFileSync(path, JSON.stringify(settings)))]),
      ...["--name", name, "--namespace", namespace],
    ];
  }
}

/** Error output of a command, without its log. */
export function faultOf({ output }: Ended): string {
  const from = output.lastIndexOf("\nerror ");
  return output.slice(from < 0 ? -700 : from).trim();
}
