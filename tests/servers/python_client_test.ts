/**
 * The official `openai` package of Python as a client of the proxy: `pip install openai` for the `python3` on PATH, or for
 * the one that `OPENAI_PYTHON` names.
 */
import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { drawn, images } from "../support/_images.ts";
import { operationStage } from "../support/_operations.ts";
import { embeddings, json, ok, type Script, status } from "../support/upstream.ts";

/** The interpreter; undefined where it lacks the package. */
function findPython(): string | undefined {
  const python = Deno.env.get("OPENAI_PYTHON") ?? "python3";
  try {
    return new Deno.Command(python, { args: ["-c", "import openai"], stdout: "null", stderr: "null" }).outputSync()
        .success
      ? python
      : undefined;
  } catch {
    return undefined;
  }
}

/** What a program prints as JSON; its `client` calls a proxy whose first provider fails, and whose second one answers. */
async function printed(python: string, program: string, { capability, script }: {
  readonly capability: string;
  readonly script: Script;
}): Promise<unknown> {
  await using scene = await operationStage({ a: status(503), b: script }, {
    capability,
    models: capability === "text-embeddings" ? { a: { embedding_space: "one" }, b: { embedding_space: "one" } } : {},
    pool: { retry: { max_attempts: 0 } },
  });
  const head = "import io, json, sys, openai\n" +
    "client = openai.OpenAI(base_url=sys.argv[1], api_key='any', max_retries=0)\n";
  const { success, stdout, stderr } = await new Deno.Command(python, {
    args: ["-c", head + program, `${scene.proxy.url}/v1`],
    env: { NO_PROXY: "127.0.0.1" },
  }).output();
  const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  if (!success) throw new Error(text(stderr));
  assertEquals(scene.calls, { a: 1, b: 1 });
  return JSON.parse(text(stdout));
}

const ask = "model='pool', messages=[{'role': 'user', 'content': 'Hi'}]";

const python = findPython();
if (python === undefined) {
  describe.skip("the openai package of Python: needs python3 with it (pip install openai)", () => {});
} else {
  describe("the openai package of Python", () => {
    it("chats", async () => {
      const program = `answer = client.chat.completions.create(${ask})
print(json.dumps([answer.choices[0].message.content, answer.usage.total_tokens]))`;
      assertEquals(await printed(python, program, { capability: "chat-completion", script: ok() }), [
        "Hello world",
        15,
      ]);
    });

    it("streams", async () => {
      const program = `stream = client.chat.completions.create(${ask}, stream=True)
print(json.dumps([chunk.choices[0].delta.content or '' for chunk in stream if chunk.choices]))`;
      const deltas = await printed(python, program, { capability: "chat-completion", script: ok() });
      assertEquals((deltas as string[]).join(""), "Hello world");
    });

    it("embeds", async () => {
      const program = `answer = client.embeddings.create(model='pool', input=['red', 'green'])
print(json.dumps([[round(number, 3) for number in one.embedding] for one in answer.data]))`;
      const vectors = await printed(python, program, { capability: "text-embeddings", script: embeddings() });
      assertEquals(vectors, [[0.1, 0.2, 0.3], [0.1, 0.2, 0.3]]);
    });

    it("transcribes", async () => {
      const program = `sound = ('a.wav', io.BytesIO(b'RIFF' * 100), 'audio/wav')
print(json.dumps(client.audio.transcriptions.create(model='pool', file=sound).text))`;
      const script = json({ text: "Hello" });
      assertEquals(await printed(python, program, { capability: "speech-to-text", script }), "Hello");
    });

    it("draws and edits", async () => {
      const read = "print(json.dumps([one.b64_json for one in answer.data]))";
      const draw = `answer = client.images.generate(model='pool', prompt='a red room', n=2)\n${read}`;
      const edit = `room = ('room.png', b'123', 'image/png')
answer = client.images.edit(model='pool', image=[room, room], prompt='a red room', n=2)\n${read}`;
      const script = images();
      assertEquals(await printed(python, draw, { capability: "text-to-image", script }), [drawn, drawn]);
      assertEquals(await printed(python, edit, { capability: "image-to-image", script }), [drawn, drawn]);
    });
  });
}
