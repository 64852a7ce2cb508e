/**
 * Reads the parts of a signed token so strictly that no two readers can interpret them differently. Source: RFC 7515, and the
 * advice of RFC 8725.
 *
 * @module
 */
import { isRecord, type JsonObject } from "../../base/json.ts";
import { TOKEN_ALGORITHMS, TOKEN_LENGTH_MAX, type TokenAlgorithm } from "../scope/cluster-token.ts";
import { repeatedFields } from "../../apiserver/http/body/repeated-fields.ts";
import { unauthorized } from "../../apiserver/types/status.ts";

/** Unverified content of a token. */
export interface TokenParts {
  readonly algorithm: TokenAlgorithm;
  readonly kid: string;
  readonly payload: JsonObject;
}

/** Maximum nesting of objects and lists; a scope's rules take nine. */
const DEPTH_MAX = 16;
const KEY_ID_LENGTH_MAX = 256;
/** Allowed members. Keys by value or by address, certificates, extensions and compression are not needed, and are refused. */
const HEADER_MEMBERS: readonly string[] = ["alg", "kid", "typ"];

/**
 * Parses a token without verifying its signature.
 *
 * @throws API_UNAUTHORIZED if the text is longer than {@link TOKEN_LENGTH_MAX} or is not a token of three parts; if its JSON has a
 * duplicate member or is nested too deeply; or if the header has a different algorithm, or a member other than `alg`, `kid` and `typ`.
 */
export function openToken(token: string): TokenParts {
  if (token.length > TOKEN_LENGTH_MAX) throw unauthorized(`the token is longer than ${TOKEN_LENGTH_MAX} characters`);
  const parts = token.split(".");
  if (parts.length !== 3) throw unauthorized("the token does not have three parts");
  const [header, payload] = parts.map(decodePart);
  return { ...readHeader(readJson(header!)), payload: readJson(payload!) };
}

function readHeader(header: JsonObject): Pick<TokenParts, "algorithm" | "kid"> {
  const other = Object.keys(header).find((name) => !HEADER_MEMBERS.includes(name));
  if (other !== undefined) throw unauthorized(`the header has a member that is not allowed: ${JSON.stringify(other)}`);
  const { alg, kid, typ = "JWT" } = header;
  if (!isAlgorithm(alg)) throw unauthorized("the algorithm is not allowed");
  if (typ !== "JWT") throw unauthorized("the token's typ is not JWT");
  if (typeof kid !== "string" || kid === "" || kid.length > KEY_ID_LENGTH_MAX) throw unauthorized("the header names no key");
  return { algorithm: alg, kid };
}

function isAlgorithm(alg: unknown): alg is TokenAlgorithm {
  return (TOKEN_ALGORITHMS as readonly unknown[]).includes(alg);
}

/** Decodes only the canonical form, so that any change is detected: the last character of a part has unused bits. */
function decodePart(part: string): Buffer {
  const bytes = Buffer.from(part, "base64url");
  if (bytes.length === 0 || bytes.toString("base64url") !== part) throw unauthorized("a part of the token is not in base64url");
  return bytes;
}

function readJson(bytes: Buffer): JsonObject {
  const text = readText(bytes);
  const value = parse(text);
  if (!isRecord(value)) throw unauthorized("a part of the token is not a JSON object");
  if (isDeeper(value, DEPTH_MAX)) throw unauthorized("the token is nested too deeply");
  if (repeatedFields(text).length > 0) throw unauthorized("the token has a duplicate member");
  return value;
}

function readText(bytes: Buffer): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    // The decoder's own error contains no further details.
    throw unauthorized("a part of the token is not in UTF-8");
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The reason would quote the token.
    return undefined;
  }
}

/** Reports whether objects and lists are nested deeper than `levels`. */
function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return levels === 0 || Object.values(value).some((member) => isDeeper(member, levels - 1));
}
