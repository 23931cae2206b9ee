/**
 * Suggestions for misspelt names, for all "did you mean" messages.
 * @module
 */

/** Maximum edit distance of a misspelling; bounds the work that untrusted names can cause. */
const maxEdits = 4;
/** Maximum number of candidates that are compared: anyone may send unknown names to a mesh with many models. */
const maxCandidates = 2_000;
/** Longer names are not compared completely. */
const maxChars = 256;
const shortestPart = 3;

/**
 * Returns the nearest candidates, the likeliest first: by edit distance (a transposition counts once), then names that
 * contain it or that it contains. Case-insensitive. A candidate such as `openai.gpt-4o` is also compared without its
 * prefix.
 *
 * @example
 * ```ts
 * nearest("chat-compeltion", ["chat-completion", "tokenization"]); // ["chat-completion"]
 * ```
 */
export function nearest(name: string, candidates: Iterable<string>, limit = 3): string[] {
  const target = name.slice(0, maxChars).toLowerCase();
  const ranked: { candidate: string; rank: number }[] = [];
  const seen = new Set<string>();
  for (const candidate of candidates) {
    if (seen.size === maxCandidates) break;
    if (seen.has(candidate) || candidate.length > maxChars) continue;
    seen.add(candidate);
    const ranks = writtenForms(candidate).map((form) => rankForm(target, form)).filter((rank) => rank !== undefined);
    if (ranks.length > 0) ranked.push({ candidate, rank: Math.min(...ranks) });
  }
  return ranked.sort((first, second) => first.rank - second.rank).slice(0, limit).map(({ candidate }) => candidate);
}

/** How a candidate may be written: in full, and without its prefix. */
export function writtenForms(candidate: string): string[] {
  const full = candidate.toLowerCase();
  const prefix = full.indexOf(".") + 1;
  return prefix === 0 ? [full] : [full, full.slice(prefix)];
}

function rankForm(target: string, candidate: string): number | undefined {
  const allowed = Math.min(maxEdits, Math.ceil(candidate.length / 3));
  const difference = Math.abs(target.length - candidate.length);
  if (difference <= allowed) {
    const edits = editDistance(target, candidate);
    if (edits <= allowed) return edits;
  }
  const [part, longer] = target.length < candidate.length ? [target, candidate] : [candidate, target];
  return part.length >= shortestPart && longer.includes(part) ? maxEdits + difference : undefined;
}

/**
 * Returns the edit distance (optimal string alignment): the number of insertions, deletions, replacements and
 * transpositions of neighbours.
 */
export function editDistance(first: string, second: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: second.length + 1 }, (_, column) => column);
  for (let row = 1; row <= first.length; row++) {
    const current = [row];
    for (let column = 1; column <= second.length; column++) {
      const replaced = last[column - 1]! + (first[row - 1] === second[column - 1] ? 0 : 1);
      let edits = Math.min(replaced, last[column]! + 1, current[column - 1]! + 1);
      const swapped = row > 1 && column > 1 && first[row - 1] === second[column - 2] &&
        first[row - 2] === second[column - 1];
      if (swapped) edits = Math.min(edits, beforeLast[column - 2]! + 1);
      current.push(edits);
    }
    beforeLast = last;
    last = current;
  }
  return last[second.length]!;
}
