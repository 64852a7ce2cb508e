/**
 * Measures how long each attack takes and prints the slowest: `npm run test:attacks`. Fails when the median of three is above 150 ms and,
 * for machines that are slow throughout, above twelve times that of the attack in the middle.
 *
 * Times depend on the machine, so no test asserts them; tests assert the fuel. What is judged is time of the processor, all threads of
 * the process together: it does not grow with what else the machine does. The time on the clock is printed beside it.
 */
import { CATEGORIES, attackText, attackValue, readAttacks } from "./attack.ts";
import { watchMemory } from "./memory-watch.ts";
import { answer, createTestSandbox } from "./support.ts";

const ROUNDS = 3;
const MEDIAN_MAX_MS = 150;
/** Of what is usual for the attacks that are stopped: where even that takes long, the machine is slow. */
const USUAL_MAX = 12;
const SHOWN = 10;

const memory = watchMemory();
const sandbox = await createTestSandbox();

interface Times {
  /** Of the processor. */
  readonly ms: number;
  readonly clockMs: number;
}

/** Medians of some rounds. */
function measure(text: string, value: unknown): Times {
  const rounds = Array.from({ length: ROUNDS }, () => {
    const [clock, processor] = [performance.now(), process.cpuUsage()];
    answer(sandbox, text, value);
    const { user, system } = process.cpuUsage(processor);
    return { ms: (user + system) / 1000, clockMs: performance.now() - clock };
  });
  return { ms: median(rounds.map(({ ms }) => ms)), clockMs: median(rounds.map(({ clockMs }) => clockMs)) };
}

function median(numbers: readonly number[]): number {
  return numbers.toSorted((one, other) => one - other)[Math.floor(numbers.length / 2)]!;
}

const rows = CATEGORIES.flatMap((category) =>
  readAttacks(category)
    .filter(({ mechanism }) => mechanism !== undefined)
    .map((attack) => ({ category, why: attack.why, ...measure(attackText(attack), attackValue(attack)), bytes: memory.largest() })),
).sort((one, other) => other.ms - one.ms);

const mib = Math.max(...rows.map(({ bytes }) => bytes)) / 2 ** 20;
const stopped = rows.filter(({ ms }) => ms > 1);
const usual = median(stopped.map(({ ms }) => ms));
console.log(`${rows.length} attacks, of which ${stopped.length} take more than 1 ms, half of these up to ${usual.toFixed(0)} ms`);
console.log(`largest memory ${mib.toFixed(1)} MiB; slowest, by time of the processor:`);
for (const { category, why, ms, clockMs } of rows.slice(0, SHOWN)) {
  console.log(`${ms.toFixed(0).padStart(5)} ms (${clockMs.toFixed(0)} ms on the clock)  ${category}: ${why}`);
}
if (rows[0]!.ms > Math.max(MEDIAN_MAX_MS, USUAL_MAX * usual)) process.exitCode = 1;
