import type { IncomingMessage } from "node:http";
import { isDeeperThan, withoutLoneSurrogates } from "../../../base/json.ts";
import { toJson } from "../../../schema/node.ts";
import { Report } from "../../../schema/problem.ts";
import { readYaml } from "../../../schema/yaml.ts";
import { JSON_DEPTH_MAX } from "../../types/objects/json-data.ts";
import { isReadable, PROTOBUF_TYPE, ProtobufError, readProtobuf } from "./protobuf.ts";
import { repeatedFields } from "./repeated-fields.ts";
import type { ObjectSchema } from "../../../schema/schema.ts";
import { badRequest, tooLarge, unsupportedMediaType } from "../../types/status.ts";

/** Requests whose bodies were read completely, although the parser may not have reported their end yet. */
const read = new WeakSet<IncomingMessage>();

/** Reports whether part of a request's body may still arrive. */
export function isUnread(request: IncomingMessage): boolean {
  return !request.complete && !read.has(request);
}

/**
 * Reads the bytes of a body. Returns them without a promise if they arrived with the headers, as most bodies do. `claim` is called for each
 * piece, and may refuse it by throwing.
 *
 * @throws API_INVALID (413) when there are more than `bytesMax` bytes, and any error of `claim`. The rest of the body is then not read.
 */
export function readBytes(request: IncomingMessage, bytesMax: number, claim: (bytes: number) => void = () => {}): Buffer | Promise<Buffer> {
  if (request.destroyed) throw closed();
  const length = Number(request.headers["content-length"]);
  if (length > bytesMax) throw tooLong(bytesMax);
  if (!request.complete && request.readableLength !== length) return readPieces(request, bytesMax, claim);
  read.add(request);
  const whole = (request.read() as Buffer | null) ?? NOTHING;
  if (whole.length > bytesMax) throw tooLong(bytesMax);
  if (whole.length > 0) claim(whole.length);
  return whole;
}

const NOTHING = Buffer.alloc(0);

/** Reads with event handlers: `for await` takes as long as the whole rest of a small request. */
function readPieces(request: IncomingMessage, bytesMax: number, claim: (bytes: number) => void): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  const take = (chunk: Buffer) => {
    length += chunk.length;
    if (length > bytesMax) throw tooLong(bytesMax);
    claim(chunk.length);
    chunks.push(chunk);
  };
  return new Promise((resolve, reject) => {
    const gone = () => reject(closed());
    const onData = (chunk: Buffer) => {
      try {
        take(chunk);
      } catch (error) {
        request.off("data", onData).pause();
        reject(error as Error);
      }
    };
    request.on("data", onData);
    request.once("end", () => {
      request.off("close", gone);
      resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks));
    });
    request.once("error", reject);
    request.once("close", gone);
  });
}

function tooLong(bytesMax: number): Error {
  return tooLarge(`Request entity too large: limit is ${bytesMax}`);
}

function closed(): Error {
  return new Error("the connection was closed in the middle of a request");
}

const [QUOTE, BACKSLASH, COMMA, COLON, LINE, BRACE, BRACKET] = Buffer.from('"\\,:\n{[');

/**
 * Refuses a body with more than `valuesMax` values before it is parsed. In JSON, members and items count; in YAML, every line, comma and
 * colon.
 *
 * @throws API_INVALID (413) when there are more.
 */
export function checkValues(bytes: Buffer, mediaType: string | undefined, valuesMax: number): void {
  const isYaml = mediaType?.endsWith("yaml") === true && bytes[0] !== BRACE;
  if ((isYaml ? countYaml : countJson)(bytes, valuesMax) <= valuesMax) return;
  const remedy = isYaml ? "; in YAML, lines, commas and colons count too: send JSON instead" : "";
  throw tooLarge(`Request entity too large: limit is ${valuesMax} fields and items${remedy}`);
}

/** Counts commas and opening brackets outside of strings, until there are too many. */
function countJson(bytes: Buffer, most: number): number {
  let [count, inString] = [0, false];
  for (let at = 0; at < bytes.length && count <= most; at += 1) {
    const byte = bytes[at];
    if (byte === QUOTE) inString = !inString;
    else if (inString) at += byte === BACKSLASH ? 1 : 0;
    else if (byte === COMMA || byte === BRACE || byte === BRACKET) count += 1;
  }
  return count;
}

/** Counts separators, including those within values, because an exact count would be as slow as parsing the text. */
function countYaml(bytes: Buffer, most: number): number {
  let count = 0;
  for (let at = 0; at < bytes.length && count <= most; at += 1) {
    const byte = bytes[at];
    if (byte === LINE || byte === COMMA || byte === COLON) count += 1;
  }
  return count;
}

