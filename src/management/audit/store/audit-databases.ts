import type { Chance } from "../../../base/chance.ts";
import type { Metrics } from "../../../base/metrics.ts";
import { dataStoreEndpoint } from "../../config/rules/data-store-endpoint.ts";
import type { AuditEvent } from "../event.ts";
import { openAuditDatabase, type AuditDatabase } from "./audit-database.ts";
import { auditRow } from "./audit-row.ts";
import { createAuditStore, DATABASE_PLUGIN, type AuditStore, type AuditStoreOptions } from "./audit-store.ts";
import { openLines, type DatabaseOptions } from "./open-lines.ts";

/** Options of the stores. */
export interface AuditDatabasesOptions extends Pick<AuditStoreOptions, "clock" | "logger"> {
  readonly metrics: Metrics;
  readonly chance: Pick<Chance, "uuid" | "fraction">;
  /** Default: the database that the address names. */
  readonly openDatabase?: (endpoint: string, options: DatabaseOptions) => Promise<AuditDatabase>;
}

/** The store that the configuration names, if any. */
export interface AuditDatabases {
  readonly store: AuditStore | undefined;
  write(line: string, event: AuditEvent): void;
  /** Applies another address and age, in hours; resolves when the lines for the previous address are written or lost. */
  configure(endpoint: string | undefined, ttlHours: number): Promise<void>;
}

/** Creates {@link AuditDatabases} without a database; `configure` sets one. */
export function createAuditDatabases({ chance, openDatabase = openNamed, metrics, ...rest }: AuditDatabasesOptions): AuditDatabases {
  const options = { ...rest, metrics };
  const writer = chance.uuid();
  let seq = 0;
  metrics.count("apiserver_audit_error_total", DATABASE_PLUGIN, 0);
  metrics.beforeRead(() => metrics.gauge("management_audit_pending_lines", current?.store.pending ?? 0));
  let current: { readonly endpoint: string; readonly store: AuditStore } | undefined;
  return {
    get store() {
      return current?.store;
    },
    write(line, event) {
      current?.store.write(auditRow(line, event, { writer, seq: ++seq }));
    },
    async configure(endpoint, ttlHours) {
      if (endpoint === current?.endpoint) return current?.store.keep(ttlHours);
      const before = current;
      current =
        endpoint === undefined
          ? undefined
          : {
              endpoint,
              store: createAuditStore({
                ...options,
                ttlHours,
                random: () => chance.fraction(),
                open: (signal) => openDatabase(endpoint, { signal, clock: options.clock }),
              }),
            };
      await before?.store.close();
    },
  };
}

async function openNamed(text: string, options: DatabaseOptions): Promise<AuditDatabase> {
  const endpoint = dataStoreEndpoint(text);
  if (endpoint === undefined) throw new Error("audit.dataStoreEndpoint is not the address of a supported database");
  return openAuditDatabase(await openLines(endpoint, options));
}
