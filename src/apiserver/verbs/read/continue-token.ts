import { isRecord } from "../../../base/json.ts";
import { badRequest } from "../../types/status.ts";

/** The position of the next page of a list. */
export interface Continue {
  /** The state to read; undefined for the current state, regardless of the previous pages. */
  readonly revision: number | undefined;
  /** The first key, without the prefix of the collection. */
  readonly start: string;
}

/**
 * Encodes the token for `metadata.continue`, in the format of Kubernetes. Clients must not interpret it.
 *
 * @example
 * decodeContinue(encodeContinue({ revision: 7, start: "shop/db\0" })).revision; // 7
 */
export function encodeContinue({ revision, start }: Continue): string {
  return Buffer.from(JSON.stringify({ v: "meta.k8s.io/v1", rv: revision ?? -1, start })).toString("base64url");
}

/** Decodes a continue token. @throws API_BAD_REQUEST when the text is not a token of this server. */
export function decodeContinue(text: string): Continue {
  const token = parse(Buffer.from(text, "base64url").toString());
  if (!isRecord(token)) throw badRequest("continue key is not valid: it cannot be decoded");
  const { v, rv, start } = token;
  if (v !== "meta.k8s.io/v1")
    throw badRequest(`continue key is not valid: server does not recognize this encoded version ${JSON.stringify(v ?? "")}`);
  if (typeof start !== "string" || start === "")
    throw badRequest("continue key is not valid: encoded start key empty (version meta.k8s.io/v1)");
  if (!Number.isSafeInteger(rv) || Number(rv) < -1 || rv === 0)
    throw badRequest("continue key is not valid: incorrect encoded start resourceVersion (version meta.k8s.io/v1)");
  return { revision: rv === -1 ? undefined : Number(rv), start };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
