import { assert, assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { runInNewContext } from "node:vm";
import * as library from "../../mod.ts";

const facts = { code: "all_attempts_failed", status: 502, type: "server_error", attempts: [] };

/** One of each class, with the code it carries. */
const errors: readonly (readonly [error: library.MeshError, code: string])[] = [
  [new library.MeshError("m"), "internal_error"],
  [new library.ConfigError([{ path: "p", message: "m" }]), "invalid_configuration"],
  [new library.NoProvidersError("m"), "no_providers"],
  [new library.SecretNotFoundError(["NAME"], "mesh.env.v1"), "secret_not_found"],
  [new library.ModelNotFoundError("m"), "model_not_found"],
  [new library.ObjectNotFoundError("m"), "not_found"],
  [new library.UnsupportedRequestError("m", { code: "unsupported_by_pool" }), "unsupported_by_pool"],
  [new library.NoActiveModelError("m", { reasons: {} }), "no_active_model"],
  [new library.BudgetExceededError("m"), "budget_exceeded"],
  [new library.RateLimitError("m", { code: "rate_limit_exceeded" }), "rate_limit_exceeded"],
  [new library.ProviderError("m", facts), "all_attempts_failed"],
  [new library.StreamInterruptedError("m", ""), "stream_interrupted"],
  [new library.DeadlineError("m"), "timeout"],
  [new library.ConnectorError("m"), "internal_error"],
  [new library.NetworkError("m", { neverSent: true }), "network_error"],
  [new library.UpstreamError("m", { kind: "server" }), "upstream_error"],
];

const classes = Object.entries(library).filter(([name]) => /Error$/.test(name)) as [
  string,
  { isInstance(value: unknown): boolean },
][];

/** An error as a second copy of the library would make it, in another realm: nothing is shared but the marks. */
function foreignError(...kinds: readonly string[]): unknown {
  const mark = `Object.defineProperty(error, Symbol.for("modelmesh.error.kinds"), { value: ${
    JSON.stringify(kinds)
  } });`;
  return runInNewContext(`const error = new Error("m"); ${kinds.length === 0 ? "" : mark} error`);
}

describe("Errors of the library", () => {
  it("are all here", () => {
    assertEquals(classes.map(([name]) => name).sort(), errors.map(([error]) => error.constructor.name).sort());
  });

  for (const [error, code] of errors) {
    const { name } = error;
    it(`${name} is an Error with a code, and an instance of its own class and of MeshError alone`, () => {
      assertEquals([name, error.code, error instanceof Error], [error.constructor.name, code, true]);
      const accepting = classes.filter(([, one]) => one.isInstance(error)).map(([one]) => one);
      assertEquals(accepting.sort(), [...new Set(["MeshError", name])].sort());
      assertEquals(`${error}`, `${name}: ${error.message}`);
    });
  }

  it("show their marks to no code that lists their members", () => {
    for (const [error] of errors) {
      assertEquals(Object.keys(error).filter((key) => key.includes("modelmesh")), []);
      assertEquals(
        Object.getOwnPropertySymbols(error).filter((mark) => Object.prototype.propertyIsEnumerable.call(error, mark)),
        [],
      );
    }
  });
});

describe("Errors of another copy of the library", () => {
  for (const [{ name }] of errors) {
    it(`are recognised: ${name}`, () => {
      const foreign = foreignError("MeshError", name);
      assert(!(foreign instanceof library.MeshError));
      const accepting = classes.filter(([, one]) => one.isInstance(foreign)).map(([one]) => one);
      assertEquals(accepting.sort(), [...new Set(["MeshError", name])].sort());
    });
  }

  it("are not taken for what is none", () => {
    for (
      const value of [
        undefined,
        null,
        0,
        "ConfigError",
        {},
        [],
        new Error("m"),
        { name: "ConfigError" },
        foreignError(),
      ]
    ) {
      for (const [name, one] of classes) assertEquals(one.isInstance(value), false, name);
    }
  });
});
