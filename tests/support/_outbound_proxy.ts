/**
 * A network on loopback: a TLS provider with a host name that DNS does not resolve, and an outbound proxy that does.
 * @module
 */
import { readFile } from "node:fs/promises";
import { createServer as createPlain, type IncomingMessage, request, type ServerResponse } from "node:http";
import { createServer as createSecure } from "node:https";
import { type AddressInfo, connect, type Server, type Socket } from "node:net";
import { fileURLToPath } from "node:url";

const fixture = (name: string) => fileURLToPath(new URL(`../fixtures/tls/${name}`, import.meta.url));

/** Path of the certificate authority of the provider. */
export const authorityFile: string = fixture("ca.pem");

/** Path of another certificate authority. */
export const otherAuthorityFile: string = fixture("other_ca.pem");

const chunk = (content: string, finish: string | null) =>
  `data: ${
    JSON.stringify({
      id: "c",
      object: "chat.completion.chunk",
      created: 1,
      model: "a",
      choices: [{ index: 0, delta: { content }, finish_reason: finish }],
    })
  }\n\n`;

function answer(request: IncomingMessage, response: ServerResponse): void {
  let text = "";
  request.on("data", (data: Uint8Array) => text += new TextDecoder().decode(data));
  request.on("end", () => {
    if (request.url?.endsWith("/token")) {
      response.writeHead(200, { "content-type": "application/json" });
      return void response.end(JSON.stringify({ access_token: "fetched-0123456789", token_type: "Bearer" }));
    }
    if (JSON.parse(text).stream === true) {
      response.writeHead(200, { "content-type": "text/event-stream" });
      return void response.end(`${chunk("through", null)}${chunk(" the proxy", "stop")}data: [DONE]\n\n`);
    }
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({
      id: "c",
      object: "chat.completion",
      created: 1,
      model: "a",
      choices: [{ index: 0, message: { role: "assistant", content: "through the proxy" }, finish_reason: "stop" }],
      usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
    }));
  });
}

/** A listening server. */
interface Listening {
  readonly port: number;
  stop(): Promise<void>;
}

function listen(server: Server): Promise<Listening> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("error", () => {}).on("close", () => sockets.delete(socket));
  });
  const stop = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      for (const socket of sockets) socket.destroy();
    });
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => resolve({ port: (server.address() as AddressInfo).port, stop }));
  });
}

/** The network. */
export interface OutboundNetwork extends AsyncDisposable {
  /** URL of the TLS provider, with a host name that only the proxy resolves. */
  readonly secureUrl: string;
  /** URL of the provider without TLS. */
  readonly plainUrl: string;
  /** URL of the TLS provider on this machine, reachable without the proxy. */
  readonly localUrl: string;
  /** URL of the proxy, with `name:password@`. */
  readonly proxyUrl: string;
  /** Requests to the proxy: `CONNECT provider.test:443`, `POST http://…`. */
  readonly asked: readonly string[];
}

const credentials = "user:canary-pass%40word";

async function listenSecurely(name: "server" | "other_server"): Promise<Listening> {
  const [key, cert] = await Promise.all([readFile(fixture(`${name}.key`)), readFile(fixture(`${name}.pem`))]);
  return await listen(createSecure({ key, cert }, answer));
}

/** Starts a TLS provider on this machine with a certificate of the other authority. */
export async function startOtherProvider(): Promise<AsyncDisposable & { readonly url: string }> {
  const { port, stop } = await listenSecurely("other_server");
  return { url: `https://localhost:${port}/v1`, [Symbol.asyncDispose]: stop };
}

/** Starts the network. */
export async function startOutboundNetwork(): Promise<OutboundNetwork> {
  const secure = await listenSecurely("server");
  const plain = await listen(createPlain(answer));
  const asked: string[] = [];
  const isKnown = (message: IncomingMessage) =>
    message.headers["proxy-authorization"] === `Basic ${btoa(decodeURIComponent(credentials))}`;
  const server = createPlain((message, response) => {
    asked.push(`${message.method} ${message.url}`);
    if (!isKnown(message)) return void response.writeHead(407).end();
    const { port, pathname } = new URL(message.url!);
    const { "proxy-authorization": _, ...headers } = message.headers;
    const onward = request({ host: "127.0.0.1", port, path: pathname, method: message.method, headers }, (from) => {
      response.writeHead(from.statusCode!, from.headers);
      from.pipe(response);
    });
    message.pipe(onward);
  });
  server.on("connect", (message: IncomingMessage, socket: Socket, head: Uint8Array) => {
    asked.push(`CONNECT ${message.url}`);
    if (!isKnown(message)) return void socket.end("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n");
    const onward = connect(Number(message.url!.split(":")[1]), "127.0.0.1", () => {
      socket.write("HTTP/1.1 200 Connection Established\r\n\r\n");
      onward.write(head);
      onward.pipe(socket).pipe(onward);
    });
    onward.on("error", () => socket.destroy()).on("close", () => socket.destroy());
    socket.on("close", () => onward.destroy());
  });
  const proxy = await listen(server);
  return {
    secureUrl: `https://provider.test:${secure.port}/v1`,
    plainUrl: `http://provider.test:${plain.port}/v1`,
    localUrl: `https://localhost:${secure.port}/v1`,
    proxyUrl: `http://${credentials}@127.0.0.1:${proxy.port}`,
    asked,
    async [Symbol.asyncDispose]() {
      for (const { stop } of [proxy, secure, plain]) await stop();
    },
  };
}
