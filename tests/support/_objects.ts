/**
 * Proxies over simulated vendors of files and batches.
 * @module
 */
import { startTestProxy, type TestProxy, type TestProxyOptions } from "./proxy.ts";
import { type ObjectVendor, startObjectVendor } from "./vendors/openai_objects.ts";

/** Vendors and proxies of a test. */
export interface ObjectStage extends AsyncDisposable {
  readonly proxy: TestProxy;
  readonly vendors: Readonly<Record<string, ObjectVendor>>;
  /** Starts another proxy with the same configuration, with changes. */
  another(
    config?: Readonly<Record<string, unknown>>,
    options?: Pick<TestProxyOptions, "storage">,
  ): Promise<TestProxy>;
  /** Closes one proxy before the others. */
  close(proxy: TestProxy): Promise<void>;
}

/** A response whose body has been read. */
export interface ObjectResponse {
  readonly status: number;
  readonly headers: Headers;
  // deno-lint-ignore no-explicit-any
  readonly json: any;
}

/** Settings that declare files and batches for an unknown vendor. */
export const everything = {
  files: { upload: true },
  batch: { supported: true },
  fine_tuning: { supported: true },
};

/**
 * Starts vendors, and a proxy with a model of each in the pool `chat`, in this order.
 *
 * @param names Names of the vendors.
 * @param config Sections that replace those of the proxy.
 */
export async function objectStage(
  names: readonly string[] = ["a"],
  { provider = {}, model = {}, ...config }: Readonly<Record<string, object>> = {},
): Promise<ObjectStage> {
  const vendors = Object.fromEntries(
    await Promise.all(names.map(async (name) => [name, await startObjectVendor()] as const)),
  );
  const upstreams = Object.fromEntries(names.map((name) => [name, vendors[name]!.url]));
  const models = Object.fromEntries(
    names.map((name) => [name, {
      provider: name,
      model: `${name}-1`,
      capabilities: ["chat-completion"],
      pricing: { input: 1, output: 2 },
      ...model,
    }]),
  );
  const proxies: TestProxy[] = [];
  const closed = new Set<TestProxy>();
  const start = async (
    others: Readonly<Record<string, unknown>> = {},
    options: Pick<TestProxyOptions, "storage"> = {},
  ) => {
    const facts = {
      ...options,
      upstreams,
      provider: { ...everything, ...provider },
      config: { models, ...config, ...others },
    };
    proxies.push(await startTestProxy(facts));
    return proxies.at(-1)!;
  };
  return {
    proxy: await start(),
    vendors,
    another: start,
    async close(proxy) {
      closed.add(proxy);
      await proxy[Symbol.asyncDispose]();
    },
    async [Symbol.asyncDispose]() {
      for (const proxy of proxies.filter((candidate) => !closed.has(candidate))) await proxy[Symbol.asyncDispose]();
      for (const vendor of Object.values(vendors)) await vendor[Symbol.asyncDispose]();
    },
  };
}

/** Sends a request to a path below `/v1/`. */
export async function ask(
  { url }: Pick<TestProxy, "url">,
  path: string,
  { token, json, ...init }: RequestInit & { readonly token?: string; readonly json?: object } = {},
): Promise<ObjectResponse> {
  const headers = new Headers(init.headers);
  if (token !== undefined) headers.set("authorization", `Bearer ${token}`);
  if (json !== undefined) headers.set("content-type", "application/json");
  const body = json === undefined ? init.body : JSON.stringify(json);
  const method = init.method ?? (body === undefined ? "GET" : "POST");
  const response = await fetch(`${url}/v1/${path}`, { ...init, method, headers, body });
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    json: /json/.test(response.headers.get("content-type") ?? "") ? JSON.parse(text) : text,
  };
}

/** Returns a form with a file; fields in `later` follow the file. */
export function fileForm(
  text: string,
  fields: Readonly<Record<string, string>> = { purpose: "batch" },
  { name = "requests.jsonl", later = {} }: { name?: string; later?: Readonly<Record<string, string>> } = {},
): FormData {
  const form = new FormData();
  for (const [field, value] of Object.entries(fields)) form.append(field, value);
  form.append("file", new File([text], name));
  for (const [field, value] of Object.entries(later)) form.append(field, value);
  return form;
}

/** Returns the lines of a batch, each a chat request. */
export function requestLines(count: number, body: Readonly<Record<string, unknown>> = {}): string {
  const line = (index: number) =>
    JSON.stringify({
      custom_id: `request-${index}`,
      method: "POST",
      url: "/v1/chat/completions",
      body: { model: "chat", messages: [{ role: "user", content: `Hi ${index}` }], ...body },
    });
  return Array.from({ length: count }, (_, index) => `${line(index + 1)}\n`).join("");
}
