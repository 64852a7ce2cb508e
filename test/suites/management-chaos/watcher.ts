/** Watches of callers: each is judged event by event. Completeness is judged by watches of the administrator. */
import { delay, systemClock } from "../../../src/base/clock.ts";
import type { Callers } from "./caller.ts";
import { API, type Ground } from "./ground.ts";
import type { Body } from "./model.ts";

const SECONDS = 3;
const SILENT_MS = 20_000;
const AGAIN_MS = 50;
const FIRST = { newest: 0, patched: new Map<string, number>() };

interface WatchEvent {
  readonly type: "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK" | "ERROR";
  readonly object: Body;
}

/** A client that lists and watches; one watch after the other. */
export class Watcher {
  events = 0;
  readonly #ground: Ground;
  readonly #callers: Callers;
  readonly #name: string;

  constructor(ground: Ground, callers: Callers, name: string) {
    this.#ground = ground;
    this.#callers = callers;
    this.#name = name;
  }

  /** One list and one watch, of any caller at any server. */
  async step(stop: AbortSignal): Promise<void> {
    const { model } = this.#ground;
    const caller = this.#callers.someone(this.#name);
    const sent = model.tick();
    const list = await this.#ground.ask({ ...caller, method: "GET", path: "/sharedsecrets" });
    this.#callers.judge(caller, sent, list);
    if (list.code !== 200) return delay(systemClock, AGAIN_MS);
    let position = Number((JSON.parse(list.text) as { metadata: { resourceVersion: string } }).metadata.resourceVersion);
    const query = `watch=1&allowWatchBookmarks=true&timeoutSeconds=${SECONDS}&resourceVersion=${position}`;
    const signal = AbortSignal.any([stop, AbortSignal.timeout(SECONDS * 1_000 + SILENT_MS)]);
    try {
      const headers = { authorization: `Bearer ${caller.key}` };
      const response = await fetch(`${this.#ground.server().url}${API}/sharedsecrets?${query}`, { headers, signal });
      model.note(`${caller.who} watches from ${position}: ${response.status}`);
      if (response.status !== 200) {
        const text = await response.text();
        model.tick();
        this.#callers.judge(caller, sent, { code: response.status, text });
        return;
      }
      let rest = "";
      for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
        const lines = `${rest}${chunk}`.split("\n");
        rest = lines.pop()!;
        for (const line of lines) position = this.#hear(line, { caller, sent, position });
      }
    } catch {
      // Cut off in the middle.
    }
  }

  #hear(line: string, { caller, sent, position }: { caller: ReturnType<Callers["someone"]>; sent: number; position: number }): number {
    const { model } = this.#ground;
    const { type, object } = JSON.parse(line) as WatchEvent;
    if (type === "ERROR") return position;
    model.tick();
    this.events += 1;
    const revision = Number(object.metadata.resourceVersion);
    const fail = (about: string, what: string) => model.fail(about, `a watch of ${caller.who} ${what}`);
    if (type === "BOOKMARK" ? revision < position : revision <= position) fail(caller.who, `tells ${type} ${revision} after ${position}`);
    model.revision = Math.max(model.revision, revision);
    if (type === "BOOKMARK") return revision;
    const key = `${object.metadata.namespace}/${object.metadata.name}`;
    model.note(`${caller.who} hears ${type} ${key} ${revision}`);
    if (revision > model.revokedBy(caller.key)) fail(key, `tells ${revision} to the key that ${model.revokedBy(caller.key)} took away`);
    const secret = model.secrets.get(key);
    if (secret === undefined || type === "DELETED") return revision;
    if (!model.since(sent, (world) => model.may(world, caller.user, { verb: "list", secret })).possibly)
      fail(key, `tells ${type} ${revision}, which they may not see`);
    model.show(secret, object, FIRST);
    return revision;
  }
}
