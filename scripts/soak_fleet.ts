/**
 * Soak test of a fleet: two proxies on one Redis, with clients, teams, budgets and stores of logs, for an hour. `--minutes=`,
 * `--proxies=` and `--engine=postgres` change it. It needs `redis-server` or PostgreSQL.
 * @module
 */
import { findFleetProblems, soakFleet } from "../tests/support/_fleet_soak.ts";
import { fleetEngines } from "../tests/support/fleet_engines.ts";

function readNumber(name: string, defaultValue: number): number {
  const argument = Deno.args.find((arg) => arg.startsWith(`--${name}=`));
  return argument === undefined ? defaultValue : Number(argument.slice(name.length + 3));
}

const mb = (bytes: number) => `${(bytes / 1024 / 1024).toFixed(1)} MB`;
const isPostgres = Deno.args.includes("--engine=postgres");
const engine = await fleetEngines.find(({ title }) => title.includes(isPostgres ? "PostgreSQL" : "Redis"))!.start(
  "soak",
);
const result = await soakFleet({
  seconds: readNumber("minutes", 60) * 60,
  count: readNumber("proxies", 2),
  storage: engine.storage,
  disturb: () => engine.failOver(),
  onSample: (samples) =>
    console.log(
      samples.map(({ second, rss, heapUsed, timers, requests }) =>
        `${second} s: ${mb(rss)}, heap ${mb(heapUsed)}, ${timers} timers, ${requests} over`
      ).join(" | "),
    ),
});
await engine[Symbol.asyncDispose]();
const problems = findFleetProblems(result);
console.log(JSON.stringify(result, null, 2));
for (const problem of problems) console.log(problem);
console.log(problems.length === 0 ? "ok" : "FAILED");
Deno.exit(problems.length === 0 ? 0 : 1);
