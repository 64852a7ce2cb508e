/** Texts that are expensive for the engine or the host, in addition to the attacks of the fixtures, by the operation that they repeat. */

/** Body of a loop, given `s`, a long text, `l`, a list of numbers, `o`, an object with many keys, and `i`, a counter. */
const BODIES = [
  "virtualToHostDNS(s)",
  "virtualToHostDNS('a'.repeat(253))",
  "virtualToHostDNS('web.shop.svc')",
  "btoa(s)",
  "atob(btoa(s))",
  "btoa('a')",
  "o[2001 * 1048576]",
  "o[i * 131072] = 1",
  "({ a: 1, b: [1, 2, 3] })",
  "({ ...o })",
  "[...l]",
  "l.slice()",
  "l.concat(l)",
  "l.toSorted()",
  "l.map(x => x + 1)",
  "l.flatMap(x => [x, x])",
  "l.includes(-1)",
  "l.join()",
  "s.split('')",
  "s.split('').reverse().join('')",
  "s + i",
  "s.slice(i % 7)",
  "s.replaceAll('a', 'bb')",
  "s.match(/a+$/)",
  "/(a+)+$/.test(s + 'b')",
  "/(?:a|aa)+$/.test(s + 'b')",
  "new RegExp('a'.repeat(i % 500))",
  "s.normalize('NFKD')",
  "s.toUpperCase()",
  "s.localeCompare(s + 'b')",
  "JSON.parse(JSON.stringify(o))",
  "JSON.stringify(l)",
  "JSON.stringify(s)",
  "Object.entries(o)",
  "Object.keys(o).length",
  "Object.fromEntries(Object.entries(o))",
  "Object.getOwnPropertyDescriptors(o)",
  "structured(o)",
  "new Map(Object.entries(o))",
  "new Set(l)",
  "Array(1e5)",
  "Array(1e4).fill(0)",
  "'a'.repeat(1e6)",
  "'a'.padStart(1e6)",
  "(10n ** 2000n).toString()",
  "2n ** 20000n",
  "BigInt('9'.repeat(2000))",
  "Math.max(...l)",
  "String.fromCharCode(...l)",
  "encodeURIComponent(s)",
  "new Error(s)",
  "(() => { throw new Error(s) })()",
  "Symbol(s)",
  "new Date(i).toISOString()",
  "(function f(n) { return n ? f(n - 1) : 0 })(100)",
  "l.reduce((a, x) => a + x, '')",
  "[[[[[[[[l]]]]]]]].flat(9)",
  "o['k' + i] = s + i",
  "context.virtualObject.metadata.annotations[i]",
  "Object.keys(context.virtualObject.metadata.annotations).length",
];

/** How the loop is built round the body. */
const LOOPS: readonly { readonly name: string; readonly text: (body: string) => string }[] = [
  { name: "without end", text: (body) => `for (let i = 0; ; i++) { ${body} }` },
  { name: "without end, errors caught", text: (body) => `for (let i = 0; ; i++) try { ${body} } catch {}` },
  { name: "a thousand times", text: (body) => `for (let i = 0; i < 1000; i++) { ${body} } return 'x'` },
  { name: "kept", text: (body) => `const kept = []; for (let i = 0; ; i++) kept.push(${body.startsWith("(() => { throw") ? "i" : body})` },
];

const SETUP =
  "let s = 'a'.repeat(20000); const l = Array.from({ length: 2000 }, (_, i) => i); const o = {}; " +
  "for (let i = 0; i < 1000; i++) o[i * 1048576] = 1; const structured = (x) => JSON.parse(JSON.stringify(x));";

/** Each body in each loop. */
export const HOSTILE_TEXTS: readonly { readonly name: string; readonly text: string }[] = BODIES.flatMap((body) =>
  LOOPS.map(({ name, text }) => ({ name: `${body}, ${name}`, text: `(() => { ${SETUP} ${text(body)} })()` })),
);
