/** A cluster of Kubernetes' own programs, without nodes: etcd, kube-apiserver and, as long as it is wanted, kube-controller-manager. */
import { spawn, type ChildProcess } from "node:child_process";
import { generateKeyPairSync, randomBytes } from "node:crypto";
import { once } from "node:events";
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ownPorts } from "../../support/own-port.ts";
import { Api } from "../outside/api.ts";
import { endWithThisProcess, until } from "../outside/processes.ts";

/** Paths or names of the programs. */
export interface Programs {
  readonly etcd: string;
  readonly apiServer: string;
  readonly controllerManager: string;
}

const CONTROLLERS = ["endpoints-controller", "endpointslice-controller", "garbage-collector-controller", "namespace-controller"];
const MIRROR = "endpointslice-mirroring-controller";

/** One program that runs. */
class Running {
  readonly #child: ChildProcess;
  readonly #log: string;

  constructor(program: string, args: readonly string[], log: string) {
    this.#log = log;
    const file = openSync(log, "a");
    this.#child = spawn(program, args, { stdio: ["ignore", file, file] });
    closeSync(file);
    endWithThisProcess(this.#child);
  }

  get over(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  /** The end of what it has said. */
  get log(): string {
    return readFileSync(this.#log, "utf8").slice(-1_000);
  }

  async kill(): Promise<void> {
    if (this.over) return;
    const ended = once(this.#child, "exit");
    this.#child.kill("SIGKILL");
    await ended;
  }
}

/** One cluster. */
export class RealCluster {
  readonly #programs: Programs;
  readonly #folder: string;
  readonly #etcdUrl: string;
  readonly #port: number;
  readonly #token = randomBytes(16).toString("hex");
  #etcd: Running | undefined;
  #apiServer: Running | undefined;
  #manager: Running | undefined;
  #api: Api | undefined;

  private constructor(programs: Programs, folder: string, [client, secure]: readonly [number, number]) {
    this.#programs = programs;
    this.#folder = folder;
    this.#etcdUrl = `http://127.0.0.1:${client}`;
    this.#port = secure;
  }

  /** Starts etcd and an API server, which keep what they have in a folder of their own below this one. */
  static async start(programs: Programs, name: string, below: string): Promise<RealCluster> {
    const folder = join(below, name);
    mkdirSync(folder);
    const [client, peer, secure] = (await ownPorts(3)) as [number, number, number];
    const cluster = new RealCluster(programs, folder, [client, secure]);
    cluster.#writeCredentials();
    cluster.#startEtcd(`http://127.0.0.1:${peer}`);
    await cluster.startApiServer();
    return cluster;
  }

  get api(): Api {
    return this.#api!;
  }

  /** Starts the API server, and waits until it is ready. */
  async startApiServer(): Promise<void> {
    const server = this.#run("kube-apiserver", this.#programs.apiServer, this.#apiServerArgs());
    this.#apiServer = server;
    const told = () => [this.#etcd!.log, server.log].join("\n");
    const isReady = async () => {
      if (server.over || this.#etcd!.over) throw new Error(`the API server or its etcd has ended: ${told()}`);
      return existsSync(this.#certificate) && (await this.#answers());
    };
    await until("the API server is ready", isReady, told);
  }

  /** Ends the API server as a crash would; what it has stored stays. */
  async killApiServer(): Promise<void> {
    await this.#apiServer?.kill();
  }

  /** Ends the controllers, and starts these instead. */
  async control(which: "all" | "all but the mirror" | "none"): Promise<void> {
    await this.#manager?.kill();
    this.#manager = undefined;
    if (which === "none") return;
    const kubeconfig = join(this.#folder, "manager.kubeconfig");
    this.writeKubeconfig(kubeconfig);
    const controllers = which === "all" ? [...CONTROLLERS, MIRROR] : CONTROLLERS;
    const args = [`--kubeconfig=${kubeconfig}`, `--controllers=${controllers.join(",")}`, "--secure-port=0", "--leader-elect=false"];
    this.#manager = this.#run("kube-controller-manager", this.#programs.controllerManager, args);
  }

  /** @throws Error when its controllers have ended by themselves. */
  checkControllers(): void {
    if (this.#manager?.over) throw new Error(`kube-controller-manager has ended: ${this.#manager.log}`);
  }

  /** Writes a kubeconfig, as JSON, that may do everything. */
  writeKubeconfig(path: string): void {
    const cluster = { server: `https://127.0.0.1:${this.#port}`, "certificate-authority": this.#certificate };
    const config = {
      apiVersion: "v1",
      kind: "Config",
      clusters: [{ name: "real", cluster }],
      users: [{ name: "admin", user: { token: this.#token } }],
      contexts: [{ name: "real", context: { cluster: "real", user: "admin" } }],
      "current-context": "real",
    };
    writeFileSync(path, JSON.stringify(config), { mode: 0o600 });
  }

  async stop(): Promise<void> {
    this.#api?.close();
    for (const running of [this.#manager, this.#apiServer, this.#etcd]) await running?.kill();
  }

  /** Made by the API server at its first start, and signed by itself. */
  get #certificate(): string {
    return join(this.#folder, "certificates/apiserver.crt");
  }

  async #answers(): Promise<boolean> {
    const ca = readFileSync(this.#certificate, "utf8");
    this.#api ??= new Api({ url: `https://127.0.0.1:${this.#port}`, token: this.#token, ca });
    try {
      // The syncer tells clusters apart by the uid of this namespace, which comes a moment later.
      return (await this.#api.ask("GET", "/readyz")).status === 200 && (await this.#api.get(...KUBE_SYSTEM)) !== undefined;
    } catch {
      return false;
    }
  }

  #writeCredentials(): void {
    const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2_048 });
    writeFileSync(join(this.#folder, "accounts.key"), privateKey.export({ type: "pkcs1", format: "pem" }), { mode: 0o600 });
    writeFileSync(join(this.#folder, "accounts.pub"), publicKey.export({ type: "spki", format: "pem" }));
    writeFileSync(join(this.#folder, "tokens.csv"), `${this.#token},admin,1,"system:masters"\n`, { mode: 0o600 });
  }

  #startEtcd(peerUrl: string): void {
    const urls = ["--listen-client-urls", this.#etcdUrl, "--advertise-client-urls", this.#etcdUrl, "--listen-peer-urls", peerUrl];
    const args = ["--data-dir", join(this.#folder, "etcd"), ...urls, "--unsafe-no-fsync"];
    this.#etcd = this.#run("etcd", this.#programs.etcd, args);
  }

  #apiServerArgs(): string[] {
    return [
      `--etcd-servers=${this.#etcdUrl}`,
      `--secure-port=${this.#port}`,
      "--bind-address=127.0.0.1",
      "--advertise-address=127.0.0.1",
      "--endpoint-reconciler-type=none",
      `--cert-dir=${join(this.#folder, "certificates")}`,
      "--service-account-issuer=https://kubernetes.default.svc",
      `--service-account-key-file=${join(this.#folder, "accounts.pub")}`,
      `--service-account-signing-key-file=${join(this.#folder, "accounts.key")}`,
      `--token-auth-file=${join(this.#folder, "tokens.csv")}`,
      "--authorization-mode=RBAC",
      "--service-cluster-ip-range=10.96.0.0/16",
      // Pods are written without a service account, and none run.
      "--disable-admission-plugins=ServiceAccount",
    ];
  }

  #run(name: string, program: string, args: readonly string[]): Running {
    return new Running(program, args, join(this.#folder, `${name}.log`));
  }
}

const KUBE_SYSTEM = [{ kind: "Namespace", plural: "namespaces", base: "api/v1" }, "", "kube-system"] as const;
