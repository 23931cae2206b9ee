/**
 * Minimal gateway on Node: reads the body, replaces the model and forwards the response. Arguments: port, URL of the
 * upstream and path of undici.
 * @module
 */
import { createServer } from "node:http";
import process from "node:process";

const [, , port, upstream, undici] = process.argv;
const { request } = (await import(undici)).default;

createServer(async (incoming, outgoing) => {
  try {
    const pieces = [];
    for await (const piece of incoming) pieces.push(piece);
    const asked = JSON.parse(pieces.length === 1 ? pieces[0] : pieces.join(""));
    asked.model = "mock-model";
    const { statusCode, headers, body } = await request(upstream, {
      method: "POST",
      headers: { "content-type": "application/json", "authorization": "Bearer key" },
      body: JSON.stringify(asked),
    });
    outgoing.on("close", () => body.destroy());
    outgoing.writeHead(statusCode, headers);
    body.on("error", () => outgoing.destroy());
    body.pipe(outgoing);
  } catch {
    outgoing.writeHead(502).end();
  }
}).listen(Number(port), "127.0.0.1", 8192);
