/**
 * Lint rule (configured in `deno.json`) for the parameters of functions: at most three are positional, since a reader of
 * a call cannot distinguish more. Further facts have names, in an object.
 * @module
 */

/** Directories that are checked: tests pass their fixtures as they like. */
const checked = /^(src|connectors|browser|scripts|ui)\/|^[^/]+\.ts$/;

const root = decodeURIComponent(new URL("../", import.meta.url).pathname);

const maxPositional = 3;

type FunctionNode =
  | Deno.lint.FunctionDeclaration
  | Deno.lint.FunctionExpression
  | Deno.lint.ArrowFunctionExpression
  | Deno.lint.TSMethodSignature;

/** Whether a parameter is declared only to reach a later one: the signature is that of another program. */
function isUnused(parameter: FunctionNode["params"][number]): boolean {
  return parameter.type === "Identifier" && parameter.name.startsWith("_");
}

const plugin: Deno.lint.Plugin = {
  name: "modelmesh-parameters",
  rules: {
    "three-positional-parameters": {
      create(context) {
        const { filename } = context;
        if (!checked.test(filename.startsWith(root) ? filename.slice(root.length) : filename)) return {};
        const check = (node: FunctionNode) => {
          const { length } = [...node.params].filter((parameter) => !isUnused(parameter));
          if (length <= maxPositional) return;
          const message = `${length} positional parameters: name what follows the second one in an options object`;
          context.report({ node, message });
        };
        return {
          FunctionDeclaration: check,
          FunctionExpression: check, // also methods and constructors
          ArrowFunctionExpression: check,
          TSMethodSignature: check,
        };
      },
    },
  },
};

/** The plugin for `deno lint`. */
export default plugin;
