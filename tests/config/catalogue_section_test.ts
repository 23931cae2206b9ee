/** `discovery.catalogue`: its address and its key. */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { catchProblems, catchRejections, known } from "./_known.ts";
import { validate } from "../../src/config/build/validate.ts";

const key = "11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=";
const url = "https://example.com/catalogue.json";

function read(catalogue: unknown) {
  return validate({ providers: { "acme.llm.v1": { api_key: "key-0123456789" } }, discovery: { catalogue } }, {
    knownConnectors: known,
  });
}

function problems(catalogue: unknown): Promise<string[]> {
  return catchRejections((async () => void read(await catalogue))());
}

Deno.test("discovery.catalogue has an address and a key, and an interval of a day", () => {
  assertEquals(read({ url, public_key: key }).catalogue, { url, publicKey: key, refreshMs: 86_400_000 });
  assertEquals(
    read({ url: "http://127.0.0.1:8/c.json?a=b", public_key: key, refresh: "1h" }).catalogue?.refreshMs,
    3_600_000,
  );
  assertEquals(
    validate({ providers: {} }, { knownConnectors: known, mayLackProviders: true } as never).catalogue,
    undefined,
  );
});

Deno.test("discovery.catalogue is refused with each problem and its path", async () => {
  const refused: readonly [unknown, string][] = [
    [{ url }, "discovery.catalogue.public_key"],
    [{ public_key: key }, "discovery.catalogue.url"],
    [{ url: "http://example.com/c.json", public_key: key }, "discovery.catalogue.url"],
    [{ url: "https://user:word@example.com/c.json", public_key: key }, "discovery.catalogue.url"],
    [{ url: "${secrets:URL}", public_key: key }, "discovery.catalogue.url"],
    [{ url, public_key: "AAAA" }, "discovery.catalogue.public_key"],
    [{ url, public_key: key, refresh: "1s" }, "discovery.catalogue.refresh"],
    [{ url, public_key: key, interval: "1d" }, "discovery.catalogue.interval"],
  ];
  for (const [catalogue, path] of refused) {
    assertEquals((await problems(catalogue)).map((line) => line.split(": ")[0]), [path], JSON.stringify(catalogue));
  }
});

Deno.test("a pool may name a model that only a renewed catalogue has; a known one that is misspelt is a problem", () => {
  const naming = (name: string, discovery?: object) => () =>
    validate({
      providers: { "acme.llm.v1": { api_key: "key-0123456789" } },
      pools: { p: { models: [name] } },
      ...(discovery && { discovery }),
    }, { knownConnectors: known });
  const renewing = { catalogue: { url, public_key: key } };
  for (const name of ["small-2", "acme.small-2", "other"]) {
    assertEquals(naming(name, renewing)().pools.get("p")?.models, [name]);
    assertEquals(catchProblems(naming(name)).length, 1, name);
  }
  const [problem = ""] = catchProblems(naming("smal", renewing));
  assertStringIncludes(problem, 'pools.p.models[0]: no model "smal", did you mean "acme.small"');
});
