import { createPrivateKey, X509Certificate } from "node:crypto";
import type { Chance } from "../base/chance.ts";
import type { Clock } from "../base/clock.ts";
import { createServerCertificate, type ServerCertificate } from "../apiserver/access/certificates.ts";

/** Certificate of a cluster, and credentials of its administrator. Keep them secret. */
export interface ClusterCredentials extends ServerCertificate {
  /** The administrator's bearer token. */
  readonly token: string;
}

/** Options of {@link createClusterCredentials}. */
export interface CredentialsOptions {
  /** Common name of the authority. */
  readonly name: string;
  readonly clock: Clock;
  readonly chance: Chance;
}

const TOKEN_BYTES = 32;
const DAY_MS = 86_400_000;

/**
 * Creates credentials: a certificate authority for this cluster alone, a certificate for loopback that is valid for a year, and a token.
 *
 * @example
 * const credentials = createClusterCredentials({ name: "demo", clock: systemClock, chance: systemChance });
 */
export function createClusterCredentials({ name, clock, chance }: CredentialsOptions): ClusterCredentials {
  const certificate = createServerCertificate({ name, clock, chance });
  return { ...certificate, token: Buffer.from(chance.bytes(TOKEN_BYTES)).toString("base64url") };
}

/** The number of days for which the server's certificate is still valid; negative if it has expired. */
export function daysLeft({ certPem }: Pick<ServerCertificate, "certPem">, clock: Clock): number {
  return (Date.parse(new X509Certificate(certPem).validTo) - clock.now()) / DAY_MS;
}

/** Reports whether the key belongs to the server's certificate, and the authority signed that certificate; false for invalid PEM text. */
export function fitTogether({ caPem, certPem, keyPem }: ServerCertificate): boolean {
  try {
    const certificate = new X509Certificate(certPem);
    return certificate.checkPrivateKey(createPrivateKey(keyPem)) && certificate.verify(new X509Certificate(caPem).publicKey);
  } catch {
    // One of the texts is not PEM, or contains something else.
    return false;
  }
}
