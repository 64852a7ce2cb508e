import type { Chance } from "../../../base/chance.ts";
import type { InternalRecords } from "../../records/internal-records.ts";
import { createKeyDigest } from "./key-digest.ts";
import type { KeyDigest } from "./key-digest.ts";

/** What access keys are digested with. */
export interface Pepper {
  /** By the pepper that is stored at this moment. */
  readonly digest: KeyDigest;
  /** Stores it again where it is gone, since keys are made with it. */
  keep(): Promise<void>;
  stop(): void;
}

const [KIND, NAME] = ["Pepper", "access-keys"];
const PEPPER_BYTES = 32;

/** Follows the pepper of an installation, which is made once. It changes when a store is put back to the data of another installation. */
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
