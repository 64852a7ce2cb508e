/** What is known of a value. */
export type Shape =
  /** Text, number or boolean; or nothing is known. */
  | { readonly kind: "scalar" }
  | { readonly kind: "list"; readonly items: Shape }
  /** Any key can be absent. */
  | { readonly kind: "map"; readonly entries: Shape }
  /** Fields that are not named are unknown. */
  | { readonly kind: "object"; readonly fields: Readonly<Record<string, Field>> };

/** A field of an object. */
export interface Field {
  readonly shape: Shape;
  /** Whether objects can be without it. */
  readonly optional: boolean;
}

/** What an expression starts from. */
export interface KnownShapes {
  readonly value: Shape;
  /** Of `context.virtualObject`, which is there. */
  readonly virtualObject: Shape;
  /** Of `context.hostObject`. */
  readonly hostObject: Field;
}
