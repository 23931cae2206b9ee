// Copyright 2018-2026 the Deno authors. MIT license.
// The types of @std/http/negotiation that this repository uses, as they are there.

/** Returns the most preferred of the given media types; undefined when none is accepted. */
export function accepts<T extends string = string>(
  request: Pick<Request, "headers">,
  ...types: T[]
): T | undefined;

/** Returns the most preferred of the given encodings; undefined when none is accepted. */
export function acceptsEncodings<T extends string = string>(
  request: Pick<Request, "headers">,
  ...encodings: T[]
): T | undefined;
