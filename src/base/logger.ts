/** Named values beside a constant message. Never secrets. */
export type LogFields = Readonly<Record<string, unknown>>;

/** Severity, from chatty to alarming. */
export const LOG_LEVELS = ["debug", "info", "warn", "error"] as const;
/** One of {@link LOG_LEVELS}. */
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Takes constant messages with fields; formatting and destination are the implementation's. */
export interface Logger {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
}

/** Says nothing; the default of library functions. */
export const silentLogger: Logger = { debug() {}, info() {}, warn() {}, error() {} };

/** How a logger writes. */
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
 * A logger that writes lines.
 *
 * @example
 * const lines: string[] = [];
 * createLineLogger({ now: () => 0, write: (line) => lines.push(line) }).info("Started", { workers: 4 });
 * lines[0]; // "1970-01-01T00:00:00.000Z info  Started workers=4"
 */
export function createLineLogger(options: LineLoggerOptions): Logger {
  const { level = "info", format = "text", now, write } = options;
  const from = LOG_LEVELS.indexOf(level);
  const at =
    (messageLevel: LogLevel) =>
    (message: string, fields: LogFields = {}) => {
      if (LOG_LEVELS.indexOf(messageLevel) < from) return;
      const time = new Date(now()).toISOString();
      if (format === "json") return write(JSON.stringify({ time, level: messageLevel, message, ...fields }));
      const text = Object.entries(fields).map(([name, value]) => `${name}=${plain(value)}`);
      write([`${time} ${messageLevel.padEnd(5)} ${message}`, ...text].join(" "));
    };
  return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}

function plain(value: unknown): string {
  if (typeof value === "string") return /[\s="]/.test(value) ? JSON.stringify(value) : value;
  return JSON.stringify(value) ?? String(value);
}
