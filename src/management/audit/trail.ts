import { isRecord } from "../../base/json.ts";
import type { Status } from "../../kube/object/status.ts";
import type { AuditFacts, AuditTrail } from "../../apiserver/access/audit.ts";
import { disclosedRequest, disclosedResponse, holdsSecrets, type Disclosed } from "./disclosed.ts";
import { eventLine, writtenBody, type AuditEvent, type WrittenBody } from "./event.ts";
import type { AuditDecision } from "./policy.ts";

/** Options of a trail. */
export interface TrailOptions {
  readonly decision: AuditDecision;
  readonly facts: AuditFacts;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Writes a line that includes its line end, with the event that it contains. Must not throw. */
  readonly write: (line: string, event: AuditEvent) => void;
  /** Called when the last line of the request is written. Must not throw. */
  readonly ended: () => void;
}

/** Longest name of an object; a longer one is ignored. */
const NAME_LENGTH_MAX = 253;
/** Most characters of a refusal's message; it may quote any part of the request. */
const MESSAGE_LENGTH_MAX = 4_096;

/** Follows one request and writes the lines that its audit decision requires: none at the level None. */
export function createTrail(options: TrailOptions): AuditTrail {
  const trail = new Trail(options);
  trail.write("RequestReceived", { at: options.facts.receivedAt });
  return trail;
}

class Trail implements AuditTrail {
  readonly #options: TrailOptions;
  #name = "";
  #holdsSecrets: boolean;
  #request: WrittenBody | undefined;
  readonly #annotations: Record<string, string> = {};

  constructor(options: TrailOptions) {
    this.#options = options;
    this.#holdsSecrets = holdsSecrets(options.facts.attributes);
  }

  requestObject = (body: unknown): void => {
    this.#name = nameOf(body);
    this.#holdsSecrets ||= holdsSecrets(this.#options.facts.attributes, body);
    if (this.#options.decision.level === "Metadata") return;
    // Written at once, because the body may be changed later.
    this.#request = written(disclosedRequest(this.#options.facts.attributes, body));
  };

  annotate = (name: string, value: string): void => {
    this.#annotations[name] = value;
  };

  responseStarted = (code: number): void => this.write("ResponseStarted", { responseStatus: { code } });

  complete = (code: number, responseObject?: () => unknown): void => {
    this.#complete(code, responseObject);
    this.#options.ended();
  };

  #complete(code: number, responseObject: (() => unknown) | undefined): void {
    const { facts, decision } = this.#options;
    const wanted = decision.level === "RequestResponse" || code >= 400 || this.#isOfNewObject();
    const object = wanted ? responseObject?.() : undefined;
    if (isStatus(object)) return this.write("ResponseComplete", { responseStatus: this.#statusOf(object, code) });
    if (this.#name === "") this.#name = nameOf(object);
    const shown = decision.level === "RequestResponse" && object !== undefined;
    const response = shown ? { response: written(disclosedResponse(facts.attributes, object)) } : {};
    this.write("ResponseComplete", { responseStatus: { code }, ...response });
  }

  /** An error may quote anything, so its text goes to the server's log, with the same time. */
  panic = (): void => {
    this.write("Panic", { responseStatus: { status: "Failure", reason: "InternalError", code: 500 } });
    this.#options.ended();
  };

  write(stage: AuditEvent["stage"], more: Partial<AuditEvent>): void {
    const { decision, facts, now, write } = this.#options;
    if (decision.omitStages.has(stage)) return;
    const request = this.#request && { request: this.#request };
    const base = { level: decision.level, stage, facts, name: this.#name, at: now(), annotations: this.#annotations };
    const event = { ...base, ...request, ...more };
    write(eventLine(event), event);
  }

  /** Whether the request creates an object without a name; the server may generate one. */
  #isOfNewObject(): boolean {
    const { attributes } = this.#options.facts;
    return attributes.verb === "create" && "resource" in attributes && attributes.name === "" && this.#name === "";
  }

  /** For kinds with secrets, omits the message and details: a refusal may quote the refused value. */
  #statusOf({ status, reason, message, details }: Status, code: number): Partial<Status> {
    const base = { ...(status && { status }), ...(reason && { reason }), code };
    if (this.#holdsSecrets) return base;
    const { causes: _repeated, ...rest } = details ?? {};
    return { ...base, ...(message && { message: message.slice(0, MESSAGE_LENGTH_MAX) }), ...(details && { details: rest }) };
  }
}

function written(disclosed: Disclosed): WrittenBody {
  return "note" in disclosed ? disclosed : writtenBody(disclosed.body);
}

function isStatus(object: unknown): object is Status {
  return isRecord(object) && object["kind"] === "Status" && object["apiVersion"] === "v1";
}

function nameOf(body: unknown): string {
  const metadata = isRecord(body) ? body["metadata"] : undefined;
  const name = isRecord(metadata) ? metadata["name"] : undefined;
  return typeof name === "string" && name.length <= NAME_LENGTH_MAX ? name : "";
}
