import type { WatchRecord } from "../http/watch-queue.ts";

const texts = new WeakMap<object, string>();

/** The JSON text of a frozen object, made once per object however often it is read. */
export function textOf(object: object): string {
  let text = texts.get(object);
  if (text === undefined) {
    text = JSON.stringify(object);
    texts.set(object, text);
  }
  return text;
}

/** Lines that are remembered. Watchers of one event ask for its line almost at once; kept for longer it would only cost memory. */
const LINES_MAX = 1_024;
const lines = new Map<object, Partial<Record<WatchRecord["type"], Buffer>>>();

/** The line of a watch stream for a record, made once for all its watchers. */
export function lineOf({ type, object }: WatchRecord): Buffer {
  const byType = lines.get(object) ?? remember(object);
  // The text of a passing version is not kept: only what is listed again and again is worth that.
  return (byType[type] ??= Buffer.from(`{"type":"${type}","object":${texts.get(object) ?? JSON.stringify(object)}}\n`));
}

function remember(object: object): Partial<Record<WatchRecord["type"], Buffer>> {
  const [oldest] = lines.size >= LINES_MAX ? lines.keys() : [];
  if (oldest !== undefined) lines.delete(oldest);
  const byType = {};
  lines.set(object, byType);
  return byType;
}

/** The JSON text of a list from the texts of its items. */
export function listText(head: object, items: readonly object[]): string {
  const opening = JSON.stringify(head).slice(0, -1);
  return `${opening},"items":[${items.map(textOf).join(",")}]}`;
}
