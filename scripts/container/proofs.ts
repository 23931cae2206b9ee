/**
 * Tests in the root directory of the image.
 * @module
 */
import type { ImageRoot, InRoot } from "./image_root.ts";

interface Proof {
  readonly name: string;
  prove(image: ImageRoot): Promise<void>;
}

const port = 18_080;
const token = "t-container-0123456789";
const url = `http://127.0.0.1:${port}`;
const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };

/** A provider that streams one word, and the next one when `go` is called. */
function startProvider(): { readonly url: string; readonly go: () => void; stop(): Promise<void> } {
  let go = () => {};
  const gate = new Promise<void>((resolve) => go = resolve);
  const event = (delta: unknown, finish_reason: string | null) =>
    `data: ${
      JSON.stringify({
        id: "1",
        object: "chat.completion.chunk",
        model: "m",
        choices: [{ index: 0, delta, finish_reason }],
      })
    }\n\n`;
  const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen: () => {} }, () => {
    const encoder = new TextEncoder();
    const body = new ReadableStream<Uint8Array>({
      async start(controller) {
        controller.enqueue(encoder.encode(event({ role: "assistant", content: "first" }, null)));
        await gate;
        controller.enqueue(encoder.encode(event({ content: " last" }, "stop") + "data: [DONE]\n\n"));
        controller.close();
      },
    });
    return new Response(body, { headers: { "content-type": "text/event-stream" } });
  });
  return { url: `http://127.0.0.1:${server.addr.port}/v1`, go, stop: () => server.shutdown() };
}

async function writeConfig({ folder }: ImageRoot, providerUrl: string): Promise<void> {
  const config = {
    providers: { a: { connector: "openai.compatible.v1", base_url: providerUrl, api_key: "key-0123456789" } },
    models: { a: { provider: "a", capabilities: ["chat-completion"] } },
    pools: { chat: { models: ["a"] } },
    storage: { connector: "mesh.local-file.v1", path: "state.json" },
    proxy: { port },
  };
  await Deno.writeTextFile(`${folder}/etc/modelmesh/modelmesh.yaml`, JSON.stringify(config)); // JSON is YAML
}

async function withProxy(image: ImageRoot, test: (proxy: InRoot, go: () => void) => Promise<void>): Promise<void> {
  const provider = startProvider();
  try {
    await writeConfig(image, provider.url);
    const { entrypoint, cmd, env } = image.image;
    const address = { MODELMESH_URL: env.MODELMESH_URL!.replace(/:\d+$/, `:${port}`), MODELMESH_TOKEN: token };
    await using proxy = image.start([...entrypoint, ...cmd], address);
    await proxy.printed("listens on");
    await test(proxy, provider.go);
  } finally {
    provider.go();
    await provider.stop();
  }
}

function health(image: ImageRoot): InRoot {
  return image.start(image.image.healthcheck, { MODELMESH_URL: url });
}

function check(holds: boolean, what: string): void {
  if (!holds) throw new Error(what);
}

export const proofs: readonly Proof[] = [
  {
    name: "starts as its user, not root, on all addresses, and its health check passes; after its end it fails",
    async prove(image) {
      await withProxy(image, async ({ pid, err }) => {
        const status = await Deno.readTextFile(`/proc/${pid}/status`);
        const [user, group] = image.image.user.split(":");
        check(new RegExp(`\nUid:\t${user}\t${user}\t${user}`).test(status), `its user is another one: ${status}`);
        check(new RegExp(`\nGid:\t${group}\t${group}\t${group}`).test(status), "its group is another one");
        check(/\nCapEff:\t0+\n/.test(status), "it has capabilities");
        check(err.includes("listens on http://0.0.0.0:"), `it does not listen for other machines: ${err}`);
        check(await health(image).code === 0, "the health check fails");
      });
      check(await health(image).code === 1, "the health check passes although nothing runs");
    },
  },
  {
    name: "writes to its volume alone",
    async prove(image) {
      const write = (path: string) =>
        image.start(["node", "-e", `require("node:fs").writeFileSync(${JSON.stringify(path)}, "")`]).code;
      for (const path of ["/x", "/opt/modelmesh/x", "/etc/modelmesh/modelmesh.yaml"]) {
        check(await write(path) !== 0, `it can write ${path}`);
      }
      check(await write(`${image.image.volume}/x`) === 0, "it cannot write to its volume");
    },
  },
  {
    name: "finishes open answers on SIGTERM, refuses new connections, and ends with 0",
    async prove(image) {
      await withProxy(image, async (proxy, go) => {
        const body = JSON.stringify({ model: "chat", stream: true, messages: [{ role: "user", content: "Hi" }] });
        const open = await fetch(`${url}/v1/chat/completions`, { method: "POST", headers, body });
        const reader = open.body!.pipeThrough(new TextDecoderStream()).getReader();
        let text = (await reader.read()).value ?? "";
        proxy.kill("SIGTERM");
        await proxy.printed("SIGTERM");
        const refused = async () =>
          await fetch(`${url}/live`).then(async (result) => (await result.body?.cancel(), false), () => true);
        while (!await refused()) await new Promise((resolve) => setTimeout(resolve, 10));
        go();
        for (let next = await reader.read(); !next.done; next = await reader.read()) text += next.value;
        check(text.includes(" last") && text.includes("[DONE]"), `the answer broke off: ${text}`);
        check(await proxy.code === 0, `it ended with another code: ${proxy.err}`);
      });
    },
  },
  {
    name: "keeps its state in the volume: a client made before a restart is known after it",
    async prove(image) {
      let token = "";
      await withProxy(image, async (proxy) => {
        const body = JSON.stringify({ name: "app" });
        const response = await fetch(`${url}/mesh/clients`, { method: "POST", headers, body });
        token = (await response.json()).token;
        proxy.kill("SIGTERM");
        await proxy.code;
      });
      const names = [...Deno.readDirSync(image.folder + image.image.volume)].map(({ name }) => name);
      check(names.includes("state.json"), `the volume has ${names.join(", ")}`);
      await withProxy(image, async () => {
        const models = await fetch(`${url}/v1/models`, { headers: { authorization: `Bearer ${token}` } });
        await models.body?.cancel();
        check(models.status === 200, `the client's token is answered ${models.status}`);
      });
    },
  },
];
