/**
 * What the engine knows of an operation. The object travels with the request: routing, limits and records ask it instead
 * of looking at its name.
 * @module
 */
import type { AudioRequest, AudioResponse } from "../contracts/audio.ts";
import type { RequestBody } from "../contracts/openai.ts";
import type {
  CapabilityPath,
  CompletionResponse,
  ModelInfo,
  OperationName,
  UploadedFile,
} from "../contracts/provider.ts";
import type { Member, ModelEntry } from "../registry/registry.ts";
import type { Load } from "../state/usage.ts";
import type { Quantities } from "../util/cost.ts";
import type { AnswerUsage } from "./routed.ts";

/** What one request takes, and what it asks of a model. */
export interface RequestNeeds {
  /** What it will take, estimated high: for money and for limits. */
  readonly load: Load;
  /**
   * What a model lacks for it, such as `tool_calling`; undefined when it can take the request. What is not known of a
   * model is no lack.
   */
  readonly lackOf: (model: ModelInfo) => string | undefined;
}

/** A body's members that differ for a model; undefined removes one. */
export interface Rewording {
  readonly edits: Readonly<Record<string, unknown>>;
  /** Parameters left out because the model refuses them. */
  readonly dropped: readonly string[];
}

/** What a response took. */
export interface TakenUsage {
  readonly quantities: Quantities;
  /** Tokens in all, as the provider counts them for its limits. */
  readonly tokens: number;
  /** Some of it was not reported by the provider. */
  readonly isEstimated: boolean;
}

/** What a call was made for. */
export interface UsageContext<Body> {
  readonly body: Body;
  readonly model: ModelInfo;
  /** What it was estimated to take. */
  readonly load: Load;
}

/** One kind of request. */
export interface Operation<Body extends RequestBody = RequestBody, Response = unknown> {
  /** Its name in messages, and for providers. */
  readonly name: OperationName;
  /** Whether a leaf's models do it. */
  serves(leaf: CapabilityPath): boolean;
  /** What a request takes, and what it asks of a model: one walk over its body. */
  needsOf(body: Body, files: readonly UploadedFile[]): RequestNeeds;
  /**
   * Of the models that can take a request, those whose answers are interchangeable with those of the first: for
   * operations where a caller keeps answers and compares them. All of them, when left out.
   *
   * @param members At least one.
   * @param first The model that the pool would ask first, were all of them active.
   * @param body What is asked.
   */
  interchangeable?(members: readonly Member[], first: Member, body: Body): readonly Member[];
  /** Rewords a request for a model. */
  reword(body: Body, model: ModelEntry): Rewording;
  /** Completes a provider's response where it differs from what the request asked for; as it came, when left out. */
  finish?(response: CompletionResponse<Response>, body: Body): CompletionResponse<Response>;
  /** Its responses are content such as sound, passed on as it arrives: `CompletionResponse.content`. */
  readonly hasContent?: true;
  /** Its requests and responses travel in `extra`, too. */
  readonly bridge?: Bridge<Body, Response>;
  /** Whether a response has nothing in it, and nothing that says why: then the next model is asked. */
  isEmpty(response: Response): boolean;
  /** Where a response reports its usage. */
  usageIn(response: Response): AnswerUsage;
  /** What a response took: only numbers that can be true. */
  readUsage(answer: AnswerUsage, context: UsageContext<Body>): TakenUsage;
}

/** An operation whose requests come from callers, and are checked with errors that say what is wrong. */
export interface CheckedOperation<Body extends RequestBody = RequestBody, Response = unknown>
  extends Operation<Body, Response> {
  /**
   * Checks a body.
   *
   * @param body Anything.
   * @param files Those of a form; none otherwise.
   * @returns The same value.
   * @throws {UnsupportedRequestError} `missing_required_parameter` or `invalid_value`, with the field at fault.
   */
  check(body: unknown, files: readonly UploadedFile[]): Body;
  /** What an HTTP request without `model` goes to; one without is refused, when left out. */
  readonly defaultModel?: string;
  /** Its requests come as forms with files; as JSON, when left out. */
  readonly form?: FormRules;
}

/** How requests and responses become the specification's types in `extra`, and these become responses. */
interface Bridge<Body, Response> {
  /** What a reworded request asks. */
  extraOf(body: Body, context: { readonly model: ModelInfo; readonly files: readonly UploadedFile[] }): AudioRequest;
  /**
   * Reads the response of a provider that answers with `extra` alone.
   *
   * @throws {UpstreamError} `invalid_response` for one without what was asked for.
   */
  read(extra: AudioResponse, request: AudioRequest): CompletionResponse<Response>;
}

/** How a form becomes a body. */
export interface FormRules {
  /** Fields that are no text. A name with `[]` at its end, or one that comes twice, is a list. */
  readonly fields: Readonly<Record<string, "number" | "boolean" | "json">>;
  /** A request may be JSON all the same. */
  readonly takesJson?: true;
}
