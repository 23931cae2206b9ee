/**
 * Soak test of the built proxy: 500 concurrent streams for ten minutes, with failing providers and clients. The npm
 * package is built and runs on Node in a separate process. `--minutes=` and `--streams=` change the load; `--deno` runs
 * the sources on Deno.
 * @module
 */
import type { SoakSample } from "../tests/support/_sampled_proxy.ts";
import { findProblems, soak } from "../tests/support/_soak.ts";
import { stop } from "./npm/esbuild.ts";
import { buildPackage } from "./npm/package.ts";

function readNumber(name: string, defaultValue: number): number {
  const argument = Deno.args.find((arg) => arg.startsWith(`--${name}=`));
  return argument === undefined ? defaultValue : Number(argument.slice(name.length + 3));
}

const [minutes, streams] = [readNumber("minutes", 10), readNumber("streams", 500)];
const folder = await Deno.makeTempDir();
const onDeno = Deno.args.includes("--deno");
const built = new URL(`file://${folder}/package/`);
if (!onDeno) {
  await buildPackage(built);
  await stop();
}
const proxyUrl = JSON.stringify(new URL("dist/proxy.js", built).href);
const createCommand = (source: string) =>
  ["node", "--input-type=module", "--eval", source.replaceAll("PROXY", proxyUrl)] as const;

const mb = (bytes: number) => `${(bytes / 1024 / 1024).toFixed(1)} MB`;
const onSample = ({ second, rss, heapUsed, timers, inFlight, requests }: SoakSample) =>
  console.log(`${second} s: ${mb(rss)}, heap ${mb(heapUsed)}, ${timers} timers, ${inFlight} streams, ${requests} over`);

await Deno.mkdir(`${folder}/log`);
const result = await soak({
  seconds: minutes * 60,
  streams,
  folder: `${folder}/log`,
  onSample,
  ...(onDeno ? {} : { commandOf: createCommand }),
});
await Deno.remove(folder, { recursive: true });
const problems = findProblems(result);
console.log(JSON.stringify(result, null, 2));
for (const problem of problems) console.log(problem);
console.log(problems.length === 0 ? "ok" : "FAILED");
Deno.exit(problems.length === 0 ? 0 : 1);
