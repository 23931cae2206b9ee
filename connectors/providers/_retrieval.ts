/**
 * Web search, document parsing and reranking. Vendors name request and response members differently.
 *
 * Sources of reranking: docs.cohere.com, `POST /v2/rerank`; docs.vllm.ai and localai.io, `POST /v1/rerank`, which
 * follow it; docs.voyageai.com/reference/reranker-api.
 * @module
 */
import type { JsonObject } from "../../src/contracts/openai.ts";
import type { OperationCall, OperationRequest, UploadedFile } from "../../src/contracts/provider.ts";
import { UpstreamError } from "../../src/errors.ts";
import { isObject } from "../../src/util/is_object.ts";
import { readJsonObject } from "./_base.ts";
import { undeclaredParams } from "./_dropped_params.ts";
import { parseObject, readBytes, throwIfError } from "./_http.ts";
import type { OpenAiCompatible, Post } from "./_openai_vendor.ts";

/** A vendor's dialect of web search. */
export interface SearchDialect {
  /** Path relative to the vendor's base URL. */
  readonly path: string;
  /** Maximum number of results per request. */
  readonly maxResults: number;
  /** Additional headers. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Creates the request body. */
  readonly write: (query: {
    readonly query: string;
    /** Maximum number of results, capped at the vendor's maximum; undefined for the vendor's default. */
    readonly count: number | undefined;
    /** The upstream model id. */
    readonly model: string;
  }) => JsonObject;
  /** Extracts the results from a response. */
  readonly resultsIn: (body: JsonObject) => unknown;
  /** Member names of a result. */
  readonly names: { readonly [name in "title" | "url" | "snippet" | "published" | "score"]?: string };
  /** Extracts the billed usage from a response; one search by default. */
  readonly usageIn?: (body: JsonObject) => JsonObject;
}

/** Parameters that every dialect carries, or that the engine handles. */
const searchParams: ReadonlySet<string> = /* @__PURE__ */ new Set(["model", "query", "max_results", "stream"]);

/** Web search by a vendor. Further parameters are dropped and reported: vendors have none in common. */
export function searchIn(dialect: SearchDialect): (post: Post) => OperationCall {
  return (post) => async (request, options) => {
    const { body, model } = request;
    const left = undeclaredParams(body, searchParams);
    if (left.length > 0) options.reportDropped?.(left);
    const { path, headers = {} } = dialect;
    const posted = { ...request, headers, json: writeQuery(request, dialect) };
    const response = await readJsonObject(await post(path, posted, options));
    throwIfError(response);
    const usage = dialect.usageIn?.(response) ?? { searches: 1 };
    return { body: { object: "search", model: model.id, results: readResults(response, dialect), usage } };
  };
}

function writeQuery({ body, model }: OperationRequest, { write, maxResults }: SearchDialect): JsonObject {
  const requested = body.max_results as number | null | undefined;
  const count = requested === undefined || requested === null ? undefined : Math.min(requested, maxResults);
  return write({ query: body.query as string, count, model: model.id });
}

/** Results without a URL are dropped; a list of only such results is an invalid response. */
function readResults(body: JsonObject, { resultsIn, names }: SearchDialect): readonly JsonObject[] {
  const found = resultsIn(body);
  const pages: readonly unknown[] | undefined = Array.isArray(found) ? found : undefined;
  const results = (pages ?? []).flatMap<JsonObject>((page) => readResult(page, names) ?? []);
  if (pages === undefined || results.length === 0 && pages.length > 0) {
    throw new UpstreamError("The provider's response has no search results", { kind: "invalid_response" });
  }
  return results;
}

function readResult(value: unknown, names: SearchDialect["names"]): JsonObject | undefined {
  if (!isObject(value)) return undefined;
  const text = (name: string | undefined) => {
    const member = name === undefined ? undefined : value[name];
    return typeof member === "string" && member !== "" ? member : undefined;
  };
  const url = text(names.url ?? "url");
  if (url === undefined) return undefined;
  const published = text(names.published);
  const score = names.score === undefined ? undefined : value[names.score];
  return {
    title: text(names.title ?? "title") ?? "",
    url,
    snippet: text(names.snippet ?? "snippet") ?? "",
    ...(published === undefined ? {} : { published }),
    ...(Number.isFinite(score) ? { score } : {}),
  };
}

