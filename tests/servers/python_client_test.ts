/**
 * The official packages `openai` and `anthropic` of Python as clients of the proxy: `pip install openai anthropic` for the
 * `python3` on PATH, or for the one that `OPENAI_PYTHON` names.
 */
import { assertEquals } from "@std/assert";
import { afterAll, beforeAll, describe, it } from "@std/testing/bdd";
import { drawn, images } from "../support/_images.ts";
import { operationStage } from "../support/_operations.ts";
import { findPython, PythonProcess } from "../support/_python.ts";
import { embeddings, json, ok, respond, type Script, status } from "../support/upstream.ts";

const openai = `import io, json, sys, openai
client = openai.OpenAI(base_url=sys.argv[1] + '/v1', api_key='any', max_retries=0)
`;
const anthropic = `import json, sys, anthropic
client = anthropic.Anthropic(base_url=sys.argv[1], api_key='any', max_retries=0)
`;

/** What a program prints as JSON; its `client` calls a proxy whose first provider fails, and whose second one answers. */
async function printed(python: PythonProcess, program: string, { capability, script, head = openai }: {
  readonly capability: string;
  readonly script: Script;
  /** Makes the `client`. */
  readonly head?: string;
}): Promise<unknown> {
  await using scene = await operationStage({ a: status(503), b: script }, {
    capability,
    models: capability === "text-embeddings" ? { a: { embedding_space: "one" }, b: { embedding_space: "one" } } : {},
    pool: { retry: { max_attempts: 0 } },
  });
  const text = await python.run(head + program, [scene.proxy.url]);
  assertEquals(scene.calls, { a: 1, b: 1 });
  return JSON.parse(text);
}

const ask = "model='pool', messages=[{'role': 'user', 'content': 'Hi'}]";

const toolCalls = [{ name: "look", arguments: '{"city": "Bern"}', id: "call_1" }];
const capability = "chat-completion";

/** Starts an interpreter before the tests of a suite, and ends it after them. */
function usePython(path: string): { readonly process: PythonProcess } {
  let process: PythonProcess;
  beforeAll(() => void (process = new PythonProcess(path, { NO_PROXY: "127.0.0.1" })));
  afterAll(() => process[Symbol.asyncDispose]());
  return {
    get process() {
      return process;
    },
  };
}

