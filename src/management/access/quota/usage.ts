/** The share of its payer's quota that one object uses. */
export interface Charge {
  readonly payer: string;
  /** 1, or 0 for an object that counts with its bytes only. */
  readonly objects: 0 | 1;
  readonly bytes: number;
}

/** Identifies an object. */
export interface Charged {
  readonly kind: string;
  /** Unique among all objects of all kinds. */
  readonly id: string;
}

/** The usage of a payer. */
export interface Used {
  /** Objects of one kind. */
  readonly objects: number;
  /** Bytes of all kinds. */
  readonly bytes: number;
}

/**
 * Tracks the usage of each payer: the stored objects and the writes in progress. While an object is being written, the larger of its
 * current size and its possible new size counts. Concurrent writes therefore cannot exceed a limit together, and no write counts twice.
 *
 * Every change takes time in proportion to the number of writes in progress of that object.
 *
 * @example
 * usage.store({ kind: "Team", id: "Team//ops" }, { payer: "jane", objects: 1, bytes: 420 });
 * usage.of("jane", "Team"); // { objects: 1, bytes: 420 }
 */
export class Usage {
  readonly #entries = new Map<string, Entry>();
  readonly #totals = new Map<string, Total>();

  /** Sets the charge of a stored object; undefined if the object was deleted or has no payer. */
  store(charged: Charged, charge: Charge | undefined): void {
    this.#change(charged, (entry) => (entry.stored = charge));
  }

  /** Adds a write in progress. Returns the function to call once the outcome of the write is known. */
  hold(charged: Charged, charge: Charge): () => void {
    const held = { ...charge };
    this.#change(charged, ({ held: all }) => all.add(held));
    return () => this.#change(charged, ({ held: all }) => all.delete(held));
  }

  /** Returns the current usage of a payer. */
  of(payer: string, kind: string): Used {
    const total = this.#totals.get(payer);
    return { objects: total?.objects.get(kind) ?? 0, bytes: total?.bytes ?? 0 };
  }

  #change({ kind, id }: Charged, alter: (entry: Entry) => void): void {
    const entry = this.#entries.get(id) ?? { stored: undefined, held: new Set() };
    this.#add(entry, kind, -1);
    alter(entry);
    this.#add(entry, kind, 1);
    if (entry.stored === undefined && entry.held.size === 0) this.#entries.delete(id);
    else this.#entries.set(id, entry);
  }

  #add(entry: Entry, kind: string, sign: 1 | -1): void {
    for (const { payer, objects, bytes } of largest(entry)) {
      const total = this.#totals.get(payer) ?? { bytes: 0, objects: new Map<string, number>() };
      total.bytes += sign * bytes;
      const left = (total.objects.get(kind) ?? 0) + sign * objects;
      if (left === 0) total.objects.delete(kind);
      else total.objects.set(kind, left);
      if (total.bytes === 0 && total.objects.size === 0) this.#totals.delete(payer);
      else this.#totals.set(payer, total);
    }
  }
}

interface Entry {
  stored: Charge | undefined;
  readonly held: Set<Charge>;
}

interface Total {
  bytes: number;
  /** By kind. */
  readonly objects: Map<string, number>;
}

/** Returns one charge for each payer of an object, as large as the largest of that payer's charges. */
function largest({ stored, held }: Entry): Iterable<Charge> {
  if (held.size === 0) return stored === undefined ? [] : [stored];
  const charges = new Map<string, Charge>();
  for (const charge of stored === undefined ? held : [stored, ...held]) {
    const { objects, bytes } = charges.get(charge.payer) ?? charge;
    const most = { payer: charge.payer, objects: Math.max(objects, charge.objects) as 0 | 1, bytes: Math.max(bytes, charge.bytes) };
    charges.set(charge.payer, most);
  }
  return charges.values();
}
