/**
 * A TCP proxy between a syncer and an API server that cuts connections without reading them, as a load balancer or a
 * rebooting node does: TLS is between the two.
 *
 * @module
 */
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import type { Access } from "../outside/api.ts";

/** One such place. */
export class Cutter {
  readonly #access: Access;
  readonly #open = new Set<Socket>();
  readonly #server = createServer((client) => this.#pass(client));
  /** Connections that were made. */
  made = 0;

  private constructor(access: Access) {
    this.#access = access;
  }

  static async start(access: Access): Promise<Cutter> {
    const cutter = new Cutter(access);
    cutter.#server.listen(0, "127.0.0.1");
    await once(cutter.#server, "listening");
    return cutter;
  }

  /** Connections that are open. */
  get open(): number {
    return this.#open.size;
  }

  /** Ends every connection without a word, and says how many. */
  cut(): number {
    const cut = this.#open.size;
    for (const socket of this.#open) socket.resetAndDestroy();
    return cut;
  }

  writeKubeconfig(path: string): void {
    const { token, ca } = this.#access;
    const server = `https://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
    const name = "soak";
    const config = {
      apiVersion: "v1",
      kind: "Config",
      clusters: [{ name, cluster: { server, "certificate-authority-data": Buffer.from(ca).toString("base64") } }],
      users: [{ name, user: { token } }],
      contexts: [{ name, context: { cluster: name, user: name } }],
      "current-context": name,
    };
    writeFileSync(path, JSON.stringify(config));
  }

  #pass(client: Socket): void {
    const { hostname, port } = new URL(this.#access.url);
    const server = connect(Number(port), hostname);
    this.made += 1;
    this.#open.add(client);
    client.pipe(server).pipe(client);
    for (const [one, other] of [
      [client, server],
      [server, client],
    ] as const) {
      one.on("error", () => undefined).once("close", () => other.destroy());
    }
    client.once("close", () => this.#open.delete(client));
  }

  close(): void {
    this.cut();
    this.#server.close();
  }
}
