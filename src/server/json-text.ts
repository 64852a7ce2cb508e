import type { WatchRecord } from "./watch-queue.ts";

const texts = new WeakMap<object, string>();
const lines = new WeakMap<object, Partial<Record<WatchRecord["type"], Buffer>>>();

/** The JSON text of a frozen object, made once per object however often it is read. */
export function textOf(object: object): string {
  let text = texts.get(object);
  if (text === undefined) {
    text = JSON.stringify(object);
    texts.set(object, text);
  }
  return text;
}

/** The line of a watch stream for a record, made once per object and type and shared by all watchers. */
export function lineOf({ type, object }: WatchRecord): Buffer {
  let byType = lines.get(object);
  if (byType === undefined) lines.set(object, (byType = {}));
  return (byType[type] ??= Buffer.from(`{"type":"${type}","object":${textOf(object)}}\n`));
}

/** The JSON text of a list from the texts of its items. */
export function listText(head: object, items: readonly object[]): string {
  const opening = JSON.stringify(head).slice(0, -1);
  return `${opening},"items":[${items.map(textOf).join(",")}]}`;
}
