/**
 * Mistral's OCR: `POST /ocr`, which accepts URLs; files are sent as `data:` URLs.
 *
 * Sources: docs.mistral.ai, basic OCR (a request specifies documents or images); docs.litellm.ai/docs/ocr.
 * @module
 */
import type { UploadedFile } from "../../src/contracts/provider.ts";
import { toBase64 } from "../../src/util/base64.ts";
import type { DocumentDialect } from "./_documents.ts";

const imageEnding = /\.(png|jpe?g|webp|gif|avif|tiff?|bmp)$/i;
const unknownType = "application/octet-stream";

/** Mistral's dialect. */
export const mistralDocuments: DocumentDialect = {
  path: "ocr",
  write({ model, url, file }) {
    const address = file === undefined ? url! : `data:${findDocumentType(file)};base64,${toBase64(file.bytes)}`;
    const isImage = file === undefined
      ? imageEnding.test(new URL(address).pathname)
      : /^image\//.test(findDocumentType(file));
    const document = isImage
      ? { type: "image_url", image_url: address }
      : { type: "document_url", document_url: address };
    return { model, document };
  },
  readBilled: ({ usage_info }) => ({ pages: Object(usage_info).pages_processed }),
  pagesIn: ({ pages }) => Array.isArray(pages) ? pages.map((page) => Object(page).markdown) : undefined,
};

/** An uploaded file without a media type is most often a PDF. */
function findDocumentType({ type, bytes }: UploadedFile): string {
  const isPdf = new TextDecoder().decode(bytes.subarray(0, 5)) === "%PDF-";
  return type === unknownType && isPdf ? "application/pdf" : type.split(/[;,\s]/, 1)[0]!;
}
