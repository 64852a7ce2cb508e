import type { Chance } from "../../../base/chance.ts";
import type { EngineError } from "../../../base/errors.ts";
import type { KubeObject } from "../../../kube/object/types.ts";
import { duplicate, invalid } from "../../../apiserver/types/field-error.ts";
import type { FieldError } from "../../../apiserver/types/field-error.ts";
import type { Claim } from "../../../apiserver/types/resource-definition.ts";
import { specOf } from "../../kinds/common.ts";
import type { KeySpec } from "../../kinds/owned-access-key.ts";
import { OWNED_ACCESS_KEYS } from "../../kinds/types.ts";
import { isDigest } from "./key-digest.ts";
import type { KeyDigest } from "./key-digest.ts";
import type { ManagedObjects } from "../managed-objects.ts";

/** Which key has which value, without knowing any. */
export interface AccessKeys {
  /** The key of a value, as it is stored; undefined when there is none. The time it takes does not tell which values come close. */
  find(value: string, connection?: object): KubeObject | undefined;
  /** Tells whether the value of a written key, or its being left out, leaves the stored key with the value that it has. */
  keepsValue(object: KubeObject, old: KubeObject): boolean;
  /** What a written key becomes in the store: its digest in place of its value, which the author is answered. */
  claim(object: KubeObject, old: KubeObject | undefined): Claim;
}

/** What the keys are found by. */
export interface AccessKeysOptions {
  readonly objects: ManagedObjects;
  readonly digest: KeyDigest;
  readonly chance: Pick<Chance, "bytes">;
  /** Holds the digest of a value for one writer among all processes. Default: there are no others. */
  readonly hold?: HoldValue;
}

/**
 * Holds a digest while a key with it is written. Undefined while somebody else holds it; otherwise this process knows of all that was
 * written before, and its holder calls what is returned in the end.
 */
export type HoldValue = (digest: string) => Promise<(() => void) | undefined>;

/** Length of a value that the server makes: 330 bits. */
const KEY_LENGTH = 64;
/** Longest value that is taken. */
const KEY_LENGTH_MAX = 256;
/** Shorter ones are taken with a warning. */
const KEY_LENGTH_STRONG = 32;
/** Those with fewer different characters too. A random one of 32 hexadecimal digits has fewer in one of a hundred million cases. */
const KEY_VARIETY_STRONG = 6;
const ALPHABET = "abcdefghijklmnopqrstuvwxyz0123456789";
/** What may stand in an Authorization header. Source: RFC 6750, section 2.1. */
const TOKEN = /^[A-Za-z0-9\-._~+/]+=*$/;

/**
 * Keys by the digests of their values, following the stored objects.
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
    objects.onChange(({ object, previous }) => {
      if (previous?.kind === OWNED_ACCESS_KEYS.kind) this.#keys.delete(digestOf(previous));
      if (object?.kind === OWNED_ACCESS_KEYS.kind) this.#keys.set(digestOf(object), object);
    });
  }

  find(value: string, connection?: object): KubeObject | undefined {
    return value.length > KEY_LENGTH_MAX ? undefined : this.#keys.get(this.#options.digest.of(value, connection));
  }

  keepsValue(object: KubeObject, old: KubeObject): boolean {
    const { key = "" } = specOf<KeySpec>(object);
    return key === "" || (key.length <= KEY_LENGTH_MAX && this.#options.digest.of(key) === digestOf(old));
  }

  claim(object: KubeObject, old: KubeObject | undefined): Claim {
    const { key: given = "" } = specOf<KeySpec>(object);
    if (given === "" && old !== undefined) return unclaimed(withKey(object, digestOf(old)));
    const errors = given === "" ? [] : valueErrors(given);
    if (errors.length > 0) return { ...unclaimed(object), errors };
    const value = given === "" ? this.#makeValue() : given;
    const digest = this.#options.digest.of(value);
    const told = { answer: answering(value), warnings: valueWarnings(value) };
    if (old !== undefined && digest === digestOf(old)) return { ...unclaimed(withKey(object, digest)), ...told };
    if (this.#keys.has(digest) || this.#claimed.has(digest)) {
      return { ...unclaimed(object), errors: [TAKEN] };
    }
    this.#claimed.add(digest);
    let letGo: (() => void) | undefined;
    const release = () => {
      this.#claimed.delete(digest);
      letGo?.();
    };
    const { hold } = this.#options;
    // Nobody else makes the same random value.
    if (hold === undefined || given === "") return { object: withKey(object, digest), commit: release, rollback: release, ...told };
    const secure = async () => {
      letGo = await hold(digest);
      return letGo === undefined || this.#keys.has(digest) ? [TAKEN] : [];
    };
    return { object: withKey(object, digest), secure, commit: release, rollback: release, ...told };
  }

  /** Without bias: bytes beyond the last whole multiple of the alphabet are thrown away. */
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

/** Anyone who guesses another one's key learns nothing of whose it is. */
const TAKEN = duplicate("spec.key", "the value of another key");

/** Tells whether a key was refused because another one has its value, or is about to. */
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

function unclaimed(object: KubeObject): Claim {
  return { object, commit() {}, rollback() {} };
}

/** The value itself appears in no answer, not even in one that refuses it. */
function valueErrors(value: string): readonly FieldError[] {
  const field = "spec.key";
  if (value.length > KEY_LENGTH_MAX) return [invalid(field, HIDDEN, `must be no more than ${KEY_LENGTH_MAX} characters`)];
  if (isDigest(value) || !TOKEN.test(value))
    return [invalid(field, HIDDEN, "must consist of letters, digits and -._~+/ (RFC 6750), with = only at the end")];
  return [];
}

const HIDDEN = "<hidden>";

/** Digests stop nobody from trying values, of which there are few when they are short or repeat themselves. */
function valueWarnings(value: string): readonly string[] {
  const why = [
    ...(value.length < KEY_LENGTH_STRONG ? [`has fewer than ${KEY_LENGTH_STRONG} characters`] : []),
    ...(new Set(value).size < KEY_VARIETY_STRONG ? [`has fewer than ${KEY_VARIETY_STRONG} different characters`] : []),
  ];
  return why.map((text) => `spec.key ${text} and may be guessed; leave it out to have one made`);
}
