/**
 * A process that persists state on disk, for tests that kill it or run two of them:
 *
 * deno run -A _state_program.ts <path> <count> [naive|locked]
 *
 * It makes a number of updates, a request of one nano-dollar each, and prints a line for each that is persisted.
 * `naive` overwrites the file in place, which is unsafe; `locked` shares it with other processes.
 * @module
 */
import { LocalFileStorage } from "../../connectors/storage/local_file.ts";
import { SnapshotStore } from "../../src/state/persistence/snapshot_store.ts";
import { Hub } from "../../src/observe/hub.ts";
import { denoRuntime } from "../../src/runtime/deno.ts";
import { CodedStorage } from "../../src/storage/coded_storage.ts";
import { addMetered } from "../state/_tracked.ts";

const [path = "", count = "0", kind] = Deno.args;
const { clock, disk } = denoRuntime();
const naive = { ...disk!, replace: (at: string, data: Uint8Array) => Deno.writeFile(at, data) };
const file = new LocalFileStorage({ clock, disk: kind === "naive" ? naive : disk }, { path });
const storage = new CodedStorage(file, { format: "json", isCompressed: false });
const hub = new Hub(clock);
hub.add({ emit: () => {}, trace: ({ message }) => console.error(message), flush: () => Promise.resolve() });
const { state, add } = addMetered(clock, () => {});
const model = add("chat");
for (let index = 0; index < 40; index++) add(`pool-${index}`); // makes the state larger
for (const { state: other } of state.members) other.restore({ failures: 1, lastStatus: 500 });
const locking = kind === "locked" ? { locking: { timeoutMs: 60_000, retryIntervalMs: 2 } } : {};
const settings = { policy: "sync-on-boundary", intervalMs: 1, ...locking } as const;
const store = new SnapshotStore({ storage, settings, clock, hub });
await store.load(state);
console.log("ready");
for (let done = 1; done <= Number(count); done++) {
  const spending = model.reserve({ input: 1, output: 1 }, clock.monotonic());
  spending.end({ tokens: 1, costNanoUsd: 1 });
  await store.write();
  console.log(done);
}
await store.close();
