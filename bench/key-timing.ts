/**
 * Checks whether the time of a refusal reveals how similar a wrong access key is to a real one.
 *
 *     npm run bench:key-timing
 *
 * Welch's t-test compares requests with unknown keys and requests whose keys begin like a real one, in one process and in random order:
 * once for all requests, and once without the slowest twentieth, which other work on the machine affects. The same test runs with a search
 * that compares character by character, and must detect it.
 */
import type { IncomingMessage } from "node:http";
import { systemChance } from "../src/base/chance.ts";
import { systemClock } from "../src/base/clock.ts";
import { silentLogger } from "../src/base/logger.ts";
import { parseManagementConfig } from "../src/management/config/config.ts";
import { openManagementApi } from "../src/management/api/management-api.ts";
import { OWNED_ACCESS_KEYS } from "../src/management/kinds/types.ts";
import { createMemoryStore } from "../src/apiserver/store/memory/memory-store.ts";

const REQUESTS = 100_000;
const WARM_UP = 20_000;
const KEYS = 200;
const LENGTH = 64;
/** Above it a difference is taken for real. Source: the usual bound of leakage assessments by t-test. */
const T_MAX = 4.5;
const ALPHABET = "abcdefghijklmnopqrstuvwxyz0123456789";

/** Random letters. */
const letters = (count: number) => [...systemChance.bytes(count)].map((byte) => ALPHABET[byte % ALPHABET.length]!).join("");
/** The same text as one piece of memory, however it was put together. */
const flat = (text: string) => Buffer.from(text).toString("latin1");

interface Guess {
  readonly close: boolean;
  readonly request: Pick<IncomingMessage, "headers">;
  readonly value: string;
}

/** A random number of both sorts; close ones share a prefix of any length with a key. */
function guesses(count: number, real: readonly string[]): Guess[] {
  return Array.from({ length: count }, () => {
    const close = systemChance.fraction() < 0.5;
    const key = real[Math.floor(systemChance.fraction() * real.length)]!;
    const shared = 32 + Math.floor(systemChance.fraction() * (LENGTH - 32));
    const next = ALPHABET[(ALPHABET.indexOf(key[shared]!) + 1) % ALPHABET.length]!;
    const value = flat(close ? key.slice(0, shared) + next + letters(LENGTH - shared - 1) : letters(LENGTH));
    return { close, value, request: { headers: { authorization: `Bearer ${value}` } } };
  });
}

interface Sample {
  readonly close: boolean;
  readonly ns: number;
}

async function measured(all: readonly Guess[], refuse: (guess: Guess) => Promise<unknown>): Promise<Sample[]> {
  const samples: Sample[] = [];
  for (const guess of all) {
    const start = process.hrtime.bigint();
    await refuse(guess);
    samples.push({ close: guess.close, ns: Number(process.hrtime.bigint() - start) });
  }
  return samples;
}

/** Welch's t of two sorts of samples. */
function tOf(samples: readonly Sample[]): number {
  const of = (close: boolean) => {
    const values = samples.filter((sample) => sample.close === close).map(({ ns }) => ns);
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
    const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (values.length - 1);
    return { mean, error: variance / values.length };
  };
  const [near, far] = [of(true), of(false)];
  return Math.abs(near.mean - far.mean) / Math.sqrt(near.error + far.error);
}

/** Without the slowest twentieth of all. */
function cropped(samples: readonly Sample[]): Sample[] {
  const bound = samples.map(({ ns }) => ns).sort((left, right) => left - right)[Math.floor(samples.length * 0.95)]!;
  return samples.filter(({ ns }) => ns < bound);
}

function medianOf(samples: readonly Sample[], close: boolean): number {
  const values = samples.filter((sample) => sample.close === close).map(({ ns }) => ns);
  return values.sort((left, right) => left - right)[Math.floor(values.length / 2)]!;
}

/** Both values of t, as text. */
async function judged(title: string, real: readonly string[], refuse: (guess: Guess) => Promise<unknown>): Promise<number> {
  await measured(guesses(WARM_UP, real), refuse);
  const samples = await measured(guesses(REQUESTS, real), refuse);
  const [all, most] = [tOf(samples), tOf(cropped(samples))];
  const medians = `median ${medianOf(samples, false)} ns unknown, ${medianOf(samples, true)} ns close`;
  process.stdout.write(`${title}: |t| = ${all.toFixed(2)}, without the slowest 5 %: |t| = ${most.toFixed(2)} (${medians})\n`);
  return Math.max(all, most);
}

/** The leak to detect: each matching letter takes a little longer. */
function letterByLetter(value: string, real: readonly string[]): boolean {
  return real.some((key) => {
    for (let index = 0; index < LENGTH; index++) if (key.charCodeAt(index) !== value.charCodeAt(index)) return false;
    return true;
  });
}

const config = parseManagementConfig("");
if (!config.ok) throw new Error("an empty configuration is good");
const api = await openManagementApi({
  ...{ store: createMemoryStore(), clock: systemClock, chance: systemChance, logger: silentLogger, config: config.config },
  issuer: () => "",
});
const real = Array.from({ length: KEYS }, () => flat(letters(LENGTH)));
for (const [index, key] of real.entries()) {
  await api.registry.create(OWNED_ACCESS_KEYS, "", { metadata: { name: `key-${index}` }, spec: { user: "jane", key } });
}
const t = await judged(`${REQUESTS} refusals by the server`, real, ({ request }) =>
  api.authenticate(request as IncomingMessage).then(
    () => Promise.reject(new Error("a wrong key is refused")),
    () => undefined,
  ),
);
const control = await judged(`${REQUESTS} searches letter by letter`, real, async ({ value }) => letterByLetter(value, real));
await api.stop();
const found = control > T_MAX;
process.stdout.write(t < T_MAX && found ? `passed: below ${T_MAX}, and what does leak is found\n` : `FAILED: the bound is ${T_MAX}\n`);
process.exitCode = t < T_MAX && found ? 0 : 1;
