import type { Chance } from "../../../base/chance.ts";
import type { EngineError } from "../../../base/errors.ts";
import type { KubeObject } from "../../../kube/object/types.ts";
import { duplicate, invalid, type FieldError } from "../../../apiserver/types/field-error.ts";
import type { PendingAllocation } from "../../../apiserver/types/resource-definition.ts";
import { specOf } from "../../kinds/common.ts";
import type { KeySpec } from "../../kinds/owned-access-key.ts";
import { OWNED_ACCESS_KEYS } from "../../kinds/types.ts";
import { isDigest, type KeyDigest } from "./key-digest.ts";
import type { ManagedObjects } from "../managed-objects.ts";

/** An index of keys by value. It stores only digests of the values. */
export interface AccessKeys {
  /** Returns the stored key with this value; undefined if there is none. The time of a lookup does not reveal which values are similar. */
  find(value: string, connection?: object): KubeObject | undefined;
  /** Reports whether a written key keeps the value of the stored key, by repeating it or leaving it out. */
  keepsValue(object: KubeObject, old: KubeObject): boolean;
  /** Prepares a written key for the store: its digest replaces its value, which only the response to the author contains. */
  allocate(object: KubeObject, old: KubeObject | undefined): PendingAllocation;
}

/** Options of {@link createAccessKeys}. */
export interface AccessKeysOptions {
  readonly objects: ManagedObjects;
  readonly digest: KeyDigest;
  readonly chance: Pick<Chance, "bytes">;
  /** Reserves the digest of a value for one writer among all processes. Default: this process is the only one. */
  readonly hold?: HoldValue;
}

/**
 * Reserves a digest while a key with it is written. Returns undefined if another writer holds it. Otherwise this process has seen every
 * earlier write, and the caller releases the digest by calling the returned function.
 */
export type HoldValue = (digest: string) => Promise<(() => void) | undefined>;

/** Length of a generated value: 330 bits. */
const KEY_LENGTH = 64;
/** Longest value that is accepted. */
const KEY_LENGTH_MAX = 256;
/** Shorter values are accepted with a warning. */
const KEY_LENGTH_STRONG = 32;
/** Values with fewer different characters are accepted with a warning. 32 random hexadecimal digits almost never have fewer. */
const KEY_VARIETY_STRONG = 6;
const ALPHABET = "abcdefghijklmnopqrstuvwxyz0123456789";
/** The characters that an Authorization header may carry. Source: RFC 6750, section 2.1. */
const TOKEN = /^[A-Za-z0-9\-._~+/]+=*$/;

/**
 * Indexes keys by the digests of their values, following the stored objects.
 *
 * @example
 * createAccessKeys({ objects, digest, chance }).find(bearerToken)?.metadata.name;
 */
export function createAccessKeys(options: AccessKeysOptions): AccessKeys {
  return new KeyIndex(options);
}

class KeyIndex implements AccessKeys {
  readonly #options: AccessKeysOptions;
  readonly #keys = new Map<string, KubeObject>();
  /** Digests of keys that are being written. */
  readonly #claimed = new Set<string>();

