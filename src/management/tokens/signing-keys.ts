import { createHash, createPrivateKey, createPublicKey, generateKeyPair, sign, verify, type JsonWebKey, type KeyObject } from "node:crypto";
import { promisify } from "node:util";
import type { Clock } from "../../base/clock.ts";
import { EngineError } from "../../base/errors.ts";
import { canonicalJson, isRecord, type JsonObject } from "../../base/json.ts";
import type { TokenAlgorithm } from "../../cluster/scope/cluster-token.ts";

/** Where keys are kept between starts. The text is secret. */
export interface SigningKeysPort {
  /** The text that was saved last; undefined before the first time. */
  load(): Promise<string | undefined>;
  /**
   * Replaces `before`, the text that was last loaded or returned, unless another process was faster. Returns the text that is stored
   * afterwards, which a restart would load.
   */
  save(text: string, before: string | undefined): Promise<string>;
  /** Subscribes to what other processes save. Default: there are none. */
  follow?(listener: (text: string) => void): Promise<{ stop(): void }>;
}

/** Options of {@link openSigningKeys}. */
export interface SigningKeysOptions {
  readonly port: SigningKeysPort;
  readonly clock: Pick<Clock, "now">;
  /** Algorithm of new keys. Default ES256. */
  readonly algorithm?: TokenAlgorithm;
}

/** A key that signs. */
export interface SigningKey {
  /** Thumbprint of the public key. Source: RFC 7638. */
  readonly kid: string;
  readonly algorithm: TokenAlgorithm;
  readonly privateKey: KeyObject;
}

/** Public keys as clusters read them. Source: RFC 7517. */
export interface KeySet {
  readonly keys: readonly JsonObject[];
}

/** The platform's keys for tokens: the newest signs, older ones stay published as long as one of their tokens is valid. */
export interface SigningKeys {
  /**
   * Returns the newest key, for a token that ends at `expiresAt` (milliseconds since 1970). The key stays published until then, even after
   * a rotation or a restart.
   */
  signing(expiresAt: number): Promise<SigningKey>;
  /** Generates a new key, which signs from now on. */
  rotate(): Promise<void>;
  /** The public keys, newest first; each is published until its last token expires. */
  published(): KeySet;
  /** Stops following what other processes save. */
  stop(): void;
}

interface KeptKey {
  readonly algorithm: TokenAlgorithm;
  /** The private key as JWK. */
  readonly jwk: JsonObject;
  /** No token of this key is valid after this time, in milliseconds since 1970. */
  readonly neededUntil: number;
}

const RSA_BITS = 3_072;
/** How far ahead the end of a key's use is stored, so that not every token costs a write. */
const NEEDED_AHEAD_MS = 86_400_000;
/** Clocks of clusters may be behind. */
const CLOCK_DIFFERENCE_MS = 60_000;

const PROBE = Buffer.from("probe");

const generate = promisify(generateKeyPair);

/**
 * Opens the signing keys that a port stores. If there are none, the first key is generated and saved.
 *
 * @throws CONFIG_VALUE when the text of the port does not contain signing keys.
 * @example
 * let kept: string | undefined;
 * const port = { load: async () => kept, save: async (text: string) => (kept = text) };
 * const keys = await openSigningKeys({ port, clock: systemClock });
 * keys.published().keys.length; // 1
 */
export async function openSigningKeys(options: SigningKeysOptions): Promise<SigningKeys> {
  const { port } = options;
  const keys = new KeptKeys(options);
  await keys.follow();
  const text = await port.load();
  if (text === undefined) await keys.begin();
  else keys.take(text);
  return keys;
}

class KeptKeys implements SigningKeys {
  readonly #options: SigningKeysOptions;
  /** Newest first. */
  #kept: readonly KeptKey[] = [];
  #text: string | undefined;
  #following: { stop(): void } | undefined;
  #signing: SigningKey | undefined;
  /** Writes run one after the other, so that none undoes what another one has saved. */
  #writing: Promise<unknown> = Promise.resolve();

  constructor(options: SigningKeysOptions) {
    this.#options = options;
  }

