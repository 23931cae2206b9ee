import { assert, assertEquals, assertMatch, assertNotMatch } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { spawnCommand, withProxyCommand } from "../../support/_cli.ts";
import { assertRefused } from "../../support/_surface.ts";
import { assertMatchesSchema } from "../../support/schema.ts";

interface Record {
  readonly type: string;
  readonly event?: string;
  readonly [key: string]: unknown;
}

function ask(url: string, stream = false): Promise<Response> {
  return fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: "chat-completion", stream, messages: [{ role: "user", content: "Hello" }] }),
  });
}

/** The records among the lines of standard error. */
function listRecords(err: string): Record[] {
  return err.split("\n").filter((line) => line.startsWith("{")).map((line) => JSON.parse(line) as Record);
}

/** Who answered, and how many models were left behind. */
async function served(response: Response): Promise<readonly [model: string | null, fallbacks: number]> {
  const body = await response.json();
  assertMatchesSchema("CreateChatCompletionResponse", body);
  const model = response.headers.get("x-mesh-model");
  assertEquals([response.status, body.model], [200, model]);
  assertMatch(body.choices[0].message.content, new RegExp(`^Hello from ${model}, .* You said: Hello$`));
  return [model, Number(response.headers.get("x-mesh-fallbacks"))];
}

describe("modelmesh proxy --demo", () => {
  it("streams a response, fails over on the second request, and prints why on standard error", async () => {
    await using child = spawnCommand(["proxy", "--demo", "--port", "0"], {
      env: { OPENAI_API_KEY: "sk-not-for-the-demo" },
    });
    const url = await child.url();
    const streamed = await ask(url, true);
    assertEquals(streamed.headers.get("content-type"), "text/event-stream");
    const events = (await streamed.text()).trimEnd().split("\n\n").map((event) => event.replace("data: ", ""));
    assertEquals(events.pop(), "[DONE]");
    const chunks = events.map((event) => JSON.parse(event));
    for (const chunk of chunks) assertMatchesSchema("CreateChatCompletionStreamResponse", chunk);
    const text = chunks.map(({ choices }) => choices[0]?.delta.content ?? "").join("");
    assertMatch(text, /^Hello from \w+, a simulated provider\. You said: Hello$/);

    const answers: (readonly [string | null, number])[] = [];
    for (let number = 2; number <= 9; number++) answers.push(await served(await ask(url)));
    const [[model, fallbacks] = []] = answers;
    assertEquals([model === "beta", fallbacks], [false, 1], "the second provider refuses its first call");
    assert(new Set(answers.map(([model]) => model)).size > 1, "they take turns");
    assert(answers.every(([, fallbacks]) => fallbacks <= 1), JSON.stringify(answers));

    child.kill("SIGTERM");
    assertEquals([await child.code, child.out], [0, ""], child.err);
    checkEvents(listRecords(child.err));
    assertMatch(child.err, /providers: demo-alpha \(config\), demo-beta \(config\), demo-gamma \(config\)/);
    assertMatch(child.err, new RegExp(`curl -iN ${url}/v1/chat/completions`));
    assertNotMatch(child.err, /not-for-the-demo|OPENAI/);
  });

  it("has the refused provider back after 5 seconds", async () => {
    await withProxyCommand(["--demo"], {}, async (url, shell) => {
      const rested = async () => (await (await fetch(`${url}/v1/models/chat-completion`)).json()).mesh.standby;
      for (let number = 1; number <= 9 && await rested() === 0; number++) await served(await ask(url));
      assertEquals(await rested(), 1);
      const { timestamp } = listRecords(shell.err).find(({ event }) => event === "deactivation")!;
      await ask(url, true).then((response) => response.text()); // the pauses between its words take time
      for (let number = 1; number <= 20 && await rested() === 1; number++) await (await ask(url, true)).text();
      const recovery = listRecords(shell.err).find(({ event }) => event === "recovery")!;
      assertEquals([recovery.model, recovery.from, recovery.to], ["beta", "standby", "active"]);
      assertEquals(Date.parse(recovery.timestamp as string) - Date.parse(timestamp as string), 5000);
    });
  });

  it("is what its help says: the curl line works as it is printed", async () => {
    await withProxyCommand(["--demo"], {}, async (url, shell) => {
      const body = /-d '(\{.*\})'/.exec(shell.err)?.[1] ?? "";
      const headers = { "content-type": "application/json" };
      const response = await fetch(`${url}/v1/chat/completions`, { method: "POST", headers, body });
      assertMatch(await response.text(), /\n\ndata: \[DONE\]\n\n$/);
      await assertRefused(await fetch(`${url}/v1/chat/completions`), { status: 405, code: "method_not_allowed" });
    });
  });
});

describe("The entry for proxies alone", () => {
  it("is the same command: proxy.ts with its options", async () => {
    await using help = spawnCommand(["--help"], { entry: "proxy" });
    await using mistake = spawnCommand(["--port", "abc"], { entry: "proxy" });
    assertEquals([await help.code, help.err], [0, ""]);
    assertMatch(help.out, /^Usage: modelmesh proxy \[options\]/);
    assertEquals([await mistake.code, mistake.out], [2, ""]);
    assertMatch(mistake.err, /"--port" takes a number/);
  });

  it("exits 1 when nothing can start, without a stack", async () => {
    await using child = spawnCommand([], { entry: "proxy" });
    assertEquals([await child.code, child.out], [1, ""]);
    assertMatch(child.err, /^No providers were detected\. [^]*OPENAI_API_KEY[^]*--demo\n$/);
  });
});

/** A refusal by the second provider: the request goes on, the model is in standby for the 5 seconds asked for. */
function checkEvents(records: readonly Record[]): void {
  assertEquals(records.filter(({ type }) => type === "routing").length, 9, "one decision each");
  const events = records.filter(({ type }) => type === "event");
  const { model, provider, reason, from, to, metadata } = events.find(({ event }) => event === "deactivation")!;
  assertEquals({ model, provider, reason, from, to, metadata }, {
    model: "beta",
    provider: "demo-beta",
    reason: "rate_limited",
    from: "active",
    to: "standby",
    metadata: { standby_ms: 5000 },
  });
  const rotation = events.find(({ event }) => event === "rotation")!;
  assertEquals([rotation.from, rotation.reason], ["beta", "rate_limited"]);
}
