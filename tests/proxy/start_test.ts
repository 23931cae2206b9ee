import { assertEquals, assertRejects } from "@std/assert";
import { serverConnectors } from "../../connectors/server.ts";
import { MeshError } from "../../src/errors.ts";
import { startProxy } from "../../src/proxy/serve.ts";
import { testRuntime } from "../../src/runtime/test.ts";
import { fakeShell } from "../support/_cli.ts";

Deno.test("startProxy() flushes its sinks when the port is taken, and leaves no timer", async () => {
  let flushes = 0;
  const runtime = testRuntime({ env: { OPENAI_API_KEY: "key-0123456789" } });
  const busy = new MeshError("Cannot listen: the port is in use", { code: "port_in_use" });
  const start = startProxy({
    connectors: serverConnectors,
    runtime,
    shell: { ...fakeShell(), serve: () => Promise.reject(busy) },
    sinks: [{ emit: () => {}, trace: () => {}, flush: () => Promise.resolve(void flushes++) }],
  }, {});
  assertEquals(await assertRejects(() => start, MeshError), busy);
  assertEquals([flushes, runtime.clock.pending], [1, 0]);
});
