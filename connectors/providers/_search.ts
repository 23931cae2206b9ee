/**
 * Web search: vendors differ in the names of what they take and return.
 * @module
 */
import type { JsonObject } from "../../src/contracts/openai.ts";
import type { OperationCall, OperationRequest } from "../../src/contracts/provider.ts";
import { UpstreamError } from "../../src/errors.ts";
import { isObject } from "../../src/util/is_object.ts";
import { readObject } from "./_base.ts";
import { throwIfError } from "./_http.ts";
import { leftOutBeside } from "./_left_out.ts";
import type { Post } from "./_openai_vendor.ts";

/** What is looked for. */
interface SearchQuery {
  readonly query: string;
  /** Results, no more than the vendor gives; undefined: as many as it likes. */
  readonly count: number | undefined;
  /** The vendor's name of the model. */
  readonly model: string;
}

/** How a vendor searches. */
export interface SearchDialect {
  /** Below the vendor's address. */
  readonly path: string;
  /** Most results of one request. */
  readonly maxResults: number;
  /** Headers beside the usual ones. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The request's body. */
  readonly write: (query: SearchQuery) => JsonObject;
  /** Where a response has its results. */
  readonly resultsIn: (body: JsonObject) => unknown;
  /** What the members of a result are called. */
  readonly names: { readonly [name in "title" | "url" | "snippet" | "published" | "score"]?: string };
  /** What a response reports as billed; one search, when left out. */
  readonly usageIn?: (body: JsonObject) => JsonObject;
}

/** Parameters that every dialect carries, or the engine reads. */
const carried: ReadonlySet<string> = /* @__PURE__ */ new Set(["model", "query", "max_results", "stream"]);

/**
 * Search by a vendor. What else a request has is left out and reported: no two vendors have further parameters in common.
 *
 * @param dialect The vendor's.
 */
export function searchIn(dialect: SearchDialect): (post: Post) => OperationCall {
  return (post) => async (request, options) => {
    const { body, model } = request;
    const left = leftOutBeside(body, carried);
    if (left.length > 0) options.reportDropped?.(left);
    const { path, headers = {} } = dialect;
    const posted = { ...request, headers, json: written(request, dialect) };
    const response = await readObject(await post(path, posted, options));
    throwIfError(response);
    const usage = dialect.usageIn?.(response) ?? { searches: 1 };
    return { body: { object: "search", model: model.id, results: resultsOf(response, dialect), usage } };
  };
}

function written({ body, model }: OperationRequest, { write, maxResults }: SearchDialect): JsonObject {
  const asked = body.max_results as number | null | undefined;
  const count = asked === undefined || asked === null ? undefined : Math.min(asked, maxResults);
  return write({ query: body.query as string, count, model: model.id });
}

/** A result without an address is none; a list of nothing else is no answer. */
function resultsOf(body: JsonObject, { resultsIn, names }: SearchDialect): readonly JsonObject[] {
  const found = resultsIn(body);
  const pages: readonly unknown[] | undefined = Array.isArray(found) ? found : undefined;
  const results = (pages ?? []).flatMap<JsonObject>((one) => resultOf(one, names) ?? []);
  if (pages === undefined || results.length === 0 && pages.length > 0) {
    throw new UpstreamError("The provider's answer has no search results", { kind: "invalid_response" });
  }
  return results;
}

function resultOf(value: unknown, names: SearchDialect["names"]): JsonObject | undefined {
  if (!isObject(value)) return undefined;
  const text = (name: string | undefined) => {
    const given = name === undefined ? undefined : value[name];
    return typeof given === "string" && given !== "" ? given : undefined;
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
