import type { IncomingMessage } from "node:http";
import { isDeeperThan } from "../../base/json.ts";
import { toJson } from "../../schema/node.ts";
import { Report } from "../../schema/problem.ts";
import { readYaml } from "../../schema/yaml.ts";
import { DEPTH_MAX } from "../objects/json-data.ts";
import { isReadable, PROTOBUF_TYPE, ProtobufError, readProtobuf } from "./protobuf.ts";
import type { ObjectShape } from "../objects/shape.ts";
import { badRequest, tooLarge, unsupportedMediaType } from "../status.ts";

/**
 * The bytes of a body.
 *
 * @throws API_INVALID (413) when there are more than `bytesMax`; what is left is not read.
 */
export async function readBytes(request: IncomingMessage, bytesMax: number): Promise<Buffer> {
  const refuse = () => tooLarge(`Request entity too large: limit is ${bytesMax}`);
  if (Number(request.headers["content-length"] ?? 0) > bytesMax) throw refuse();
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request) {
    length += (chunk as Buffer).length;
    if (length > bytesMax) throw refuse();
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks);
}

/** The media type of a body without its parameters; undefined when it has none. */
export function mediaTypeOf(request: IncomingMessage): string | undefined {
  const text = request.headers["content-type"]?.split(";", 1)[0]!.trim().toLowerCase();
  return text === "" ? undefined : text;
}

/**
 * The data of an object's body; JSON unless the type says YAML, or protobuf where the shape has numbers. Undefined when the
 * body is empty.
 *
 * @throws API_BAD_REQUEST when it does not parse, API_ERROR (415) when its type is unknown.
 */
export function parseBody(bytes: Buffer, mediaType: string | undefined, shape: ObjectShape): unknown {
  if (mediaType === PROTOBUF_TYPE && isReadable(shape) && bytes.length > 0) return parseProtobuf(bytes, shape);
  if (mediaType !== undefined && !MEDIA_TYPES.includes(mediaType)) throw unsupportedMediaType(MEDIA_TYPES);
  if (bytes.length === 0) return undefined;
  return mediaType === "application/yaml" ? parseYaml(bytes.toString()) : parseJson(bytes.toString());
}

/** How objects may be written in requests and answers. */
const MEDIA_TYPES: readonly string[] = ["application/json", "application/yaml"];

/** @throws API_BAD_REQUEST when the text is no JSON or nested too deep. */
export function parseJson(text: string): unknown {
  try {
    return checkedDepth(JSON.parse(text));
  } catch (error) {
    if (error instanceof SyntaxError) throw badRequest(`couldn't get version/kind; json parse error: ${withoutBody(error.message)}`);
    throw error;
  }
}

/** The engine quotes what stands around a fault, which may be a secret. The letter itself stays. */
function withoutBody(message: string): string {
  if (!message.endsWith(" is not valid JSON")) return message;
  const [token = "Unexpected text"] = /^Unexpected token (?:'[^]'|"'")(?=,)/u.exec(message) ?? [];
  return `${token} in JSON`;
}

function parseProtobuf(bytes: Buffer, shape: ObjectShape): unknown {
  try {
    return readProtobuf(shape, bytes);
  } catch (error) {
    if (error instanceof ProtobufError) throw badRequest(`couldn't read the body as protobuf: ${error.message}`);
    throw error;
  }
}

/**
 * Data of a YAML text, or of a JSON text, which is YAML too and read faster as what it is.
 *
 * @throws API_BAD_REQUEST when the text is neither, or nested too deep.
 */
export function parseYaml(text: string): unknown {
  if (text.startsWith("{")) return parseJson(text);
  const report = new Report();
  const node = readYaml(text, { file: "body", report });
  const [problem] = report.problems;
  if (problem !== undefined) throw badRequest(`error converting YAML to JSON: yaml: line ${problem.line}: ${problem.message}`);
  return checkedDepth(toJson(node!));
}

function checkedDepth(value: unknown): unknown {
  if (isDeeperThan(value, DEPTH_MAX)) throw badRequest(`the body is nested deeper than ${DEPTH_MAX}`);
  return value;
}
