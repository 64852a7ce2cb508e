/**
 * Objects in the benches of stores.
 *
 * @module
 */
import type { KubeObject } from "../src/kube/object/types.ts";
import type { Store } from "../src/apiserver/store/store.ts";

/** Of all of their keys. */
export const PREFIX = "/core/endpoints/";

const ADDRESSES = 10;

/** About 1.4 kB of JSON. */
export function endpoints(name: string): KubeObject {
  const addresses = Array.from({ length: ADDRESSES }, (_, at) => ({
    ip: `10.0.0.${at}`,
    nodeName: `node-${at}`,
    targetRef: { kind: "Pod", namespace: "shop", name: `db-${at}`, uid: `00000000-0000-4000-8000-${at}` },
  }));
  const metadata = { name, namespace: "shop", uid: "00000000-0000-4000-8000-000000000000", labels: { app: "db", tier: "back" } };
  return { apiVersion: "v1", kind: "Endpoints", metadata, subsets: [{ addresses, ports: [{ name: "db", port: 5432, protocol: "TCP" }] }] };
}

/** Where the object of a number is. */
export const keyOf = (index: number) => `${PREFIX}shop/db-${index}`;

/** A store behind a network is not asked for everything at once. */
const AT_ONCE = 500;

/** Puts so many objects into a store. */
export async function fill(store: Store, count: number): Promise<Store> {
  const create = (index: number) => store.create(keyOf(index), endpoints(`db-${index}`));
  for (let from = 0; from < count; from += AT_ONCE) {
    await Promise.all(Array.from({ length: Math.min(AT_ONCE, count - from) }, (_, at) => create(from + at)));
  }
  return store;
}

/** One object made and removed, so that the store stays as large as it is. */
export async function writeTwice(store: Store, name: string): Promise<void> {
  const key = `${PREFIX}new/${name}`;
  const { revision } = (await store.create(key, endpoints(name)))!;
  await store.delete(key, revision);
}
