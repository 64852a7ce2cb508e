import { X509Certificate } from "node:crypto";
import { isIP } from "node:net";
import type { Chance } from "../../base/chance.ts";
import type { Clock } from "../../base/clock.ts";
import { EngineError } from "../../base/errors.ts";
import type { Logger } from "../../base/logger.ts";
import { daysLeft, fitTogether } from "../../cluster/credentials.ts";
import { createServerCertificate, type ServerCertificate } from "../../apiserver/access/certificates.ts";
import { timestamp } from "../../apiserver/types/objects/metadata.ts";
import type { InternalRecords } from "../records/internal-records.ts";

/** Options of the certificate. */
export interface SharedCertificateOptions {
  readonly records: InternalRecords;
  /** Common name of the authority, to which the day of its creation is added. */
  readonly name: string;
  /** Names and addresses under which clients reach the servers, in addition to those of loopback. */
  readonly hosts: readonly string[];
  readonly clock: Clock;
  readonly chance: Chance;
  readonly logger: Logger;
}

const [KIND, NAME] = ["ServerCertificate", "management"];
/** A certificate with fewer days left is replaced when a server starts. */
const DAYS_LEFT_MIN = 30;

/**
 * The certificate that all servers on a store share, so that a kubeconfig that trusts one server trusts all. The first server creates it. A
 * certificate that is about to expire is replaced when a server starts. Running servers keep the previous certificate until they are
 * restarted. The new certificate has a separate authority; its `caPem` contains both authorities, the new one first, so that clients with
 * this file trust all servers in the meantime.
 *
 * @throws STORE_FAILED when the stored text is not a certificate with its key.
 */
export async function sharedCertificate(options: SharedCertificateOptions): Promise<ServerCertificate> {
  const { records, name, hosts, clock, chance, logger } = options;
  const [addresses, dnsNames] = [hosts.filter((host) => isIP(host) > 0), hosts.filter((host) => isIP(host) === 0)];
  const made = createServerCertificate({
    // If two authorities share a name, clients such as OpenSSL's check only the first of them.
    ...{ name: `${name} ${timestamp(clock.now()).slice(0, "2026-01-01".length)}`, clock, chance },
    dnsNames: [...new Set(["localhost", ...dnsNames])],
    addresses: [...new Set(["127.0.0.1", "::1", ...addresses])],
  });
  const next = (before: string | undefined) => {
    if (before === undefined) return JSON.stringify(made);
    const old = read(before);
    if (daysLeft(old, clock) >= DAYS_LEFT_MIN) return before;
    return JSON.stringify({ ...made, caPem: `${made.caPem}${new X509Certificate(old.caPem).toString()}` });
  };
  const certificate = read((await records.change(KIND, NAME, next))!);
  if (certificate.certPem === made.certPem && certificate.caPem !== made.caPem) {
    logger.warn(
      "The servers' certificate was about to expire and has been replaced: restart the other servers, and give clients the new kubeconfig",
    );
  }
  const known = new X509Certificate(certificate.certPem);
  const missing = hosts.filter((host) => (isIP(host) > 0 ? known.checkIP(host) : known.checkHost(host)) === undefined);
  if (missing.length > 0) logger.warn("The certificate in the store does not name this server", { hosts: missing.join(", ") });
  return certificate;
}

function read(text: string): ServerCertificate {
  const certificate = JSON.parse(text) as ServerCertificate;
  if (!fitTogether(certificate))
    throw new EngineError("STORE_FAILED", "Cannot use the certificate in the store: it does not match its key");
  return certificate;
}
