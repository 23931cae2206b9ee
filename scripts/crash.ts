/**
 * Long version of the crash tests: kills a process 200 times while it writes state, and lets two processes make 1 000
 * updates each to one file. `--kills=` and `--updates=` change the numbers. A deliberately unsafe writer shows that the
 * test detects torn files.
 * @module
 */
import { killAgainAndAgain, spentAt, StateProcess } from "../tests/support/_crash.ts";

function readNumberOption(name: string, defaultValue: number): number {
  const argument = Deno.args.find((arg) => arg.startsWith(`--${name}=`));
  return argument === undefined ? defaultValue : Number(argument.slice(name.length + 3));
}

const kills = readNumberOption("kills", 200);
const updates = readNumberOption("updates", 1000);
const folder = await Deno.makeTempDir();

const killed = await killAgainAndAgain(`${folder}/killed.json`, kills);
console.log(`${kills} kills over ${killed.updates} updates: ${killed.corrupt} corrupt, ${killed.lost} lost`);
const naive = await killAgainAndAgain(`${folder}/naive.json`, Math.ceil(kills / 4), { naive: true });
console.log(`a naive writer, ${Math.ceil(kills / 4)} kills: ${naive.corrupt} corrupt`);

const path = `${folder}/shared.json`;
const from = performance.now();
const codes = await Promise.all([1, 2].map(() => new StateProcess(path, String(updates), "locked").end()));
const seconds = ((performance.now() - from) / 1000).toFixed(1);
const spent = await spentAt(path);
console.log(`2 × ${updates} updates in ${seconds} s: ${spent} are there`);
await Deno.remove(folder, { recursive: true });
const isGood = killed.corrupt + killed.lost === 0 && spent === 2 * updates && codes.every((code) => code === 0);
console.log(isGood ? "ok" : "FAILED");
Deno.exit(isGood ? 0 : 1);
