import { isEngineError } from "../../base/errors.ts";

/** First character of an answer that is the message of an error. No name starts with it. */
const FAILURE = "!";

const UNKNOWN = `${FAILURE}virtualToHostDNS() failed`;

/**
 * The guest's one call to the host: a name in, a name or a marked message out. Never throws, whatever `toHostDns` does: an exception
 * that crossed the engine would leave it in an unknown state.
 */
export function createHostCall(toHostDns: ((name: string) => string) | undefined): (text: string) => string {
  return (name) => {
    if (toHostDns === undefined) return `${FAILURE}virtualToHostDNS() is not available here`;
    try {
      const answer = toHostDns(name);
      return answer.startsWith(FAILURE) ? UNKNOWN : answer;
    } catch (error) {
      // No other message was written for tenants.
      return isEngineError(error, "DNS_NAME_INVALID") ? FAILURE + error.message : UNKNOWN;
    }
  };
}
