import type { Cipher } from "../../cipher.ts";
import type { Store } from "../../store.ts";
import type { EtcdClient } from "../client/client.ts";
import { readStoredObject, type EtcdLayout } from "../contents.ts";
import { decodeWireText, encodeWire, prefixEnd, type WireRange } from "../client/protocol.ts";

/** The functions of a store that a check of its contents uses. */
export type Glance = Pick<Store, "get" | "list">;

/** The location and the cipher of the objects. */
export interface GlanceOptions {
  readonly client: EtcdClient;
  readonly layout: EtcdLayout;
  readonly cipher: Cipher | undefined;
}

/**
 * Reads single objects directly from etcd, when reading everything first would take too long. Lists have no pages, so use a small limit.
 *
 * @param at The revision to read. Default: the current one at each call.
 */
export function glanceAt({ client, layout, cipher }: GlanceOptions, at = 0): Glance {
  const ask = (range: object) => client.call("/v3/kv/range", { ...range, revision: String(at) }) as Promise<WireRange>;
  const storedOf = ({ kvs = [] }: WireRange) =>
    kvs.map((pair) => readStoredObject(decodeWireText(pair.key).slice(layout.objects.length), pair, cipher).stored);
  return {
    async get(key) {
      return storedOf(await ask({ key: encodeWire(`${layout.objects}${key}`) }))[0];
    },
    async list({ prefix, limit = 1 }) {
      const place = `${layout.objects}${prefix}`;
      const answer = await ask({ key: encodeWire(place), range_end: prefixEnd(place), limit: String(limit) });
      return { objects: storedOf(answer), revision: at || Number(answer.header?.revision), remaining: 0 };
    },
  };
}
