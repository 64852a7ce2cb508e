import { connect } from "node:net";
import { startPlatform, type Platform } from "../../management/platform.ts";

/** One request, as it goes over the wire. */
export interface Sent {
  /** Default POST with a body, GET without one. */
  readonly method?: string;
  /** Below the API's version, or a whole one when it begins with `/kubernetes/` or `/auth/`. */
  readonly path: string;
  /** Text as it stands, anything else as JSON. */
  readonly body?: unknown;
  /** Default `application/json`. */
  readonly type?: string;
  readonly headers?: readonly (readonly [string, string])[];
  /** Default: that of a user who may create SharedSecrets and Teams. */
  readonly key?: string;
}

/** The answer. */
export interface Answer {
  readonly code: number;
  /** The body. */
  readonly text: string;
}

const BASE = "/kubernetes/management";
const API = `${BASE}/apis/management.platform/v1`;

/** A management server in this process, and a client that costs next to nothing. */
export class Ground {
  readonly platform: Platform;
  /** The key of `eve`, an ordinary user. */
  readonly key: string;
  readonly #port: number;

  private constructor(platform: Platform, key: string) {
    this.platform = platform;
    this.key = key;
    this.#port = Number(new URL(platform.management.url).port);
  }

  /** Starts one on a store in memory. */
  static async start(): Promise<Ground> {
    const platform = await startPlatform();
    const { key } = await platform.withKey({ user: "eve" });
    const ground = new Ground(platform, key);
    const access = [{ name: "makers", verbs: ["create"], users: ["eve"] }];
    for (const path of ["/namespaces/default/sharedsecrets", "/teams"]) {
      await ground.hold(201, { key: platform.admin.key, path, body: { metadata: { name: "makers" }, spec: { access } } });
    }
    return ground;
  }

  /** The bytes of a request, made ready so that they cost nothing later. */
  ready({ method, path, body, type = "application/json", headers = [], key = this.key }: Sent): Buffer {
    const text = body === undefined || typeof body === "string" ? body : JSON.stringify(body);
    const all = [
      ["Host", "growth"],
      ["Connection", "close"],
      ["Authorization", `Bearer ${key}`],
      ...(text === undefined
        ? []
        : [
            ["Content-Type", type],
            ["Content-Length", String(Buffer.byteLength(text))],
          ]),
      ...headers,
    ];
    const whole = /^\/(kubernetes|auth)\//.test(path) ? path : `${API}${path}`;
    const first = `${method ?? (text === undefined ? "GET" : "POST")} ${whole} HTTP/1.1`;
    return Buffer.from(`${[first, ...all.map(([name, value]) => `${name}: ${value}`)].join("\r\n")}\r\n\r\n${text ?? ""}`);
  }

  /** Sends bytes over a connection of their own; resolves when the answer is there and the controllers have caught up. */
  async send(bytes: Buffer): Promise<Answer> {
    const chunks: Buffer[] = [];
    await new Promise<void>((closed) => {
      const socket = connect(this.#port, "127.0.0.1", () => socket.write(bytes));
      socket.on("data", (chunk) => chunks.push(chunk));
      // A client that is refused early gets the answer while it still sends.
      socket.on("error", () => {});
      socket.on("close", closed);
    });
    await this.platform.management.settled();
    const whole = Buffer.concat(chunks).toString();
    return { code: Number(whole.slice(9, 12)), text: whole.slice(whole.indexOf("\r\n\r\n") + 4) };
  }

  /** Sends a request whose answer has to be this one. */
  async hold(code: number, sent: Sent): Promise<Answer> {
    const answer = await this.send(this.ready(sent));
    if (answer.code !== code) throw new Error(`${sent.path} is answered ${answer.text.slice(0, 1_000)}`);
    return answer;
  }

  stop(): Promise<void> {
    return this.platform.stop();
  }
}
