/**
 * Document parsing. Vendors name requests and response members differently.
 * @module
 */
import type { JsonObject } from "../../src/contracts/openai.ts";
import type { OperationCall, UploadedFile } from "../../src/contracts/provider.ts";
import { UpstreamError } from "../../src/errors.ts";
import { readJsonObject } from "./_base.ts";
import { throwIfError } from "./_http.ts";
import { undeclaredParams } from "./_dropped_params.ts";
import type { OpenAiCompatible, Post } from "./_openai_vendor.ts";

/** The document to parse: a file or a URL. */
interface ParsedDocument {
  /** The upstream model id. */
  readonly model: string;
  readonly url: string | undefined;
  readonly file: UploadedFile | undefined;
}

/** A vendor's dialect of document parsing. */
export interface DocumentDialect {
  /** Path relative to the vendor's base URL. */
  readonly path: string;
  /** Additional headers. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Creates the request body; when omitted, the form is sent unchanged. */
  readonly write?: (document: ParsedDocument) => JsonObject;
  /** Extracts the Markdown of each page from a response, in order. */
  readonly pagesIn: (body: JsonObject) => unknown;
  /** Extracts the billed usage from a response, by ModelMesh's names. */
  readonly usageIn?: (body: JsonObject) => JsonObject;
  /** Extracts what the vendor bills besides; the pages of the response by default. */
  readonly readBilled?: OpenAiCompatible["readBilled"];
}

/** Parameters that every dialect carries, or that the engine handles. */
const translated: ReadonlySet<string> = /* @__PURE__ */ new Set(["model", "url", "stream"]);

/**
 * Document parsing by a vendor.
 *
 * @param dialect The vendor's dialect.
 */
export function documentsIn(
  { path, headers = {}, write, pagesIn, usageIn, readBilled }: DocumentDialect,
): (post: Post) => OperationCall {
  return (post) => async (request, options) => {
    const { body, files, model } = request;
    const document = { model: model.id, url: body.url as string | undefined, file: files?.[0] };
    const json = write?.(document);
    const left = json === undefined ? [] : undeclaredParams(body, translated);
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
