/** Shared parts of all callers: chance, the model, the journal of requests, and how these are sent. */
import { delay, systemClock } from "../../../src/base/clock.ts";
import { createSeededChance } from "../../apiserver/seeded-chance.ts";
import { PATIENCE_MS } from "../../support/patience.ts";
import type { Model } from "./model.ts";
import type { Server } from "./servers.ts";

/** The answer; code 0 if there was none. */
export interface Answer {
  readonly code: number;
  readonly text: string;
}

/** One request. */
export interface Asked {
  readonly key: string;
  /** For the journal. */
  readonly who: string;
  readonly method: string;
  /** Below the API version. */
  readonly path: string;
  readonly body?: object;
  /** Its effects on others are judged, not its own duration. */
  readonly hostile?: boolean;
}

/** A write that was acknowledged. */
export interface Acknowledged {
  readonly type: "created" | "updated";
  readonly key: string;
  readonly revision: number;
  readonly text: string;
  readonly previous: number;
}

export const API = "/kubernetes/management/apis/management.platform/v1";
export const ADMIN_KEY = "administrator-0123456789abcdefghijklmn";
/** Part of each key, and of no answer but those to its maker. */
export const KEY_MARKER = "-0123456789abcdefghijklmn";
export const USERS = ["u0", "u1", "u2", "u3", "u4", "u5"];
export const TEAMS = ["t0", "t1", "t2"];
export const NAMESPACES = ["a", "b"];
/** Answers that leave it open whether something has happened. */
export const DOUBTFUL: ReadonlySet<number> = new Set([0, 500, 504]);
/** Answers that say nothing of permissions. */
export const EXCUSED: ReadonlySet<number> = new Set([0, 429, 503, 504]);

/** Before a server is asked again that may be down. */
const AGAIN_MS = 100;

/** The ground on which all play. */
export class Ground {
  readonly counts = new Map<string, number>();
  readonly acknowledged: Acknowledged[] = [];
  /** Acknowledged patches: each watch has to tell of them. */
  readonly patches: { readonly key: string; readonly revision: number }[] = [];
  readonly model: Model;
  readonly servers: readonly Server[];
  readonly #fraction: () => number;
  readonly #stop: AbortSignal;
  #count = 0;

  constructor({ model, servers, seed, stop }: { model: Model; servers: readonly Server[]; seed: number; stop: AbortSignal }) {
    const chance = createSeededChance(seed);
    this.#fraction = () => chance.fraction();
    this.model = model;
    this.servers = servers;
    this.#stop = stop;
  }

  /** A whole number below the limit. */
  readonly upTo = (limit: number): number => Math.floor(this.#fraction() * limit);
  readonly pick = <T>(all: readonly T[]): T => all[this.upTo(all.length)]!;
  readonly some = <T>(all: readonly T[]): T[] => all.filter(() => this.#fraction() < 0.3);

  /** A number that was not given before. */
  next(): number {
    return (this.#count += 1);
  }

  /** Any server; one that is down now and then. */
  server(): Server {
    const up = this.servers.filter((server) => !server.isDown);
    return this.pick(up.length === 0 || this.upTo(20) === 0 ? this.servers : up);
  }

  /** Asks any server. */
  async ask({ key, who, method, path, body, hostile = false }: Asked): Promise<Answer> {
    const server = this.server();
    const what = `${method} ${path}${hostile ? " with many unknown fields" : ""}`;
    const at = `at ${this.servers.indexOf(server)}`;
    if (hostile) this.model.note(`${who} sends ${what} ${at}`);
    const from = performance.now();
    const patience = AbortSignal.timeout(PATIENCE_MS);
    let answer: Answer;
    try {
      const type = method !== "PATCH" ? "application/json" : `application/${Array.isArray(body) ? "json-patch" : "merge-patch"}+json`;
      const headers = { authorization: `Bearer ${key}`, ...(body && { "content-type": type }) };
      const signal = AbortSignal.any([patience, this.#stop]);
      const response = await fetch(`${server.url}${API}${path}`, { method, headers, signal, ...(body && { body: JSON.stringify(body) }) });
      answer = { code: response.status, text: await response.text() };
    } catch {
      answer = { code: 0, text: "" };
      await delay(systemClock, AGAIN_MS);
    }
    this.model.tick();
    this.model.note(`${who} ${what} ${at}: ${answer.code} ${briefOf(answer)}`);
    this.counts.set(`${method} ${answer.code}`, (this.counts.get(`${method} ${answer.code}`) ?? 0) + 1);
    if (!hostile && patience.aborted && server.inPeaceSince(from)) this.model.fail(who, `${what} had no answer within ${PATIENCE_MS} ms`);
    if (answer.code === 500) this.model.fail(who, `${what}: ${answer.text}`);
    return answer;
  }
}

/** Summary of an answer: its fault or its version. */
export function briefOf({ code, text }: Answer): string {
  const found = code >= 400 ? /"message":"([^"]{0,160})/.exec(text) : /"resourceVersion":"(\d+)"/.exec(text);
  return found?.[1] ?? "";
}
