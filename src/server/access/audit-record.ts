/** The trail of one request while it is answered. */
export interface AuditRecord {
  requestObject(body: unknown): void;
  responseStarted(code: number): void;
  /** Keeps what is sent until the end. */
  responseObject(make: () => unknown): void;
  complete(code: number): void;
  panic(error: unknown): void;
}
