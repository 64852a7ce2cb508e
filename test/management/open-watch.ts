import { API, BASE, type Platform } from "./platform.ts";

/** One line of a watch. */
export interface WatchEvent {
  readonly type: string;
  readonly object: {
    readonly metadata: { readonly name?: string; readonly annotations?: Record<string, string> };
    readonly spec?: object;
    readonly code?: number;
    readonly message?: string;
  };
}

/** A watch that stays open. */
export interface OpenWatch {
  /** The next line; undefined when the watch is over. */
  next(): Promise<WatchEvent | undefined>;
  /** The initial objects of the watch. */
  initial(): Promise<WatchEvent[]>;
  close(): void;
}

/** Opens a watch that begins with the existing objects. `path` is as in `Client.send`. */
export async function openWatch(
  { management }: Pick<Platform, "management">,
  key: string,
  path: string,
  headers: object = {},
): Promise<OpenWatch> {
  const ending = new AbortController();
  const query = "watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
  const url = `${management.url}${path.startsWith(BASE) ? "" : API}${path}?${query}`;
  const response = await fetch(url, { headers: { authorization: `Bearer ${key}`, ...headers }, signal: ending.signal });
  if (response.status !== 200) throw new Error(await response.text());
  const lines = linesOf(response.body!);
  const next = async () => (await lines.next()).value as WatchEvent | undefined;
  return {
    next,
    async initial() {
      const events: WatchEvent[] = [];
      for (let event = await next(); event !== undefined && event.type !== "BOOKMARK"; event = await next()) events.push(event);
      return events;
    },
    close: () => ending.abort(),
  };
}

async function* linesOf(body: ReadableStream): AsyncGenerator<WatchEvent> {
  let rest = "";
  for await (const chunk of body.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + String(chunk)).split("\n");
    rest = lines.pop()!;
    for (const line of lines) yield JSON.parse(line) as WatchEvent;
  }
}
