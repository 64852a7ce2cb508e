import type * as sqlite from "node:sqlite";
import { EngineError } from "../../../base/errors.ts";

/**
 * Loads the built-in `node:sqlite` when a store needs it. Programs that keep objects in memory never load it.
 *
 * Some release lines of Node warn that the module is experimental. Only this warning is suppressed, and only while the module loads,
 * because users cannot do anything about it.
 *
 * @throws CONFIG_FILE when this Node was built without SQLite.
 */
export function loadSqlite(): typeof sqlite {
  const { emitWarning } = process;
  process.emitWarning = ((...warning: Parameters<typeof emitWarning>) => {
    if (!isSqliteWarning(warning)) emitWarning.apply(process, warning);
  }) as typeof emitWarning;
  try {
    // Contrary to its type, the result is undefined if Node was built without the module.
    const loaded: typeof sqlite | undefined = process.getBuiltinModule("node:sqlite");
    if (loaded !== undefined) return loaded;
  } finally {
    process.emitWarning = emitWarning;
  }
  const hint = "Use a Node build from nodejs.org, or keep the objects in memory";
  throw new EngineError("CONFIG_FILE", `Cannot open a database: this Node (${process.version}) has no node:sqlite`, { details: { hint } });
}

function isSqliteWarning([text, type]: readonly unknown[]): boolean {
  return type === "ExperimentalWarning" && String(text).startsWith("SQLite is an experimental feature");
}
