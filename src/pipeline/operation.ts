/**
 * The interface of operations. The operation is part of the request, so that routing, limits and records do not depend
 * on its name.
 * @module
 */
import type { AudioRequest, AudioResponse } from "../contracts/audio.ts";
import type { RequestBody } from "../contracts/openai.ts";
import type {
  CapabilityPath,
  ChatApi,
  CompletionResponse,
  ModelInfo,
  OperationName,
  OperationRequest,
  UploadedFile,
} from "../contracts/provider.ts";
import type { BilledUsage } from "../contracts/usage.ts";
import type { Runtime } from "../contracts/runtime.ts";
import type { Member, ModelEntry } from "../registry/registry.ts";
import type { Load } from "../state/model/usage.ts";
import type { Quantities } from "../util/cost.ts";
import type { ClientNames } from "./client_names.ts";

/** Estimated usage and requirements of one request. */
export interface RequestNeeds {
  /** Estimated usage, high, for budgets and limits. */
  readonly load: Load;
  /**
   * Returns what a model lacks, such as `tool_calling`; undefined if it is eligible. Unknown facts about a model do not
   * exclude it.
   */
  readonly findLack: (model: ModelInfo) => string | undefined;
}

/** Members of the body that differ for a model; undefined removes a member. */
export interface Rewording {
  readonly edits: Readonly<Record<string, unknown>>;
  /** Parameters omitted because the model rejects them. */
  readonly dropped: readonly string[];
  /** Members that the client has not sent under any name. */
  readonly added?: readonly string[];
  /** The client's names of tools, if others are sent. */
  readonly clientNames?: ClientNames;
}

/** What a provider reports about the usage of a response. */
export interface ReportedUsage {
  /** Usage in the body, unvalidated. */
  readonly usage: unknown;
  /** What the provider bills besides, unvalidated. */
  readonly billed?: BilledUsage | undefined;
  /** The service tier in the body, unvalidated. */
  readonly tier?: unknown;
}

/** The reported usage of a response. */
export interface ResponseUsage extends ReportedUsage {
  /** Estimates output tokens from the response; 0 for an operation without output. */
  readonly written: () => number;
  /** The response for the request log. */
  readonly text?: (() => string) | undefined;
}

/** The usage of a response. */
export interface TakenUsage {
  readonly quantities: Quantities;
  /** Total tokens, as the provider counts them for its limits. */
  readonly tokens: number;
  /** Whether the provider did not report all of it. */
  readonly isEstimated: boolean;
}

/** A call and its estimate. */
export interface UsageContext<Body> {
  readonly body: Body;
  readonly model: ModelInfo;
  /** The estimated usage. */
  readonly load: Load;
}

/** One kind of request. */
export interface Operation<Body extends RequestBody = RequestBody, Response = unknown> {
  /** Name in messages and for providers. */
  readonly name: OperationName;
  /** Whether a capability leaf supports it. */
  serves(leaf: CapabilityPath): boolean;
  /** Determines estimated usage and requirements in one pass over the body. */
  measureNeeds(body: Body, files: readonly UploadedFile[]): RequestNeeds;
  /**
   * Keeps the models whose responses are interchangeable with those of the first, for operations whose responses
   * callers store and compare. By default, all models are interchangeable.
   *
   * @param members At least one.
   * @param first The model that the pool would select if all were active.
   */
  interchangeable?(members: readonly Member[], first: Member, body: Body): readonly Member[];
  /**
   * Imports what {@linkcode reword} needs for a request to a model, with the first such request.
   *
   * @param body The request; undefined if there are several.
   * @returns Undefined if nothing has to be imported.
   */
  prepare?(model: ModelEntry, body?: Body): Promise<void> | undefined;
  /** Selects the API through which a request is sent to a model; undefined if the model declares none. */
  selectApi?(body: Body, model: ModelEntry): ChatApi | undefined;
  /** Returns what this API lacks for a request; undefined if the model is eligible. */
  findApiLack?(body: Body, model: ModelEntry): string | undefined;
  /** Adapts a request to a model. */
  reword(body: Body, model: ModelEntry): Rewording;
  /**
   * Converts a provider's variation of a response to the shape that clients and dialects expect.
   *
   * @throws {UpstreamError} `invalid_response` if that is impossible.
   */
  normalize?(
    response: CompletionResponse<Response>,
    request: OperationRequest,
    runtime: Runtime,
  ): CompletionResponse<Response>;
  /** Converts a response to the requested form. By default, responses are unchanged. */
  finish?(response: CompletionResponse<Response>, body: Body): CompletionResponse<Response>;
  /** Whether responses are content such as audio, passed on as it arrives: `CompletionResponse.content`. */
  readonly hasContent?: true;
  /**
   * Whether a second model may be asked while the first has not responded, if the pool is configured so. By default
   * never: responses are expensive, or requests contain files.
   */
  mayHedge?(body: Body): boolean;
  /** Whether a request asks for stream delivery. @default `stream` of the body */
  isStreamed?(body: Body): boolean;
  /** Converts requests and responses to and from `extra`. */
  readonly bridge?: Bridge<Body, Response>;
  /** Whether a response is empty without a reason; the request then rotates. */
  isEmpty(response: Response): boolean;
  /** Returns the usage as reported in a response. */
  usageIn(response: Response): ResponseUsage;
  /** Returns the usage of a response; implausible numbers are ignored. */
  readUsage(response: ResponseUsage, context: UsageContext<Body>): TakenUsage;
}

/** An operation that callers request, with validation. */
export interface CheckedOperation<Body extends RequestBody = RequestBody, Response = unknown>
  extends Operation<Body, Response> {
  /**
   * Validates a body.
   *
   * @param body Any value.
   * @param files The files of a form.
   * @returns The same value.
   * @throws {UnsupportedRequestError} `missing_required_parameter` or `invalid_value`, with the invalid field.
   */
  check(body: unknown, files: readonly UploadedFile[]): Body;
  /** The default `model` of HTTP requests; undefined if it is required. */
  readonly defaultModel?: string;
  /** The form of its requests; undefined for JSON. */
  readonly form?: FormRules;
}

/** Converts requests to the audio types in `extra`, and their responses back. */
interface Bridge<Body, Response> {
  /** Converts an adapted request. */
  toAudioRequest(
    body: Body,
    context: { readonly model: ModelInfo; readonly files: readonly UploadedFile[] },
  ): AudioRequest;
  /**
   * Converts the response of a provider that returns only `extra`.
   *
   * @throws {UpstreamError} `invalid_response` if the requested part is missing.
   */
  read(extra: AudioResponse, request: AudioRequest): CompletionResponse<Response>;
}

/** Converts a form to a body. */
export interface FormRules {
  /** Fields that are not strings. A name that ends with `[]`, or that occurs twice, is a list. */
  readonly fields: Readonly<Record<string, "number" | "boolean" | "json">>;
  /** Whether a request may also be JSON. */
  readonly takesJson?: true;
}
