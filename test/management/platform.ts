/**
 * A management server for tests over plain HTTP, on a clock that only they move, and its callers.
 */
import type { Clock } from "../../src/base/clock.ts";
import { isRecord } from "../../src/base/json.ts";
import { parseManagementConfig } from "../../src/management/config/config.ts";
import { startManagement, type Management, type ManagementOptions } from "../../src/management/api/management.ts";
import type { KubeObject } from "../../src/kube/object/types.ts";
import { createFakeClock, type FakeClock } from "../support/fake-clock.ts";

/** An answer, decoded. */
export interface Answered {
  readonly code: number;
  /** The JSON body. */
  readonly body: KubeObject & Record<string, never>;
  readonly warnings: string;
  readonly headers: Headers;
  readonly text: string;
}

/** Options of one request. */
export interface RequestOptions {
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A caller with a key. */
export interface Client {
  readonly key: string;
  /** `path` is relative to the API version, or absolute if it begins with the base path. */
  send(method: string, path: string, body?: unknown, options?: RequestOptions): Promise<Answered>;
}

/** A platform whose only user is its administrator. */
export interface Platform {
  readonly management: Management;
  readonly clock: FakeClock;
  readonly admin: Client;
  as(key: string): Client;
  /** A caller with a new key of this spec. */
  withKey(spec: object): Promise<Client & { readonly name: string }>;
  stop(): Promise<void>;
}

export const BASE = "/kubernetes/management";
export const API = `${BASE}/apis/management.platform/v1`;
export const JSON_PATCH = { type: "application/json-patch+json" };
export const MERGE_PATCH = { type: "application/merge-patch+json" };
export const YAML = { type: "application/yaml" };

/** Starts a platform. `config` is the text of a configuration file. */
export async function startPlatform({
  config,
  ...options
}: Omit<ManagementOptions, "config"> & { config?: string } = {}): Promise<Platform> {
  const clock = createFakeClock(Date.UTC(2026, 5, 1, 12));
  const parsed = parseManagementConfig(config ?? "");
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
  const management = await startManagement({ tls: false, clock: clock as Clock, config: parsed.config, ...options });
  const as = (key: string): Client => clientOf(management.url, key);
  const admin = as(management.adminKey ?? options.adminKey ?? "");
  let keys = 0;
  return {
    ...{ management, clock, admin, as },
    async withKey(spec) {
      const name = `key-${++keys}`;
      const made = await admin.send("POST", "/ownedaccesskeys", { metadata: { name }, spec });
      if (made.code !== 201) throw new Error(made.text);
      return { ...as((made.body["spec"] as unknown as { key: string }).key), name };
    },
    stop: () => management.stop(),
  };
}

/** Returns a caller who presents a key. */
export function clientOf(url: string, key: string): Client {
  return { key, send: (method, path, body, how) => send(url, { key, method, path, body, how }) };
}

interface Sent {
  readonly key: string;
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
  readonly how: RequestOptions | undefined;
}

async function send(url: string, { key, method, path, body, how = {} }: Sent): Promise<Answered> {
  const { type = "application/json", headers = {} } = how;
  const response = await fetch(`${url}${path.startsWith(BASE) ? "" : API}${path}`, {
    method,
    headers: { ...(key !== "" && { authorization: `Bearer ${key}` }), ...(body !== undefined && { "content-type": type }), ...headers },
    ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  const parsed: unknown = text.startsWith("{") ? JSON.parse(text) : {};
  return {
    code: response.status,
    body: (isRecord(parsed) ? parsed : {}) as unknown as Answered["body"],
    warnings: response.headers.get("warning") ?? "",
    headers: response.headers,
    text,
  };
}

/** The field of an answer at a path of names. */
export function at(answer: Answered, ...path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>((value, step) => (value as Record<string | number, unknown> | undefined)?.[step], answer.body);
}

/** The names in a list. */
export function names(answer: Answered): string[] {
  return ((answer.body["items"] ?? []) as KubeObject[]).map(({ metadata }) => metadata.name!).sort();
}
