/** A Redis as the storage of processes that have nothing else to stay alive for. */
import { assertEquals, assertNotMatch } from "@std/assert";
import { afterAll, beforeAll, describe, it } from "@std/testing/bdd";
import { connect, createServer, type Server, type Socket } from "node:net";
import { spawnCommand } from "../support/_cli.ts";
import { makeFolder, runProgram } from "../support/_library.ts";
import { testConfig } from "../support/proxy.ts";
import { hasRedis, TestRedis } from "../support/redis.ts";
import { goodBody } from "../support/_surface.ts";
import { respond, startUpstream, type Upstream } from "../support/upstream.ts";

let redis: TestRedis;
/** The way to it, as long as to another machine: on this one answers are there before anybody looks. */
let way: Server;
let upstream: Upstream;

const wayMs = 15;

/** Passes bytes on, a moment later. */
function longWay(port: number): Promise<Server> {
  const late = (from: Socket, to: Socket) => {
    from.on("data", (data) => void setTimeout(() => to.write(data), wayMs));
    from.on("close", () => to.destroy());
    from.on("error", () => {});
  };
  const server = createServer((socket) => {
    const onward = connect(port, "127.0.0.1");
    late(socket, onward);
    late(onward, socket);
  });
  return new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(server)));
}

/** What counts in it is shared, so that calls wait for Redis. */
function configText(): string {
  const { port } = way.address() as { port: number };
  const config = {
    storage: { connector: "redis.redis.v1", url: `redis://127.0.0.1:${port}`, sync_policy: "immediate" },
    budget: { daily_limit: 1 },
    models: { a: { provider: "a", capabilities: ["chat-completion"], pricing: { input: 1, output: 1 } } },
  };
  return JSON.stringify(testConfig({ upstreams: { a: upstream.url }, config }));
}

(hasRedis ? describe : describe.skip)("A process whose storage is a Redis", () => {
  beforeAll(async () => {
    redis = await TestRedis.start();
    way = await longWay(redis.port);
    upstream = await startUpstream(respond());
  });
  afterAll(async () => {
    await new Promise((resolve) => way.close(resolve));
    await redis[Symbol.asyncDispose]();
    await upstream[Symbol.asyncDispose]();
  });

  it("is a proxy that stays, serves, and ends on a signal", async () => {
    await using folder = await makeFolder();
    const path = await folder.write("mesh.json", configText());
    await using child = spawnCommand(["proxy", "--config", path, "--port", "0"]);
    const url = await child.url();
    for (let call = 0; call < 3; call++) {
      const response = await fetch(`${url}/v1/chat/completions`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ ...goodBody, max_tokens: 10 }),
      });
      assertEquals([response.status, (await response.json()).choices[0].message.content], [200, "Hello world"]);
    }
    child.kill("SIGTERM");
    assertEquals(await child.code, 0, child.err);
    assertNotMatch(child.err, /error|\n\s+at /i);
  });

  for (const [closing, end] of [["closes its client", "await client.close();"], ["does not", ""]] as const) {
    it(`is a program that ends with 0 after its work, when it ${closing}`, async () => {
      await using folder = await makeFolder();
      const source = `
        import { create } from LIBRARY;
        const client = create({ config: ${configText()} });
        await client.ready();
        const completion = await client.chat.completions.create({
          messages: [{ role: "user", content: "Hi" }],
          max_tokens: 10,
        });
        console.log(completion.choices[0].message.content);
        ${end}`;
      assertEquals(await runProgram(source, folder, {}), { code: 0, stdout: "Hello world\n", stderr: "" });
    });
  }

  it("is a program that ends with 0 after its work while the Redis is away, although it does not close its client", async () => {
    await using folder = await makeFolder();
    const gone = JSON.stringify({ ...JSON.parse(configText()), storage: { connector: "redis.redis.v1", port: 9 } });
    const source = `
      import { create } from LIBRARY;
      const client = create({ config: ${gone} });
      await client.ready();
      const completion = await client.chat.completions.create({
        messages: [{ role: "user", content: "Hi" }],
        max_tokens: 10,
      });
      console.log(completion.choices[0].message.content);`;
    assertEquals(await runProgram(source, folder, {}), { code: 0, stdout: "Hello world\n", stderr: "" });
  });
});
