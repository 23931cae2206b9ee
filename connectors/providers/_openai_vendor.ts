/**
 * Vendors that speak OpenAI's dialect, as data.
 * @module
 */
import type { Attributes, Detection, ProviderDeclaration, ProviderSettings } from "../../src/contracts/connector.ts";
import type { InfrastructureFacts } from "../../src/contracts/infrastructure.ts";
import type { JsonObject } from "../../src/contracts/openai.ts";
import type {
  CallOptions,
  ModelInfo,
  OperationCall,
  OperationRequest,
  OperationTable,
  ParameterRules,
  Quota,
} from "../../src/contracts/provider.ts";
import type { Runtime, UpstreamResponse } from "../../src/contracts/runtime.ts";
import { once } from "../../src/util/once.ts";
import type { FaultReader } from "./_http.ts";

/**
 * Posts a request's body to a path below the vendor's address, such as `embeddings`, with its key and its name of the model.
 * A body that is not the client's goes without `wire`.
 *
 * @throws {UpstreamError} For an answer that is no success.
 */
export type Post = (path: string, request: PostedRequest, options: CallOptions) => Promise<UpstreamResponse>;

/** A request, and where the vendor's own words are needed: what is posted in place of its body. */
export interface PostedRequest extends OperationRequest {
  /** Posted as it is, without a model. */
  readonly json?: JsonObject;
  /** Posted as the fields of a form with the request's files, in place of its body. */
  readonly fields?: JsonObject;
  /** Beside the key's and the content type; names in lower case. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Posted as it is: a body of its own type. */
  readonly raw?: { readonly type: string; readonly chunks: readonly Uint8Array[] };
  /** Asks, without a body, for what an earlier request has ordered. */
  readonly method?: "GET";
}

/** Makes the calls of an operation. */
export type VendorOperation = (post: Post, runtime: Pick<Runtime, "clock">) => OperationCall;

/** What makes a vendor's calls, by operation. */
export type VendorOperations = { readonly [name in keyof OperationTable]: VendorOperation };

/** What sets a vendor of OpenAI's dialect apart. */
export interface OpenAiCompatible {
  /** Connector id. */
  readonly id: string;
  /** Prefix of its models' names. */
  readonly vendor: string;
  /**
   * Address with version prefix, or what makes it of the entry's settings and variables of the environment, and throws a
   * `ConfigError` when they do not fit; left out when it has to be configured.
   */
  readonly baseUrl?:
    | string
    | ((settings: ProviderSettings, env?: (name: string) => string | undefined) => string);
  /** How it is found in the environment. */
  readonly detection?: Detection;
  /** Known models; a function, where a bundler shall be able to leave the list out together with the vendor. */
  readonly models?: readonly ModelInfo[] | (() => readonly ModelInfo[]);
  /** Rewording all its models need. */
  readonly parameters?: ParameterRules;
  /** A server on one's own machine. */
  readonly local?: boolean;
  /** Works without a key. */
  readonly keyless?: boolean;
  /** What its tokens are asked for, unless `auth.scope` says otherwise. */
  readonly tokenScope?: string;
  /** Attributes that it reads from its entry's `config`; none unless given. */
  readonly attributes?: Attributes;
  /** Headers that carry the key; `Authorization: Bearer` by default. */
  readonly authorize?: (credential: string) => Record<string, string>;
  /** Where a path of the API is for a model, in place of `<baseUrl>/<path>`. */
  readonly address?: (path: string, model?: string) => string;
  /** Whether it has no chat; such a vendor has no list of models at `models` either. */
  readonly withoutChat?: boolean;
  /** Its list of models, when that is not `GET <baseUrl>/models` in OpenAI's shape. */
  readonly list?: {
    /** Below the vendor's address; answers a `GET`, costs nothing, and proves that the vendor is there and takes the key. */
    readonly path: string;
    /**
     * Where a page has its models, and where each of these has its id; left out, the answer lists no models, and they are
     * those of the catalogue.
     */
    readonly members?: readonly [list: string, id: string];
    /** The path of the page after one, of which there is the body and the number; undefined after the last. */
    readonly next?: (page: JsonObject, number: number) => string | undefined;
  };
  /** What an entry of its list of models says beside the id, where it says more. */
  readonly describe?: (entry: JsonObject) => Omit<ModelInfo, "id">;
  /** Where it reports what is left of the account: a path below its address, and how the answer is read. */
  readonly quota?: { readonly path: string; readonly read: (body: JsonObject) => Quota };
  /**
   * Dialects beside chat that it has at its own address, a server on one's own machine at any; elsewhere `config.<dialect>`
   * says so. One that is left out it has nowhere.
   */
  readonly dialects?: { readonly responses?: boolean; readonly completions?: boolean };
  /** Whether it takes `stream_options.include_usage`; most do. */
  readonly streamUsage?: boolean;
  /** Its errors, where they are not quite OpenAI's. */
  readonly readError?: FaultReader["readError"];
  /** The operations other than chat that it performs: by `_openai_<operation>.ts` where they are shaped as OpenAI's. */
  readonly operations?: VendorOperations;
  /** What of files, batches and fine-tuning its API has by OpenAI's paths; nothing unless given. */
  readonly infrastructure?: InfrastructureFacts;
  /** A wait the vendor names in a place of its own. */
  readonly readRetryAfter?: FaultReader["readRetryAfter"];
}

/**
 * What is known of a vendor's connector before it is used. Its list of models is made when it is first looked at.
 *
 * @param vendor What sets the vendor apart.
 */
export function declarationOf(vendor: OpenAiCompatible): ProviderDeclaration {
  const models = once(() => modelsOf(vendor));
  return {
    kind: "provider",
    id: vendor.id,
    vendor: vendor.vendor,
    get models() {
      return models();
    },
    needsBaseUrl: vendor.baseUrl === undefined,
    keyless: vendor.keyless ?? vendor.local ?? false,
    local: vendor.local ?? false,
    attributes: vendor.attributes ?? {},
    ...(vendor.detection === undefined ? {} : { detection: vendor.detection }),
    parameters: { cache_control: false, ...vendor.parameters },
    ...(vendor.infrastructure === undefined ? {} : { infrastructure: vendor.infrastructure }),
    ...(vendor.tokenScope === undefined ? {} : { tokenScope: vendor.tokenScope }),
  };
}

/**
 * The models known of a vendor.
 *
 * @param vendor What sets the vendor apart.
 */
export function modelsOf({ models = [] }: OpenAiCompatible): readonly ModelInfo[] {
  return typeof models === "function" ? models() : models;
}
