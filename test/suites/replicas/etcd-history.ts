/**
 * All that was ever written to one store in etcd, and by which process: independent of the processes' own reports. It needs an etcd
 * without compaction.
 *
 * @module
 */
import { createCipher, parseEncryptionKeys } from "../../../src/management/data/encryption.ts";
import { systemChance } from "../../../src/base/chance.ts";
import { readLast, layoutOf } from "../../../src/apiserver/store/etcd/contents.ts";
import {
  decodeWireText,
  encodeWire,
  prefixEnd,
  type WireEvent,
  type WireWatch,
} from "../../../src/apiserver/store/etcd/client/protocol.ts";
import type { Etcd } from "../../support/etcd.ts";

/** One write. */
export interface EtcdWritten {
  readonly revision: number;
  /** The process that wrote it. */
  readonly writer: string;
  /** As the store names it, as `/management.platform/teams//shop`; "fence" for that. */
  readonly key: string;
  readonly type: "created" | "updated" | "deleted";
  /** Its content then; undefined for a deletion and the fence. */
  readonly object: Record<string, unknown> | undefined;
}

/** Where a store is. */
export interface HistoryOptions {
  readonly prefix: string;
  /** 32 bytes as base64. */
  readonly encryptionKey: string;
}

/** Reads everything up to now, in order. */
export async function readHistory(etcd: Etcd, { prefix, encryptionKey }: HistoryOptions): Promise<EtcdWritten[]> {
  const layout = layoutOf(prefix);
  const cipher = createCipher({ keys: parseEncryptionKeys(encryptionKey), chance: systemChance });
  const present = new Set<string>();
  return (await eventsOf(etcd, layout.prefix)).flatMap((events): EtcdWritten[] => {
    const revision = Number(events[0]!.kv.mod_revision);
    const last = events.find(({ kv }) => decodeWireText(kv.key) === layout.last);
    const writer = last === undefined ? "" : readLast(decodeWireText(last.kv.value)).replace(/-\d+$/, "");
    return events.flatMap(({ type, kv }): EtcdWritten[] => {
      const name = decodeWireText(kv.key);
      if (name === layout.fence) return [{ revision, writer: decodeWireText(kv.value), key: "fence", type: "updated", object: undefined }];
      if (!name.startsWith(`${layout.objects}/`)) return [];
      const key = name.slice(layout.objects.length);
      if (type === "DELETE") {
        present.delete(key);
        return [{ revision, writer, key, type: "deleted", object: undefined }];
      }
      const object = JSON.parse(cipher.open(key, decodeWireText(kv.value))) as Record<string, unknown>;
      const known = present.has(key);
      present.add(key);
      return [{ revision, writer, key, type: known ? "updated" : "created", object }];
    });
  });
}

/** The events of each revision that wrote something below a prefix. */
async function eventsOf(etcd: Etcd, prefix: string): Promise<WireEvent[][]> {
  // So that there is a last one.
  const mark = await etcd.ask("/v3/kv/put", { key: encodeWire(`${prefix}end-of-history`), value: encodeWire("") });
  const end = Number((mark["header"] as { revision: string }).revision);
  const abort = new AbortController();
  const create_request = { key: encodeWire(prefix), range_end: prefixEnd(prefix), start_revision: "1" };
  const response = await fetch(`${etcd.url}/v3/watch`, { method: "POST", body: JSON.stringify({ create_request }), signal: abort.signal });
  const revisions = new Map<number, WireEvent[]>();
  for await (const { canceled, events = [] } of messagesOf(response.body!)) {
    if (canceled === true) throw new Error("etcd has forgotten a part of the history");
    for (const event of events) {
      const revision = Number(event.kv.mod_revision);
      revisions.set(revision, [...(revisions.get(revision) ?? []), event]);
    }
    if (revisions.has(end)) break;
  }
  abort.abort();
  return [...revisions.values()];
}

async function* messagesOf(body: ReadableStream): AsyncGenerator<WireWatch> {
  let rest = "";
  for await (const chunk of body.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + String(chunk)).split("\n");
    rest = lines.pop()!;
    for (const line of lines) yield (JSON.parse(line) as { result: WireWatch }).result;
  }
}

/** The time in which one process did the background work. */
export interface Term {
  readonly holder: string;
  readonly writer: string;
  /** From this revision on: whatever was sent before it by the process that led before is void. */
  readonly from: number;
}

/** Terms in order, read off the Leases: each begins with the first fence that its process raised when it had taken the Lease. */
export function termsOf(history: readonly EtcdWritten[]): readonly Term[] {
  const terms: Term[] = [];
  let taken: Omit<Term, "from"> | undefined;
  let held = "";
  for (const { key, writer, object, revision } of history) {
    if (key.includes("/leases/")) {
      const holder = String((object!["spec"] as { holderIdentity?: string }).holderIdentity ?? "");
      if (holder !== held && holder !== "") taken = { holder, writer };
      held = holder;
    } else if (key === "fence" && taken?.writer === writer) {
      terms.push({ ...taken, from: revision });
      taken = undefined;
    }
  }
  return terms;
}

/** Those of some writes that were not done by the process whose term it was, in words. */
export function outsideOfTerm(history: readonly EtcdWritten[], isBackground: (write: EtcdWritten) => boolean): string[] {
  const terms = termsOf(history);
  return history.filter(isBackground).flatMap(({ key, revision, writer, type }) => {
    const term = terms.findLast(({ from }) => from < revision);
    return term?.writer === writer ? [] : [`${revision} ${type} ${key} by ${writer}, while ${term?.writer ?? "no server"} led`];
  });
}
