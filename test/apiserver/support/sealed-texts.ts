/** Contents of etcd as an attacker with access to it, but not to its clients, finds them. */
import type { Etcd } from "../../support/etcd.ts";

const encode = (text: string) => Buffer.from(text).toString("base64");
const decode = (text = "") => Buffer.from(text, "base64").toString();

/** A key below `objects`, and a text that is there, or was. */
export type SealedText = readonly [key: string, text: string];

interface Answer {
  readonly header?: { readonly revision: string };
  readonly kvs?: readonly { readonly key: string; readonly value?: string }[];
}

async function read(etcd: Etcd, prefix: string, revision = 0): Promise<Answer> {
  const [key, range_end] = [encode(`${prefix}objects/`), encode(`${prefix}objects0`)];
  return etcd.ask("/v3/kv/range", { key, range_end, revision: String(revision) });
}

const textsIn = (prefix: string, { kvs = [] }: Answer): SealedText[] =>
  kvs.map(({ key, value }) => [decode(key).slice(`${prefix}objects`.length), decode(value)]);

/** The present texts below a prefix. */
export async function presentTexts(etcd: Etcd, prefix: string): Promise<SealedText[]> {
  return textsIn(prefix, await read(etcd, prefix));
}

/** The texts of every state from revision `from` on that etcd still tells of, the present one included. */
export async function textsOfHistory(etcd: Etcd, prefix: string, from: number): Promise<SealedText[]> {
  const { header } = await read(etcd, prefix);
  const texts: SealedText[] = [];
  for (let revision = from; revision <= Number(header!.revision); revision += 1) {
    // States before a compaction are answered with an error.
    texts.push(...textsIn(prefix, await read(etcd, prefix, revision)));
  }
  return texts;
}
