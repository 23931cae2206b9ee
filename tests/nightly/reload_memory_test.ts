/** A proxy that reloads again and again has one engine, not all it ever had. */
import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { makeFolder, runProgram } from "../support/_library.ts";
import { testConfig } from "../support/proxy.ts";
import { respond, startUpstream } from "../support/upstream.ts";

/** Reloads in each process. */
const reloads = 30;

/** Enough for a handful of engines of the configuration below, 14 MB each. */
const heapMb = 128;

function numbered<Value>(count: number, prefix: string, value: Value): Record<string, Value> {
  return Object.fromEntries(Array.from({ length: count }, (_, number) => [`${prefix}${number}`, value]));
}

describe("A proxy with 300 models in 20 pools", () => {
  for (const [between, step, calls] of [["without", "", 0], ["with", "await ask(times % 2 === 0);", 1]] as const) {
    it(`is reloaded ${reloads} times within ${heapMb} MB, ${between} requests between`, async () => {
      await using upstream = await startUpstream(respond());
      await using folder = await makeFolder();
      const config = testConfig({
        upstreams: { a: upstream.url },
        config: {
          models: numbered(300, "model-", { provider: "a", capabilities: ["chat-completion"] }),
          pools: numbered(20, "pool-", { capability: "chat-completion", deactivation: { request_limit: 1000 } }),
        },
      });
      const path = await folder.write("mesh.json", JSON.stringify(config));
      const source = program.replace("CONFIG", JSON.stringify(path)).replace("STEP", step);
      assertEquals(await runProgram(source, folder, {}, heapMb), { code: 0, stdout: "done\n", stderr: "" });
      assertEquals(upstream.calls, calls * reloads);
    });
  }
});

const program = `
  import { serve } from PROXY;
  const proxy = await serve({ config: CONFIG, port: 0 });
  const ask = async (stream) => {
    const response = await fetch(proxy.url + "/v1/chat/completions", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ model: "pool-7", stream, messages: [{ role: "user", content: "Hi" }] }),
    });
    const text = await response.text();
    if (response.status !== 200) throw new Error(text);
  };
  for (let times = 0; times < ${reloads}; times++) {
    await proxy.reload();
    STEP
  }
  await proxy.stop();
  console.log("done");`;
