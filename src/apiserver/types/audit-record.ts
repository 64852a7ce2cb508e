/** The audit record of one request while the request is in progress. */
export interface AuditRecord {
  requestObject(body: unknown): void;
  /** Adds a fact that only the handler of the request knows, under a name with the handler's own prefix. */
  annotate(name: string, value: string): void;
  responseStarted(code: number): void;
  /** Registers the function that returns the sent object; called at the end, if at all. */
  responseObject(make: () => unknown): void;
  complete(code: number): void;
  panic(error: unknown): void;
}
