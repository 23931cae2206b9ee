/**
 * What every provider connector does for an operation other than chat, whatever its vendor's dialect: one suite for all of
 * them, over real HTTP.
 * @module
 */
import { assert, assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import type { JsonObject } from "../../src/contracts/openai.ts";
import type {
  CompletionRequest,
  OperationName,
  OperationRequest,
  OperationResponse,
  Provider,
  UploadedFile,
} from "../../src/contracts/provider.ts";
import { happens } from "../support/patience.ts";
import { type Behaviour, json, reset, type Script, startUpstream, status, type Upstream } from "../support/upstream.ts";
import { kinds, senseless } from "./_provider.ts";
import { catchFailure, connected, credential } from "./_provider_calls.ts";

/** A request, and what a vendor makes of it. */
export interface OperationFacts {
  readonly body: JsonObject;
  readonly files?: readonly UploadedFile[];
  /** The upstream id of a model; `small`, when left out. */
  readonly model?: string;
  /** The entry's `config`, where the connector needs one. */
  readonly config?: Readonly<Record<string, unknown>>;
  /** What is sent: the path, and the body unless it is a form. */
  readonly sends: { readonly path: string; readonly json?: JsonObject };
  /** The vendor's response: JSON, or sound. */
  readonly replies: JsonObject | Behaviour;
  /** Well-formed JSON without what was asked for is an empty response: the next model is asked because of that. */
  readonly mayBeEmpty?: true;
  /** Sound comes whole, within JSON: no bytes are not a response. */
  readonly isWhole?: true;
  /** What becomes of it: the body, or the bytes of content as text. */
  readonly becomes: unknown;
}

/** An operation of a connector. */
export interface OperationFixture extends OperationFacts {
  readonly connector: string;
  readonly operation: OperationName;
}

/** A call of the operation. */
interface OperationScene {
  readonly provider: Provider;
  readonly upstream: Upstream;
  readonly controller: AbortController;
  complete(): Promise<unknown>;
}

/**
 * Tests an operation of a connector.
 *
 * @param fixture The operation, and its vendor's reply.
 */
export function testOperation(fixture: OperationFixture): void {
  const { sends, becomes, replies, mayBeEmpty = false, isWhole = false } = fixture;
  const reply = typeof Object(replies).play === "function" ? replies as Behaviour : json(replies);
  describe(`${fixture.connector}: ${fixture.operation}`, () => {
    it("sends what the vendor takes, with the key, and translates the response", async () => {
      await over(reply, async ({ upstream, complete }) => {
        assertEquals(await complete(), becomes);
        const { method, path, headers, json: sent } = upstream.requests[0]!;
        assertEquals([method, path], ["POST", sends.path]);
        if (sends.json !== undefined) assertEquals(sent(), sends.json);
        assert(Object.values(headers).some((value) => value.includes(credential)), "the key is sent");
      }, fixture);
    });

    it("is given up when the call is aborted, for the reason of the abort", async () => {
      await over({ play: () => Promise.resolve() }, async ({ upstream, controller, complete }) => {
        const end = catchFailure(complete);
        const { closed } = await upstream.received(1);
        const reason = new DOMException("enough", "AbortError");
        controller.abort(reason);
        assertEquals(await happens("the call ends", end), reason);
        await happens("the connection closes", closed);
      }, fixture);
    });

    it("refuses answers that make no sense", async () => {
      // sound of no bytes is refused where it is passed on
      const isFine = (name: string) =>
        typeof becomes === "string" && name === "nothing" && !isWhole ||
        mayBeEmpty && ["a list", "an object of something else"].includes(name);
      const names = Object.keys(senseless).filter((name) => !isFine(name));
      await over(names.map((name) => senseless[name]!), async ({ provider, complete }) => {
        for (const name of names) {
          assertEquals(provider.classifyError(await catchFailure(complete)), "invalid_response", name);
        }
      }, fixture);
    });

    it("classes failures by their status, and says how long to wait", async () => {
      const codes = Object.keys(kinds).map(Number);
      const headers = { "retry-after": "7" };
      const script = codes.map((code) => status(code, { text: "<h1>Sorry</h1>", headers }));
      await over([...script, reset()], async ({ provider, complete }) => {
        for (const code of codes) {
          const error = await catchFailure(complete);
          assertEquals([provider.classifyError(error), provider.isRetryable(error)], kinds[code], String(code));
          assertEquals((error as { fault?: { retryAfterMs?: number } }).fault?.retryAfterMs, 7_000);
        }
        assertEquals(provider.classifyError(await catchFailure(complete)), "network");
      }, fixture);
    });
  });
}

async function over(
  script: Script,
  use: (scene: OperationScene) => Promise<void>,
  { connector, operation, body, files, model = "small", config = {} }: OperationFixture,
): Promise<void> {
  await using upstream = await startUpstream(script);
  const { provider, controller, options } = connected({ connector, config }, upstream);
  const request: OperationRequest = {
    operation,
    model: { id: model },
    stream: false,
    body,
    ...(files === undefined ? {} : { files }),
  };
  const complete = async () => {
    const response = await provider.complete(request as unknown as CompletionRequest, options);
    return await readContent(response as unknown as OperationResponse);
  };
  await use({ provider, upstream, controller, complete });
}

/** The body; of content, its bytes as text. */
async function readContent({ body, content }: OperationResponse): Promise<unknown> {
  if (content === undefined) return body;
  const { bytes } = content;
  const chunks = bytes instanceof Uint8Array ? [bytes] : await Array.fromAsync(bytes);
  return chunks.map((chunk) => new TextDecoder().decode(chunk)).join("");
}
