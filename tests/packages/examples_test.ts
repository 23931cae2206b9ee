/** Examples that import other packages from npm. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { runExample, startDemoProcess } from "../support/_examples.ts";
import { startTestProxy } from "../support/proxy.ts";
import { respond, startUpstream } from "../support/upstream.ts";

const hello = (question: string) => `Hello from \\w+, a simulated provider\\. You said: ${question}\n`;

describe("examples", () => {
  it("vercel_ai.ts streams in process", async () => {
    await using demo = await startDemoProcess();
    const said = await runExample("vercel_ai.ts", { env: { VLLM_HOST: demo.host } });
    assertMatch(said, new RegExp(`^${hello("What is a failover\\?")}— \\w+, \\d+ tokens\n$`));
  });

  it("langchain.ts answers non-streaming and streaming", async () => {
    await using demo = await startDemoProcess();
    const said = await runExample("langchain.ts", { args: [demo.url] });
    assertMatch(said, new RegExp(`^${hello("What is a failover\\?")}${hello("And a circuit breaker\\?")}$`));
  });

  it("coding_agent.ts reads what it is asked to read, and nothing outside of its folder", async () => {
    const call = (name: string, input: object, id: string) => ({ name, arguments: JSON.stringify(input), id });
    await using upstream = await startUpstream([
      respond({ toolCalls: [call("list_files", {}, "a"), call("read_file", { name: "../deno.json" }, "b")] }),
      respond({ toolCalls: [call("read_file", { name: "two_proxies.yaml" }, "c")] }),
      respond({ text: "two_proxies.yaml" }),
    ]);
    await using proxy = await startTestProxy({
      upstreams: { a: upstream.url },
      config: { aliases: { "chat-completion": "chat" } },
    });
    const said = await runExample("coding_agent.ts", { args: [proxy.url] });
    assertEquals(said.trimEnd().split("\n"), [
      "[list_files {}]",
      '[read_file {"name":"../deno.json"}]',
      '[read_file {"name":"two_proxies.yaml"}]',
      "two_proxies.yaml",
    ]);
    const results = upstream.requests.map(({ body }) => String(body));
    assert(results[1]?.includes("library.ts\\n"), results[1]);
    assert(results[1]?.includes("There is no such file."), results[1]);
    assert(results[2]?.includes("redis://127.0.0.1:6379"), results[2]);
  });
});
