/** A file goes through the proxy as it comes: however large it is, no more than what is on its way is in memory. */
import { assert, assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import process from "node:process";
import { makeFolder, runProgram } from "../support/_library.ts";
import { testConfig } from "../support/proxy.ts";
import { startByteCounter } from "../support/_byte_counter.ts";

const megabytes = 500;
/** What a runtime needs to work: buffers on their way, code that is compiled, garbage that is yet to be collected. */
const growthMb = 200;

describe(`A file of ${megabytes} MB`, () => {
  it(`is uploaded and read again with less than ${growthMb} MB`, async () => {
    if (process.platform !== "linux") return; // the peak is read from `/proc`
    await using provider = await startProvider();
    await using folder = await makeFolder();
    const config = testConfig({ upstreams: { a: provider.url }, provider: { files: { upload: true } } });
    const path = await folder.write("mesh.json", JSON.stringify(config));
    const { code, stdout, stderr } = await runProgram(program.replace("CONFIG", JSON.stringify(path)), folder, {});
    assertEquals([code, stderr], [0, ""]);
    const { status, read, grown } = JSON.parse(stdout);
    assertEquals([status, read], ["HTTP/1.1 200 OK", megabytes * 1024 * 1024]);
    assert(provider.received > megabytes * 1024 * 1024, `${provider.received}`);
    assert(grown < growthMb * 1024 * 1024, `${grown / 1024 / 1024} MB`);
  });
});

/** A provider that takes a file of any size, and has one to read. */
function startProvider() {
  const piece = new Uint8Array(64 * 1024);
  return startByteCounter((response, path, received) => {
    if (!path.endsWith("/content")) {
      const file = { id: "file-1", object: "file", bytes: received, filename: "a", purpose: "vision", created_at: 1 };
      return void response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(file));
    }
    response.writeHead(200, { "content-type": "application/octet-stream" });
    let left = megabytes * 16;
    const more = () => {
      while (left > 0) {
        left--;
        if (!response.write(piece)) return void response.once("drain", more);
      }
      response.end();
    };
    more();
  });
}

/** Sends the same piece again and again, and counts what it reads, so that the client itself takes no memory. */
const program = `
  import { readFile } from "node:fs/promises";
  import { get } from "node:http";
  import { connect } from "node:net";
  import { serve } from PROXY;
  const peak = async () => Number(/VmHWM:\\s+(\\d+)/.exec(await readFile("/proc/self/status", "utf8"))[1]) * 1024;
  const proxy = await serve({ config: CONFIG, port: 0 });
  const port = Number(new URL(proxy.url).port);
  const piece = new Uint8Array(64 * 1024);
  const post = (pieces) => new Promise((resolve, reject) => {
    const head = '--b\\r\\ncontent-disposition: form-data; name="purpose"\\r\\n\\r\\nvision\\r\\n' +
      '--b\\r\\ncontent-disposition: form-data; name="file"; filename="a.bin"\\r\\n\\r\\n';
    const end = "\\r\\n--b--\\r\\n";
    const socket = connect(port, "127.0.0.1");
    let answer = "";
    socket.on("error", reject);
    socket.on("data", (data) => answer += data);
    socket.on("close", () => resolve(answer));
    socket.write("POST /v1/files HTTP/1.1\\r\\nhost: localhost\\r\\nconnection: close\\r\\n" +
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
  const read = (id) => new Promise((resolve, reject) => {
    get({ port, host: "127.0.0.1", path: "/v1/files/" + id + "/content", agent: false }, (response) => {
      let size = 0;
      response.on("data", (data) => size += data.length);
      response.on("end", () => resolve(size));
    }).on("error", reject);
  });
  const before = await peak();
  const answer = await post(${megabytes} * 16);
  const size = await read(/"id":"([^"]+)"/.exec(answer)[1]);
  const grown = await peak() - before;
  await proxy.stop();
  console.log(JSON.stringify({ status: answer.split("\\r\\n")[0], read: size, grown }));`;
