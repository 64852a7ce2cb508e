/**
 * The double and, where an operator names one, a real vault pass the same cases.
 */
import { test } from "vitest";
import { openRealVault, realVaultPlace } from "./real-vault.ts";
import { describeVault, type ContractVault } from "./vault-contract.ts";
import { startVault } from "./vault-double.ts";

async function openDouble(): Promise<ContractVault> {
  const vault = await startVault();
  const mounts = { kv1: "first", kv2: "second" } as const;
  let tokens = 0;
  return {
    ...{ url: vault.url, mounts, stop: vault.stop },
    write: async (engine, path, data) => vault[engine](mounts[engine], path, data),
    remove: async (engine, path) => vault.remove(mounts[engine], path),
    async token() {
      const token = `hvs.${++tokens}`;
      vault.tokens.set(token, ["first/allowed/", "second/data/allowed/"]);
      return token;
    },
    revoke: async (token) => void vault.tokens.delete(token),
    wasRenewed: async (token) => vault.tokenAsked.includes(`renew-self ${token}`),
  };
}

describeVault("the double", { open: openDouble, realTime: false });

const place = realVaultPlace(process.env);
if (place === undefined) test.runIf(false)("a real vault: TEST_VAULT_ADDR and TEST_VAULT_TOKEN name none, nothing was tried", () => {});
else describeVault(`a real vault at ${new URL(place.url).host}`, { open: () => openRealVault(place), realTime: true });
