import type { InternalRecords } from "../../records/internal-records.ts";

/** Names of deleted Users. Objects can still refer to them, so no sign-in gives such a name to a new user; an administrator can. */
export interface FormerUsers {
  has(name: string): Promise<boolean>;
  /** Call it before a User is deleted. */
  add(name: string): Promise<void>;
}

const KIND = "FormerUser";

/** Records former users in the store, permanently. */
export function createFormerUsers(records: Pick<InternalRecords, "get" | "add">): FormerUsers {
  // Names from providers can contain any character.
  const recordOf = (name: string) => encodeURIComponent(name);
  return {
    has: async (name) => (await records.get(KIND, recordOf(name))) !== undefined,
    add: async (name) => void (await records.add(KIND, recordOf(name), name)),
  };
}
