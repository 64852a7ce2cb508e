/**
 * Converts a state to and from the part of a link after the `#`. Browsers never send that part to a server.
 *
 * The form is `1.` and the state as JSON, deflated, in base64url. Links are untrusted: both the text of a link and its decoded content are
 * checked.
 *
 * @module
 */
import { isRecord } from "../../base/json.ts";
import type { PlaygroundState } from "./protocol.ts";

/** Maximum length of a fragment in characters, so that mail and chat programs transfer the link and browsers open it. */
export const FRAGMENT_MAX = 64_000;

/** Maximum size of a state as JSON, in bytes: without a limit, a short fragment could be inflated into gigabytes. */
export const STATE_MAX = 1_000_000;

const VERSION = "1.";

/** A fragment, or why there is none. */
export type Packed = { readonly ok: true; readonly fragment: string } | { readonly ok: false; readonly message: string };

/** A state, or why there is none. */
export type Unpacked = { readonly ok: true; readonly state: PlaygroundState } | { readonly ok: false; readonly message: string };

/**
 * The fragment (without `#`) of a link that opens a state.
 *
 * @example
 * const packed = await packState({ config, tenant });
 * if (packed.ok) location.hash = packed.fragment;
 */
export async function packState(state: PlaygroundState): Promise<Packed> {
  const json = new TextEncoder().encode(JSON.stringify(state));
  const tooLong = { ok: false, message: "The input is too long for a link. Copy a test file instead." } as const;
  if (json.length > STATE_MAX) return tooLong;
  const deflated = await readAll(piped(json, new CompressionStream("deflate-raw")), Infinity);
  const fragment = VERSION + toBase64Url(deflated!);
  return fragment.length > FRAGMENT_MAX ? tooLong : { ok: true, fragment };
}

/**
 * The state behind a fragment, with or without its `#`. Never throws: problems are returned as a message for the user.
 *
 * @example
 * const unpacked = await unpackState(location.hash);
 */
export async function unpackState(fragment: string): Promise<Unpacked> {
  const text = fragment.replace(/^#/, "");
  if (text.length > FRAGMENT_MAX) return refused("it is longer than any playground link");
  if (!text.startsWith(VERSION)) {
    const other = /^[0-9]{1,3}\./.test(text);
    return refused(other ? "it was made by another version of the playground" : "it is not a playground link");
  }
  try {
    const deflated = fromBase64Url(text.slice(VERSION.length));
    const json = await readAll(piped(deflated, new DecompressionStream("deflate-raw")), STATE_MAX);
    if (json === undefined) return refused("its content is too long");
    return stateOf(JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(json)));
  } catch {
    return refused("it is cut off or damaged");
  }
}

function refused(why: string): Unpacked {
  return { ok: false, message: `The link cannot be opened: ${why}.` };
}

/** Reads a state from untrusted data. Unknown members are left out. */
function stateOf(data: unknown): Unpacked {
  if (!isRecord(data)) return refused("it contains no state");
  const { config, settings, tenant, host, vcluster } = data;
  if (typeof config !== "string" || typeof tenant !== "string") return refused("the configuration or the tenant object is missing");
  if (host !== undefined && typeof host !== "string") return refused("the host object is not a string");
  if (settings !== undefined && typeof settings !== "string") return refused("the settings are not a string");
  const texts = { config, tenant, ...(settings !== undefined && { settings }), ...(host !== undefined && { host }) };
  if (vcluster === undefined) return { ok: true, state: texts };
  if (!isRecord(vcluster) || !isName(vcluster["name"]) || !isName(vcluster["namespace"]))
    return refused("the virtual cluster's names are not valid");
  const names = { name: vcluster["name"], namespace: vcluster["namespace"] };
  return { ok: true, state: { ...texts, vcluster: names } };
}

/** Reports whether a value is a Kubernetes name (RFC 1123 label). */
function isName(value: unknown): value is string {
  return typeof value === "string" && /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(value);
}

type Bytes = Uint8Array<ArrayBuffer>;

function piped(bytes: Bytes, through: CompressionStream | DecompressionStream): ReadableStream<Bytes> {
  return new Blob([bytes]).stream().pipeThrough(through) as ReadableStream<Bytes>;
}

/** Reads a stream of at most `most` bytes. Stops and returns undefined if there are more. */
async function readAll(stream: ReadableStream<Bytes>, most: number): Promise<Bytes | undefined> {
  const reader = stream.getReader();
  const parts: Bytes[] = [];
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return new Uint8Array(await new Blob(parts).arrayBuffer());
    parts.push(value);
    length += value.length;
    if (length > most) {
      await reader.cancel();
      return undefined;
    }
  }
}

function toBase64Url(bytes: Bytes): string {
  const characters = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
  return btoa(characters).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** @throws DOMException when the text is not base64url. */
function fromBase64Url(text: string): Bytes {
  return Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (character) => character.charCodeAt(0));
}
