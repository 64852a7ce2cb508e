import { createPublicKey, generateKeyPairSync, sign, type KeyObject } from "node:crypto";
import { isIPv4, SocketAddress } from "node:net";
import type { Chance } from "../../base/chance.ts";
import type { Clock } from "../../base/clock.ts";
import { bits, explicit, implicit, integer, objectId, octets, sequence, setOf, derTime, utf8, yes } from "./der.ts";

/** Certificates and key for a TLS server and its clients, as PEM texts. */
export interface ServerCertificate {
  /** The certificate authority that clients must trust. */
  readonly caPem: string;
  /** The server's certificate. */
  readonly certPem: string;
  readonly keyPem: string;
}

/** Subject and validity of a certificate. */
export interface CertificateOptions {
  /** Common name of the authority. */
  readonly name: string;
  readonly clock: Clock;
  readonly chance: Chance;
  /** DNS names of the server. Default: `localhost`. */
  readonly dnsNames?: readonly string[];
  /** Addresses of the server. Default: 127.0.0.1 and ::1. */
  readonly addresses?: readonly string[];
}

const DAY_MS = 86_400_000;
const LIFE_DAYS = 365;
const SERIAL_BYTES = 16;

const ECDSA_WITH_SHA256 = sequence(objectId("1.2.840.10045.4.3.2"));
const COMMON_NAME = objectId("2.5.4.3");
const SUBJECT_ALTERNATIVE_NAME = objectId("2.5.29.17");
const BASIC_CONSTRAINTS = objectId("2.5.29.19");
const KEY_USAGE = objectId("2.5.29.15");
const EXTENDED_KEY_USAGE = objectId("2.5.29.37");
const SERVER_AUTHENTICATION = objectId("1.3.6.1.5.5.7.3.1");

/**
 * Creates a certificate authority and a server certificate signed by it. The authority's key is discarded immediately, so the authority can
 * never sign another certificate. The keys are ECDSA on P-256. Both certificates are valid for a year, beginning a day ago to allow for
 * clock differences.
 *
 * @example
 * const { caPem, certPem, keyPem } = createServerCertificate({ name: "demo", clock: systemClock, chance: systemChance });
 */
export function createServerCertificate(options: CertificateOptions): ServerCertificate {
  const { name, dnsNames = ["localhost"], addresses = ["127.0.0.1", "::1"] } = options;
  const ca = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const server = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const authority = { issuer: `${name}-ca`, signingKey: ca.privateKey };
  const caCertificate = certificate(options, {
    ...authority,
    subject: `${name}-ca`,
    publicKey: createPublicKey(ca.privateKey),
    extensions: [
      extension(BASIC_CONSTRAINTS, sequence(yes()), { critical: true }),
      // keyCertSign and cRLSign
      extension(KEY_USAGE, bits(Buffer.from([0x06]), 1), { critical: true }),
    ],
  });
  const serverCertificate = certificate(options, {
    ...authority,
    subject: `${name}-server`,
    publicKey: server.publicKey,
    extensions: [
      extension(BASIC_CONSTRAINTS, sequence(), { critical: true }),
      // digitalSignature
      extension(KEY_USAGE, bits(Buffer.from([0x80]), 7), { critical: true }),
      extension(EXTENDED_KEY_USAGE, sequence(SERVER_AUTHENTICATION), { critical: false }),
      extension(SUBJECT_ALTERNATIVE_NAME, sequence(...dnsNames.map(dnsName), ...addresses.map(ipAddress)), { critical: false }),
    ],
  });
  const keyPem = server.privateKey.export({ type: "pkcs8", format: "pem" }).toString();
  return { caPem: pem(caCertificate), certPem: pem(serverCertificate), keyPem };
}

interface Contents {
  readonly subject: string;
  readonly issuer: string;
  readonly publicKey: KeyObject;
  readonly signingKey: KeyObject;
  readonly extensions: readonly Buffer[];
}

function certificate({ clock, chance }: CertificateOptions, { subject, issuer, publicKey, signingKey, extensions }: Contents): Buffer {
  const now = clock.now();
  const version3 = explicit(0, integer(Buffer.from([2])));
  const signed = sequence(
    version3,
    integer(serialNumber(chance)),
    ECDSA_WITH_SHA256,
    distinguishedName(issuer),
    sequence(derTime(now - DAY_MS), derTime(now + LIFE_DAYS * DAY_MS)),
    distinguishedName(subject),
    publicKey.export({ type: "spki", format: "der" }),
    explicit(3, sequence(...extensions)),
  );
  return sequence(signed, ECDSA_WITH_SHA256, bits(sign("sha256", signed, signingKey)));
}

/** Creates a serial number, which must be positive and must not begin with a zero byte. */
function serialNumber(chance: Chance): Buffer {
  const serial = Buffer.from(chance.bytes(SERIAL_BYTES));
  serial[0] = (serial[0]! & 0x7f) | 0x40;
  return serial;
}

function distinguishedName(commonName: string): Buffer {
  return sequence(setOf(sequence(COMMON_NAME, utf8(commonName))));
}

function extension(id: Buffer, content: Buffer, { critical }: { readonly critical: boolean }): Buffer {
  return critical ? sequence(id, yes(), octets(content)) : sequence(id, octets(content));
}

function dnsName(name: string): Buffer {
  return implicit(2, Buffer.from(name, "latin1"));
}

function ipAddress(ip: string): Buffer {
  return implicit(7, isIPv4(ip) ? Buffer.from(ip.split(".").map(Number)) : ipv6Bytes(ip));
}

function ipv6Bytes(ip: string): Buffer {
  const [before = "", after = ""] = new SocketAddress({ address: ip, family: "ipv6" }).address.split("::");
  const head = before.split(":").filter((group) => group !== "");
  const tail = after.split(":").filter((group) => group !== "");
  const groups = [...head, ...Array<string>(8 - head.length - tail.length).fill("0"), ...tail];
  return Buffer.from(groups.map((group) => group.padStart(4, "0")).join(""), "hex");
}

function pem(certificate: Buffer): string {
  const lines = certificate.toString("base64").match(/.{1,64}/g)!;
  return ["-----BEGIN CERTIFICATE-----", ...lines, "-----END CERTIFICATE-----", ""].join("\n");
}
