/**
 * Looks into a process of Node from outside, through its inspector: nothing is loaded into it.
 *
 * @module
 */

/** Options of a Node that can be looked into. The last keeps `run` from replacing itself, which would move its inspector. */
export const INSPECTED = ["--inspect=127.0.0.1:0", "--expose-gc", "--max-semi-space-size=2"];

/** Memory of a process after garbage collection. */
export interface Held {
  readonly heapBytes: number;
  /** TLS sockets that are in memory, open or not. */
  readonly sockets: number;
}

interface Reply {
  readonly id: number;
  readonly result?: unknown;
  readonly error?: { readonly message: string };
}

/** Collections before something is measured: one collection can let the next one free more. */
const COLLECTIONS = 5;

/** One process that is looked into. */
export class Inspector {
  readonly #socket: WebSocket;
  readonly #waiting = new Map<number, (reply: Reply) => void>();
  #asked = 0;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.addEventListener("message", ({ data }) => {
      const reply = JSON.parse(String(data)) as Reply;
      this.#waiting.get(reply.id)?.(reply);
      this.#waiting.delete(reply.id);
    });
  }

  /** Connects to the process that said `output`. */
  static async connect(output: string): Promise<Inspector> {
    const address = /Debugger listening on (ws:\S+)/.exec(output)?.[1];
    if (address === undefined) throw new Error(`the process has no inspector: ${output.slice(0, 500)}`);
    const socket = new WebSocket(address);
    await new Promise((done, failed) => {
      socket.addEventListener("open", done);
      socket.addEventListener("error", () => failed(new Error("the inspector does not answer")));
    });
    return new Inspector(socket);
  }

  async measure(): Promise<Held> {
    for (let round = 0; round < COLLECTIONS; round += 1) await this.#ask("HeapProfiler.collectGarbage");
    const { usedSize } = (await this.#ask("Runtime.getHeapUsage")) as { usedSize: number };
    const sockets = await this.#count('process.getBuiltinModule("node:tls").TLSSocket.prototype');
    return { heapBytes: usedSize, sockets };
  }

  /** How many objects have the prototype that `expression` names. */
  async #count(expression: string): Promise<number> {
    const objectGroup = "count";
    const { result } = (await this.#ask("Runtime.evaluate", { expression, objectGroup })) as { result: { objectId: string } };
    const query = { prototypeObjectId: result.objectId, objectGroup };
    const { objects } = (await this.#ask("Runtime.queryObjects", query)) as { objects: { objectId: string } };
    const call = { objectId: objects.objectId, functionDeclaration: "function () { return this.length }", returnByValue: true };
    const counted = (await this.#ask("Runtime.callFunctionOn", call)) as { result: { value: number } };
    await this.#ask("Runtime.releaseObjectGroup", { objectGroup });
    return counted.result.value;
  }

  async #ask(method: string, params: object = {}): Promise<unknown> {
    this.#asked += 1;
    const id = this.#asked;
    const replied = new Promise<Reply>((done) => this.#waiting.set(id, done));
    this.#socket.send(JSON.stringify({ id, method, params }));
    const { result, error } = await replied;
    if (error !== undefined) throw new Error(`${method}: ${error.message}`);
    return result;
  }

  close(): void {
    this.#socket.close();
  }
}
