import { systemChance, type Chance } from "../../base/chance.ts";
import type { Clock } from "../../base/clock.ts";
import { EngineError } from "../../base/errors.ts";
import type { Logger } from "../../base/logger.ts";
import { noMetrics, type Metrics } from "../../base/metrics.ts";
import type { Audit } from "../../apiserver/access/audit.ts";
import { openAuditFile, type AuditFile, type RotationSettings } from "./audit-file.ts";
import { createAuditEvents, type AuditEvents } from "./audit-events.ts";
import type { AuditEvent } from "./event.ts";
import { createAuditDatabases, type AuditDatabasesOptions } from "./store/audit-databases.ts";
import { policyOf } from "./levels.ts";
import { decideAudit, type AuditPolicy, type AuditSettings } from "./policy.ts";
import { createTrail } from "./trail.ts";

/** Options of {@link createAuditLog}. */
export interface AuditLogOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Default: none. */
  readonly metrics?: Metrics;
  /** Default: {@link systemChance}. */
  readonly chance?: Pick<Chance, "uuid" | "fraction">;
  /** Opens the database that an address names. Default: a client for its kind. */
  readonly openDatabase?: NonNullable<AuditDatabasesOptions["openDatabase"]>;
}

/** Logs requests to the API. Off until it is configured. */
export interface AuditLog {
  /** The hook that the server calls for each request. */
  readonly audit: Audit;
  /** Reads the lines of the database that the configuration names. */
  readonly events: AuditEvents;
  /**
   * Applies other settings. Requests in progress keep the policy that they began with.
   *
   * @throws CONFIG_FILE when the file cannot be written; the previous settings stay.
   */
  configure(settings: AuditSettings): Promise<void>;
  /** Resolves when every line is written, including those of requests that are ending. Stop the server first. */
  stop(): Promise<void>;
}

const MEGABYTE = 1_048_576;
/** How long requests of a stopped server may take to end, in milliseconds. */
const ENDING_MS = 1_000;

/**
 * Creates an audit log. It is disabled until you configure it.
 *
 * @example
 * const log = createAuditLog({ clock, logger });
 * await log.configure(config.audit);
 * const management = await startManagement({ config, audit: log.audit });
 * await management.stop();
 * await log.stop();
 */
export function createAuditLog(options: AuditLogOptions): AuditLog {
  const { clock, logger, metrics = noMetrics, chance = systemChance } = options;
  let policy: AuditPolicy = {};
  let file: AuditFile | undefined;
  const database = createAuditDatabases({ ...options, metrics, chance });
  let work: Promise<void> = Promise.resolve();
  const underWay = createUnderWay();
  const write = (line: string, event: AuditEvent) => {
    metrics.count("apiserver_audit_event_total");
    file?.write(line);
    database.write(line, event);
  };
  const exchangeFile = async (next: AuditFile | undefined) => {
    const before = file;
    file = next;
    await before?.close();
  };
  const apply = async (settings: AuditSettings) => {
    const { enabled, path = "" } = settings;
    if (!enabled) {
      await database.configure(undefined, 0);
      return exchangeFile(undefined);
    }
    const rotation = rotationOf(settings);
    if (file?.path === path) file.configure(rotation);
    else await exchangeFile(await openGivenFile(path, { rotation, clock, logger, metrics }));
    policy = policyOf(settings);
    await database.configure(settings.dataStoreEndpoint || undefined, settings.dataStoreTTL ?? 0);
  };
  return {
    events: createAuditEvents({ store: () => database.store, logger }),
    audit(facts) {
      if (file === undefined) return undefined;
      const decision = decideAudit(policy, facts);
      if (decision.level === "None") return undefined;
      return createTrail({ decision, facts, now: () => clock.now(), write, ended: underWay.begin() });
    },
    configure(settings) {
      const applied = work.then(() => apply(settings));
      work = applied.catch(() => {});
      return applied;
    },
    async stop() {
      await work;
      await underWay.none(clock);
      await database.configure(undefined, 0);
      await exchangeFile(undefined);
    },
  };
}

/** Counts the requests that still have a line to write. */
function createUnderWay() {
  let count = 0;
  let over = () => {};
  return {
    begin() {
      count++;
      return () => void (--count === 0 && over());
    },
    /** Resolves when there are none, or after {@link ENDING_MS}. */
    none: (clock: Clock) =>
      new Promise<void>((resolve) => {
        if (count === 0) return resolve();
        const timer = clock.schedule(ENDING_MS, () => over(), { keepAlive: true });
        over = () => {
          timer.cancel();
          resolve();
        };
      }),
  };
}

function openGivenFile(
  path: string,
  parts: Pick<Parameters<typeof openAuditFile>[0], "rotation" | "clock" | "logger" | "metrics">,
): Promise<AuditFile> {
  if (path === "") throw new EngineError("CONFIG_FILE", "audit.path is empty, but audit.enabled requires it");
  return openAuditFile({ path, ...parts });
}

function rotationOf({ maxSize, maxAge, maxBackups, compress }: AuditSettings): RotationSettings {
  return { maxBytes: maxSize * MEGABYTE, maxAge, maxBackups, compress };
}
