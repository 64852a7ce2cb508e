/** The direction in which an object is synced: tenant → host or host → tenant. */
export type Direction = "toHost" | "toTenant";

/** The object that a patched value names. Paths are relative to the matched value. */
export interface ReferenceDefinition {
  readonly apiVersion: string;
  readonly apiVersionPath?: string;
  readonly kind: string;
  readonly kindPath?: string;
  readonly namePath?: string;
  readonly namespacePath?: string;
  /** If present, the value is a label selector. It has no fields. */
  readonly labels?: Readonly<Record<string, never>>;
}

/** One entry of a `patches` list: an expression patch or a reference patch, never both. */
export interface PatchDefinition {
  readonly path: string;
  readonly expression?: string;
  readonly reverseExpression?: string;
  readonly reference?: ReferenceDefinition;
}
