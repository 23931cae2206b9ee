/**
 * The operation `search`: web pages for a query.
 * @module
 */
import { servesOperation } from "../../capability/operations.ts";
import type { SearchRequest, SearchResponse } from "../../contracts/openai.ts";
import type { CompletionResponse } from "../../contracts/provider.ts";
import { addText, emptyText } from "../request_size.ts";
import { bodyChecker, checkOptional, invalid, isNonNegativeInteger, missing, wrongType } from "../check_body.ts";
import { countTokens } from "../estimate.ts";
import type { CheckedOperation, RequestNeeds, ResponseUsage, TakenUsage, UsageContext } from "../operation.ts";
import { refusedBy } from "./_chat_lacks.ts";
import { dropRefused } from "./_rewording.ts";

const checkMembers = bodyChecker(["query", "max_results"]);
const maxResults = 100;
/** Vendors that charge per result count one search for this many results. */
const resultsPerSearch = 10;
/** A bound above the charge of any search. */
const maxTokens = 10_000_000;

/** Web search: pages by relevance. An empty result is valid. */
export const search: CheckedOperation<SearchRequest, SearchResponse> = {
  name: "search",
  mayHedge: () => true,
  serves: (leaf) => servesOperation(leaf, "search"),
  check: checkSearchRequest,
  measureNeeds: findSearchNeeds,
  reword: dropRefused,
  finish: toSearchResponse,
  isEmpty: () => false,
  usageIn: ({ usage }) => ({ usage, written: () => 0 }),
  readUsage: readSearchUsage,
};

function checkSearchRequest(value: unknown): SearchRequest {
  const body = checkMembers(value);
  const { query } = body;
  if (query === undefined) throw missing("query");
  if (typeof query !== "string") throw wrongType("query", "a string", query);
  if (query.trim() === "") throw invalid('"query" must not be empty', "query");
  checkOptional(body, {
    name: "max_results",
    expected: `an integer from 1 to ${maxResults}`,
    isValid: (value) => isNonNegativeInteger(value) && value > 0 && value <= maxResults,
  });
  return body as unknown as SearchRequest;
}

function findSearchNeeds(body: SearchRequest): RequestNeeds {
  const size = emptyText();
  addText(body.query, size);
  const searches = Math.ceil((body.max_results ?? resultsPerSearch) / resultsPerSearch);
  return {
    load: { input: Math.ceil(countTokens(size)), output: 0, units: { searches } },
    findLack: ({ parameters }) => refusedBy(parameters, body),
  };
}

function toSearchResponse(
  { body }: CompletionResponse<SearchResponse>,
  { max_results }: SearchRequest,
): CompletionResponse<SearchResponse> {
  const { model, results } = body;
  return { body: { object: "search", model, results: results.slice(0, max_results ?? undefined) } };
}

/** Searches and tokens as billed by the vendor, if reported. */
function readSearchUsage({ usage }: ResponseUsage, { load }: UsageContext<SearchRequest>): TakenUsage {
  const { searches: billed, total_tokens } = Object(usage);
  const estimated = load.units?.searches ?? 1;
  const isBilled = isNonNegativeInteger(billed) && billed <= maxResults;
  const hasTokens = isNonNegativeInteger(total_tokens) && total_tokens <= maxTokens;
  const tokens = hasTokens ? total_tokens : load.input;
  return {
    quantities: { input: tokens, output: 0, searches: isBilled ? billed : estimated },
    tokens,
    isEstimated: !isBilled && !hasTokens && estimated > 1,
  };
}
