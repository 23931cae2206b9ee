/** A large upload is in memory once, however many providers it goes to. */
import { assert, assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import process from "node:process";
import { makeFolder, runProgram } from "../support/_library.ts";
import { testConfig } from "../support/proxy.ts";
import { startByteCounter } from "../support/_byte_counter.ts";

const megabytes = 25;
/** The body once, its half that arrives before the memory for all of it is there, and what a runtime needs to work. */
const growthMb = 65;

describe(`An upload of ${megabytes} MB`, () => {
  it(`that fails over twice takes less than ${growthMb} MB`, async () => {
    if (process.platform !== "linux") return; // the peak is read from `/proc`
    await using a = await startCounter(503);
    await using b = await startCounter(503);
    await using c = await startCounter(200);
    await using folder = await makeFolder();
    const names = ["a", "b", "c"];
    const config = testConfig({
      upstreams: { a: a.url, b: b.url, c: c.url },
      config: {
        models: Object.fromEntries(names.map((name) => [name, { provider: name, capabilities: ["speech-to-text"] }])),
        pools: { pool: { models: names, strategy: "priority", model_priority: names, retry: { max_attempts: 0 } } },
      },
    });
    const path = await folder.write("mesh.json", JSON.stringify(config));
    const { code, stdout, stderr } = await runProgram(program.replace("CONFIG", JSON.stringify(path)), folder, {});
    assertEquals([code, stderr], [0, ""]);
    const { status: answered, grown } = JSON.parse(stdout);
    assertEquals(answered, "HTTP/1.1 200 OK");
    for (const { received } of [a, b, c]) assert(received > megabytes * 1024 * 1024, `${received}`);
    assert(grown < growthMb * 1024 * 1024, `${grown / 1024 / 1024} MB`);
  });
});

/** A provider that answers an upload with a status. */
function startCounter(status: number) {
  return startByteCounter((response) =>
    void response.writeHead(status, { "content-type": "application/json" }).end('{"text":"Hello"}')
  );
}

/** Sends the same piece again and again, so that the client itself takes no memory. */
const program = `
  import { readFile } from "node:fs/promises";
  import { connect } from "node:net";
  import { serve } from PROXY;
  const peak = async () => Number(/VmHWM:\\s+(\\d+)/.exec(await readFile("/proc/self/status", "utf8"))[1]) * 1024;
  const proxy = await serve({ config: CONFIG, port: 0 });
  const piece = new Uint8Array(64 * 1024);
  const post = (pieces) => new Promise((resolve, reject) => {
    const head = '--b\\r\\ncontent-disposition: form-data; name="model"\\r\\n\\r\\npool\\r\\n' +
      '--b\\r\\ncontent-disposition: form-data; name="file"; filename="a.mp3"\\r\\n\\r\\n';
    const end = "\\r\\n--b--\\r\\n";
    const socket = connect(Number(new URL(proxy.url).port), "127.0.0.1");
    socket.on("error", reject);
    socket.on("data", (data) => {
      resolve(String(data).split("\\r\\n")[0]);
      socket.destroy();
    });
    socket.write("POST /v1/audio/transcriptions HTTP/1.1\\r\\nhost: localhost\\r\\nconnection: close\\r\\n" +
      "content-type: multipart/form-data; boundary=b\\r\\ncontent-length: " +
      (head.length + pieces * piece.length + end.length) + "\\r\\n\\r\\n" + head);
    let sent = 0;
    const more = () => {
      while (sent < pieces) {
        sent++;
        if (!socket.write(piece)) return void socket.once("drain", more);
      }
      socket.write(end);
    };
    more();
  });
  const before = await peak();
  const status = await post(${megabytes} * 16);
  const grown = await peak() - before;
  await proxy.stop();
  console.log(JSON.stringify({ status, grown }));`;
