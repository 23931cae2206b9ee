/**
 * What holds on Node alone; `scripts/test_node.ts` runs it there.
 * @module
 */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import process from "node:process";
import { Worker } from "node:worker_threads";
import { NetworkError } from "../../src/errors.ts";
import { send } from "../../src/runtime/_node_send.ts";
import { serverRuntime } from "../../src/runtime/server.ts";
import { makeFolder, runProgram } from "../support/_library.ts";
import { keyPair, tlsText } from "../support/_tls.ts";
import { happens } from "../support/patience.ts";
import { describeSend } from "./_send.ts";
import { describeTlsCauses } from "./_tls_causes.ts";

describeSend("The upstream client on Node", send);
describeTlsCauses("A connection on Node", send);

describe("A connection that does not come about in time", () => {
  it("is given up, and nothing was sent", async () => {
    // a host that accepts, and never says a word of TLS
    const server = createServer((socket) => {
      socket.on("error", () => {}).resume();
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
    let isDue = false;
    setTimeout(() => isDue = true, 30);
    const call = assertRejects(() => send({ url, headers: {}, body: "{}", connectTimeoutMs: 60 }), NetworkError);
    const error = await happens("the call ends", call);
    assert(isDue, "half of the limit has not passed");
    assertEquals([error.neverSent, error.message], [
      true,
      "Cannot connect to the provider: no connection within 60 ms",
    ]);
    await new Promise((resolve) => server.close(resolve)); // once every connection is closed
  });
});

/** A server with TLS in a thread of its own, which answers each request at once. */
const quickServer = `
  const { parentPort, workerData } = require("node:worker_threads");
  let connections = 0;
  const server = require("node:tls").createServer(workerData, (socket) => {
    connections++;
    socket.on("error", () => {});
    socket.on("data", () => socket.write("HTTP/1.1 200 OK\\r\\ncontent-length: 2\\r\\n\\r\\n{}"));
  });
  server.listen(0, "127.0.0.1", () => parentPort.postMessage(server.address().port));
  parentPort.on("message", () => parentPort.postMessage(connections));`;

describe("A TLS connection on Node", () => {
  it("is used again when its response arrives before Node has reported the write", async () => {
    const server = new Worker(quickServer, { eval: true, workerData: keyPair("server.pem", "server.key") });
    try {
      const [port] = await once(server, "message");
      const authorities = { key: "of the test", certificates: [tlsText("ca.pem")] };
      for (let round = 0; round < 10; round++) {
        const call = send({ url: `https://localhost:${port}/v1`, headers: {}, body: "{}", authorities });
        setImmediate(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5)); // behind the write
        await (await call).bytes!();
        await new Promise((resolve) => setImmediate(resolve));
      }
      server.postMessage("how many?");
      assertEquals(await once(server, "message"), [1]);
    } finally {
      await server.terminate();
    }
  });
});

describe("The port to the outside on Node", () => {
  it("reads variables, and takes what cannot be a name for one that is unset", () => {
    const { env } = serverRuntime();
    process.env.MODELMESH_TEST_VARIABLE = "value";
    assertEquals(env("MODELMESH_TEST_VARIABLE"), "value");
    delete process.env.MODELMESH_TEST_VARIABLE;
    for (const name of ["MODELMESH_TEST_VARIABLE", "", "A=B", "A\0B"]) assertEquals(env(name), undefined);
  });

  it("reads, writes and removes files whole, and replaces none when a new one is asked for", async () => {
    const files = serverRuntime().files!;
    await using folder = await makeFolder();
    const path = join(folder.path, "a.txt");
    await files.writeText(path, "first, the longer one");
    await files.writeText(path, "second");
    assertEquals(await files.readText(path), "second");
    await assertRejects(() => files.writeText(path, "third", { createNew: true }), Error, "EEXIST");
    await files.writeText(join(folder.path, "b.txt"), "new", { createNew: true });
    for (let times = 0; times < 2; times++) await files.remove(join(folder.path, "b.txt"));
    await assertRejects(() => files.readText(join(folder.path, "b.txt")), Error, "ENOENT");
    await assertRejects(() => files.readText(join(folder.path, "c.txt")), Error, "ENOENT");
  });

  it("replaces a file whole or not at all, and leaves no draft", async () => {
    const files = serverRuntime().files!;
    await using folder = await makeFolder();
    const path = join(folder.path, "a.txt");
    await files.replaceText(path, "first, the longer one");
    await files.replaceText(path, "second");
    assertEquals(await files.readText(path), "second");
    await assertRejects(() => files.replaceText(join(folder.path, "absent", "a.txt"), ""), Error, "ENOENT");
    await assertRejects(() => files.replaceText(folder.path, ""), Error);
    assertEquals(await folder.list(), ["a.txt"]);
  });

  it("has timers that keep no process alive, and sleeps that do", async () => {
    await using folder = await makeFolder();
    const source = `
      import { serverRuntime } from ${JSON.stringify(new URL("server.mjs", import.meta.url).href)};
      const { clock } = serverRuntime();
      clock.after(60_000, () => {});
      clock.every(60_000, () => Promise.resolve());
      clock.sleep(20).then(() => console.log("slept"));`;
    assertEquals(await runProgram(source, folder, {}), { code: 0, stdout: "slept\n", stderr: "" });
  });
});

describe("A Node that is too old", () => {
  it("is logged in one line by the library", async () => {
    await using folder = await makeFolder();
    const source = `
      process.getBuiltinModule = undefined;
      Object.defineProperty(process.versions, "node", { value: "18.19.0" });
      const { create, MeshError } = await import(LIBRARY);
      try { create("chat-completion"); } catch (error) { console.log(MeshError.isInstance(error), error.message); }`;
    const { code, stdout, stderr } = await runProgram(source, folder, { OPENAI_API_KEY: "key-0123456789" });
    assertEquals([code, stderr], [0, ""]);
    assertEquals(stdout, "true ModelMesh needs Node 20.16 or newer; this is 18.19.0\n");
  });
});
