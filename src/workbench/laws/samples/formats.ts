import type { TextFormat } from "../../../schema/schema.ts";
import type { Random } from "../../simulator/model/random.ts";

/** Reports whether a string can be encoded in UTF-8: it contains no unpaired surrogate. */
export function isWellFormed(text: string): boolean {
  return !/\p{Surrogate}/u.test(text);
}

/** Rules for the texts of one format. */
export interface FormatRules {
  /** Texts that are typical or at an edge, plain ones first. */
  readonly samples: readonly string[];
  /** A text of the format, mostly short. */
  draw(random: Random): string;
  accepts(text: string): boolean;
}

const LETTERS = "abcxyz0189";
const WILD = [
  "a",
  "b",
  "Z",
  "0",
  "9",
  " ",
  "-",
  "_",
  ".",
  "/",
  ":",
  ",",
  "=",
  '"',
  "'",
  "\\",
  "\n",
  "ä",
  "ß",
  "İ",
  "日",
  "😀",
  "\u0000",
  "$&",
];

const several = (random: Random, most: number, item: () => string): string => Array.from({ length: 1 + random.below(most) }, item).join("");
const plain = (random: Random, most = 6): string => several(random, most, () => LETTERS[random.below(LETTERS.length)]!);
const labelled = (random: Random): string => {
  const inner = random.happens(0.5) ? random.pick(["-", ".", "_", ""]) + plain(random, 4) : "";
  return random.pick(["a", "B", "7"]) + inner;
};

const LABEL = /^(?:[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$/;
const KEY = /^(?:[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?\/)?[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;
const DNS_NAME = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/;
const DNS_LABEL = /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/;
const SIXTY_THREE = "x".repeat(63);

const ANNOTATION_SAMPLES = [
  "a",
  "ab",
  "",
  "web-1",
  "true",
  "0",
  "10.0.0.1",
  "a,b",
  "a=b",
  '{"a":1}',
  "https://a.example/b?c=d",
  "ä",
  "日本",
  "😀",
  // Texts with features that transformations often lose: case, spaces, zeros, length, the encoding of a letter, the layout of JSON.
  "A",
  " a",
  "a ",
  "a  b",
  "007",
  "1.0",
  "a-b_c.d",
  "e\u0301",
  '{ "b": 1, "a": [ ] }',
  "x".repeat(300),
];
const KEY_SAMPLES = ["a", "app", "example.com/a", "release", "b.c"];
const IPV4 = /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/;

const text: FormatRules = {
  samples: ANNOTATION_SAMPLES,
  draw: (random) => (random.happens(0.5) ? plain(random) : several(random, 6, () => random.pick(WILD))),
  accepts: isWellFormed,
};

const key: FormatRules = {
  samples: KEY_SAMPLES,
  draw: (random) => (random.happens(0.3) ? "example.com/" : "") + labelled(random),
  accepts: (value) => KEY.test(value),
};

const name: FormatRules = {
  samples: ["a", "web", "web-1", "a.b", SIXTY_THREE],
  draw: (random) => plain(random) + (random.happens(0.3) ? random.pick(["-", "."]) + plain(random, 3) : ""),
  accepts: (value) => value.length <= 253 && DNS_NAME.test(value),
};

const dnsLabel: FormatRules = {
  samples: ["a", "web", "web-1", "0", SIXTY_THREE],
  draw: (random) => plain(random) + (random.happens(0.3) ? `-${plain(random, 3)}` : ""),
  accepts: (value) => DNS_LABEL.test(value),
};

/** The rules of every format. */
export const FORMATS: Readonly<Record<TextFormat, FormatRules>> = {
  text,
  annotation: text,
  annotationKey: key,
  labelKey: key,
  label: {
    samples: ["a", "ab", "", "web-1", "true", "0", "v1.2_3", "A", "007", "a-b_c.d", SIXTY_THREE],
    draw: (random) => (random.happens(0.05) ? "" : labelled(random)),
    accepts: (value) => LABEL.test(value),
  },
  name,
  namespace: dnsLabel,
  dnsLabel,
  portName: {
    samples: ["a", "http", "dns-tcp", "a".repeat(15)],
    draw: (random) => plain(random, 5),
    accepts: (value) => DNS_LABEL.test(value),
  },
  protocolName: {
    samples: ["http", "a", "kubernetes.io/h2c", "example.com/a"],
    draw: (random) => labelled(random),
    accepts: (value) => KEY.test(value),
  },
  ip: {
    samples: ["10.0.0.1", "10.1.2.3", "192.168.0.9", "172.16.0.1", "203.0.113.255", "1.1.1.1", "100.64.0.10", "fd00::1", "2001:db8::a:1"],
    draw: drawAddress,
    accepts: isAddress,
  },
};

function drawAddress(random: Random): string {
  if (random.happens(0.2)) return `${random.pick(["fd00::", "2001:db8::", "2001:db8:1:2::"])}${(1 + random.below(65_535)).toString(16)}`;
  const first = random.pick([10, 10, 172, 192, 1 + random.below(99), 203]);
  return [first, random.below(256), random.below(256), random.below(256)].join(".");
}

/** Reports whether an API server accepts a text as an address. Knows only the common spellings of IPv6. */
function isAddress(value: string): boolean {
  if (IPV4.test(value)) return true;
  if (!/^[0-9a-f:]+$/.test(value) || !value.includes(":") || value.includes(":::")) return false;
  const halves = value.split("::");
  const groups = halves.flatMap((half) => (half === "" ? [] : half.split(":")));
  if (halves.length > 2 || groups.some((group) => !/^[0-9a-f]{1,4}$/.test(group))) return false;
  return halves.length === 2 ? groups.length < 8 : groups.length === 8;
}
