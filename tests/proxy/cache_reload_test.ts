/** The cache across a change of the configuration. */
import { assertEquals } from "@std/assert";
import { makeFolder } from "../support/_library.ts";
import { startOnFile } from "../support/_renewed.ts";
import { testConfig } from "../support/proxy.ts";
import { respond, startUpstream } from "../support/upstream.ts";

Deno.test("a reload keeps the responses of the same models in memory, and no others", async () => {
  await using upstream = await startUpstream(respond());
  await using folder = await makeFolder();
  const config = testConfig({ upstreams: { a: upstream.url }, config: { cache: {} } });
  const { models: { a: model } } = config as { models: { a: object } };
  await using started = await startOnFile(folder.path, config);
  const ask = async () => {
    const response = await fetch(`${started.proxy.url}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ model: "chat", messages: [{ role: "user", content: "Hi" }], temperature: 0 }),
    });
    await response.text();
    return (response.headers.get("x-mesh-cache") ?? "").slice(0, 4);
  };
  assertEquals([await ask(), await ask()], ["MISS", "HIT;"]);
  await started.renew({ ...config, proxy: { request_timeout: "20s" }, cache: { ttl: "10m" } });
  assertEquals(await ask(), "HIT;");
  await started.renew({ ...config, models: { a: { ...model, model: "b" } } });
  assertEquals([await ask(), await ask()], ["MISS", "HIT;"]);
  await started.renew({ ...config, cache: undefined });
  assertEquals([await ask(), await ask()], ["", ""]);
  await started.renew(config);
  assertEquals(await ask(), "HIT;");
});
