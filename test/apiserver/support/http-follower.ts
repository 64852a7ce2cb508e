/** Follows a collection over HTTP as a controller does: lists, watches with bookmarks, and resumes where it was, at whichever address answers. */
import { delay, systemClock } from "../../../src/base/clock.ts";
import type { Change, Listed, WatchRecord, WatchStep } from "./watch-checker.ts";

/** One of several addresses of one API. */
export interface HttpFollowerOptions {
  readonly name: string;
  /** Of the collection, as `http://127.0.0.1:8443/apis/example.com/v1/locks`. After a failure the next one is asked. */
  readonly collections: readonly string[];
  readonly key: string;
  /** How long each watch may be; the last bookmark comes two seconds before its end. */
  readonly timeoutSeconds: number;
}

/** A follower, while it runs and after. */
export interface HttpFollower {
  readonly record: WatchRecord;
  /** Watches that began where another one had got to. */
  readonly resumed: () => number;
  /** The last revision that it knows of. */
  position(): number;
  /** Watches that were refused or ended because the history no longer goes back so far; each is followed by a list. */
  readonly expired: () => number;
  /** Cuts the connection; the watch is resumed. */
  cut(): void;
  /** Cuts the connection, and asks for nothing until `wake`. */
  sleep(): void;
  wake(): void;
  stop(): Promise<void>;
}

interface WireObject {
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly resourceVersion: string };
  readonly spec?: { readonly displayName?: string };
  /** Of the Status that an ERROR carries. */
  readonly code?: number;
}

const TYPES: Readonly<Record<string, Change["type"]>> = { ADDED: "created", MODIFIED: "updated", DELETED: "deleted" };
const PAUSE_MS = 50;
/** A server that stands still is left after this time. */
const SILENT_MS = 20_000;

/** The state of an object, for the checker: `spec.displayName`. */
export function listedOf({ metadata, spec }: WireObject): Listed {
  return {
    key: `${metadata.namespace ?? ""}/${metadata.name}`,
    revision: Number(metadata.resourceVersion),
    text: spec?.displayName ?? "",
  };
}

/** Starts one. */
export function followOverHttp({ name, collections, key, timeoutSeconds }: HttpFollowerOptions): HttpFollower {
  const steps: WatchStep[] = [];
  const headers = { authorization: `Bearer ${key}` };
  const running = { over: false, asleep: false, at: 0, resumed: 0, expired: 0, position: -1, abort: new AbortController() };
  let lists = 0;

  const ask = (query: string) =>
    fetch(`${collections[running.at % collections.length]!}${query}`, { headers, signal: running.abort.signal });
  const list = async () => {
    const response = await ask("");
    if (response.status !== 200) throw new Error(await response.text());
    const { metadata, items } = (await response.json()) as { metadata: { resourceVersion: string }; items: WireObject[] };
    const revision = Number(metadata.resourceVersion);
    lists += 1;
    steps.push({ did: "list", revision, objects: items.map(listedOf) });
    running.position = revision;
  };
  const expire = () => {
    running.expired += 1;
    return false;
  };
  /** Answers whether the history goes back far enough. */
  const watch = async (): Promise<boolean> => {
    const after = running.position;
    const response = await ask(`?watch=true&allowWatchBookmarks=true&timeoutSeconds=${timeoutSeconds}&resourceVersion=${after}`);
    if (response.status === 410) return expire();
    if (response.status !== 200) throw new Error(await response.text());
    steps.push({ did: "begin", after });
    running.resumed += 1;
    for await (const { type, object } of linesOf(response.body!)) {
      if (type === "ERROR" && object.code === 410) return expire();
      if (type === "ERROR") throw new Error(JSON.stringify(object));
      if (type === "BOOKMARK") steps.push({ did: "bookmark", revision: Number(object.metadata.resourceVersion) });
      else steps.push({ did: "hear", change: { type: TYPES[type]!, ...listedOf(object) } });
      running.position = Number(object.metadata.resourceVersion);
    }
    return true;
  };
  const follow = async () => {
    let listed = false;
    while (!running.over) {
      running.abort = new AbortController();
      if (running.asleep) {
        await delay(systemClock, PAUSE_MS);
        continue;
      }
      const silence = setTimeout(() => running.abort.abort(), timeoutSeconds * 1_000 + SILENT_MS);
      try {
        if (!listed) await list();
        listed = true;
        listed = await watch();
      } catch {
        running.at += 1;
        await delay(systemClock, PAUSE_MS);
      }
      clearTimeout(silence);
    }
  };
  const following = follow();
  return {
    record: { name, prefix: "", steps },
    resumed: () => Math.max(0, running.resumed - lists),
    position: () => running.position,
    expired: () => running.expired,
    cut: () => running.abort.abort(),
    sleep() {
      running.asleep = true;
      running.abort.abort();
    },
    wake: () => void (running.asleep = false),
    async stop() {
      running.over = true;
      running.abort.abort();
      await following;
    },
  };
}

/** Whole lines only: a line that a connection cuts off in the middle does not count. */
async function* linesOf(body: ReadableStream): AsyncGenerator<{ type: string; object: WireObject }> {
  let rest = "";
  for await (const chunk of body.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + String(chunk)).split("\n");
    rest = lines.pop()!;
    for (const line of lines) yield JSON.parse(line) as { type: string; object: WireObject };
  }
}
