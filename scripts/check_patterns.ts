/**
 * Lint rule (configured in `deno.json`) that rejects regular expressions whose effort may grow with the square of a
 * text, and functions called with a list that may be longer than a call may have arguments. Texts and lists come from
 * clients and providers.
 * @module
 */
import { neighboringRepetitions, superlinear } from "./patterns/effort.ts";

/** Rooms that are checked: what reads texts from outside. */
const rooms = /^(src|connectors|browser|ui)\/|^[^/]+\.ts$/;

const root = decodeURIComponent(new URL("../", import.meta.url).pathname);

/**
 * Explains what is wrong with a regular expression.
 *
 * @param source Without slashes.
 * @returns Undefined if nothing is.
 *
 * @example
 * ```ts
 * patternProblem("\\/+$", ""); // 'a search repeats "\\/" from each of its positions: …'
 * ```
 */
export function patternProblem(source: string, flags: string): string | undefined {
  const problem = superlinear(source, flags) ?? neighboringRepetitions(source);
  return problem === undefined ? undefined : `${problem}: bound a repetition, or use string methods`;
}

/** Whether a file is checked. */
function isChecked(file: string): boolean {
  return rooms.test(file.startsWith(root) ? file.slice(root.length) : file);
}

const plugin: Deno.lint.Plugin = {
  name: "modelmesh-effort",
  rules: {
    "linear-patterns": {
      create(context) {
        if (!isChecked(context.filename)) return {};
        const checkConstructor = (node: Deno.lint.CallExpression | Deno.lint.NewExpression) => {
          if (node.callee.type !== "Identifier" || node.callee.name !== "RegExp") return;
          context.report({ node, message: "A regular expression has to be a literal, so that its effort is known" });
        };
        return {
          Literal(node) {
            if (!("regex" in node) || node.regex === undefined) return;
            const { pattern, flags } = node.regex;
            const message = patternProblem(pattern, flags);
            if (message !== undefined) context.report({ node, message });
          },
          CallExpression: checkConstructor,
          NewExpression: checkConstructor,
        };
      },
    },
  },
};

/** The plugin for `deno lint`. */
export default plugin;