/** A vendor's dialect of document parsing. */
export interface DocumentDialect {
  /** Path relative to the vendor's base URL. */
  readonly path: string;
  /** Additional headers. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Creates the request body; when omitted, the form is sent unchanged. */
  readonly write?: (document: {
    /** The upstream model id. */
    readonly model: string;
    readonly url: string | undefined;
    readonly file: UploadedFile | undefined;
  }) => JsonObject;
  /** Extracts the Markdown of each page from a response, in order. */
  readonly pagesIn: (body: JsonObject) => unknown;
  /** Extracts the billed usage from a response, by ModelMesh's names. */
  readonly usageIn?: (body: JsonObject) => JsonObject;
  /** Extracts what the vendor bills besides; the pages of the response by default. */
  readonly readBilled?: OpenAiCompatible["readBilled"];
}

/** Parameters that every dialect carries, or that the engine handles. */
const documentParams: ReadonlySet<string> = /* @__PURE__ */ new Set(["model", "url", "stream"]);

/** Document parsing by a vendor. */
export function documentsIn(
  { path, headers = {}, write, pagesIn, usageIn, readBilled }: DocumentDialect,
): (post: Post) => OperationCall {
  return (post) => async (request, options) => {
    const { body, files, model } = request;
    const document = { model: model.id, url: body.url as string | undefined, file: files?.[0] };
    const json = write?.(document);
    const left = json === undefined ? [] : undeclaredParams(body, documentParams);
    if (left.length > 0) options.reportDropped?.(left);
    const posted = json === undefined ? request : { ...request, headers, json };
    const response = await readJsonObject(await post(path, posted, options));
    throwIfError(response);
    const strings = pageTexts(pagesIn(response));
    return {
      body: {
        object: "document",
        model: model.id,
        text: strings.join("\n\n"),
        pages: strings.map((markdown, index) => ({ page: index + 1, markdown })),
        usage: usageIn?.(response) ?? {},
      },
      billed: readBilled?.(response),
    };
  };
}

function pageTexts(pages: unknown): readonly string[] {
  if (Array.isArray(pages) && pages.every((page) => typeof page === "string")) return pages;
  throw new UpstreamError("The provider's response has no pages", { kind: "invalid_response" });
}

const decoder = /* @__PURE__ */ new TextDecoder();

/** A vendor's dialect of reranking. */
export interface RerankDialect {
  /** Path relative to the vendor's base URL; may start with `../`. */
  readonly path: string;
  /** Its name of `top_n`. */
  readonly topName?: string;
  /** Its name of `results`. */
  readonly resultsName?: string;
}

/** Reranking by a vendor that returns a list with `index` and `relevance_score`. */
export function rerankIn({ path, topName, resultsName = "results" }: RerankDialect): (post: Post) => OperationCall {
  return (post) => async (request, options) => {
    const sent = topName === undefined ? request : { ...request, json: renameMembers(request, topName) };
    const body = parseObject(decoder.decode(await readBytes(await post(path, sent, options))));
    throwIfError(body);
    const { [resultsName]: results, usage, meta } = body;
    const { length } = request.body.documents as readonly unknown[];
    const isResult = (value: unknown) =>
      isObject(value) && Number.isInteger(value.index) && (value.index as number) >= 0 &&
      (value.index as number) < length &&
      Number.isFinite(value.relevance_score);
    if (!Array.isArray(results) || !results.every(isResult)) {
      throw new UpstreamError("The provider's response has no relevance scores", { kind: "invalid_response" });
    }
    const billed = Object(Object(meta).billed_units);
    const units = billed.search_units === undefined ? {} : { search_units: billed.search_units };
    return { body: { model: request.model.id, results, usage: { ...Object(usage), ...units } } };
  };
}

function renameMembers({ body: { top_n, ...rest }, model }: OperationRequest, topName: string): JsonObject {
  return { ...rest, model: model.id, ...(top_n === undefined ? {} : { [topName]: top_n }) };
}