  constructor(options: AccessKeysOptions) {
    const { objects } = (this.#options = options);
    for (const key of objects.of(OWNED_ACCESS_KEYS)) this.#keys.set(digestOf(key), key);
    objects.onChange([OWNED_ACCESS_KEYS], ({ object, previous }) => {
      // A new key may have the value already: after a resync, deletions are reported last.
      if (previous !== undefined && this.#keys.get(digestOf(previous))?.metadata.uid === previous.metadata.uid) {
        this.#keys.delete(digestOf(previous));
      }
      if (object !== undefined) this.#keys.set(digestOf(object), object);
    });
  }

  find(value: string, connection?: object): KubeObject | undefined {
    return value.length > KEY_LENGTH_MAX ? undefined : this.#keys.get(this.#options.digest.of(value, connection));
  }

  keepsValue(object: KubeObject, old: KubeObject): boolean {
    const { key = "" } = specOf<KeySpec>(object);
    return key === "" || (key.length <= KEY_LENGTH_MAX && this.#options.digest.of(key) === digestOf(old));
  }

  allocate(object: KubeObject, old: KubeObject | undefined): PendingAllocation {
    const { key: given = "" } = specOf<KeySpec>(object);
    if (given === "" && old !== undefined) return unallocated(withKey(object, digestOf(old)));
    const errors = given === "" ? [] : valueErrors(given);
    if (errors.length > 0) return { ...unallocated(object), errors };
    const value = given === "" ? this.#makeValue() : given;
    const digest = this.#options.digest.of(value);
    const reply = { answer: answering(value), warnings: valueWarnings(value) };
    if (old !== undefined && digest === digestOf(old)) return { ...unallocated(withKey(object, digest)), ...reply };
    if (this.#keys.has(digest) || this.#claimed.has(digest)) {
      return { ...unallocated(object), errors: [TAKEN] };
    }
    this.#claimed.add(digest);
    let letGo: (() => void) | undefined;
    const release = () => {
      this.#claimed.delete(digest);
      letGo?.();
    };
    const { hold } = this.#options;
    // No other process generates the same random value.
    if (hold === undefined || given === "") return { object: withKey(object, digest), commit: release, rollback: release, ...reply };
    const secure = async () => {
      letGo = await hold(digest);
      return letGo === undefined || this.#keys.has(digest) ? [TAKEN] : [];
    };
    return { object: withKey(object, digest), secure, commit: release, rollback: release, ...reply };
  }

  /** Generates an unbiased value: ignores bytes beyond the largest multiple of the alphabet's length. */
  #makeValue(): string {
    const whole = 256 - (256 % ALPHABET.length);
    let value = "";
    while (value.length < KEY_LENGTH) {
      for (const byte of this.#options.chance.bytes(KEY_LENGTH))
        if (byte < whole && value.length < KEY_LENGTH) value += ALPHABET[byte % ALPHABET.length];
    }
    return value;
  }
}

/** The message does not name the owner of the other key, so guessing a value reveals no owner. */
const TAKEN = duplicate("spec.key", "the value of another key");

/** Reports whether a key was refused because another key has the same value, or is being written with it. */
export function isTaken(error: EngineError): boolean {
  return error.message.endsWith(TAKEN.message);
}

function digestOf(key: KubeObject): string {
  return specOf<KeySpec>(key).key ?? "";
}

function withKey(object: KubeObject, key: string): KubeObject {
  return { ...object, spec: { ...specOf<KeySpec>(object), key } };
}

function answering(value: string): (stored: KubeObject) => KubeObject {
  return (stored) => withKey(stored, value);
}

function unallocated(object: KubeObject): PendingAllocation {
  return { object, commit() {}, rollback() {} };
}

/** Returns why a value is refused. The errors do not contain the value. */
function valueErrors(value: string): readonly FieldError[] {
  const field = "spec.key";
  if (value.length > KEY_LENGTH_MAX) return [invalid(field, HIDDEN, `must be no more than ${KEY_LENGTH_MAX} characters`)];
  if (isDigest(value) || !TOKEN.test(value))
    return [invalid(field, HIDDEN, "must consist of letters, digits and -._~+/ (RFC 6750), with = only at the end")];
  return [];
}

const HIDDEN = "<hidden>";

/** Returns warnings for values that are easy to guess: digests do not prevent guessing. */
function valueWarnings(value: string): readonly string[] {
  const why = [
    ...(value.length < KEY_LENGTH_STRONG ? [`has fewer than ${KEY_LENGTH_STRONG} characters`] : []),
    ...(new Set(value).size < KEY_VARIETY_STRONG ? [`has fewer than ${KEY_VARIETY_STRONG} different characters`] : []),
  ];
  return why.map((text) => `spec.key ${text} and may be guessed; leave it out to have one generated`);
}
