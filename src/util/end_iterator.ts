/**
 * Ends iterators whose rest is not needed.
 * @module
 */

/** Ends an iterator, such as the response of a provider. Whether its end succeeds makes no difference any more. */
export function endIterator(iterator: Pick<AsyncIterator<unknown>, "return">): void {
  end(iterator).catch(() => {});
}

async function end(iterator: Pick<AsyncIterator<unknown>, "return">): Promise<void> {
  await iterator.return?.();
}
