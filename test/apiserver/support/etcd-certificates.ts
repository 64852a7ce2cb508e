/** Certificates for an etcd and its clients, made by openssl. */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Whether openssl is here. */
export const HAS_OPENSSL = spawnSync("openssl", ["version"]).status === 0;

/** An authority with what it has signed. Paths of PEM files, in a folder to remove. */
export interface EtcdCertificates {
  readonly folder: string;
  /** For `--cert-file`, `--key-file` and `--trusted-ca-file`. The gateway uses etcd's own certificate as a client too. */
  readonly server: { readonly certificate: string; readonly key: string };
  readonly ca: string;
  /** PEM texts. */
  readonly caPem: string;
  readonly client: { readonly certificatePem: string; readonly keyPem: string };
}

const NEW_KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];

/** Makes them. */
export function createEtcdCertificates(): EtcdCertificates {
  const folder = mkdtempSync(join(tmpdir(), "etcd-certificates-"));
  const at = (name: string) => join(folder, name);
  const openssl = (...args: string[]) => execFileSync("openssl", args, { stdio: ["ignore", "ignore", "pipe"] });
  openssl("req", "-x509", ...NEW_KEY, "-keyout", at("ca.key"), "-out", at("ca.pem"), "-subj", "/CN=ca", "-days", "2");
  writeFileSync(at("extensions"), "subjectAltName=IP:127.0.0.1\nextendedKeyUsage=serverAuth,clientAuth\n");
  for (const name of ["server", "client"]) {
    openssl("req", ...NEW_KEY, "-keyout", at(`${name}.key`), "-out", at(`${name}.csr`), "-subj", `/CN=${name}`);
    const signer = ["-CA", at("ca.pem"), "-CAkey", at("ca.key"), "-CAcreateserial", "-extfile", at("extensions"), "-days", "2"];
    openssl("x509", "-req", "-in", at(`${name}.csr`), ...signer, "-out", at(`${name}.pem`));
  }
  const read = (name: string) => readFileSync(at(name), "utf8");
  return {
    folder,
    server: { certificate: at("server.pem"), key: at("server.key") },
    ca: at("ca.pem"),
    caPem: read("ca.pem"),
    client: { certificatePem: read("client.pem"), keyPem: read("client.key") },
  };
}