const openaiPython = findPython("openai");
if (openaiPython === undefined) {
  describe.skip("the openai package of Python: needs python3 with it (pip install openai)", () => {});
} else {
  describe("the openai package of Python", () => {
    const python = usePython(openaiPython);

    it("chats", async () => {
      const program = `answer = client.chat.completions.create(${ask})
print(json.dumps([answer.choices[0].message.content, answer.usage.total_tokens]))`;
      assertEquals(await printed(python.process, program, { capability: "chat-completion", script: ok() }), [
        "Hello world",
        15,
      ]);
    });

    it("streams", async () => {
      const program = `stream = client.chat.completions.create(${ask}, stream=True)
print(json.dumps([chunk.choices[0].delta.content or '' for chunk in stream if chunk.choices]))`;
      const deltas = await printed(python.process, program, { capability: "chat-completion", script: ok() });
      assertEquals((deltas as string[]).join(""), "Hello world");
    });

    it("has responses", async () => {
      const program = `answer = client.responses.create(model='pool', input='Hi', instructions='Be kind')
print(json.dumps([answer.output_text, answer.status, answer.usage.total_tokens]))`;
      assertEquals(await printed(python.process, program, { capability, script: ok() }), [
        "Hello world",
        "completed",
        15,
      ]);
    });

    it("streams responses", async () => {
      const program = `with client.responses.stream(model='pool', input='Hi') as stream:
    deltas = [event.delta for event in stream if event.type == 'response.output_text.delta']
    print(json.dumps([''.join(deltas), stream.get_final_response().output_text]))`;
      assertEquals(await printed(python.process, program, { capability, script: ok() }), [
        "Hello world",
        "Hello world",
      ]);
    });

    it("calls tools in responses", async () => {
      const program = `tool = {'type': 'function', 'name': 'look', 'parameters': {'type': 'object'}, 'strict': False}
first = client.responses.create(model='pool', input='Hi', tools=[tool])
call = [item for item in first.output if item.type == 'function_call'][0]
print(json.dumps([call.name, json.loads(call.arguments), call.call_id]))`;
      assertEquals(await printed(python.process, program, { capability, script: respond({ toolCalls }) }), [
        ...["look", { city: "Bern" }, "call_1"],
      ]);
    });

    it("parses responses", async () => {
      const program = `import pydantic
class Place(pydantic.BaseModel):
    city: str
answer = client.responses.parse(model='pool', input='Where?', text_format=Place)
print(json.dumps(answer.output_parsed.city))`;
      const script = respond({ text: '{"city":"Bern"}' });
      assertEquals(await printed(python.process, program, { capability, script }), "Bern");
    });

    it("embeds", async () => {
      const program = `answer = client.embeddings.create(model='pool', input=['red', 'green'])
print(json.dumps([[round(number, 3) for number in one.embedding] for one in answer.data]))`;
      const vectors = await printed(python.process, program, { capability: "text-embeddings", script: embeddings() });
      assertEquals(vectors, [[0.1, 0.2, 0.3], [0.1, 0.2, 0.3]]);
    });

    it("transcribes", async () => {
      const program = `sound = ('a.wav', io.BytesIO(b'RIFF' * 100), 'audio/wav')
print(json.dumps(client.audio.transcriptions.create(model='pool', file=sound).text))`;
      const script = json({ text: "Hello" });
      assertEquals(await printed(python.process, program, { capability: "speech-to-text", script }), "Hello");
    });

    it("draws and edits", async () => {
      const read = "print(json.dumps([one.b64_json for one in answer.data]))";
      const draw = `answer = client.images.generate(model='pool', prompt='a red room', n=2)\n${read}`;
      const edit = `room = ('room.png', b'123', 'image/png')
answer = client.images.edit(model='pool', image=[room, room], prompt='a red room', n=2)\n${read}`;
      const script = images();
      assertEquals(await printed(python.process, draw, { capability: "text-to-image", script }), [drawn, drawn]);
      assertEquals(await printed(python.process, edit, { capability: "image-to-image", script }), [drawn, drawn]);
    });
  });
}

const anthropicPython = findPython("anthropic");
if (anthropicPython === undefined) {
  describe.skip("the anthropic package of Python: needs python3 with it (pip install anthropic)", () => {});
} else {
  describe("the anthropic package of Python", () => {
    const python = usePython(anthropicPython);
    const asked = "model='pool', max_tokens=64, messages=[{'role': 'user', 'content': 'Hi'}]";

    it("creates a message", async () => {
      const program = `message = client.messages.create(${asked}, system='Be kind')
print(json.dumps([message.content[0].text, message.stop_reason, message.usage.input_tokens]))`;
      const script = ok();
      assertEquals(await printed(python.process, program, { capability, script, head: anthropic }), [
        "Hello world",
        "end_turn",
        10,
      ]);
    });

    it("streams a message", async () => {
      const program = `with client.messages.stream(${asked}) as stream:
    deltas = list(stream.text_stream)
    print(json.dumps([''.join(deltas), stream.get_final_message().usage.output_tokens]))`;
      const script = ok();
      assertEquals(await printed(python.process, program, { capability, script, head: anthropic }), ["Hello world", 5]);
    });

    it("calls tools", async () => {
      const program =
        `message = client.messages.create(${asked}, tools=[{'name': 'look', 'input_schema': {'type': 'object'}}])
use = message.content[0]
print(json.dumps([use.name, use.input, message.stop_reason]))`;
      const script = respond({ toolCalls });
      assertEquals(await printed(python.process, program, { capability, script, head: anthropic }), [
        ...["look", { city: "Bern" }, "tool_use"],
      ]);
    });

    it("counts tokens, and has its own error classes", async () => {
      const program = `count = client.messages.count_tokens(model='pool', messages=[{'role': 'user', 'content': 'Hi'}])
try:
    client.messages.create(model='nothing', max_tokens=64, messages=[{'role': 'user', 'content': 'Hi'}])
except anthropic.NotFoundError as error:
    missing = error.status_code
client.messages.create(${asked})
print(json.dumps([count.input_tokens > 0, missing]))`;
      assertEquals(await printed(python.process, program, { capability, script: ok(), head: anthropic }), [true, 404]);
    });
  });
}
