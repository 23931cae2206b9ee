// The part of @std/http/negotiation that this repository uses: the code is that of npm's deno-std, which has no types.

/** What is read of a request. */
export type RequestHeaders = Pick<Request, "headers">;

/**
 * Selects a media type by `Accept`.
 *
 * @param types Supported media types, in order of preference.
 * @returns undefined if the client accepts none of them.
 */
export function accepts<Type extends string>(request: RequestHeaders, ...types: Type[]): Type | undefined;

/**
 * Selects a content coding by `Accept-Encoding`.
 *
 * @param encodings Supported codings, in order of preference.
 * @returns undefined if the client accepts none of them.
 */
export function acceptsEncodings<Coding extends string>(
  request: RequestHeaders,
  ...encodings: Coding[]
): Coding | undefined;
