import type { Chance } from "../../../base/chance.ts";
import type { InternalRecords } from "../../records/internal-records.ts";
import { createKeyDigest } from "./key-digest.ts";
import type { KeyDigest } from "./key-digest.ts";

/** The pepper with which access keys are digested. */
export interface Pepper {
  /** Digests by the pepper that is stored at this moment. */
  readonly digest: KeyDigest;
  /** Stores the pepper again if it is gone, since keys depend on it. */
  keep(): Promise<void>;
  stop(): void;
}

const [KIND, NAME] = ["Pepper", "access-keys"];
const PEPPER_BYTES = 32;

/** Follows the pepper of an installation, which is created once. It changes when a store is restored from another installation's data. */
export async function followPepper(records: InternalRecords, chance: Pick<Chance, "bytes">): Promise<Pepper> {
  const of = (text: string) => ({ text, digest: createKeyDigest(Buffer.from(text, "base64")) });
  let current = of(await records.add(KIND, NAME, Buffer.from(chance.bytes(PEPPER_BYTES)).toString("base64")));
  const following = await records.follow(KIND, (_name, text) => void (text !== undefined && (current = of(text))));
  return {
    digest: { of: (value, asker) => current.digest.of(value, asker) },
    keep: async () => void (await records.add(KIND, NAME, current.text)),
    stop: () => following.stop(),
  };
}
