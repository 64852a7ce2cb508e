/**
 * A platform that signs tokens, as clusters see it.
 */
import type { Clock } from "../../../src/base/clock.ts";
import { systemChance } from "../../../src/base/chance.ts";
import { openSigningKeys, type SigningKeys, type SigningKeysPort } from "../../../src/management/tokens/signing-keys.ts";
import { createTokenSigner, type TokenRequest, type TokenSigner } from "../../../src/management/tokens/token-signer.ts";
import type { TokenAlgorithm } from "../../../src/cluster/scope/cluster-token.ts";

export const ISSUER = "https://platform.example";

/** Keeps signing keys in memory. */
export function createKeysPort(): SigningKeysPort & { text: string | undefined; saves: number } {
  return {
    text: undefined,
    saves: 0,
    async load() {
      return this.text;
    },
    async save(text) {
      this.saves += 1;
      this.text = text;
      return text;
    },
  };
}

export interface TestPlatform {
  readonly keys: SigningKeys;
  readonly signer: TokenSigner;
}

export async function createTestPlatform(clock: Clock, algorithm: TokenAlgorithm = "ES256", issuer = ISSUER): Promise<TestPlatform> {
  const keys = await openSigningKeys({ port: createKeysPort(), clock, algorithm });
  return { keys, signer: createTokenSigner({ issuer, keys, clock, chance: systemChance }) };
}

/** A request for a token of the user jane, who is an administrator unless groups say otherwise. */
export function requestFor({ name = "jane", ...platform }: { name?: string } & Partial<TokenRequest["platform"]> = {}): TokenRequest {
  return { name, platform: { user: name, groups: ["platform:admins"], clusterRoles: [], scopes: [], accessKey: "ci", ...platform } };
}
