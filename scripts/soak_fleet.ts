/**
 * Soak test of a fleet: two proxies on one Redis, with clients, budgets and stores of logs, for an hour. `--minutes=` and
 * `--proxies=` change it. It needs `redis-server`.
 * @module
 */
import { findFleetProblems, hangForAWhile, soakFleet } from "../tests/support/_fleet_soak.ts";
import { TestRedis } from "../tests/support/redis.ts";

function readNumber(name: string, defaultValue: number): number {
  const argument = Deno.args.find((arg) => arg.startsWith(`--${name}=`));
  return argument === undefined ? defaultValue : Number(argument.slice(name.length + 3));
}

const mb = (bytes: number) => `${(bytes / 1024 / 1024).toFixed(1)} MB`;
const redis = await TestRedis.start();
const result = await soakFleet({
  seconds: readNumber("minutes", 60) * 60,
  count: readNumber("proxies", 2),
  storage: { connector: "redis.redis.v1", url: redis.url },
  disturb: () => hangForAWhile(redis),
  onSample: (samples) =>
    console.log(
      samples.map(({ second, rss, heapUsed, timers, requests }) =>
        `${second} s: ${mb(rss)}, heap ${mb(heapUsed)}, ${timers} timers, ${requests} over`
      ).join(" | "),
    ),
});
await redis[Symbol.asyncDispose]();
const problems = findFleetProblems(result);
console.log(JSON.stringify(result, null, 2));
for (const problem of problems) console.log(problem);
console.log(problems.length === 0 ? "ok" : "FAILED");
Deno.exit(problems.length === 0 ? 0 : 1);
