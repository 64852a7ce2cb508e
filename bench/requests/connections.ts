import { connect, type Socket } from "node:net";
import { setTimeout } from "node:timers/promises";

/** Required beginning of every answer, and the text of a request; `index` counts the requests. */
export interface Asked {
  readonly code: number;
  readonly write: (index: number) => string;
}

const HEAD_END = Buffer.from("\r\n\r\n");

/**
 * Connections that are kept, each with one request at a time. They look at no more of an answer than its code and length, so that they
 * take less of the machine than any server does.
 */
export class Connections {
  readonly #sockets: readonly Socket[];

  private constructor(sockets: readonly Socket[]) {
    this.#sockets = sockets;
  }

  /** @throws what the system says about the address. */
  static async open(url: string, count: number): Promise<Connections> {
    const { hostname, port } = new URL(url);
    const opened = Array.from({ length: count }, async () => {
      const socket = connect(Number(port), hostname);
      await new Promise<void>((resolve, reject) => void socket.once("connect", resolve).once("error", reject));
      return socket.setNoDelay(true);
    });
    return new Connections(await Promise.all(opened));
  }

  /** Asks on every connection for so many milliseconds; answers the requests per second. @throws when an answer has another code. */
  async rate(asked: Asked, forMs: number): Promise<number> {
    const begun = performance.now();
    const until = begun + forMs;
    let count = 0;
    const next = () => (performance.now() < until ? asked.write((count += 1)) : undefined);
    await Promise.all(this.#sockets.map((socket) => follow(socket, asked.code, next)));
    return count / ((performance.now() - begun) / 1_000);
  }

  /** Asks so many times; answers the requests per second. @throws when an answer has another code. */
  async rateOf(asked: Asked, requests: number): Promise<number> {
    const begun = performance.now();
    let count = 0;
    const next = () => (count < requests ? asked.write((count += 1)) : undefined);
    await Promise.all(this.#sockets.map((socket) => follow(socket, asked.code, next)));
    return requests / ((performance.now() - begun) / 1_000);
  }

  /**
   * Asks so many times, `perSecond` times a second; answers how many milliseconds each answer took. One that could not be asked for in time counts
   * from when it was due. @throws when an answer has another code.
   */
  async times(asked: Asked, requests: number, perSecond: number): Promise<readonly number[]> {
    const begun = performance.now();
    const times: number[] = [];
    const ask = async (socket: Socket, index: number) => {
      const due = begun + (index * 1_000) / perSecond;
      const early = due - performance.now();
      if (early > 0) await setTimeout(early);
      const since = early > 0 ? performance.now() : due;
      let text: string | undefined = asked.write(index);
      await follow(socket, asked.code, () => [text, (text = undefined)][0]);
      times.push(performance.now() - since);
    };
    const count = this.#sockets.length;
    const askAll = async (socket: Socket, first: number) => {
      for (let index = first; index < requests; index += count) await ask(socket, index);
    };
    await Promise.all(this.#sockets.map(askAll));
    return times;
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy();
  }
}

/** One request after another, until there is no next one. */
function follow(socket: Socket, code: number, next: () => string | undefined): Promise<void> {
  const first = next();
  if (first === undefined) return Promise.resolve();
  return new Promise((resolve, reject) => {
    let head: Buffer | undefined;
    let missing = 0;
    const done = (error?: Error) => {
      socket.removeAllListeners("data").removeAllListeners("error").removeAllListeners("close");
      if (error === undefined) resolve();
      else reject(error);
    };
    const onData = (chunk: Buffer) => {
      if (missing > 0) missing -= chunk.length;
      else {
        head = head === undefined ? chunk : Buffer.concat([head, chunk]);
        const end = head.indexOf(HEAD_END);
        if (end < 0) return;
        const text = head.toString("latin1", 0, end);
        if (!text.startsWith(`HTTP/1.1 ${code} `)) return done(new Error(`answered otherwise than ${code}: ${head.toString()}`));
        missing = Number(/\r\ncontent-length: (\d+)/i.exec(text)![1]) - (head.length - end - HEAD_END.length);
        head = undefined;
      }
      if (missing > 0) return;
      const following = next();
      if (following === undefined) done();
      else socket.write(following, "latin1");
    };
    socket.on("data", onData);
    socket.once("error", done);
    socket.once("close", () => done(new Error("the connection has been closed")));
    socket.write(first, "latin1");
  });
}
