/**
 * Requests of clients of several APIs to a model that calls tools.
 * @module
 */
import { assertEquals } from "@std/assert";
import { dataIn } from "./_dialect_responses.ts";
import { startDialectProxy } from "./_dialect_proxy.ts";
import { type Dialect, type Json, type ReplyCall, speaking } from "./_dialects.ts";
import { readTurn, type Turn } from "./_tool_loop.ts";
import { type ReceivedRequest, startUpstream } from "./upstream.ts";

/** A response, and what the provider received. */
interface Answered {
  readonly status: number;
  // deno-lint-ignore no-explicit-any
  readonly output: any;
  readonly events: readonly Json[];
  readonly request: ReceivedRequest;
  readonly turn: Turn;
}

/** A request. */
interface Asked {
  readonly path: string;
  readonly body: Json;
  readonly dialect: Dialect;
  readonly stream: boolean;
  readonly calls?: readonly ReplyCall[];
}

/** Sends a request to a model that makes the calls. */
export async function ask({ path, body, dialect, stream, calls }: Asked): Promise<Answered> {
  const reply = calls === undefined ? { pieces: ["Done"] } : { calls };
  await using upstream = await startUpstream(speaking[dialect].respond(reply));
  await using proxy = await startDialectProxy({ only: { dialect, url: upstream.url } });
  const response = await fetch(proxy.url + path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: "chat", ...body, stream }),
  });
  const text = await response.text();
  assertEquals(response.status, 200, text);
  const request = upstream.requests.at(-1)!;
  const events = stream ? dataIn(text) : [];
  const output = stream ? (events.at(-1)! as { response?: Json }).response : JSON.parse(text);
  return { status: response.status, output, events, request, turn: readTurn(dialect, request) };
}
