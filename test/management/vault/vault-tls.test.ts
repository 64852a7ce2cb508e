/**
 * The certificate of a vault: the token goes to no other one than that of the address, unless the settings say so.
 */
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { afterEach, expect, test } from "vitest";
import { systemChance } from "../../../src/base/chance.ts";
import { systemClock } from "../../../src/base/clock.ts";
import { createServerCertificate } from "../../../src/apiserver/access/certificates.ts";
import { at, startPlatform } from "../platform.ts";
import { startVault } from "./vault-double.ts";

const PATH = "/namespaces/default/sharedsecrets";
const authorities = getCACertificates("default");
afterEach(() => setDefaultCACertificates(authorities));

test.each<[what: string, name: string, known: boolean, settings: object, condition: string]>([
  ["of a known authority for its host is taken", "localhost", true, {}, "True Copied"],
  ["of an unknown authority is not taken", "localhost", false, {}, "False Unavailable"],
  ["of a known authority for another host is not taken", "vault.example", true, {}, "False Unavailable"],
  ["of neither is taken with skipTLSVerify", "vault.example", false, { skipTLSVerify: true }, "True Copied"],
  ["is checked with skipTLSVerify: false", "vault.example", false, { skipTLSVerify: false }, "False Unavailable"],
])("a certificate %s", async (_what, name, known, settings, condition) => {
  const made = createServerCertificate({ name: "vault", dnsNames: [name], clock: systemClock, chance: systemChance });
  if (known) setDefaultCACertificates([...authorities, made.caPem]);
  const vault = await startVault({ tls: { cert: made.certPem, key: made.keyPem } });
  vault.kv2("secret", "db", { password: "one" });
  const config = { vault: { enabled: true, address: vault.url, auth: { token: "root-token" }, ...settings } };
  const platform = await startPlatform({ config: JSON.stringify(config) });
  try {
    const annotations = {
      "management.platform/vault-version": "kv2",
      "management.platform/vault-mount": "secret",
      "management.platform/vault-path": "db",
    };
    expect((await platform.admin.send("POST", PATH, { metadata: { name: "db", annotations }, spec: { data: {} } })).code).toBe(201);
    await platform.clock.advance(2_000);
    await platform.management.settled();
    const [shown] = at(await platform.admin.send("GET", `${PATH}/db`), "status", "conditions") as { status: string; reason: string }[];
    const isCopied = condition === "True Copied";
    expect([`${shown?.status} ${shown?.reason}`, vault.asked.length, vault.tokenAsked.length]).toEqual([
      condition,
      isCopied ? 1 : 0,
      isCopied ? 1 : 0,
    ]);
  } finally {
    await platform.stop();
    await vault.stop();
  }
});
