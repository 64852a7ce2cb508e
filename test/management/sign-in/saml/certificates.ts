/**
 * Certificates that SAML providers sign with: RSA, and by themselves.
 */
import { generateKeyPairSync, randomBytes, sign, type KeyObject } from "node:crypto";
import { bits, derTime, explicit, integer, objectId, sequence, setOf, utf8 } from "../../../../src/apiserver/access/der.ts";

/** A key with its certificate. */
export interface Signer {
  readonly key: KeyObject;
  readonly publicKey: KeyObject;
  readonly der: Buffer;
  readonly pem: string;
}

const NULL = Buffer.from([5, 0]);
const RSA_WITH_SHA256 = sequence(objectId("1.2.840.113549.1.1.11"), NULL);
const NAME = sequence(setOf(sequence(objectId("2.5.4.3"), utf8("idp"))));

/** A signer whose certificate is good between two times, in milliseconds since 1970. */
export function createSigner({ modulusLength = 2048, fromMs = Date.UTC(2025, 0, 1), untilMs = Date.UTC(2030, 0, 1) } = {}): Signer {
  const { publicKey, privateKey: key } = generateKeyPairSync("rsa", { modulusLength });
  const content = sequence(
    explicit(0, integer(Buffer.from([2]))),
    // The same serial number for all, as the name is.
    integer(Buffer.from([7])),
    RSA_WITH_SHA256,
    NAME,
    sequence(derTime(fromMs), derTime(untilMs)),
    NAME,
    publicKey.export({ type: "spki", format: "der" }),
  );
  const der = sequence(content, RSA_WITH_SHA256, bits(sign("sha256", content, key)));
  return { key, publicKey, der, pem: pemOf(der) };
}

/** A certificate in PEM. */
export function pemOf(der: Buffer): string {
  return `-----BEGIN CERTIFICATE-----\n${der
    .toString("base64")
    .match(/.{1,64}/g)!
    .join("\n")}\n-----END CERTIFICATE-----\n`;
}

/** Keys cost too much to make them for each test. */
export const OWN = createSigner();
/** One that no settings name. */
export const FOREIGN = createSigner();
/** What a browser cannot know. */
export const random = () => randomBytes(8).toString("hex");
