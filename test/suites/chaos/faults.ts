/**
 * Faults of requests on their way to an API server, and of its answers.
 *
 * @module
 */
import { belongsAfter, type Asked, type Fault, type LineFault, type Told } from "./proxy.ts";

const COPIED = new Set(["endpoints", "services", "secrets", "configmaps", "endpointslices"]);

const always = () => true;
const isWrite = ({ verb }: Asked) => verb === "write";
const isWatch = ({ verb }: Asked) => verb === "watch";
const isStream = ({ url }: Asked) => url.includes("sendInitialEvents=true");
const isRead = ({ verb }: Asked) => verb === "get" || verb === "list";
const isList = ({ verb, plural }: Asked) => verb === "list" && COPIED.has(plural);
/** Of objects that are copied. A Lease, an Event or a question about permissions is another matter. */
const isCopied = (asked: Asked) => isWrite(asked) && COPIED.has(asked.plural);

const PAGE: Told = { status: 200, type: "text/html", text: "<html><body>Please sign in</body></html>" };

function refusal(status: number, reason: string, headers: Record<string, string> = {}): Told {
  const body = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", message: `chaos: ${reason}`, reason, code: status };
  return { status, type: "application/json", text: JSON.stringify(body), headers };
}

function answered(name: string, meets: Fault["meets"], answer: Told): Fault {
  return { name, meets, act: async ({ tell }) => tell(answer) };
}

interface Listed {
  items?: { metadata: { creationTimestamp?: string } }[];
}

/** A list whose items are changed on the way. */
function listed(name: string, change: (items: NonNullable<Listed["items"]>, chance: { fraction(): number }) => unknown[]): Fault {
  return {
    name,
    meets: isList,
    async act({ ask, tell, chance }) {
      const answer = await ask();
      const body = JSON.parse(answer.text) as Listed;
      tell({ ...answer, text: JSON.stringify({ ...body, items: change(body.items ?? [], chance) }) });
    },
  };
}

const HOUR_MS = 3_600_000;

/** Everything that may happen to a request or to its answer. */
export const FAULTS: readonly Fault[] = [
  { name: "request lost", meets: always, act: async ({ reset }) => reset() },
  {
    name: "answer lost",
    meets: (asked) => asked.verb !== "watch",
    async act({ ask, reset }) {
      await ask();
      reset();
    },
  },
  answered("answered 500", always, refusal(500, "InternalError")),
  answered("answered 503", always, refusal(503, "ServiceUnavailable", { "retry-after": "1" })),
  answered("answered 504", always, refusal(504, "Timeout")),
  answered("answered 429", always, refusal(429, "TooManyRequests", { "retry-after": "1" })),
  answered("answered 409", isCopied, refusal(409, "Conflict")),
  answered("answered 422", isCopied, refusal(422, "Invalid")),
  // Lists of this process are in pages from then on, where the faults of lists below meet them.
  answered("a list as a stream is refused", isStream, refusal(422, "Invalid")),
  answered("answered 403", (asked) => isCopied(asked) || isRead(asked), refusal(403, "Forbidden")),
  answered("answered 401", always, refusal(401, "Unauthorized")),
  answered("answered 404", ({ verb }) => verb === "get", refusal(404, "NotFound")),
  answered("a page with 404", always, { status: 404, type: "text/plain", text: "404 page not found\n" }),
  answered("answered 410", (asked) => isWatch(asked) || isList(asked), refusal(410, "Expired")),
  answered("a page instead of a write", isCopied, PAGE),
  answered("a page instead of a read", isRead, PAGE),
  answered("an empty object instead of a write", isCopied, { status: 200, type: "application/json", text: "{}" }),
  answered("an empty answer", always, { status: 200, type: "application/json", text: "" }),
  {
    name: "a write is said to be done",
    // An update of the tenant's object that was never made cannot be distinguished from one that the tenant has undone at once.
    meets: ({ method, plural, side }) => COPIED.has(plural) && (method === "POST" || (method === "PUT" && side === "host")),
    async act({ asked, tell }) {
      const body = JSON.parse(asked.body) as { metadata: object };
      const metadata = { uid: "00000000-0000-4000-8000-000000000000", resourceVersion: "1", ...body.metadata };
      tell({ status: asked.method === "POST" ? 201 : 200, type: "application/json", text: JSON.stringify({ ...body, metadata }) });
    },
  },
  listed("an empty list", () => []),
  listed("a list lacks objects", (items, chance) => items.filter(() => chance.fraction() < 0.5)),
  listed("a list in another order", (items) => items.toReversed()),
  {
    name: "an answer is cut",
    meets: (asked) => asked.verb !== "watch",
    act: async ({ ask, tellHalf }) => tellHalf(await ask()),
  },
  {
    name: "half of an answer is late",
    meets: (asked) => asked.verb !== "watch",
    act: async ({ ask, tellInHalves, chance }) => tellInHalves(await ask(), 200 + chance.below(4_000)),
  },
  {
    name: "an answer is late",
    meets: (asked) => asked.verb !== "watch",
    async act({ ask, tell, wait, chance }) {
      const answer = await ask();
      await wait(200 + chance.below(4_000));
      tell(answer);
    },
  },
  {
    name: "a request is late",
    meets: always,
    async act({ wait, pass, chance }) {
      await wait(200 + chance.below(2_000));
      await pass();
    },
  },
  { name: "a watch ends at once", meets: isWatch, act: async ({ tell }) => tell({ status: 200, type: "application/json", text: "" }) },
  {
    name: "a watch is told that it is too old",
    meets: isWatch,
    act: async ({ tell }) =>
      tell({ status: 200, type: "application/json", text: `{"type":"ERROR","object":${refusal(410, "Expired").text}}\n` }),
  },
  {
    name: "the server's clock is wrong",
    meets: (asked) => asked.verb !== "watch",
    async act({ ask, tell, chance }) {
      const { text, ...answer } = await ask();
      const offset = (chance.below(2) === 0 ? -1 : 1) * HOUR_MS * (1 + chance.below(48));
      const moved = (stamp: string) => `"creationTimestamp":"${new Date(Date.parse(stamp) + offset).toISOString().slice(0, 19)}Z"`;
      const changed = text.replace(/"creationTimestamp":"([^"]+)"/g, (_whole, stamp: string) => moved(stamp));
      tell({ ...answer, text: changed, headers: { date: new Date(Date.now() + offset).toUTCString() } });
    },
  },
];

/** Everything that may happen to a line of a watch. */
export const LINE_FAULTS: readonly LineFault[] = [
  { name: "an event twice", change: (line, held) => [line, line, ...held.splice(0)] },
  {
    // Each object's own events stay in order, as no API server mixes them up.
    name: "an event after later ones of other objects",
    change(line, held) {
      const before = held.splice(0);
      if (belongsAfter(line, before)) return [...before, line];
      held.push(line);
      return before;
    },
  },
  { name: "a watch is cut within an event", change: () => "cut" },
  { name: "half of an event is late", change: (_line, _held, chance) => 200 + chance.below(4_000) },
];
