/** Examples that need a Python with `openai`, or a Redis. */
import { assertEquals, assertMatch } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { readFile } from "node:fs/promises";
import { spawnCommand } from "../support/_cli.ts";
import { examplePath, runExample, startDemoProcess } from "../support/_examples.ts";
import { makeFolder } from "../support/_library.ts";
import { until } from "../support/patience.ts";
import { findPython } from "../support/_python.ts";
import { hasRedis, TestRedis } from "../support/redis.ts";

const python = findPython("openai");
if (python === undefined) {
  describe.skip("examples/python_client.py: needs python3 with openai (pip install openai)", () => {});
} else {
  it("examples/python_client.py answers non-streaming and streaming, and says which model did", async () => {
    await using demo = await startDemoProcess();
    const hello = "Hello from \\w+, a simulated provider\\. You said: What is a failover\\?\n";
    const env = { NO_PROXY: "127.0.0.1", PYTHONIOENCODING: "utf-8" };
    const said = await runExample("python_client.py", { args: [demo.url], env }, [python]);
    assertMatch(said, new RegExp(`^${hello}— \\w+, fallbacks: [01]\n\n${hello}$`));
  });
}

(hasRedis ? describe : describe.skip)("examples/two_proxies.yaml", () => {
  it("makes two proxies count what both have spent", async () => {
    await using redis = await TestRedis.start();
    await using demo = await startDemoProcess();
    await using folder = await makeFolder();
    const config = await folder.write("two_proxies.yaml", await withAddresses(demo.url, redis.url));
    const start = () => spawnCommand(["proxy", "--config", config, "--port", "0"]);
    await using one = start();
    await using other = start();
    const urls = await Promise.all([one.url(), other.url()]);
    const costs = await Promise.all(urls.map(costOfOne));
    const spent = costs[0]! + costs[1]!;
    for (const url of urls) {
      await until(async () => Math.abs(await spentAt(url) - spent) < 1e-9, `${url} has spent ${spent} USD`);
    }
    assertEquals(costs.every((cost) => cost > 0), true);
  });
});

/** The example, at other addresses than its own. */
async function withAddresses(demo: string, redis: string): Promise<string> {
  const text = await readFile(examplePath("two_proxies.yaml"), "utf-8");
  const moved = text.replace("base_url: http://127.0.0.1:8080/v1", `base_url: ${demo}/v1`)
    .replace("url: redis://127.0.0.1:6379", `url: ${redis}`);
  assertEquals([moved.includes(`base_url: ${demo}/v1\n`), moved.includes(`url: ${redis}\n`)], [true, true]);
  return moved;
}

/** Asks once, and returns what it cost, USD. */
async function costOfOne(url: string): Promise<number> {
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: "assistant", messages: [{ role: "user", content: "Hello" }] }),
  });
  assertEquals([response.status, (await response.json()).object], [200, "chat.completion"]);
  return Number(response.headers.get("x-mesh-cost-usd"));
}

/** What a proxy says its provider has spent today, USD. */
async function spentAt(url: string): Promise<number> {
  const { budgets } = await (await fetch(`${url}/mesh/status`)).json();
  return budgets.find(({ scope, id }: { scope: string; id: string }) => scope === "provider" && id === "demo")
    .spent_usd;
}
