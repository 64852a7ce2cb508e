import { isEngineError } from "../base/errors.ts";

/** First character of an answer: what follows is the result, or the message of an error. */
const RESULT = "=";
const FAILURE = "!";

const NOT_PRINTABLE = /[\0\p{Surrogate}]/gu;

/**
 * The guest's one call to the host: JSON text of a name in, marked text out. Never throws, whatever `toHostDns` does: an
 * exception that crossed the engine would leave it in an unknown state.
 */
export function createHostCall(toHostDns: ((name: string) => string) | undefined): (text: string) => string {
  return (text) => {
    if (toHostDns === undefined) return `${FAILURE}virtualToHostDNS() is not available here`;
    try {
      return RESULT + toHostDns(JSON.parse(text) as string).replace(NOT_PRINTABLE, "\ufffd");
    } catch (error) {
      // No other message was written for tenants.
      const message = isEngineError(error, "DNS_NAME_INVALID") ? error.message : "virtualToHostDNS() failed";
      return FAILURE + message.replace(NOT_PRINTABLE, "\ufffd");
    }
  };
}
