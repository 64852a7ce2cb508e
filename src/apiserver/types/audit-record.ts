/** The trail of one request while it is in progress. */
export interface AuditRecord {
  requestObject(body: unknown): void;
  /** Adds facts that only the handler of the request knows, by a name with its own prefix. */
  annotate(name: string, value: string): void;
  responseStarted(code: number): void;
  /** Keeps the sent object until the end. */
  responseObject(make: () => unknown): void;
  complete(code: number): void;
  panic(error: unknown): void;
}
