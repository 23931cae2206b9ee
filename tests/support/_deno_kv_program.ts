/**
 * Tests of a storage over Deno KV, run in a Deno with unstable KV. Prints a line per test. Argument: its folder.
 * @module
 */
import { denoKvStorage } from "../../connectors/storage/deno_kv.ts";
import { denoRuntime } from "../../src/runtime/deno.ts";
import { storageConformance } from "../contracts/storage.ts";

let count = 0;
const cases = storageConformance((clock) =>
  denoKvStorage.create({ path: `${Deno.args[0]}/${count++}.kv` }, { ...denoRuntime(), clock })
);
for (const { name, run } of cases) {
  const said = await run().then(() => "ok", (error: unknown) => String(error));
  console.log(`${said} ${name}`);
}
