/**
 * Descriptions of configuration keys: the comments in `src/config/schema`. They are read from the source, so that
 * programs do not contain them.
 * @module
 */
import ts from "../npm/typescript.ts";

/** Fields of a file by name, and the imports of their names. */
interface Source {
  readonly text: ts.SourceFile;
  readonly fields: ReadonlyMap<string, ts.Expression>;
  readonly imports: ReadonlyMap<string, string>;
}

/**
 * Returns comments by the path of their key, such as `pools.*.retry.max_attempts`.
 *
 * @param folder Folder with the schema; ends in a slash.
 * @throws {Error} When a key has no comment, or is written in an unsupported form; the message names the line.
 */
export function readComments(folder: URL): ReadonlyMap<string, string> {
  const reader = new CommentReader(folder);
  reader.read({ name: "schema", file: "schema.ts" });
  return reader.comments;
}

class CommentReader {
  readonly comments = new Map<string, string>();
  readonly #sources = new Map<string, Source>();
  readonly #folder: URL;

  constructor(folder: URL) {
    this.#folder = folder;
  }

  /** Follows the name of a field. */
  read({ name, file }: { name: string; file: string }, path = ""): void {
    const { fields, imports } = this.#source(file);
    const [field, origin] = [fields.get(name), imports.get(name)];
    if (field !== undefined) this.#field(field, file, path);
    else if (origin !== undefined) this.read({ name, file: origin }, path);
  }

  /** Reads the keys of a field: an object literal, or a name as in `budget as typeof budget`. */
  #field(expression: ts.Expression, file: string, path: string): void {
    if (ts.isAsExpression(expression)) return this.#field(expression.expression, file, path);
    if (ts.isIdentifier(expression)) return this.read({ name: expression.text, file }, path);
    if (!ts.isObjectLiteralExpression(expression)) return;
    const facts = new Map(
      expression.properties.filter(ts.isPropertyAssignment).map((fact) => {
        return [fact.name.getText(), fact.initializer];
      }),
    );
    const [fields, item, options] = [facts.get("fields"), facts.get("item"), facts.get("options")];
    if (item !== undefined) this.#field(item, file, facts.get("type")?.getText() === '"list"' ? path : `${path}.*`);
    if (options && ts.isArrayLiteralExpression(options)) {
      for (const option of options.elements) this.#field(option, file, path);
    }
    if (fields && ts.isObjectLiteralExpression(fields)) {
      for (const member of fields.properties) this.#key(member, file, path);
    }
  }

  #key(member: ts.ObjectLiteralElementLike, file: string, path: string): void {
    const where = () => {
      const source = this.#source(file).text;
      return `${file}:${source.getLineAndCharacterOfPosition(member.getStart()).line + 1}`;
    };
    if (!ts.isPropertyAssignment(member)) throw new Error(`${where()}: write the key as "key: field"`);
    const { name, initializer } = member;
    const key = ts.isIdentifier(name) || ts.isStringLiteral(name) ? name.text : name.getText();
    const fullPath = path === "" ? key : `${path}.${key}`;
    const comment = ts.getJSDocCommentsAndTags(member).map(({ comment }) => ts.getTextOfJSDocComment(comment)).join("");
    if (comment === "") throw new Error(`${where()}: "${fullPath}" has no comment that says what it is for`);
    this.comments.set(fullPath, comment.replace(/\s+/g, " "));
    this.#field(initializer, file, fullPath);
  }

  #source(file: string): Source {
    const existing = this.#sources.get(file);
    if (existing !== undefined) return existing;
    const content = Deno.readTextFileSync(new URL(file, this.#folder));
    const text = ts.createSourceFile(file, content, ts.ScriptTarget.ESNext, true);
    const source = { text, fields: findFields(text), imports: findSchemaImports(text) };
    this.#sources.set(file, source);
    return source;
  }
}

/** Returns the constants of a file. */
function findFields(text: ts.SourceFile): Map<string, ts.Expression> {
  const declarations = text.statements.filter(ts.isVariableStatement).flatMap(({ declarationList }) => {
    return [...declarationList.declarations];
  });
  return new Map(declarations.flatMap(({ name, initializer }) => initializer ? [[name.getText(), initializer]] : []));
}

/** Returns the schema files that names are imported from. */
function findSchemaImports(text: ts.SourceFile): Map<string, string> {
  const imports = new Map<string, string>();
  for (const statement of text.statements) {
    if (!ts.isImportDeclaration(statement)) continue;
    const file = (statement.moduleSpecifier as ts.StringLiteral).text;
    const names = statement.importClause?.namedBindings;
    if (!/^\.\/[a-z]/.test(file) || names === undefined || !ts.isNamedImports(names)) continue;
    for (const { name } of names.elements) imports.set(name.text, file.replace("./", ""));
  }
  return imports;
}
