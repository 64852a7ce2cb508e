/**
 * Wire format of etcd's gateway: JSON in which keys and values are base64 and 64-bit numbers are text.
 * Source: etcd's `api/etcdserverpb/rpc.proto`.
 *
 * @module
 */

/** A key and its value. Etcd omits empty values and 0. */
export interface WireKeyValue {
  readonly key: string;
  readonly value?: string;
  readonly mod_revision?: string;
  /** Number of writes since the key was created. */
  readonly version?: string;
}

/** The header of every response. */
export interface WireHeader {
  readonly cluster_id?: string;
  readonly revision?: string;
}

/** The response to a range. */
export interface WireRange {
  readonly header?: WireHeader;
  readonly kvs?: readonly WireKeyValue[];
  readonly more?: boolean;
}

/** The response to a transaction. */
export interface WireTransaction {
  readonly header?: WireHeader;
  readonly succeeded?: boolean;
  readonly responses?: readonly {
    readonly response_range?: WireRange;
    readonly response_delete_range?: { readonly prev_kvs?: readonly WireKeyValue[] };
  }[];
}

/** One change; a PUT has no type. */
export interface WireEvent {
  readonly type?: "DELETE";
  readonly kv: WireKeyValue;
}

/** A message of a watch. */
export interface WireWatch {
  readonly header?: WireHeader;
  /** True for the first message of a watch. */
  readonly created?: boolean;
  readonly canceled?: boolean;
  readonly cancel_reason?: string;
  readonly compact_revision?: string;
  /** True if further messages follow with events that may belong to the same revision as the last event. */
  readonly fragment?: boolean;
  readonly events?: readonly WireEvent[];
}

/** Encodes text or bytes in base64, as etcd's gateway expects them. */
export function encodeWire(value: string | Buffer): string {
  return (typeof value === "string" ? Buffer.from(value, "utf8") : value).toString("base64");
}

/** Decodes text from base64. */
export function decodeWireText(value = ""): string {
  return Buffer.from(value, "base64").toString("utf8");
}

/**
 * The end of the range of all keys that begin with `prefix`: the prefix with its last byte incremented. The prefix must end in a slash.
 *
 * @example
 * decodeWireText(prefixEnd("/a/")); // "/a0"
 */
export function prefixEnd(prefix: string): string {
  const bytes = Buffer.from(prefix, "utf8");
  bytes[bytes.length - 1]! += 1;
  return encodeWire(bytes);
}

/** A condition: the key was written at this revision or later. */
export function writtenSince(key: string, revision: number): object {
  return { target: "MOD", result: "GREATER", key: encodeWire(key), mod_revision: String(revision - 1) };
}

/** A condition: the key was last written at this revision; 0 for a key that does not exist. */
export function atRevision(key: string, revision: number): object {
  return { target: "MOD", result: "EQUAL", key: encodeWire(key), mod_revision: String(revision) };
}
