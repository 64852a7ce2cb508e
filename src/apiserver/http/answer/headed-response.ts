import { ServerResponse } from "node:http";
import type { IncomingMessage, OutgoingHttpHeader, OutgoingHttpHeaders } from "node:http";

type Headers = OutgoingHttpHeaders | OutgoingHttpHeader[];

/** A response that writes its headers from a list. Setting them one by one would take several times as long. */
export class HeadedResponse<Request extends IncomingMessage = IncomingMessage> extends ServerResponse<Request> {
  /** Names and values in turn, for the head when it is written. A header that is set otherwise takes precedence. */
  readonly later: string[] = [];

  override writeHead(code: number, reason?: string | Headers, more?: Headers): this {
    if (typeof reason === "string") this.statusMessage = reason;
    const given = typeof reason === "string" ? more : reason;
    const own: OutgoingHttpHeader[] = Array.isArray(given) ? given : (Object.entries(given ?? {}).flat() as OutgoingHttpHeader[]);
    if (this.getHeaderNames().length === 0) return super.writeHead(code, [...this.later, ...own]);
    for (let at = 0; at < this.later.length; at += 2) {
      if (!this.hasHeader(this.later[at]!)) this.setHeader(this.later[at]!, this.later[at + 1]!);
    }
    return super.writeHead(code, own);
  }
}
