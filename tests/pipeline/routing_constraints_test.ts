import { assert, assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { UnsupportedRequestError } from "../../src/errors.ts";
import { readRoutingConstraints, type RoutingConstraints } from "../../src/pipeline/routing_constraints.ts";
import { seededRandom } from "../../src/runtime/test.ts";
import { junk } from "../support/_junk.ts";

const header = "x-mesh-route";
const long = (length: number) => "n".repeat(length);

/** The error of a request that is refused. */
function refusal(act: () => unknown): UnsupportedRequestError {
  return assertThrows(act, UnsupportedRequestError);
}

describe("readRoutingConstraints()", () => {
  it("is undefined where nothing is asked", () => {
    for (const given of [undefined, null, "", " ", ";", " ; ; "]) {
      assertEquals(readRoutingConstraints(given, {}), undefined);
    }
    for (const mesh of [undefined, null, {}, { only: null, tags: undefined }]) {
      assertEquals(readRoutingConstraints(undefined, { mesh }), undefined);
    }
  });

  const headers: readonly (readonly [value: string, narrowing: RoutingConstraints])[] = [
    ["only=a", { only: { names: ["a"], param: header } }],
    [" Only = a , b/c:7 ; ", { only: { names: ["a", "b/c:7"], param: header } }],
    ["ignore=b;order=c,a,c", {
      ignore: { names: ["b"], param: header },
      order: { names: ["c", "a"], param: header },
    }],
    ["max-price=0.01", { maxPrice: { nanoUsd: 10_000_000, param: header } }],
    ["max-price=0", { maxPrice: { nanoUsd: 0, param: header } }],
    ["max-price=1000000", { maxPrice: { nanoUsd: 1e15, param: header } }],
    ["deadline=1m30s", { deadlineMs: 90_000 }],
    [`only=${Array.from({ length: 64 }, (_, place) => place)}`, {
      only: { names: Array.from({ length: 64 }, (_, place) => `${place}`), param: header },
    }],
  ];
  for (const [value, narrowing] of headers) {
    it(`reads the header "${value.slice(0, 60)}"`, () => assertEquals(readRoutingConstraints(value, {}), narrowing));
  }

  it("reads every member of the body", () => {
    const mesh = {
      only: ["a, b; c=d", "ü"],
      ignore: ["e"],
      order: ["f"],
      max_price: 0.07,
      deadline: "20s",
      session: "s-1",
      tags: { team: "search" },
    };
    assertEquals(readRoutingConstraints(undefined, { mesh }), {
      only: { names: ["a, b; c=d", "ü"], param: "mesh.only" },
      ignore: { names: ["e"], param: "mesh.ignore" },
      order: { names: ["f"], param: "mesh.order" },
      maxPrice: { nanoUsd: 70_000_000, param: "mesh.max_price" },
      deadlineMs: 20_000,
      session: "s-1",
      tags: { team: "search" },
    });
    assertEquals(readRoutingConstraints(null, { mesh: { tags: ["x", "y"] } }), { tags: ["x", "y"] });
  });

  it("lets the body win, member by member", () => {
    assertEquals(
      readRoutingConstraints("only=a;deadline=5s;max-price=1", { mesh: { only: ["b"], deadline: null, session: "s" } }),
      {
        only: { names: ["b"], param: "mesh.only" },
        deadlineMs: 5000,
        maxPrice: { nanoUsd: 1e9, param: header },
        session: "s",
      },
    );
  });

  const badHeaders: readonly (readonly [value: string, says: string])[] = [
    [
      "target=https://evil.example",
      '"target" of the header "x-mesh-route" is not a routing field: the fields are only,',
    ],
    ["max_price=1", 'did you mean "max-price"?'],
    ["session=a", "not a routing field"],
    ["toString=a", "not a routing field"],
    ["only=a;ignore=b;only=c", '"only" of the header "x-mesh-route" is given twice'],
    ["only=a;ONLY=c", "is given twice"],
    ["groq", '"groq" of the header "x-mesh-route" is not a routing field: write fields as in "only=groq;deadline=20s"'],
    ["only", "1 to 64 names"],
    ["only=", "1 to 64 names"],
    ["only=a,,b", "1 to 64 names"],
    [`only=${Array(65).fill("a")}`, "1 to 64 names"],
    [`order=${long(257)}`, "1 to 256 characters"],
    ["only=a, ignore=b", 'fields are separated by ";"'],
    ["max-price=cheap", "USD"],
    ["max-price=-1", "USD"],
    ["max-price=1e-3", "USD"],
    ["max-price=1000001", "USD"],
    ["max-price=", "USD"],
    ["deadline=20", 'not 20: write "20s" or "20ms"'],
    ["deadline=0s", "longer than 0"],
    ["deadline=soon", "duration"],
    ["deadline=", "duration"],
    [`only=${long(4096)}`, "up to 4096 characters"],
  ];
  for (const [value, says] of badHeaders) {
    it(`refuses the header "${value.slice(0, 60)}"`, () => {
      const error = refusal(() => readRoutingConstraints(value, {}));
      assertEquals([error.code, error.param], ["invalid_value", header]);
      assertStringIncludes(error.message, says);
      // what the body would override is checked all the same
      refusal(() =>
        readRoutingConstraints(value, { mesh: { only: ["a"], order: ["a"], max_price: 1, deadline: "1s" } })
      );
    });
  }

  const badMembers: readonly (readonly [param: string, value: unknown, says: string])[] = [
    ["only", [], "1 to 64 names"],
    ["only", "a", "1 to 64 names"],
    ["only", ["a", 7], "1 to 64 names"],
    ["only", [" "], "1 to 64 names"],
    ["ignore", Array(65).fill("a"), "1 to 64 names"],
    ["order", [long(257)], "1 to 256 characters"],
    ["max_price", "0.01", "USD"],
    ["max_price", -0.01, "USD"],
    ["max_price", 1e300, "USD"],
    ["max_price", NaN, "USD"],
    ["deadline", 20, 'not 20: write "20s" or "20ms"'],
    ["deadline", "20", 'not 20: write "20s" or "20ms"'],
    ["deadline", 1.5, "duration"],
    ["deadline", -5, "duration"],
    ["deadline", "0ms", "duration"],
    ["deadline", { s: 20 }, "duration"],
    ["session", "", "1 to 256 characters"],
    ["session", long(257), "1 to 256 characters"],
    ["session", 7, "1 to 256 characters"],
    ["tags", "team", "up to 16"],
    ["tags", Array(17).fill("a"), "up to 16"],
    ["tags", Object.fromEntries(Array.from({ length: 17 }, (_, place) => [place, "a"])), "up to 16"],
    ["tags", { team: 7 }, "1 to 64 characters"],
    ["tags", { "": "a" }, "1 to 64 characters"],
    ["tags", [long(65)], "1 to 64 characters"],
    ["onyl", ["a"], 'is not a routing field: did you mean "only"?'],
    ["api_key", "sk-1", "is not a routing field: the fields are"],
    ["constructor", {}, "is not a routing field"],
  ];
  for (const [name, value, says] of badMembers) {
    it(`refuses mesh.${name}: ${(JSON.stringify(value) ?? "").slice(0, 40)}`, () => {
      const error = refusal(() => readRoutingConstraints("only=a", { mesh: { [name]: value } }));
      assertEquals([error.code, error.param], ["invalid_value", `mesh.${name}`]);
      assertStringIncludes(error.message, `"mesh.${name}"`);
      assertStringIncludes(error.message, says);
    });
  }

  it("refuses a mesh that is not an object", () => {
    for (const mesh of ["only=a", 7, true, ["only"]]) {
      assertEquals(refusal(() => readRoutingConstraints(undefined, { mesh })).param, "mesh");
    }
  });

  it("says little of what it refuses: no error is long", () => {
    for (
      const act of [
        () => readRoutingConstraints(long(4000), {}),
        () => readRoutingConstraints("", { mesh: { [long(9999)]: 1 } }),
      ]
    ) {
      assert(refusal(act).message.length < 300);
    }
  });

  it("does not let tags reach a prototype", () => {
    const mesh = JSON.parse('{"tags": {"__proto__": "a", "team": "b"}}');
    const tags = readRoutingConstraints(undefined, { mesh })?.tags;
    assertEquals([Object.getPrototypeOf(tags), Object.keys(tags ?? {})], [Object.prototype, ["__proto__", "team"]]);
  });

  it("throws nothing but its error, whatever comes", () => {
    const random = seededRandom(3);
    const fields = ["only", "ignore", "order", "max-price", "deadline", "deadline", "tags", ""];
    const values = ["a", "a,b", "0.5", "20s", "20", "é", ",", "=", " ", "\u0000", ""];
    const pick = (list: readonly string[]) => list[Math.floor(random() * list.length)]!;
    const segment = () => `${pick(fields)}${random() < 0.9 ? "=" : pick(values)}${pick(values)}`;
    let read = 0;
    for (let round = 0; round < 1500; round++) {
      const value = Array.from({ length: Math.floor(random() * 3) }, segment).join(";");
      try {
        const narrowing = readRoutingConstraints(value, { mesh: random() < 0.5 ? null : junk(random) });
        if (narrowing !== undefined) read++;
        const { only, maxPrice, deadlineMs = 1 } = narrowing ?? {};
        assert((only?.names.length ?? 1) > 0 && (maxPrice?.nanoUsd ?? 0) >= 0 && deadlineMs > 0);
      } catch (error) {
        assert(UnsupportedRequestError.isInstance(error), `${error}`);
        assertEquals(error.code, "invalid_value");
        assert(error.param !== null);
      }
    }
    assert(read > 50, `${read}`);
  });
});
