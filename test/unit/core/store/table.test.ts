import fc from "fast-check";
import { expect, it } from "vitest";
import { z } from "zod";
import { createNodeDatabase } from "../../../../lab/support/node-database.ts";
import { LazyTables } from "../../../../src/core/store/lazy-tables.ts";
import {
  added,
  blob,
  checked,
  defineTable,
  encoded,
  flag,
  integer,
  json,
  openTable,
  real,
  Table,
  text,
} from "../../../../src/core/store/table.ts";
import type { NewRowOf, RowOf } from "../../../../src/core/store/table.ts";

const list = json(z.array(z.number()));
const words = encoded(
  (stored) => stored.split(" "),
  (habits) => habits.join(" "),
);

/** Columns of every kind. */
const BIRDS = defineTable(
  "bird_v1",
  {
    ringId: text("PRIMARY KEY"),
    place: integer("PRIMARY KEY"),
    name: text("NOT NULL"),
    weightGrams: real("NOT NULL"),
    seenCount: integer("NOT NULL DEFAULT 1"),
    isRare: flag("NOT NULL"),
    colors: list("NOT NULL"),
    size: checked(z.enum(["small", "big"]))("NOT NULL"),
    picture: blob(),
    nickname: text("UNIQUE"),
    isTame: flag(),
    eggs: added(list()),
    habits: added(words("NOT NULL DEFAULT 'sings'")),
  },
  "STRICT, WITHOUT ROWID",
  { bird_v1_eggs: "(eggs) WHERE eggs IS NOT NULL" },
);
const NESTS = defineTable(
  "nest_v1",
  { seq: integer("PRIMARY KEY AUTOINCREMENT"), tree: text("NOT NULL UNIQUE") },
  "STRICT",
);

type Bird = RowOf<typeof BIRDS>;

const number = fc.integer({ min: -(2 ** 31), max: 2 ** 31 });
const word = fc.string().filter((one) => !one.includes("\0"));
const optional = <T>(values: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.option(values, { nil: undefined });
const birds: fc.Arbitrary<Bird> = fc.record({
  ringId: word,
  place: number,
  name: word,
  weightGrams: fc.double({ noNaN: true, noDefaultInfinity: true }).map((grams) => grams + 0),
  seenCount: number,
  isRare: fc.boolean(),
  colors: fc.array(number),
  size: fc.constantFrom("small" as const, "big" as const),
  picture: optional(fc.uint8Array({ minLength: 1 }).map((bytes) => bytes.slice().buffer)),
  nickname: optional(word),
  isTame: optional(fc.boolean()),
  eggs: optional(fc.array(number)),
  habits: fc.array(fc.stringMatching(/^[a-z]+$/), { minLength: 1 }),
});
const BIRD: NewRowOf<typeof BIRDS> = {
  ringId: "a",
  place: 1,
  name: "Ada",
  weightGrams: 2.5,
  isRare: true,
  colors: [3],
  size: "big",
};
const WHERE = "WHERE ring_id = ? AND place = ?";

it("reads every row as it was put or inserted", () => {
  fc.assert(
    fc.property(birds, fc.constantFrom("put", "insert", "insertNew"), (bird, write) => {
      const table = openTable(createNodeDatabase(), BIRDS);
      table[write](bird);
      expect(bytesOf(table.first(WHERE, bird.ringId, bird.place))).toEqual(bytesOf(bird));
    }),
  );
});

it("puts all columns in place of those before", () => {
  fc.assert(
    fc.property(birds, birds, (first, second) => {
      const table = openTable(createNodeDatabase(), BIRDS);
      const changed = { ...second, ringId: first.ringId, place: first.place };
      table.put(first);
      table.put(changed);
      expect(table.all("").map(bytesOf)).toEqual([bytesOf(changed)]);
    }),
  );
});

it("updates the given columns only", () => {
  const changes = birds.chain((bird) => fc.subarray(Object.entries(bird), { minLength: 1 }));
  fc.assert(
    fc.property(birds, changes, (bird, entries) => {
      const given: Partial<Bird> = Object.fromEntries(entries);
      const table = openTable(createNodeDatabase(), BIRDS);
      table.insert(bird);
      table.update(given, WHERE, bird.ringId, bird.place);
      expect(table.all("").map(bytesOf)).toEqual([bytesOf({ ...bird, ...given })]);
    }),
  );
});

it("gives columns that are left out their default, and numbers rows", () => {
  const database = createNodeDatabase();
  const table = openTable(database, BIRDS);
  const nests = openTable(database, NESTS);
  expect(table.insertNew(BIRD)).toEqual({ ...BIRD, seenCount: 1, habits: ["sings"] });
  expect(table.insertNew({ ...BIRD, name: "Bea" })).toBeUndefined();
  expect(() => table.insert(BIRD)).toThrow("UNIQUE");
  nests.insert({ tree: "oak" });
  expect(nests.insertNew({ tree: "oak" })).toBeUndefined();
  expect(nests.insertNew({ tree: "ash" })?.seq).toBeGreaterThan(1);
  expect(nests.all("ORDER BY seq").map(({ tree }) => tree)).toEqual(["oak", "ash"]);
});

const lazyTable = (database: ReturnType<typeof createNodeDatabase>): Table<typeof BIRDS> =>
  new Table(new LazyTables(database, BIRDS), BIRDS);

it.each([
  ["at the start", (database) => openTable(database, BIRDS)],
  ["lazily", lazyTable],
] satisfies [string, typeof lazyTable][])(
  "adds the columns that an old table lacks %s, and keeps its rows",
  (_, open) => {
    const database = createNodeDatabase();
    const statement = BIRDS.schema[0] ?? "";
    database.run(statement.replace(", eggs TEXT, habits TEXT NOT NULL DEFAULT 'sings'", ""));
    database.run(
      `INSERT INTO bird_v1 (ring_id, place, name, weight_grams, is_rare, colors, size)
     VALUES ('a', 1, 'Ada', 2.5, 1, '[3]', 'big')`,
    );
    expect(database.all("SELECT name FROM pragma_table_info('bird_v1') WHERE name = 'eggs'")).toEqual([]);
    expect(open(database).all("")).toEqual([{ ...BIRD, seenCount: 1, habits: ["sings"] }]);
  },
);

it("makes all lazy tables with the first row of one", () => {
  const tables = new LazyTables(createNodeDatabase(), BIRDS, NESTS);
  const table = new Table(tables, BIRDS);
  table.update({ name: "Ada" }, "");
  expect([table.all(""), tables.ready()]).toEqual([[], false]);
  new Table(tables, NESTS).insert({ tree: "oak" });
  expect([table.all(""), tables.ready()]).toEqual([[], true]);
});

/** `expect` does not compare the bytes of an `ArrayBuffer`. SQLite returns views. */
function bytesOf(bird: Bird | undefined): unknown {
  const { picture, ...rest } = bird ?? {};
  return { ...rest, bytes: picture && [...new Uint8Array(picture)] };
}
