/** Limits of tags and end users in a program, which has no clients. */
import { assertEquals, assertRejects } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { type MeshError, routingOf } from "../../mod.ts";
import { clientOver, messages } from "../support/_library.ts";
import { Gate, ok, type Script, startUpstream, status, stream } from "../support/upstream.ts";

/** A program whose requests cost a dollar each. */
async function startProgram(config: Readonly<Record<string, unknown>>, behaviour: Script = ok()) {
  const upstream = await startUpstream(behaviour);
  const price = { pricing: { input: 0, output: 0, per_request: 1 } };
  const models = { alpha: { provider: "alpha", capabilities: ["chat-completion"], ...price } };
  const program = clientOver({ upstreams: { alpha: upstream.url }, config: { models, ...config } });
  return {
    ...program,
    completions: program.client.chat.completions,
    upstream,
    async [Symbol.asyncDispose]() {
      await program[Symbol.asyncDispose]();
      await upstream[Symbol.asyncDispose]();
    },
  };
}

/** The code and the message of a call that fails. */
async function readFailure(call: Promise<unknown>): Promise<readonly [code: string, message: string]> {
  const { code, message } = await assertRejects(() => call) as MeshError;
  return [code, message];
}

const mesh = { tags: ["beta"] };
const daily = (daily_limit: number) => ({ budget: { daily_limit } });

describe("A limit of a tag", () => {
  it("of money holds for all calls at once that have the tag", async () => {
    await using program = await startProgram({ tags: { beta: daily(3) } });
    const calls = Array.from({ length: 20 }, () => program.completions.create({ messages, mesh }));
    const served = (await Promise.allSettled(calls)).filter(({ status }) => status === "fulfilled");
    assertEquals([served.length, program.upstream.calls], [3, 3]);
    const [code, message] = await readFailure(program.completions.create({ messages, mesh }));
    assertEquals([code, message], ["budget_exceeded", 'The budget of the tag "beta" is spent']);
    const other = await program.completions.create({ messages, mesh: { tags: ["gamma"] } });
    assertEquals(routingOf(other)?.tags, ["gamma"]);
    assertEquals((await program.client.explain({ messages, mesh })).excluded, [{ model: "alpha", reason: "budget" }]);
  });

  it("of requests at once counts calls until their responses have ended, however they end", async () => {
    const gate = new Gate();
    await using program = await startProgram({ tags: { beta: { concurrent: 1 } } }, [
      stream({ gate }),
      status(400),
      ok(),
    ]);
    gate.open(2);
    const response = await program.completions.create({ messages, mesh, stream: true });
    assertEquals(await readFailure(program.completions.create({ messages, mesh })), [
      "rate_limit_exceeded",
      'The tag "beta" is at its limit of requests at once (concurrent)',
    ]);
    response.cancel?.();
    gate.openAll();
    for await (const _ of response); // it has ended
    await readFailure(program.completions.create({ messages, mesh }));
    await program.completions.create({ messages, mesh });
  });
});

describe("A limit of end users", () => {
  it("holds for each, named by user, mesh.user or a route, in chat and responses", async () => {
    await using program = await startProgram({ users: { rpm: 1 } });
    const { completions, client } = program;
    const message = "The end user is at its limit of requests a minute (rpm)";
    await completions.create({ messages, user: "eve" });
    const again = [
      completions.create({ messages, user: "eve" }),
      completions.create({ messages, safety_identifier: "eve" }),
      completions.create({ messages, mesh: { user: "eve" }, user: "adam" }),
      completions.create({ messages }, { route: { user: "eve" } }),
      client.responses.create({ input: "Hi", user: "eve" }),
      client.responses.create({ input: "Hi", safety_identifier: "eve" }),
    ];
    for (const call of again) assertEquals(await readFailure(call), ["rate_limit_exceeded", message]);
    const other = await completions.create({ messages, user: "adam" });
    assertEquals(routingOf(other)?.user, "adam");
  });
});
