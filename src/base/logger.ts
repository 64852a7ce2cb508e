import { isEngineError, messageOf } from "./errors.ts";
import { escapeControls } from "./escape-controls.ts";

/** Named values in addition to a constant message. Never secrets. */
export type LogFields = Readonly<Record<string, unknown>>;

/** Severity, from least to most severe. */
export const LOG_LEVELS = ["debug", "info", "warn", "error"] as const;
/** One of {@link LOG_LEVELS}. */
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Logs constant messages with fields; the implementation determines their format and destination. */
export interface Logger {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
}

/** Logs nothing; the default of library functions. */
export const silentLogger: Logger = { debug() {}, info() {}, warn() {}, error() {} };

/**
 * Returns the same logger with these fields on every line, for example the id of a piece of work. Fields of the line itself take
 * precedence. If `fields` is a function, it is called when the first line is written.
 *
 * @example
 * const lines: string[] = [];
 * const logger = createLineLogger({ now: () => 0, write: (line) => lines.push(line) });
 * withFields(logger, { reconcileID: "3f2a9c41" }).info("Applied", { side: "host" });
 * lines[0]; // "1970-01-01T00:00:00.000Z info  Applied reconcileID=3f2a9c41 side=host"
 */
export function withFields(logger: Logger, fields: LogFields | (() => LogFields)): Logger {
  return new LabelledLogger(logger, fields);
}

/** One object without closures, because each reconcile has a logger, and most reconciles write no line. */
class LabelledLogger implements Logger {
  readonly #logger: Logger;
  #fields: LogFields | (() => LogFields);

  constructor(logger: Logger, fields: LogFields | (() => LogFields)) {
    this.#logger = logger;
    this.#fields = fields;
  }

  debug(message: string, own?: LogFields): void {
    this.#logger.debug(message, this.#with(own));
  }

  info(message: string, own?: LogFields): void {
    this.#logger.info(message, this.#with(own));
  }

  warn(message: string, own?: LogFields): void {
    this.#logger.warn(message, this.#with(own));
  }

  error(message: string, own?: LogFields): void {
    this.#logger.error(message, this.#with(own));
  }

  #with(own: LogFields | undefined): LogFields {
    if (typeof this.#fields === "function") this.#fields = this.#fields();
    return { ...this.#fields, ...own };
  }
}

/** Codes whose messages are a server's own text about an object, which may quote the object. */
const MAY_QUOTE = ["API_BAD_REQUEST", "API_INVALID", "API_ERROR"] as const;
/** The part of a message that a webhook wrote. */
const DENIED = /denied the request: [^]*$/;

/**
 * Returns the message of an error without quoted parts of objects, because users of the cluster control those parts. Names are kept.
 *
 * @example
 * loggableMessage(new EngineError("API_INVALID", 'Endpoints "web": Invalid value: "10.0.0.x": wrong')); // 'Endpoints "…": wrong'
 */
export function loggableMessage(error: unknown): string {
  const message = messageOf(error);
  // From the first quote to the last: quoted text may contain quotes.
  if (isEngineError(error, ...MAY_QUOTE)) return message.replace(/"[^]*"/, '"…"').replace(/`[^]*`/, "`…`");
  return message.replace(DENIED, "denied the request");
}

/** Options of a line logger. */
export interface LineLoggerOptions {
  /** Lines below this level are dropped. Default "info". */
  readonly level?: LogLevel;
  /** One JSON object or one readable line per message. Default "text". */
  readonly format?: "json" | "text";
  /** Wall time in milliseconds since 1970. */
  readonly now: () => number;
  /** Receives one line without its line end. */
  readonly write: (line: string) => void;
}

/**
 * Creates a logger that writes lines. It never throws on its input. For an error it writes the message; for a value that JSON cannot
 * represent, it writes its text or type. Undefined fields are left out, and a field cannot replace time, level or message.
 *
 * @example
 * const lines: string[] = [];
 * createLineLogger({ now: () => 0, write: (line) => lines.push(line) }).info("Started", { workers: 4 });
 * lines[0]; // "1970-01-01T00:00:00.000Z info  Started workers=4"
 */
export function createLineLogger(options: LineLoggerOptions): Logger {
  const { level = "info", format = "text", now, write } = options;
  const from = LOG_LEVELS.indexOf(level);
  const lineOf = format === "json" ? jsonLine : textLine;
  const at =
    (messageLevel: LogLevel) =>
    (message: string, fields: LogFields = {}) => {
      if (LOG_LEVELS.indexOf(messageLevel) < from) return;
      write(lineOf({ time: new Date(now()).toISOString(), level: messageLevel, message }, fields));
    };
  return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}

/** Fields of every line. */
interface LineHead {
  readonly time: string;
  readonly level: LogLevel;
  readonly message: string;
}

function jsonLine(head: LineHead, fields: LogFields): string {
  // The head occurs twice: first for its place in the line, last for its values.
  const members = present({ ...head, ...fields, ...head });
  return `{${members.map(([name, value]) => `${JSON.stringify(name)}:${jsonText(value)}`).join(",")}}`;
}

function textLine({ time, level, message }: LineHead, fields: LogFields): string {
  const text = present(fields).map(([name, value]) => `${name}=${plain(value)}`);
  return [`${time} ${level.padEnd(5)} ${escapeControls(message)}`, ...text].join(" ");
}

function present(fields: LogFields): [string, unknown][] {
  return Object.entries(fields).filter(([, value]) => value !== undefined);
}

/** A word unchanged, any other value as JSON. */
function plain(value: unknown): string {
  return typeof value === "string" && /^[^\s="\p{C}]+$/u.test(value) ? value : jsonText(value);
}

function jsonText(value: unknown): string {
  return escapeControls(serialised(value));
}

function serialised(value: unknown): string {
  try {
    return JSON.stringify(value, loggable) ?? JSON.stringify(String(value));
  } catch (error) {
    // A cycle, or a toJSON that throws.
    return JSON.stringify(`[not loggable: ${messageOf(error)}]`);
  }
}

function loggable(_name: string, value: unknown): unknown {
  return value instanceof Error ? messageOf(value) : typeof value === "bigint" ? String(value) : value;
}
