import { EngineError } from "../../base/errors.ts";
import { typeInWords } from "../../base/json.ts";
import type { ObjectKey } from "../../kube/object/key.ts";

/** The DNS name of a Service, taken apart. */
export interface ServiceDns {
  readonly service: ObjectKey;
  /** Cluster domain, when the name has one. */
  readonly domain: string | undefined;
}

/** Maximum length of a DNS name. */
const DNS_LENGTH_MAX = 253;

const LABEL = "[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?";
const SERVICE_DNS = new RegExp(`^(${LABEL})\\.(${LABEL})\\.svc(?:\\.(${LABEL}(?:\\.${LABEL})*))?$`);

/**
 * Parses `<name>.<namespace>.svc[.<domain>]`. Nothing is guessed: ports, trailing dots, names of pods and upper case are
 * refused. The argument may be of any type, because it comes from an expression.
 *
 * @throws DNS_NAME_INVALID when `name` has another form.
 * @example
 * parseServiceDns("db.shop.svc"); // { service: { namespace: "shop", name: "db" }, domain: undefined }
 */
export function parseServiceDns(name: unknown): ServiceDns {
  const match = typeof name === "string" && name.length <= DNS_LENGTH_MAX ? SERVICE_DNS.exec(name) : null;
  if (match === null) throw invalidDns(name, "expected <name>.<namespace>.svc or <name>.<namespace>.svc.<domain>");
  return { service: { namespace: match[2]!, name: match[1]! }, domain: match[3] };
}

/** The error for a name that cannot be translated; `why` describes the expected form. */
export function invalidDns(name: unknown, why: string): EngineError {
  const shown = typeof name === "string" ? JSON.stringify(name.slice(0, DNS_LENGTH_MAX)) : `${typeInWords(name)}`;
  return new EngineError("DNS_NAME_INVALID", `Cannot translate DNS name ${shown}: ${why}`);
}
