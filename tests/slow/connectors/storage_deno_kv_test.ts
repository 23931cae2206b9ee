/** Records in Deno KV: in a process that has it, since this one was started without. */
import { assertEquals, assertGreater, assertRejects, assertThrows } from "@std/assert";
import { denoKvStorage } from "../../../connectors/storage/deno_kv.ts";
import { ConfigError, ConnectorError } from "../../../src/errors.ts";
import { denoRuntime } from "../../../src/runtime/deno.ts";
import { makeFolder } from "../../support/_library.ts";

Deno.test("mesh.deno-kv.v1 does what every storage does", async () => {
  await using folder = await makeFolder();
  const root = new URL("../../../", import.meta.url);
  const program = new URL("tests/support/_deno_kv_program.ts", root).pathname;
  const config = new URL("deno.json", root).pathname;
  const { stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--unstable-kv", "--no-check", "--no-npm", "--config", config, program, folder.path],
  }).output();
  const lines = new TextDecoder().decode(stdout).trim().split("\n");
  assertEquals(lines.filter((line) => !line.startsWith("ok ")), [], new TextDecoder().decode(stderr));
  assertGreater(lines.length, 16);
});

Deno.test("mesh.deno-kv.v1 says how to start Deno with it", async () => {
  const storage = denoKvStorage.create({}, denoRuntime());
  await assertRejects(() => storage.load("state"), ConnectorError, "started with --unstable-kv");
  assertThrows(() => denoKvStorage.create({ path: 7 }, denoRuntime()), ConfigError, "storage.path");
});
