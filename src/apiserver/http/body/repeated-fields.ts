/** An object or a list that the scan is currently in. */
interface Frame {
  /** Fields seen so far; absent for a list. */
  readonly fields?: Set<string>;
  /** The current field or index, in the form for paths. */
  step: string;
  index: number;
  /** The next string is the name of a field, not a value. */
  named: boolean;
}

/** Maximum number of repeated fields that are reported, because each becomes a Warning header. */
export const REPEATED_FIELDS_MAX = 100;

/**
 * Returns the paths of fields that occur more than once in an object of a JSON text; `JSON.parse` silently keeps the last one. The text
 * must be valid JSON.
 *
 * Source: `fieldValidation` in the API concepts of Kubernetes, which treats duplicate fields like unknown ones.
 *
 * @example
 * repeatedFields('{"data":{"a":"1","a":"2"}}'); // ["data.a"]
 */
export function repeatedFields(text: string): string[] {
  const found: string[] = [];
  const open: Frame[] = [];
  for (let at = 0; at < text.length && found.length < REPEATED_FIELDS_MAX;) {
    const frame = open.at(-1);
    const character = text[at]!;
    if (character === '"') {
      const end = endOfText(text, at);
      if (frame?.named === true && enterField(frame, textOf(text.slice(at, end)))) found.push(pathOf(open));
      at = end;
      continue;
    }
    if (character === "{") open.push({ fields: new Set(), step: "", index: 0, named: true });
    else if (character === "[") open.push({ step: "[0]", index: 0, named: false });
    else if (character === "}" || character === "]") open.pop();
    else if (character === "," && frame !== undefined) nextMember(frame);
    at += 1;
  }
  return found;
}

/** The decoded text of a JSON string. */
function textOf(json: string): string {
  return json.includes("\\") ? (JSON.parse(json) as string) : json.slice(1, -1);
}

/** The position after the closing quote of the string that begins at `start`. */
function endOfText(text: string, start: number): number {
  for (let at = start + 1; ; at += 1) {
    at = text.indexOf('"', at);
    let escapes = 0;
    while (text[at - 1 - escapes] === "\\") escapes += 1;
    if (escapes % 2 === 0) return at + 1;
  }
}

/** Records a field of the current object. Returns true if the object already had it. */
function enterField(frame: Frame, field: string): boolean {
  frame.named = false;
  frame.step = field;
  if (frame.fields!.has(field)) return true;
  frame.fields!.add(field);
  return false;
}

function nextMember(frame: Frame): void {
  if (frame.fields !== undefined) frame.named = true;
  else frame.step = `[${(frame.index += 1)}]`;
}

function pathOf(open: readonly Frame[]): string {
  return open.map(({ step }) => step).reduce((path, step) => (step.startsWith("[") || path === "" ? path + step : `${path}.${step}`), "");
}
