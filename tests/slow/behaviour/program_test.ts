import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { environment, makeFolder, runProgram } from "../../support/_library.ts";
import { hang, respond, startUpstream, status } from "../../support/upstream.ts";

const request = `{ messages: [{ role: "user", content: "Hi" }] }`;
const clean = { code: 0, stdout: "", stderr: "" };

describe("A program that uses the library", () => {
  it("needs variables alone; nothing is printed or written, and it ends without close()", async () => {
    await using upstream = await startUpstream(respond());
    await using folder = await makeFolder();
    const source = `
      import { create } from LIBRARY;
      const answer = await create("chat-completion").chat.completions.create(${request});
      if (answer.choices[0].message.content !== "Hello world") throw new Error("wrong answer");`;
    assertEquals(await runProgram(source, folder, environment({ openai: upstream.url })), clean);
    assertEquals([upstream.calls, await folder.list()], [1, []]);
  });

  it("ends while a model is in standby and its recovery is due in a minute", async () => {
    await using upstream = await startUpstream([status(401), respond()]);
    await using folder = await makeFolder();
    const provider = { connector: "openai.compatible.v1", base_url: upstream.url };
    const config = {
      providers: { bad: provider, good: provider },
      models: { one: { provider: "bad" }, two: { provider: "good" } },
      pools: { chat: { models: ["one", "two"], deactivation: { retry_limit: 1 } } },
    };
    const source = `
      import { create } from LIBRARY;
      const client = create({ config: ${JSON.stringify(config)} });
      await client.chat.completions.create(${request});
      if (client.mesh.poolStatus().chat.standby !== 1) throw new Error("nobody rests");`;
    assertEquals(await runProgram(source, folder, {}), clean);
    assertEquals([upstream.calls, await folder.list()], [2, []]);
  });

  it("ends while webhooks are not accepted; close() waits for them", async () => {
    await using hooks = await startUpstream(status(503));
    await using upstream = await startUpstream(status(401));
    await using folder = await makeFolder();
    const config = {
      providers: { bad: { connector: "openai.compatible.v1", base_url: upstream.url } },
      models: { one: { provider: "bad" } },
      pools: { chat: { models: ["one"], deactivation: { retry_limit: 1 } } },
      observability: { routing: { connector: "mesh.webhook.v1", url: hooks.url } },
    };
    const source = (end: string) => `
      import { create } from LIBRARY;
      const client = create({ config: ${JSON.stringify(config)} });
      await client.chat.completions.create(${request}).catch(() => {});
      ${end}`;
    assertEquals(await runProgram(source(""), folder, {}), clean);
    hooks.follow([status(503), status(200)]);
    const before = hooks.calls;
    assertEquals(await runProgram(source("await client.close();"), folder, {}), clean);
    const eventOf = ({ headers }: { headers: Record<string, string | undefined> }) => headers["webhook-id"];
    const [first, again, second] = hooks.requests.slice(before).map(eventOf);
    assertEquals([hooks.calls - before, first === again, first === second], [4, true, false]); // outages of pool and provider, too
  });

  it("ends by itself after calls that had no time", async () => {
    await using upstream = await startUpstream(hang());
    await using folder = await makeFolder();
    const provider = {
      connector: "openai.compatible.v1",
      base_url: upstream.url,
      execution: { connect_timeout: "10m" },
    };
    const config = {
      providers: { silent: provider },
      models: { one: { provider: "silent" } },
      pools: { chat: { models: ["one"] } },
    };
    const source = `
      import { create, DeadlineError, UnsupportedRequestError } from LIBRARY;
      const client = create({ config: ${JSON.stringify(config)} });
      for (const timeout of [0, 1, 1, 5, 1, 5, 20, 1]) {
        const call = client.chat.completions.create(${request}, { timeout });
        const error = await call.then(() => undefined, (error) => error);
        const kind = timeout === 0 ? UnsupportedRequestError : DeadlineError;
        if (!kind.isInstance(error)) throw error;
      }`;
    assertEquals(await runProgram(source, folder, {}), clean);
  });

  it("fails with our words when there is no provider, and prints no more than that", async () => {
    await using folder = await makeFolder();
    const source = `
      import { create, NoProvidersError } from LIBRARY;
      try { create("chat-completion"); } catch (error) { if (NoProvidersError.isInstance(error)) process.exitCode = 7; }`;
    assertEquals(await runProgram(source, folder, {}), { ...clean, code: 7 });
  });
});
