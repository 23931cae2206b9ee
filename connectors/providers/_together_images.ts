/**
 * Images by Together AI: sizes in pixels by two members, and another word for base64.
 *
 * Source: github.com/togethercomputer/together-typescript, `ImageGenerateParams`.
 * @module
 */
import { type ImageDialect, pixelsOf, without } from "./_image_dialect.ts";

/** New images. */
export const togetherImages: ImageDialect = {
  pathOf: () => "images/generations",
  write({ model, body: { size, response_format: form, ...given } }) {
    const { body, dropped } = without(given, ["quality", "style", "moderation", "output_compression"]);
    const format = form === "b64_json" ? "base64" : form;
    const more = { ...pixelsOf(size), ...(format ? { response_format: format } : {}) };
    return { body: { ...body, ...more, model: model.id }, dropped };
  },
};