/** The media type of a body without its parameters; undefined when the header is missing or empty. */
export function mediaTypeOf(request: IncomingMessage): string | undefined {
  const given = request.headers["content-type"];
  if (given === "application/json") return given;
  const text = given?.split(";", 1)[0]!.trim().toLowerCase();
  return text === "" ? undefined : text;
}

/** The parsed body of a request. */
export interface ParsedBody {
  /** Undefined if the body is empty. */
  readonly data: unknown;
  /**
   * The JSON text, in which a field may occur twice. Absent for YAML, which does not parse in that case, and for protobuf, where a repeated
   * field is a list.
   */
  readonly json?: string;
}

/**
 * Parses the body of a request according to its media type: as JSON, YAML or protobuf. Without a media type, the body is parsed as JSON.
 * Protobuf requires a shape whose fields have numbers.
 *
 * @throws API_BAD_REQUEST when the body does not parse, API_ERROR (415) when its media type is not supported.
 */
export function parseBody(bytes: Buffer, mediaType: string | undefined, { shape, valuesMax }: BodyForm): ParsedBody {
  if (mediaType === PROTOBUF_TYPE && isReadable(shape) && bytes.length > 0) return { data: parseProtobuf(bytes, shape) };
  if (mediaType !== undefined && !MEDIA_TYPES.includes(mediaType)) throw unsupportedMediaType(MEDIA_TYPES);
  if (bytes.length === 0) return { data: undefined };
  const text = bytes.toString();
  return mediaType === "application/yaml" ? { data: parseYaml(text, valuesMax) } : parseJsonBody(text);
}

/** The expected form of a body. */
export interface BodyForm {
  readonly shape: ObjectSchema;
  /** Maximum number of values after expanding YAML aliases. */
  readonly valuesMax: number;
}

/** Formats of objects in requests and responses. */
const MEDIA_TYPES: readonly string[] = ["application/json", "application/yaml"];

/** Parses a JSON text. @throws API_BAD_REQUEST when it is not valid JSON, or is nested too deeply. */
export function parseJsonBody(text: string): Required<ParsedBody> {
  const json = withoutLoneSurrogates(text);
  try {
    return { data: checkedDepth(JSON.parse(json)), json };
  } catch (error) {
    throw error instanceof SyntaxError ? notJson(error) : error;
  }
}

function notJson({ message }: SyntaxError): Error {
  return badRequest(`couldn't get version/kind; json parse error: ${withoutBody(message)}`);
}

/** Removes the quotation of the body from an error message, because it may be secret. The unexpected character itself is kept. */
function withoutBody(message: string): string {
  if (!message.endsWith(" is not valid JSON")) return message;
  const [token = "Unexpected text"] = /^Unexpected token (?:'[^]'|"'")(?=,)/u.exec(message) ?? [];
  return `${token} in JSON`;
}

function parseProtobuf(bytes: Buffer, shape: ObjectSchema): unknown {
  try {
    return readProtobuf(shape, bytes);
  } catch (error) {
    if (error instanceof ProtobufError) throw badRequest(`cannot read the body as protobuf: ${error.message}`);
    throw error;
  }
}

/**
 * Parses a YAML text. A text that begins with a brace is parsed as JSON first, which is faster, and as YAML if that fails.
 *
 * @param valuesMax Maximum number of values after expanding aliases.
 * @throws API_BAD_REQUEST when the text is not YAML, is nested too deeply, or has aliases that expand to more than `valuesMax` values.
 */
export function parseYaml(text: string, valuesMax: number): unknown {
  let fault: Error | undefined;
  if (text.startsWith("{")) {
    try {
      const json = withoutLoneSurrogates(text);
      const value = checkedDepth(JSON.parse(json));
      const [twice] = repeatedFields(json);
      if (twice === undefined) return value;
      throw badRequest(`error converting YAML to JSON: yaml: key ${JSON.stringify(twice)} already set in map`);
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      if (/^\{\s*["}]/.test(text)) fault = notJson(error);
      // The values were counted as those of JSON, because the text begins with a brace.
      if (countYaml(Buffer.from(text), valuesMax) > valuesMax) throw notJson(error);
    }
  }
  const report = new Report();
  const node = readYaml(text, { file: "body", report, aliasedValuesMax: valuesMax });
  const [problem] = report.problems;
  if (problem !== undefined) throw fault ?? badRequest(`error converting YAML to JSON: yaml: line ${problem.line}: ${problem.message}`);
  const data = checkedDepth(toJson(node!));
  const json = text.includes("\\") ? JSON.stringify(data) : "";
  if (withoutLoneSurrogates(json) !== json)
    throw badRequest("error converting YAML to JSON: yaml: found invalid Unicode character escape code");
  return data;
}

function checkedDepth(value: unknown): unknown {
  if (isDeeperThan(value, JSON_DEPTH_MAX)) throw badRequest(`the body is nested deeper than ${JSON_DEPTH_MAX} levels`);
  return value;
}
