import type { InternalRecords } from "../../records/internal-records.ts";

/** Names of Users who were deleted. What is theirs still names them, so a newcomer does not get such a name; an administrator may give it. */
export interface FormerUsers {
  has(name: string): Promise<boolean>;
  /** To be called before a User is deleted. */
  add(name: string): Promise<void>;
}

const KIND = "FormerUser";

/** Remembers them in the store, for good. */
export function createFormerUsers(records: Pick<InternalRecords, "get" | "add">): FormerUsers {
  // Names come from providers in any form.
  const recordOf = (name: string) => encodeURIComponent(name);
  return {
    has: async (name) => (await records.get(KIND, recordOf(name))) !== undefined,
    add: async (name) => void (await records.add(KIND, recordOf(name), name)),
  };
}
