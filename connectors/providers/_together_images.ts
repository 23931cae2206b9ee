/**
 * Image generation on Together AI: width and height are separate members, and base64 has another name.
 *
 * Source: github.com/togethercomputer/together-typescript, `ImageGenerateParams`.
 * @module
 */
import { type ImageDialect, omitNames, parsePixels } from "./_image_dialect.ts";

/** Image generation. */
export const togetherImages: ImageDialect = {
  toPath: () => "images/generations",
  write({ model, body: { size, response_format: form, ...given } }) {
    const { body, dropped } = omitNames(given, ["quality", "style", "moderation", "output_compression"]);
    const format = form === "b64_json" ? "base64" : form;
    const more = { ...parsePixels(size), ...(format ? { response_format: format } : {}) };
    return { body: { ...body, ...more, model: model.id }, dropped };
  },
};
