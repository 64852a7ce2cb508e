/** The trail of one request while it is answered. */
export interface AuditRecord {
  requestObject(body: unknown): void;
  /** Adds what only the handler of the request knows, by a name with a prefix of its own. */
  annotate(name: string, value: string): void;
  responseStarted(code: number): void;
  /** Keeps what is sent until the end. */
  responseObject(make: () => unknown): void;
  complete(code: number): void;
  panic(error: unknown): void;
}
