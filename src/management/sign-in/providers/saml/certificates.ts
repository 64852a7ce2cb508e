import { X509Certificate, type KeyObject } from "node:crypto";
import { messageOf } from "../../../../base/errors.ts";
import { unavailable } from "../../../../apiserver/types/status.ts";

/** A certificate that a provider signs with. */
export interface PinnedCertificate {
  readonly key: KeyObject;
  /** When it may be used, in milliseconds since 1970. */
  readonly fromMs: number;
  readonly untilMs: number;
}

/** Maximum number of certificates: one, and others for a change of keys. */
const CERTIFICATES_MAX = 10;
const KEY_BITS_MIN = 2_048;
const PEM = /-----BEGIN CERTIFICATE-----([A-Za-z0-9+/=\s]+)-----END CERTIFICATE-----/g;

/**
 * Reads the certificates in `data`: one after another in PEM, or one in DER. Signatures must be made with the keys of these certificates;
 * no chain is followed.
 *
 * @throws API_UNAVAILABLE when `data` does not consist of certificates, or when a key is not RSA of 2,048 bits or more.
 */
export function pinnedCertificates(setting: string, data: Buffer): readonly PinnedCertificate[] {
  const text = data.toString("latin1");
  const isPem = text.trimStart().startsWith("-----BEGIN");
  const all = isPem ? [...text.matchAll(PEM)].map(([, body]) => Buffer.from(body!, "base64")) : [data];
  if (isPem && text.replace(PEM, "").trim() !== "") throw unavailable(`${setting} contains something other than certificates`);
  if (all.length === 0 || all.length > CERTIFICATES_MAX)
    throw unavailable(`${setting} has ${all.length} certificates, not 1 to ${CERTIFICATES_MAX}`);
  return all.map((bytes) => pinned(setting, bytes));
}

function pinned(setting: string, bytes: Buffer): PinnedCertificate {
  let certificate: X509Certificate;
  try {
    certificate = new X509Certificate(bytes);
  } catch (error) {
    throw unavailable(`${setting} contains a certificate that cannot be read: ${messageOf(error)}`);
  }
  const { publicKey: key, raw, validFrom, validTo } = certificate;
  if (raw.length !== bytes.length) throw unavailable(`${setting} contains something after its certificate`);
  const bits = key.asymmetricKeyType === "rsa" ? (key.asymmetricKeyDetails?.modulusLength ?? 0) : 0;
  if (bits < KEY_BITS_MIN)
    throw unavailable(`${setting} contains a certificate whose key is not an RSA key of at least ${KEY_BITS_MIN} bits`);
  return { key, fromMs: Date.parse(validFrom), untilMs: Date.parse(validTo) };
}

/** The keys of certificates that may be used now. */
export function keysAt(certificates: readonly PinnedCertificate[], nowMs: number): readonly KeyObject[] {
  return certificates.filter(({ fromMs, untilMs }) => fromMs <= nowMs && nowMs <= untilMs).map(({ key }) => key);
}