  /** Uses the keys of a text that was loaded or saved. */
  take(text: string): void {
    if (text === this.#text) return;
    const kept = readKeys(text);
    this.#text = text;
    this.#kept = kept;
    this.#signing = signingKey(kept[0]!);
  }

  /** Applies what other processes save, until `stop`. */
  async follow(): Promise<void> {
    this.#following = await this.#options.port.follow?.((text) => this.take(text));
  }

  stop(): void {
    this.#following?.stop();
  }

  /** Generates the first key, unless another process has done so in the meantime. */
  begin(): Promise<void> {
    return this.#write(async () => (this.#kept.length > 0 ? this.#kept : this.#withNew()));
  }

  async signing(expiresAt: number): Promise<SigningKey> {
    if (this.#kept[0]!.neededUntil < expiresAt) {
      await this.#write(async () => {
        const [newest, ...rest] = this.#kept;
        if (newest!.neededUntil >= expiresAt) return this.#kept;
        return [{ ...newest!, neededUntil: expiresAt + NEEDED_AHEAD_MS }, ...rest];
      });
      // Another key may have become the newest meanwhile.
      return this.signing(expiresAt);
    }
    return this.#signing!;
  }

  rotate(): Promise<void> {
    return this.#write(() => this.#withNew());
  }

  async #withNew(): Promise<readonly KeptKey[]> {
    const { clock, algorithm = "ES256" } = this.#options;
    const now = clock.now();
    return [await newKey(algorithm, now), ...this.#kept.filter((key) => isNeeded(key, now))];
  }

  published(): KeySet {
    const now = this.#options.clock.now();
    const needed = this.#kept.filter((key, index) => index === 0 || isNeeded(key, now));
    return { keys: needed.map(({ algorithm, jwk }) => ({ ...publicPart(jwk), kid: thumbprint(jwk), alg: algorithm, use: "sig" })) };
  }

  #write(change: () => Promise<readonly KeptKey[]>): Promise<void> {
    const writing = this.#writing.then(async () => {
      for (;;) {
        const before = this.#text;
        const next = await change();
        // If another process has saved meanwhile, its text is the one to change.
        if (this.#text !== before) continue;
        if (next === this.#kept) return;
        const text = JSON.stringify({ keys: next });
        const kept = await this.#options.port.save(text, before);
        this.take(kept);
        if (kept === text) return;
      }
    });
    this.#writing = writing.catch(() => {});
    return writing;
  }
}

function isNeeded({ neededUntil }: KeptKey, now: number): boolean {
  return now < neededUntil + CLOCK_DIFFERENCE_MS;
}

async function newKey(algorithm: TokenAlgorithm, now: number): Promise<KeptKey> {
  const { privateKey } =
    algorithm === "ES256" ? await generate("ec", { namedCurve: "P-256" }) : await generate("rsa", { modulusLength: RSA_BITS });
  return { algorithm, jwk: privateKey.export({ format: "jwk" }) as JsonObject, neededUntil: now };
}

function signingKey({ algorithm, jwk }: KeptKey): SigningKey {
  return { kid: thumbprint(jwk), algorithm, privateKey: createPrivateKey({ key: jwk, format: "jwk" }) };
}

/** The members that a public key must have, and no others. Source: RFC 7638, 3.2. */
function publicPart(jwk: JsonObject): JsonObject {
  const { kty, crv, x, y, n, e } = jwk;
  return kty === "EC" ? { kty, crv, x, y } : { kty, n, e };
}

function thumbprint(jwk: JsonObject): string {
  return createHash("sha256")
    .update(canonicalJson(publicPart(jwk)))
    .digest("base64url");
}

function readKeys(text: string): readonly KeptKey[] {
  try {
    const { keys } = JSON.parse(text) as { readonly keys: readonly KeptKey[] };
    if (keys.length > 0 && keys.every(isKept)) return keys;
  } catch {
    // The reason would quote the text, which is secret.
  }
  throw new EngineError("CONFIG_VALUE", "Cannot read the token signing keys: the stored keys are damaged", {
    details: {
      hint: "Remove the stored keys so that the server generates a new key; tokens that were issued with the old keys then stop working",
    },
  });
}

/** Reports whether a key is complete and matches its algorithm: its public part must verify what it signs. */
function isKept(key: unknown): boolean {
  if (!isRecord(key) || !Number.isSafeInteger(key["neededUntil"]) || !isRecord(key["jwk"])) return false;
  const { jwk, algorithm } = key;
  const publicKey = createPublicKey({ key: publicPart(jwk) as JsonWebKey, format: "jwk" });
  const signature = sign("sha256", PROBE, createPrivateKey({ key: jwk, format: "jwk" }));
  return algorithm === (publicKey.asymmetricKeyType === "ec" ? "ES256" : "RS256") && verify("sha256", PROBE, publicKey, signature);
}
