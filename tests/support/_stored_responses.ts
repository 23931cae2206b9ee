/**
 * A proxy that stores responses, over scripted providers, and calls of its clients.
 * @module
 */
import { assertEquals } from "@std/assert";
import { memoryStorage, stateIn, type Storage } from "../../mod.ts";
import type { ResponseEvent } from "./_responses.ts";
import { startTestProxy, type TestProxy, type TestProxyOptions } from "./proxy.ts";
import { type Script, startUpstream, type Upstream } from "./upstream.ts";

/** A response of the proxy, with its body parsed if it is JSON. */
export interface Called {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // deno-lint-ignore no-explicit-any
  readonly json: any;
}

/** Calls below `/v1/responses`, as one client. */
export interface ResponsesCaller {
  /** Creates a response; with the model `chat` unless the body has one. */
  create(body: object, init?: RequestInit): Promise<Called>;
  /** Calls a path below `/v1/responses/`. */
  call(method: string, path: string, init?: RequestInit): Promise<Called>;
}

/** Returns the calls of a client. */
export function responsesCaller(url: string, token?: string): ResponsesCaller {
  const authorization: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const call = async (path: string, init: RequestInit): Promise<Called> => {
    const response = await fetch(`${url}/v1/responses${path}`, {
      ...init,
      headers: { ...authorization, ...init.headers as Record<string, string> },
    });
    const { status, headers } = response;
    const text = await response.text();
    const isJson = headers.get("content-type") === "application/json";
    return { status, headers, text, json: isJson ? JSON.parse(text) : undefined };
  };
  return {
    create: (body, init = {}) =>
      call("", {
        method: "POST",
        body: JSON.stringify({ model: "chat", ...body }),
        ...init,
        headers: { "content-type": "application/json", ...init.headers as Record<string, string> },
      }),
    call: (method, path, init = {}) => call(`/${path}`, { method, ...init }),
  };
}

/** The options of a streamed request. */
export function streamed(body: object): RequestInit {
  return {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: "chat", stream: true, ...body }),
  };
}

/**
 * Reads the events of a stream, then closes its connection.
 *
 * @param path Below `/v1/responses`.
 * @param options The request, GET by default, and after how many events it is closed; at the end by default.
 */
export async function readEvents(
  url: string,
  path: string,
  { init = {}, count = Infinity }: { readonly init?: RequestInit; readonly count?: number } = {},
): Promise<ResponseEvent[]> {
  const response = await fetch(`${url}/v1/responses${path}`, init);
  assertEquals([response.status, response.headers.get("content-type")], [200, "text/event-stream"]);
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    text += read.value;
    if (text.split("\n\n").length > count) break;
  }
  await reader.cancel();
  return text.split("\n\n").filter((block) => block.startsWith("event:"))
    .map((block) => JSON.parse(block.slice(block.indexOf("data: ") + 6)));
}

/** The stage of a test. */
export interface MemoryStage extends AsyncDisposable, ResponsesCaller {
  readonly proxy: TestProxy;
  readonly upstream: Upstream;
  readonly storage: Storage;
  /** Traces of the proxy, `<severity> <message>`. */
  readonly traces: readonly string[];
  as(token: string): ResponsesCaller;
  /** Messages of the n-th request at the provider, as `<role> <content>`. */
  messages(number: number): string[];
}

/** Options of a stage. */
export interface MemoryOptions extends Partial<Omit<TestProxyOptions, "storage">> {
  /** Settings of `proxy.responses`. */
  readonly responses?: Readonly<Record<string, unknown>>;
  readonly storage?: Storage;
}

/** Starts a proxy that stores responses in memory by default, over one provider. */
export async function memoryStage(
  script: Script,
  { responses, storage = memoryStorage(), config, ...options }: MemoryOptions = {},
): Promise<MemoryStage> {
  const upstream = await startUpstream(script);
  const proxySection = { ...config?.proxy as object, responses: { state: true, ...responses } };
  const proxy = await startTestProxy({
    upstreams: { one: upstream.url },
    pool: { retry: { max_attempts: 0 } },
    ...options,
    storage: stateIn(storage),
    config: { ...config, proxy: proxySection },
  });
  const traces: string[] = [];
  proxy.mesh.addSink({
    emit: () => {},
    trace: ({ severity, message }) => void traces.push(`${severity} ${message}`),
    flush: () => Promise.resolve(),
  });
  return {
    ...responsesCaller(proxy.url),
    proxy,
    upstream,
    storage,
    traces,
    as: (token) => responsesCaller(proxy.url, token),
    messages: (number) =>
      upstream.requests[number - 1]!.json().messages.map(
        ({ role, content }: { role: string; content: unknown }) =>
          `${role} ${typeof content === "string" ? content : JSON.stringify(content)}`,
      ),
    async [Symbol.asyncDispose]() {
      await proxy[Symbol.asyncDispose]();
      await upstream.close();
    },
  };
}
