/**
 * A real vault for tests, of HashiCorp Vault or OpenBao, that an operator names by variables.
 *
 * `TEST_VAULT_ADDR` and `TEST_VAULT_TOKEN` are its address and a token that may mount engines, and write policies and tokens;
 * `TEST_VAULT_NAMESPACE` is the namespace, if any. The names are other ones than those of the vault's own programs, so that no vault in
 * use is written to by chance. Engines, policy and tokens are made for each run, and removed after it.
 */
import { randomUUID } from "node:crypto";
import type { ContractVault, Engine } from "./vault-contract.ts";

/** Where the vault is. */
export interface RealVaultPlace {
  readonly url: string;
  readonly token: string;
  readonly namespace: string;
}

/** The vault of the variables; undefined without both of them. */
export function realVaultPlace(environment: Readonly<Record<string, string | undefined>>): RealVaultPlace | undefined {
  const { TEST_VAULT_ADDR: url = "", TEST_VAULT_TOKEN: token = "", TEST_VAULT_NAMESPACE: namespace = "" } = environment;
  return url === "" || token === "" ? undefined : { url: url.replace(/\/$/, ""), token, namespace };
}

/** Seconds after which a token of the test ends if it is not renewed; it is renewed after 18 to 20. */
const PERIOD = 30;

/** Makes the engines and a policy. */
export async function openRealVault({ url, token, namespace }: RealVaultPlace): Promise<ContractVault> {
  const mark = `endpoint-sync-test-${randomUUID()}`;
  const mounts: Readonly<Record<Engine, string>> = { kv1: `${mark}-1`, kv2: `${mark}-2` };
  const ask = async (method: string, path: string, body?: object): Promise<unknown> => {
    const headers = { "X-Vault-Token": token, "X-Vault-Request": "true", ...(namespace !== "" && { "X-Vault-Namespace": namespace }) };
    const answer = await fetch(`${url}/v1/${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) });
    if (!answer.ok) throw new Error(`the vault answered ${answer.status} to ${method} ${path}: ${await answer.text()}`);
    return answer.status === 204 ? undefined : answer.json();
  };
  const placeOf = (engine: Engine, path: string) => {
    const encoded = path.split("/").map(encodeURIComponent).join("/");
    return engine === "kv1" ? `${mounts.kv1}/${encoded}` : `${mounts.kv2}/data/${encoded}`;
  };
  const made: string[] = [];
  await ask("POST", `sys/mounts/${mounts.kv1}`, { type: "kv", options: { version: "1" } });
  await ask("POST", `sys/mounts/${mounts.kv2}`, { type: "kv", options: { version: "2" } });
  const read = (path: string) => `path "${path}" { capabilities = ["read"] }`;
  await ask("PUT", `sys/policies/acl/${mark}`, { policy: `${read(`${mounts.kv1}/allowed/*`)}\n${read(`${mounts.kv2}/data/allowed/*`)}` });
  const write: ContractVault["write"] = async (engine, path, data) => {
    // An engine of version 2 answers 400 for a moment after it was mounted.
    for (let tries = 0; ; tries++) {
      try {
        return void (await ask("POST", placeOf(engine, path), engine === "kv1" ? data : { data }));
      } catch (error) {
        if (tries === 20 || !String(error).includes("answered 400")) throw error;
        await new Promise((resolve) => setTimeout(resolve, 250));
      }
    }
  };
  return {
    ...{ url, namespace, mounts, write },
    remove: async (engine, path) => void (await ask("DELETE", placeOf(engine, path))),
    async token() {
      const answer = await ask("POST", "auth/token/create-orphan", { policies: [mark, "default"], period: `${PERIOD}s` });
      const { client_token } = (answer as { readonly auth: { readonly client_token: string } }).auth;
      made.push(client_token);
      return client_token;
    },
    revoke: async (one) => void (await ask("POST", "auth/token/revoke", { token: one })),
    async wasRenewed(one) {
      const answer = await ask("POST", "auth/token/lookup", { token: one });
      return (answer as { readonly data: { readonly last_renewal?: unknown } }).data.last_renewal !== undefined;
    },
    async stop() {
      for (const one of made) await ask("POST", "auth/token/revoke", { token: one }).catch(() => {});
      await ask("DELETE", `sys/policies/acl/${mark}`);
      for (const mount of Object.values(mounts)) await ask("DELETE", `sys/mounts/${mount}`);
    },
  };
}
