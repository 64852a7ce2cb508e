/**
 * A management server with an audit log in a folder of its own, both fresh for each test.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { get } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach } from "vitest";
import { silentLogger } from "../../../src/base/logger.ts";
import { createAuditLog, type AuditLog } from "../../../src/management/audit/audit-log.ts";
import { parseManagementConfig } from "../../../src/management/config/config.ts";
import { startManagement } from "../../../src/management/api/management.ts";
import { createFakeClock, type FakeClock } from "../../support/fake-clock.ts";

export const API = "/kubernetes/management/apis/management.platform/v1";
/** Paths that are not below that of the resources. */
const OUTSIDE = /^\/(kubernetes|auth|elsewhere|\.well-known)\b/;
const cleanups: (() => Promise<void>)[] = [];
/** Of the running test, with {@link path} in it. */
export let folder: string;
export let path: string;

/** Makes {@link folder} for each test of the file, then stops its writers and removes it. */
export function freshFolder(): void {
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "audit-log-"));
    path = join(folder, "audit.log");
  });
  afterEach(async () => {
    for (const cleanup of cleanups.splice(0)) await cleanup();
    rmSync(folder, { recursive: true, force: true });
  });
}

/** The configuration with these settings of `audit`. */
export function configOf(audit: object, rest: object = {}) {
  const result = parseManagementConfig(JSON.stringify({ ...rest, audit: { enabled: true, path, ...audit } }));
  if (!result.ok) throw new Error(JSON.stringify(result.problems));
  return result.config;
}

interface Sent {
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

interface Started {
  readonly clock: FakeClock;
  readonly log: AuditLog;
  readonly adminKey: string;
  send(method: string, path: string, body?: unknown, how?: Sent): Promise<{ code: number; text: string; auditID: string }>;
  /** Opens a watch and resolves once it answers. */
  watch(path: string): Promise<void>;
  /** Stops everything and returns the content of the file. */
  lines(): Promise<Line[]>;
}

type Line = Readonly<Record<string, unknown>> & {
  readonly stage: string;
  readonly verb: string;
  readonly level: string;
  readonly requestURI: string;
};

export async function start(audit: object, rest: object = {}): Promise<Started> {
  const config = configOf(audit, rest);
  const clock = createFakeClock(Date.UTC(2026, 5, 1));
  const log = createAuditLog({ clock, logger: silentLogger });
  await log.configure(config.audit);
  const management = await startManagement({ tls: false, config, audit: log.audit, auditEvents: log.events });
  let stopped: Promise<void> | undefined;
  const stop = () => (stopped ??= management.stop().then(() => log.stop()));
  cleanups.push(stop);
  const adminKey = management.adminKey!;
  return {
    clock,
    log,
    adminKey,
    async send(method, at, body, { type = "application/json", headers = {} } = {}) {
      const url = `${management.url}${OUTSIDE.test(at) ? "" : API}${at}`;
      const answer = await fetch(url, {
        method,
        headers: {
          authorization: `Bearer ${adminKey}`,
          "user-agent": "tool/1",
          ...(body !== undefined && { "content-type": type }),
          ...headers,
        },
        ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
      });
      return { code: answer.status, text: await answer.text(), auditID: answer.headers.get("audit-id")! };
    },
    watch: (at) =>
      new Promise((resolve, reject) => {
        const request = get(`${management.url}${API}${at}`, { headers: { authorization: `Bearer ${adminKey}` } }, (answer) => {
          answer.on("error", () => {});
          answer.resume();
          resolve();
        });
        request.on("error", reject);
      }),
    async lines() {
      await stop();
      return linesIn(path);
    },
  };
}

export function linesIn(file: string): Line[] {
  return readFileSync(file, "utf8")
    .split("\n")
    .slice(0, -1)
    .map((text) => JSON.parse(text) as Line);
}

export const CANARY = "canary-hunter2";
