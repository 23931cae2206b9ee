/**
 * Image generation on xAI: aspect ratios instead of sizes; the image to edit is a data URL.
 *
 * Sources: docs.x.ai, image generation; github.com/vercel/ai, `packages/xai`; reports of rejected arguments
 * (docs.crazyrouter.com).
 * @module
 */
import type { OperationRequest } from "../../src/contracts/provider.ts";
import { findAspectRatio, type ImageDialect, omitNames, toDataUrl, type WrittenImages } from "./_image_dialect.ts";

const ratios = ["1:1", "16:9", "9:16", "4:3", "3:4", "3:2", "2:3", "2:1", "1:2"];
const refused = ["size", "quality", "style", "moderation", "background", "output_compression", "input_fidelity"];

/** Image generation. */
export const xaiImages: ImageDialect = { toPath: () => "images/generations", write: writeImages };

/** Editing of one image. */
export const xaiImageEdits: ImageDialect = {
  toPath: () => "images/edits",
  write(request) {
    const { body, dropped } = writeImages(request);
    const [image] = request.files ?? [];
    return { body: { ...body, image: { url: image && toDataUrl(image), type: "image_url" } }, dropped };
  },
};

/**
 * A size with a supported aspect ratio is sent as that ratio, and still reported as dropped, since its resolution is
 * lost.
 */
function writeImages({ model, body: given }: OperationRequest): WrittenImages {
  const { body, dropped } = omitNames({ ...given, model: model.id }, refused);
  const ratio = findAspectRatio(given.size, ratios);
  return { body: ratio === undefined ? body : { aspect_ratio: ratio, ...body }, dropped };
}
