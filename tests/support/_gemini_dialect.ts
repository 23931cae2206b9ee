/**
 * Requests in Gemini's dialect to scripted providers.
 * @module
 */
import { type OperationOptions, type OperationStage, operationStage, type Posted } from "./_operations.ts";
import type { Script } from "./upstream.ts";

/** Starts a stage of chat models. */
export const geminiStage = (
  cast: Readonly<Record<string, Script>>,
  options: Partial<OperationOptions> = {},
): Promise<OperationStage> => operationStage(cast, { capability: "chat-completion", ...options });

/** A minimal request. */
export const hello: { readonly contents: object[] } = { contents: [{ role: "user", parts: [{ text: "Hello" }] }] };

/** A request, and its target. */
export interface Asked {
  readonly body?: unknown;
  readonly model?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Posts to a method of the pool, or of another name. */
export async function ask(
  { proxy }: { readonly proxy: { readonly url: string } },
  method: string,
  { body = hello, model = "pool", headers = {} }: Asked = {},
): Promise<Posted> {
  const response = await fetch(`${proxy.url}/v1beta/models/${model}:${method}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
  const bytes = new Uint8Array(await response.arrayBuffer());
  const text = new TextDecoder().decode(bytes);
  return {
    status: response.status,
    headers: response.headers,
    text,
    bytes,
    get json() {
      return JSON.parse(text);
    },
  };
}

/** Returns the events of a stream. */
// deno-lint-ignore no-explicit-any
export function parseEvents(text: string): any[] {
  return text.trimEnd().split("\n\n").map((event) => JSON.parse(event.slice("data: ".length)));
}
