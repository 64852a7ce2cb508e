import { assert } from "../../../base/errors.ts";
import { QuickJsInstance, type QuickJsInstanceOptions, type Handle, type Snapshot } from "../quickjs/engine.ts";
import { realmSource } from "./realm-source.ts";

/** The realm's functions for the host. */
export interface RealmTools {
  /** JSON text → value. */
  readonly parse: Handle;
  /** Value → JSON text, or undefined if there is none. */
  readonly stringify: Handle;
  /** JSON text → deeply frozen value. */
  readonly freezeParsed: Handle;
  /** (frozen object, path) → frozen object with the member `path`. */
  readonly withPath: Handle;
  /** Thrown value → JSON text of its name, message and stack. */
  readonly describe: Handle;
}

/** An instance at rest whose realm is ready for expressions: the starting point of all others. */
export interface RealmImage {
  readonly snapshot: Snapshot;
  readonly tools: RealmTools;
}

/** The file name of the realm's own functions in stack traces. */
const REALM_FILE = "builtin";

/** Boots an instance and makes its realm the scope of expressions. */
export function buildRealm(options: QuickJsInstanceOptions): RealmImage {
  const engine = new QuickJsInstance(options);
  const build = expectValue(engine, engine.evaluateSource(realmSource(options.functions), { file: REALM_FILE }));
  const global = engine.globalObject();
  const withGlobal = expectValue(engine, engine.call(build, global));
  const waysOut = options.functions.map((_entry, id) => engine.wayOut(id));
  for (const wayOut of waysOut) expectValue(engine, engine.call(withGlobal, wayOut));
  const made = expectValue(engine, engine.call(withGlobal, engine.undefined));
  const tool = (name: keyof RealmTools) => engine.property(made, name);
  const tools = {
    parse: tool("parse"),
    stringify: tool("stringify"),
    freezeParsed: tool("freezeParsed"),
    withPath: tool("withPath"),
    describe: tool("describe"),
  };
  for (const value of [global, ...waysOut, build, withGlobal, made]) engine.free(value);
  return { snapshot: engine.snapshot(), tools };
}

function expectValue(engine: QuickJsInstance, value: Handle): Handle {
  if (engine.kind(value) !== "exception") return value;
  const message = engine.property(engine.takeThrown(value), "message");
  assert(false, `the realm builds: ${engine.readText(message)}`);
}
