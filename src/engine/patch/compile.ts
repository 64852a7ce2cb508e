import { EngineError, isEngineError } from "../../base/errors.ts";
import { parsedOf } from "./parsed-patch.ts";
import type { PatchDefinition, ReferenceDefinition } from "./patch-definition.ts";
import { compilePath, compileRelativePath, type Path } from "../path/path.ts";
import type { CompiledExpression, PatchEngine } from "./types.ts";

/** A patch that is ready to run. Immutable; the expressions belong to the engine that compiled them. */
export interface CompiledPatch {
  /** Position in its list. */
  readonly index: number;
  readonly path: Path;
  readonly definition: PatchDefinition;
  readonly expression?: CompiledExpression;
  readonly reverseExpression?: CompiledExpression;
  readonly reference?: CompiledReference;
}

/** A reference with its relative paths. */
export interface CompiledReference {
  readonly definition: ReferenceDefinition;
  readonly name?: Path;
  readonly namespace?: Path;
  readonly kind?: Path;
  readonly apiVersion?: Path;
}

/**
 * Compiles a `patches` list. `parseConfig` has already checked the list of a configuration and reported all problems with
 * their lines; this check is for callers that provide their own list, and it stops at the first problem.
 *
 * @throws PATCH_MODE when a patch has no mode or two; PATH_SYNTAX, PATH_UNSUPPORTED and EXPRESSION_SYNTAX as path and engine
 * throw them. `details.patch` is the position, `details.field` the field.
 * @example
 * compilePatches([{ path: "metadata.annotations[*]", expression: "'my-' + value" }], { engine });
 */
export function compilePatches(
  definitions: readonly PatchDefinition[],
  options: { readonly engine: PatchEngine; readonly pathSyntax?: "field" | "jsonpath" },
): readonly CompiledPatch[] {
  return definitions.map((definition, index) => compilePatch(definition, index, options));
}

function compilePatch(
  definition: PatchDefinition,
  index: number,
  { engine, pathSyntax = "field" }: { readonly engine: PatchEngine; readonly pathSyntax?: "field" | "jsonpath" },
): CompiledPatch {
  checkMode(definition, index);
  const parsed = parsedOf(definition);
  const known = parsed.pathSyntax === pathSyntax && parsed.path?.text === definition.path ? parsed.path : undefined;
  const at = <Field extends "expression" | "reverseExpression">(field: Field) => {
    const text = definition[field];
    if (text === undefined) return {};
    return { [field]: withPlace(index, field, () => engine.compile(text, { checked: parsed[field] })) } as Record<
      Field,
      CompiledExpression
    >;
  };
  return {
    index,
    definition,
    path: known ?? withPlace(index, "path", () => compilePath(definition.path, { syntax: pathSyntax })),
    ...at("expression"),
    ...at("reverseExpression"),
    ...(definition.reference && { reference: compileReference(definition.reference, { index, known: parsed.relativePaths }) }),
  };
}

function checkMode({ expression, reverseExpression, reference }: PatchDefinition, index: number): void {
  const modes = (expression !== undefined || reverseExpression !== undefined ? 1 : 0) + (reference !== undefined ? 1 : 0);
  if (modes === 1) return;
  const found = modes === 0 ? "neither" : "both";
  throw new EngineError("PATCH_MODE", `Patch ${index} needs either expressions or a reference, but has ${found}`, {
    details: { patch: index },
  });
}

function compileReference(
  definition: ReferenceDefinition,
  { index, known = [] }: { readonly index: number; readonly known: readonly Path[] | undefined },
): CompiledReference {
  const relative = (part: "name" | "namespace" | "kind" | "apiVersion") => {
    const text = definition[`${part}Path`];
    if (text === undefined) return {};
    const compile = () => known.find((path) => path.text === text) ?? compileRelativePath(text);
    return { [part]: withPlace(index, `reference.${part}Path`, compile) };
  };
  return { definition, ...relative("name"), ...relative("namespace"), ...relative("kind"), ...relative("apiVersion") };
}

/** Adds the patch and the field to errors of other modules, which do not know them. */
function withPlace<Value>(index: number, field: string, compile: () => Value): Value {
  try {
    return compile();
  } catch (error) {
    if (!isEngineError(error)) throw error;
    const details = { ...error.details, patch: index, field };
    throw new EngineError(error.code, `Patch ${index}, ${field}: ${error.message}`, { details, cause: error });
  }
}
