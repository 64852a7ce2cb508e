/** One of the servers of a play, as those see it who use it: a reader, a writer, two keys and a watch that never rest. */
import { delay, systemClock } from "../../../src/base/clock.ts";
import { ReplicaProcess, type ReplicaOptions } from "../replicas/replica-process.ts";

/** An answer of a server. */
export interface Answer {
  /** 0 when there was none. */
  readonly code: number;
  readonly body: Record<string, unknown>;
}

/** Observations of a reader. */
export interface Seen {
  /** When the request was sent. */
  readonly at: number;
  readonly names: readonly string[];
}

/** Answer to a writer. */
export interface Created {
  /** Time of the answer. */
  readonly at: number;
  readonly name: string;
  readonly code: number;
}

const API = "/kubernetes/management/apis/management.platform/v1";
const ANSWER_MS = 30_000;
const PAUSE_MS = 25;

/** One server. */
export class Server {
  readonly process: ReplicaProcess;
  /** Since they were last looked through. */
  seen: Seen[] = [];
  readonly created: Created[] = [];
  /** Codes with which watches have ended, 0 for those that said nothing. */
  readonly ends: number[] = [];
  reads = 0;
  readonly #key: string;
  readonly #metrics: string;
  #over = false;
  #working: Promise<unknown> = Promise.resolve();

  constructor(options: ReplicaOptions & { readonly metricsPort: number }) {
    const { metricsPort, args = [], ...rest } = options;
    this.process = new ReplicaProcess({ ...rest, args: [...args, "--metrics-address", `127.0.0.1:${metricsPort}`] });
    this.#metrics = `http://127.0.0.1:${metricsPort}/metrics`;
    this.#key = options.adminKey;
  }

  /** Reads, writes and watches until `rest`. `newName` names nothing twice. */
  work(newName: () => string): void {
    const repeat = async (act: () => Promise<unknown>) => {
      while (!this.#over) {
        await act();
        await delay(systemClock, PAUSE_MS);
      }
    };
    this.#working = Promise.all([repeat(() => this.#read()), repeat(() => this.create(newName())), repeat(() => this.#watch())]);
  }

  /** Ends that. */
  async rest(): Promise<void> {
    this.#over = true;
    await this.#working;
  }

  /** Asks for something below the API. */
  async ask(
    method: string,
    path: string,
    { key = this.#key, body }: { readonly key?: string; readonly body?: object } = {},
  ): Promise<Answer> {
    try {
      const response = await fetch(`${this.process.url}${path.startsWith("/.") ? "" : API}${path}`, {
        method,
        headers: { authorization: `Bearer ${key}`, ...(body && { "content-type": method === "PATCH" ? MERGE : "application/json" }) },
        ...(body && { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(ANSWER_MS),
      });
      return { code: response.status, body: (await response.json()) as Record<string, unknown> };
    } catch {
      return { code: 0, body: {} };
    }
  }

  /** Makes a Team, and tells what came of it. */
  async create(name: string): Promise<number> {
    const { code } = await this.ask("POST", "/teams", { body: { metadata: { name }, spec: { users: ["jane"] } } });
    this.created.push({ at: systemClock.monotonic(), name, code });
    return code;
  }

  /** How often it has noticed that etcd was restored. */
  async noticed(): Promise<number> {
    const text = await (await fetch(this.#metrics)).text();
    return Number(/^management_etcd_reloads_total\{reason="restored"\} (\d+)/m.exec(text)?.[1] ?? 0);
  }

  async #read(): Promise<void> {
    const at = systemClock.monotonic();
    const { code, body } = await this.ask("GET", "/teams");
    if (code !== 200) return;
    this.reads += 1;
    this.seen.push({ at, names: namesIn(body) });
  }

  async #watch(): Promise<void> {
    const ending = new AbortController();
    const look = async () => {
      while (!this.#over) await delay(systemClock, PAUSE_MS);
      ending.abort();
    };
    void look();
    try {
      const headers = { authorization: `Bearer ${this.#key}` };
      const response = await fetch(`${this.process.url}${API}/teams?watch=1`, { headers, signal: ending.signal });
      const lines = (await response.text()).trim().split("\n");
      if (response.status !== 200) return;
      const last = JSON.parse(lines.at(-1)!) as { type: string; object: { code?: number } };
      this.ends.push(last.type === "ERROR" ? (last.object.code ?? 0) : 0);
    } catch {
      // Cut off in the middle, by anyone who ends the play.
    }
  }
}

const MERGE = "application/merge-patch+json";

/** The names in a list. */
export function namesIn(body: Record<string, unknown>): string[] {
  return ((body["items"] ?? []) as { metadata: { name: string } }[]).map(({ metadata }) => metadata.name);
}
