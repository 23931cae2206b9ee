/**
 * A scripted image provider, and requests for it.
 * @module
 */
import { type Behaviour, json } from "./upstream.ts";

/** The image of scripted providers, in Base64. */
export const drawn = "iVBORw0KGgo=";

/** Token counts of models that report them. */
export const imageUsage = {
  input_tokens: 20,
  output_tokens: 100,
  total_tokens: 120,
  input_tokens_details: { text_tokens: 20, image_tokens: 0 },
};

/**
 * Responds with the requested number of images, to JSON and form requests.
 *
 * @param image Each image.
 * @param more Additional members of the response.
 */
export function images(image: object = { b64_json: drawn }, more: object = {}): Behaviour {
  return {
    play(exchange) {
      const { request } = exchange;
      const isForm = request.headers["content-type"]!.startsWith("multipart/");
      const text = new TextDecoder().decode(request.bytes);
      const n = isForm ? Number(/name="n"\r\n\r\n(\d+)/.exec(text)?.[1] ?? 1) : request.json().n ?? 1;
      return json({ created: 1, data: Array.from({ length: n }, () => image), ...more }).play(exchange);
    },
  };
}

/** Returns a form with a model, a prompt and additional fields; undefined removes a field. */
export function createForm(
  fields: Readonly<Record<string, string | Blob | readonly Blob[] | undefined>> = {},
): FormData {
  const form = new FormData();
  const picture = new File([new Uint8Array([1, 2, 3])], "room.png", { type: "image/png" });
  for (const [name, value] of Object.entries({ model: "pool", prompt: "a red room", image: picture, ...fields })) {
    for (const item of value === undefined ? [] : [value].flat()) form.append(name, item as string);
  }
  return form;
}
