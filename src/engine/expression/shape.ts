/** Known shape of a value. */
export type KnownShape =
  /** Text, number or boolean; or nothing is known. */
  | { readonly kind: "scalar" }
  | { readonly kind: "list"; readonly items: KnownShape }
  /** Any key can be absent. */
  | { readonly kind: "map"; readonly entries: KnownShape }
  /** Fields that are not named are unknown. */
  | { readonly kind: "object"; readonly fields: Readonly<Record<string, KnownField>> };

/** A field of an object. */
export interface KnownField {
  readonly shape: KnownShape;
  /** Whether objects can be without it. */
  readonly optional: boolean;
}

/** Shapes that an expression starts from. */
export interface KnownShapes {
  readonly value: KnownShape;
  /** Of `context.virtualObject`, which is present. */
  readonly virtualObject: KnownShape;
  /** Of `context.hostObject`. */
  readonly hostObject: KnownField;
}
