/** Writes to a few SharedSecrets over HTTP, beside other writers of the same ones, and keeps the answers. */
import { delay, systemClock } from "../../../src/base/clock.ts";
import { listedOf } from "./http-follower.ts";
import type { Acknowledged } from "./watch-checker.ts";

/** Knowledge shared by all writers and readers of one API. */
export interface Ledger {
  readonly acknowledged: Acknowledged[];
  /** Writes whose outcome is unknown. */
  doubtful: number;
  /** Writes that met another state than the one that they counted on. */
  conflicts: number;
  /** Requests that failed without an effect, or only asked. */
  refused: number;
  reads: number;
  /** The newest revision that a client was shown. */
  newest: number;
  /** Violations, in words. */
  readonly problems: string[];
}

/** An empty one. */
export function createLedger(): Ledger {
  return { acknowledged: [], doubtful: 0, conflicts: 0, refused: 0, reads: 0, newest: 0, problems: [] };
}

/** One writer. */
export interface HttpWriterOptions {
  /** Unlike that of others. */
  readonly name: string;
  /** Of the API version, as `http://127.0.0.1:8443/apis/example.com/v1`. */
  readonly api: string;
  readonly key: string;
  readonly ledger: Ledger;
  /** At least 0, below 1. */
  readonly fraction: () => number;
}

const NAMESPACES = ["a", "b", "c"];
const KEYS = 8;
const REQUEST_MS = 30_000;
const PAUSE_MS = 100;

/** A writer that does one thing after the other. */
export class HttpWriter {
  readonly #options: HttpWriterOptions;
  #count = 0;

  constructor(options: HttpWriterOptions) {
    this.#options = options;
  }

  /** One write, or a read with its look at whether the API goes back in time. A failure makes it wait a moment. */
  async step(): Promise<void> {
    const { ledger, fraction } = this.#options;
    try {
      if (fraction() < 0.1) await this.#readAll();
      else await this.#write(NAMESPACES[this.#upTo(NAMESPACES.length)]!, `k${this.#upTo(KEYS)}`);
    } catch {
      // A read that brings no answer has no effect; writes keep count of theirs.
      ledger.refused += 1;
      await delay(systemClock, PAUSE_MS);
    }
  }

  /** Creates an object that no other test touches; answers its revision. */
  async mark(name: string): Promise<number> {
    const text = `${name}-mark`;
    const { code, body } = await this.#send("POST", "/namespaces/a/sharedsecrets", {
      metadata: { name: text },
      spec: { displayName: text },
    });
    if (code !== 201) throw new Error(`${code} ${JSON.stringify(body)}`);
    const { key, revision } = listedOf(body as never);
    this.#options.ledger.acknowledged.push({ type: "created", key, revision, text, previous: 0 });
    return revision;
  }

  #upTo(limit: number): number {
    return Math.floor(this.#options.fraction() * limit);
  }

  async #readAll(): Promise<void> {
    const { ledger } = this.#options;
    const before = ledger.newest;
    const { code, body } = await this.#send("GET", "/sharedsecrets?limit=1");
    if (code !== 200) throw new Error(String(code));
    const revision = Number((body["metadata"] as { resourceVersion: string }).resourceVersion);
    if (revision < before) ledger.problems.push(`a list of ${revision} after a client was shown ${before}`);
    ledger.reads += 1;
    ledger.newest = Math.max(ledger.newest, revision);
  }

  async #write(namespace: string, name: string): Promise<void> {
    const { ledger } = this.#options;
    const collection = `/namespaces/${namespace}/sharedsecrets`;
    const present = await this.#send("GET", `${collection}/${name}`);
    ledger.reads += 1;
    if (present.code !== 200 && present.code !== 404) throw new Error(String(present.code));
    const text = `${this.#options.name}-${(this.#count += 1)}`;
    const key = `${namespace}/${name}`;
    if (present.code === 404) {
      const made = await this.#change("POST", collection, { metadata: { name }, spec: { displayName: text } });
      if (made) this.#acknowledge({ type: "created", key, text, previous: 0, revision: listedOf(made as never).revision });
      return;
    }
    const { revision: previous, text: before } = listedOf(present.body as never);
    const resourceVersion = String(previous);
    if (this.#upTo(5) === 0) {
      if (await this.#change("DELETE", `${collection}/${name}`, { preconditions: { resourceVersion } }))
        this.#acknowledge({ type: "deleted", key, text: before, previous });
      return;
    }
    const made = await this.#change("PUT", `${collection}/${name}`, { metadata: { name, resourceVersion }, spec: { displayName: text } });
    if (made) this.#acknowledge({ type: "updated", key, text, previous, revision: listedOf(made as never).revision });
  }

  #acknowledge(one: Acknowledged): void {
    const { ledger } = this.#options;
    ledger.acknowledged.push(one);
    ledger.newest = Math.max(ledger.newest, one.revision ?? 0);
  }

  /** The answer's body when the write has happened. */
  async #change(method: string, path: string, sent: object): Promise<Record<string, unknown> | undefined> {
    const { ledger } = this.#options;
    ledger.doubtful += 1;
    const { code, body } = await this.#send(method, path, sent);
    // Only these leave it open whether the write has happened.
    if (code !== 504 && code !== 500) ledger.doubtful -= 1;
    if (code === 200 || code === 201) return body;
    if (code === 409 || code === 404) ledger.conflicts += 1;
    else if (code !== 503 && code !== 504 && code !== 429) ledger.problems.push(`${method} ${path}: ${code} ${JSON.stringify(body)}`);
    else throw new Error(String(code));
    return undefined;
  }

  async #send(method: string, path: string, sent?: object): Promise<{ code: number; body: Record<string, unknown> }> {
    const { api, key } = this.#options;
    const headers = { authorization: `Bearer ${key}`, ...(sent && { "content-type": "application/json" }) };
    const response = await fetch(`${api}${path}`, {
      method,
      headers,
      ...(sent && { body: JSON.stringify(sent) }),
      signal: AbortSignal.timeout(REQUEST_MS),
    });
    return { code: response.status, body: (await response.json()) as Record<string, unknown> };
  }
}
