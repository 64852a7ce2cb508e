/**
 * Three replicas on one etcd, of which one is killed every few seconds, under writes and watches on all of them:
 *
 *   npm run test:replicas -- --minutes 10 [--seed 1] [--replicas 3]
 *
 * Nothing that was acknowledged may be lost, one writer wins for each resourceVersion, no client is shown a state older than one that any
 * was shown before, and watches are resumed at any replica without a gap. The exit code is 1 when one of these does not hold.
 */
import { parseArgs } from "node:util";
import { etcdVersion } from "../../support/etcd.ts";
import { seedOf } from "../outside/cases.ts";
import { play } from "./play.ts";

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "0.5" },
    replicas: { type: "string", default: "3" },
    seed: { type: "string", default: String(seedOf()) },
  },
});

if (etcdVersion === undefined) {
  console.log("skipped: there is no etcd here");
} else {
  console.log(`etcd ${etcdVersion}, seed ${values.seed}, ${values.replicas} replicas, ${values.minutes} minutes`);
  const played = await play({
    seconds: Number(values.minutes) * 60,
    seed: Number(values.seed),
    replicas: Number(values.replicas),
    onProgress: (line) => console.log(line),
  });
  const { problems, ...figures } = played;
  console.log(
    Object.entries(figures)
      .map(([name, value]) => `${name}: ${Math.round(value * 10) / 10}`)
      .join("\n"),
  );
  for (const problem of problems.slice(0, 20)) console.log(`BROKEN: ${problem}`);
  const { kills, seconds, acknowledged, resumed } = figures;
  const pace = `${kills} kills, one every ${(seconds / kills).toFixed(1)} s`;
  console.log(`${pace}, ${acknowledged} acknowledged writes, ${resumed} resumed watches, ${problems.length} problems`);
  process.exitCode = problems.length === 0 && figures.acknowledged > 0 && figures.kills > 0 ? 0 : 1;
}
